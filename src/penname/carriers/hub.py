"""The model registry (``HF_ENDPOINT``, else huggingface.co): what is there, told apart by how it answers.

Only ``stage``, ``verify``, ``list --org`` and ``probe --remote`` come here; loading and everything after it works offline.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from penname.core.errors import BadInput, PennameError

T = TypeVar("T")
Status = Literal["there", "missing", "gated", "renamed", "no such revision", "offline"]


@dataclass(frozen=True)
class RemoteFile:
    """One file of a repository: its size and checksum (``sha256`` of large files, ``git`` blob id of small ones)."""

    name: str
    size: int
    algorithm: Literal["sha256", "git"]
    checksum: str


@dataclass(frozen=True)
class RemoteRepo:
    """A repository at one commit."""

    repo: str
    commit: str
    files: tuple[RemoteFile, ...]
    gated: bool


@dataclass(frozen=True)
class Answer:
    """What the registry says of a repository; ``sentence`` says it to a person."""

    status: Status
    repo: str
    sentence: str
    found: RemoteRepo | None = None


class NoAnswer(PennameError):
    """The registry could not be reached, or answers in a way that means nothing."""


def endpoint() -> str:
    """The registry's address."""
    return os.environ.get("HF_ENDPOINT", "https://huggingface.co").rstrip("/")


def api() -> Any:
    """A huggingface_hub client for ``endpoint``, without its progress bars."""
    from huggingface_hub import HfApi
    from huggingface_hub.utils import disable_progress_bars

    disable_progress_bars()
    return HfApi(endpoint=endpoint(), library_name="penname")


def ask(repo: str, revision: str | None = None) -> Answer:
    """Whether the registry has ``repo`` (and ``revision``), and where not, why not. Never raises for an answer."""
    from huggingface_hub import errors

    where = f"{repo} at {revision}" if revision else repo
    network: tuple[type[BaseException], ...] = (OSError, *_network_errors())
    try:
        info = _model_info(repo, revision)
    except errors.GatedRepoError:
        return Answer("gated", repo, f"{repo} is gated: accept its licence on {endpoint()}/{repo} and log in with: hf auth login")
    except errors.RevisionNotFoundError:
        return Answer("no such revision", repo, f"{repo} is there, but has no revision {revision}")
    except errors.RepositoryNotFoundError:
        return Answer("missing", repo, f"{repo} is not there (or private); see: penname carrier list --org {repo.split('/')[0]}")
    except errors.HFValidationError as error:
        raise BadInput(f'"{repo}" is no repository name ({error}); write ORG/NAME') from None
    except errors.HfHubHTTPError as error:
        return Answer(
            "offline", repo, f"{endpoint()} does not answer properly ({error.response.status_code}), so nothing is known of {where}"
        )
    except network as error:
        return Answer("offline", repo, f"{endpoint()} cannot be reached ({type(error).__name__}), so nothing is known of {where}")
    found = _repo(info)
    if found.repo.lower() != repo.lower():
        return Answer("renamed", repo, f"{repo} has been renamed to {found.repo}; stage that", found)
    if found.gated and not _readable(found):
        return Answer("gated", repo, f"{repo} is gated: accept its licence on {endpoint()}/{repo} and log in with: hf auth login", found)
    return Answer("there", repo, f"{where} is there, commit {found.commit[:12]}", found)


def ask_with_control(repo: str, revision: str | None = None) -> Answer:
    """``ask``, and in the same run a question about a phantom that cannot exist.

    Raises NoAnswer where the phantom "exists" too: a proxy, a mirror or a login page answers yes to everything, so its yes means
    nothing.
    """
    answer = ask(repo, revision)
    if answer.status == "offline":
        return answer
    phantom = f"penname-phantom-{secrets.token_hex(8)}/no-such-model-{secrets.token_hex(8)}"
    control = ask(phantom)
    if control.status != "missing":
        raise NoAnswer(
            f"{endpoint()} says of {phantom}, a made-up name, that it is {control.status}, so its answer on {repo} means nothing; "
            "check HF_ENDPOINT and the proxy"
        )
    return answer


