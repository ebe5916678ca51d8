"""Finished stage folders. A manifest goes in last, so its presence means complete; without one the folder does not exist.

A manifest holds the stage and its version, the settings that matter, the digests of what was read, the files that were
written with their hashes, and counts. It holds no clock and no path, so the same input gives the same bytes.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penname.core.errors import BadInput, StaleInput
from penname.core.files import disk_error, json_text, read_json, sync_file, sync_folder, write_text
from penname.core.hashing import sha256_file, sha256_value

MANIFEST = "manifest.json"
_ASIDE = ".writing-"


@dataclass(frozen=True)
class Manifest:
    """What one finished stage wrote, and from what."""

    stage: str
    version: int
    settings: Mapping[str, Any]
    inputs: Mapping[str, str]
    files: Mapping[str, Mapping[str, Any]]  # relative path -> {"sha256", "bytes"}
    counts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def digest(self) -> str:
        """Hash of the content of the files: a re-run that writes the same leaves everything downstream fresh."""
        return sha256_value({path: entry["sha256"] for path, entry in self.files.items()})

    def to_json(self) -> dict[str, Any]:
        """The manifest as it stands on disk."""
        return {
            "stage": self.stage,
            "version": self.version,
            "settings": dict(self.settings),
            "inputs": dict(self.inputs),
            "counts": dict(self.counts),
            "files": {path: dict(self.files[path]) for path in sorted(self.files)},
        }


def read_manifest(folder: Path, name: str = MANIFEST) -> Manifest | None:
    """The manifest of a finished folder, or None where the stage has not finished."""
    path = folder / name
    if not path.exists():
        return None
    try:
        data = read_json(path)
        manifest = Manifest(data["stage"], data["version"], data["settings"], data["inputs"], data["files"], data["counts"])
        parts = (manifest.settings, manifest.inputs, manifest.files, manifest.counts, *manifest.files.values())
        if not all(isinstance(part, dict) for part in parts) or not all({"sha256", "bytes"} <= set(e) for e in manifest.files.values()):
            raise BadInput("a part of it is of another kind")
        return manifest
    except (BadInput, AttributeError):
        # The file and not its folder: a person's decisions or a run's checkpoints may stand beside it.
        raise StaleInput(f"{path} is damaged, or no manifest of this version; delete this one file and run: penname run") from None


def require_manifest(folder: Path, command: str, name: str = MANIFEST) -> Manifest:
    """The manifest, or StaleInput that names the command which makes the folder."""
    manifest = read_manifest(folder, name)
    if manifest is None:
        raise StaleInput(f"{folder} is not there yet; run: penname {command}")
    return manifest


def require_whole(folder: Path, command: str, name: str = MANIFEST) -> Manifest:
    """The manifest of a folder whose files are, re-hashed, those that were written; StaleInput names the first that is not.

    What a stage reads goes through this: a text that was cut short or changed by hand is not what the earlier stage proved.
    """
    manifest = require_manifest(folder, command, name)
    if bad := damaged_files(folder, manifest):
        raise StaleInput(f"{folder / bad[0]} is missing or not what was written (its checksum differs); run: penname {command}")
    return manifest


def damaged_files(folder: Path, manifest: Manifest) -> list[str]:
    """Files that are missing or whose bytes are not those the manifest recorded, re-hashed."""
    bad = []
    for path, entry in manifest.files.items():
        file = folder / path
        if not file.is_file() or file.stat().st_size != entry["bytes"] or sha256_file(file) != entry["sha256"]:
            bad.append(path)
    return bad


def seal_files(folder: Path, paths: Iterable[Path]) -> dict[str, dict[str, Any]]:
    """Sync files below ``folder``; gives what a manifest says of them, path -> {"sha256", "bytes"}, sorted."""
    files = {}
    for path in sorted(paths):
        sync_file(path)
        files[path.relative_to(folder).as_posix()] = {"sha256": sha256_file(path), "bytes": path.stat().st_size}
    return files


@contextmanager
def stage_writer(
    folder: Path,
    *,
    stage: str,
    version: int,
    settings: Mapping[str, Any],
    inputs: Mapping[str, str],
    counts: dict[str, Any] | None = None,
    name: str = MANIFEST,
) -> Iterator[Path]:
    """Yield an empty folder to write into; on a clean exit its files replace those the last run of this stage made.

    Files of a person (``decisions.toml``) and of other stages in the same folder are never touched: only files that the
    old manifest names are removed. Whatever raises inside leaves the earlier result as it was. ``counts`` may be filled
    while writing.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for left in folder.glob(f"{_ASIDE}*"):  # by a stage that was killed; the voice folder's lock keeps to one writer at a time
            shutil.rmtree(left, ignore_errors=True)
        aside = Path(tempfile.mkdtemp(dir=folder, prefix=_ASIDE))
    except OSError as error:
        raise disk_error(error, folder) from error
    try:
        yield aside
        files = seal_files(aside, (path for path in aside.rglob("*") if path.is_file()))
        manifest = Manifest(stage, version, settings, inputs, files, counts or {})
        _swap_in(folder, aside, manifest, name)
    except OSError as error:
        raise disk_error(error, folder) from error
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _swap_in(folder: Path, aside: Path, manifest: Manifest, name: str) -> None:
    old = read_manifest(folder, name) if (folder / name).exists() else None
    (folder / name).unlink(missing_ok=True)  # from here until the new one stands, the stage counts as not done
    sync_folder(folder)
    for path in manifest.files:
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        (aside / path).replace(target)
    for path in set(old.files if old else ()) - set(manifest.files):
        (folder / path).unlink(missing_ok=True)
        _drop_empty_parents(folder, folder / path)
    for touched in sorted({(folder / path).parent for path in manifest.files}):
        sync_folder(touched)
    write_text(folder / name, json_text(manifest.to_json()))


def _drop_empty_parents(folder: Path, path: Path) -> None:
    for parent in path.parents:
        if parent == folder or not parent.is_dir() or any(parent.iterdir()):
            return
        parent.rmdir()
