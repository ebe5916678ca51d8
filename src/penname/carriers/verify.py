"""Whether a staged carrier is whole, and whether the registry has what it was staged from."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from penname.carriers.facts import carrier_facts
from penname.carriers.headers import read_checkpoint
from penname.carriers.hub import Answer, RemoteRepo, ask_with_control
from penname.carriers.known import REPOS, short_name
from penname.carriers.store import carrier_folder, rehash_carrier
from penname.core.errors import BadInput, PennameError
from penname.core.stage import read_manifest


@dataclass(frozen=True)
class Verification:
    """``problems`` are sentences about the staged files; ``registry`` is None where it was not asked."""

    name: str
    staged: bool
    files: int
    problems: tuple[str, ...]
    registry: Answer | None
    warning: str

    @property
    def good(self) -> bool:
        """Nothing is wrong. A registry that cannot be reached is no fault of a staged carrier."""
        answered = self.registry is None or self.registry.status == "there" or (self.staged and self.registry.status == "offline")
        return not self.problems and answered


def verify_carrier(name: str, *, revision: str | None = None, offline: bool = False) -> Verification:
    """Re-hash a staged carrier, hold its index to its headers, and ask the registry (with a phantom as control) for its source.

    ``name`` is a staged or known carrier, or ORG/NAME. Raises BadInput where it is neither, NoAnswer where the registry's
    answers mean nothing.
    """
    local = short_name(name) if "/" in name else name
    folder = carrier_folder(local)
    manifest = read_manifest(folder)
    repo = str(manifest.settings.get("repo", "")) if manifest else ""
    repo = repo or (name if "/" in name else REPOS.get(name, ""))
    if manifest is None and not repo:
        raise BadInput(f'"{name}" is neither staged nor known; name a repository as ORG/NAME, or see: penname carrier list')
    problems = _staged_problems(folder) if manifest else []
    answer = None
    if repo and not offline:
        commit = str(manifest.settings["commit"]) if manifest and "commit" in manifest.settings else None
        answer = ask_with_control(repo, revision or commit)
        if manifest and answer.status == "there" and answer.found and answer.found.commit == commit:
            problems += _against_registry(folder, answer.found)
    warning = carrier_facts(folder).warning if manifest and not problems else ""
    return Verification(local, manifest is not None, len(manifest.files) if manifest else 0, tuple(problems), answer, warning)


def _staged_problems(folder: Path) -> list[str]:
    problems = rehash_carrier(folder)
    for check in (carrier_facts, read_checkpoint):
        try:
            check(folder)
        except PennameError as error:
            problems.append(str(error))
    return problems


def _against_registry(folder: Path, found: RemoteRepo) -> list[str]:
    # Large files carry a sha256 in the registry, so the manifest's hashes, re-hashed just now, can be held against it.
    manifest = read_manifest(folder)
    assert manifest is not None
    theirs = {file.name: file for file in found.files if file.algorithm == "sha256"}
    return [
        f"{folder.name}/{path} is not what {found.repo} holds at {found.commit[:12]}; stage it again"
        for path, entry in manifest.files.items()
        if path in theirs and theirs[path].checksum != entry["sha256"]
    ]