def find_repo(repo: str, revision: str | None) -> RemoteRepo:
    """The repository at the commit that ``revision`` means now. Raises PennameError with the reason where it is not to be had."""
    answer = ask_with_control(repo, revision)
    if answer.status != "there" or answer.found is None:
        raise NoAnswer(answer.sentence)
    return answer.found


@contextmanager
def sentences(what: str) -> Iterator[None]:
    """Turn whatever the network raises inside the block into one sentence."""
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError as error:
        raise NoAnswer(f"{what}: the repository is gated; accept its licence and log in with: hf auth login") from error
    except errors.HfHubHTTPError as error:
        raise NoAnswer(f"{what}: {endpoint()} answers {error.response.status_code}; run again later, what has arrived is kept") from error
    except _network_errors() as error:
        raise NoAnswer(f"{what}: {endpoint()} cannot be reached ({type(error).__name__}); run again, what has arrived is kept") from error


def _network_errors() -> tuple[type[BaseException], ...]:
    from huggingface_hub import errors

    return (errors.HTTPError, errors.OfflineModeIsEnabled, ConnectionError)  # HTTPError: of the client that the library uses


def _model_info(repo: str, revision: str | None) -> Any:
    return api().model_info(repo, revision=revision, files_metadata=True, timeout=20)


def _repo(info: Any) -> RemoteRepo:
    files = []
    for item in info.siblings or ():
        if item.lfs is not None:
            files.append(RemoteFile(item.rfilename, int(item.lfs.size), "sha256", item.lfs.sha256))
        else:
            files.append(RemoteFile(item.rfilename, int(item.size or 0), "git", item.blob_id or ""))
    return RemoteRepo(info.id, info.sha, tuple(files), bool(info.gated))


def _readable(found: RemoteRepo) -> bool:
    # The registry tells anyone about a gated repository; only reading a file shows whether this login may have it.
    from huggingface_hub import errors

    name = next((file.name for file in found.files if file.name == "config.json"), None)
    if name is None:
        return True
    try:
        read_bytes(found, name)
    except errors.HfHubHTTPError:
        return False
    return True


def file_url(repo: RemoteRepo, name: str) -> str:
    """Where a file of a repository at its commit is read from."""
    return f"{endpoint()}/{repo.repo}/resolve/{repo.commit}/{name}"


def read_bytes(repo: RemoteRepo, name: str) -> bytes:
    """A small file, whole."""
    return _get(file_url(repo, name), {}).content


def range_reader(repo: RemoteRepo, name: str) -> Callable[[int, int], bytes]:
    """``read(start, stop)`` of a remote file by range requests; the first answer is kept, since headers are read twice.

    Raises NoAnswer where the server ignores ranges: a checkpoint must not be pulled whole for its header.
    """
    url = file_url(repo, name)
    first: list[bytes] = []

    def read(start: int, stop: int) -> bytes:
        if not first:
            first.append(_ranged(url, 0, max(stop, 1 << 17)))
        if stop <= len(first[0]):
            return first[0][start:stop]
        return _ranged(url, start, stop)

    return read


def _ranged(url: str, start: int, stop: int) -> bytes:
    response = _get(url, {"Range": f"bytes={start}-{stop - 1}"})
    if response.status_code != 206 and len(response.content) > stop - start:
        raise NoAnswer(f"{url} does not answer to byte ranges, so its header cannot be read alone; stage it first")
    return response.content[: stop - start]


def _get(url: str, headers: dict[str, str]) -> Any:
    from huggingface_hub.utils import build_hf_headers, get_session, hf_raise_for_status

    response = get_session().get(url, headers={**build_hf_headers(library_name="penname"), **headers}, follow_redirects=True, timeout=30)
    hf_raise_for_status(response)
    return response
