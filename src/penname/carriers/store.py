"""Where staged carriers stand: ``<cache>/carriers/<name>/``, complete once their manifest is there.

``<cache>`` is ``$PENNAME_CACHE``, else ``$XDG_CACHE_HOME/penname``, else ``~/.cache/penname``.
"""

from __future__ import annotations

import difflib
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from penname.carriers.known import REPOS
from penname.core.cache import cache_folder
from penname.core.errors import BadInput
from penname.core.files import disk_error, json_text, sync_folder, write_text
from penname.core.hashing import sha256_file, sha256_value
from penname.core.lock import hold
from penname.core.stage import MANIFEST, Manifest, damaged_files, read_manifest, seal_files

STORE_VERSION = 1


def carriers_folder() -> Path:
    """The folder that holds one folder a staged carrier."""
    return cache_folder() / "carriers"


def carrier_folder(name: str) -> Path:
    """Where the carrier ``name`` stands or would stand. BadInput for a name that is no plain file name."""
    if not name or name.startswith(".") or any(c in name for c in "/\\\0"):
        raise BadInput(f'"{name}" cannot be a carrier\'s name; use letters, digits, dots and dashes')
    return carriers_folder() / name


def resolve_carrier(name: str) -> Path:
    """The folder of a staged carrier, or ``name`` itself where it is a folder with a ``config.json``. Downloads nothing."""
    path = Path(name).expanduser()
    if path.is_dir():
        if not (path / "config.json").is_file():
            raise BadInput(f"{path} is no carrier: it has no config.json")
        return path
    if path.is_file():
        raise BadInput(f"{path} is a file, and a carrier is a folder with config.json, tokenizer.json and *.safetensors")
    if "/" in name or "\\" in name:
        raise BadInput(f"there is no folder {name}; for a repository of the hub run: penname carrier stage {name}")
    folder = carrier_folder(name)
    if read_manifest(folder) is None:
        near = [] if name in REPOS else difflib.get_close_matches(name, [*staged_carriers(), *REPOS], n=1, cutoff=0.6)
        then = f'; did you mean "{near[0]}"? See: penname carrier list' if near else f"; run: penname carrier stage {name}"
        raise BadInput(f'the carrier "{name}" is not staged on this machine{then}')
    return folder


def staged_carriers() -> list[str]:
    """Names of the carriers that are staged completely."""
    return sorted(path.parent.name for path in carriers_folder().glob(f"[!.]*/{MANIFEST}"))


@contextmanager
def carrier_writer(name: str, origin: Mapping[str, Any]) -> Iterator[Path]:
    """Yield the folder ``.staging-<name>`` to fill; on a clean exit it is hashed and becomes the carrier ``name``.

    What an earlier, interrupted staging left there is still there, so a download goes on where it was. ``origin`` says
    where the files come from (repository, commit, sha256 of an archive) and goes into the manifest's settings.
    """
    aside = carriers_folder() / f".staging-{name}"
    target = carrier_folder(name)
    try:
        aside.mkdir(parents=True, exist_ok=True)
        with hold(carriers_folder(), f"staging {name}"):  # two stagings of one carrier would write into each other's files
            yield aside
            _finish(aside, target, origin)
    except OSError as error:
        raise disk_error(error, target) from error


def _finish(aside: Path, target: Path, origin: Mapping[str, Any]) -> None:
    found = (p for p in aside.rglob("*") if p.is_file() and p.name != MANIFEST and not p.relative_to(aside).as_posix().startswith("."))
    manifest = Manifest("carrier", STORE_VERSION, dict(origin), {}, seal_files(aside, found))
    write_text(aside / MANIFEST, json_text(manifest.to_json()))
    old = target.with_name(f".replaced-{target.name}")
    shutil.rmtree(old, ignore_errors=True)
    if target.exists():
        target.replace(old)  # gigabytes take long to delete: the carrier is not missing meanwhile
    aside.replace(target)
    sync_folder(target.parent)
    shutil.rmtree(old, ignore_errors=True)


def rehash_carrier(folder: Path) -> list[str]:
    """Sentences about files of a staged carrier that are missing or whose bytes have changed; empty where all is well."""
    manifest = read_manifest(folder)
    if manifest is None:
        return [f"{folder} was not staged by Penname, so there is nothing to compare its files with"]
    return [f"{folder.name}/{path} is missing or not the file that was staged" for path in damaged_files(folder, manifest)]


def weight_hashes(folder: Path) -> dict[str, str]:
    """SHA-256 of the carrier's configuration, tokenizer and weight files: from its manifest, or hashed where it has none."""
    manifest = read_manifest(folder)
    if manifest is not None:
        return {name: entry["sha256"] for name, entry in manifest.files.items() if _counts(name)}
    found = {path: path.stat() for path in sorted(folder.iterdir()) if path.is_file() and _counts(path.name)}
    return {path.name: _hash_once(path.resolve(), stat.st_size, stat.st_mtime_ns) for path, stat in found.items()}


@lru_cache(maxsize=64)
def _hash_once(path: Path, size: int, mtime_ns: int) -> str:
    """A file's hash, read once in a process while its size and time stay: every run and control asks for that of the same gigabytes."""
    return sha256_file(path)


def _counts(name: str) -> bool:
    return name.endswith(".safetensors") or name in ("config.json", "tokenizer.json", "tokenizer_config.json")


def carrier_digest(name: str) -> str:
    """One hash over a carrier's files, for manifests: what was made with it is stale when they change."""
    return sha256_value(weight_hashes(resolve_carrier(name)))
