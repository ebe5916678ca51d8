"""Checkpoints that survive a crash: written aside, synced, renamed, marker last, with hashes. Safetensors and JSON only.

    checkpoints/step-000050/adapter.safetensors  optimizer.safetensors  state.json  complete.json

``complete.json`` goes in last and holds the run's identity and the hash of each file; a checkpoint without it does not exist.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save

from penname.core.errors import PennameError
from penname.core.files import disk_error, json_text, read_json, sync_folder, write_json
from penname.core.hashing import sha256_bytes, sha256_file
from penname.core.progress import say

MARKER = "complete.json"


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint as it was read back."""

    step: int
    adapter: Mapping[str, torch.Tensor]
    optimizer: Mapping[str, torch.Tensor]
    state: Mapping[str, Any]


def save_checkpoint(
    folder: Path,
    step: int,
    adapter: Mapping[str, torch.Tensor],
    optimizer: Mapping[str, torch.Tensor],
    state: Mapping[str, Any],
    *,
    run_id: str,
    keep: int,
) -> Path:
    """Write ``folder/step-N``; then drop this run's older complete ones beyond ``keep``. PennameError where the disk is full."""
    final, aside = folder / f"step-{step:06d}", folder / f".writing-{step:06d}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(aside, ignore_errors=True)
        aside.mkdir()
        files = {
            "adapter.safetensors": save(dict(adapter), metadata={"format": "pt"}),
            "optimizer.safetensors": save(dict(optimizer), metadata={"format": "pt"}),
            "state.json": json_text({"step": step, **state}).encode(),
        }
        for name, data in files.items():
            _write_synced(aside / name, data)
        sync_folder(aside)
        if final.exists():  # one that a crash left without its marker, or this very step written again after a resume
            (final / MARKER).unlink(missing_ok=True)
            shutil.rmtree(final)
        aside.replace(final)
        sync_folder(folder)
        hashes = {name: {"sha256": sha256_bytes(data), "bytes": len(data)} for name, data in files.items()}
        write_json(final / MARKER, {"run_id": run_id, "step": step, "files": hashes})
    except OSError as error:
        shutil.rmtree(aside, ignore_errors=True)
        raise disk_error(error, final) from error
    _rotate(folder, run_id, keep)
    return final


def _write_synced(path: Path, data: bytes) -> None:
    with path.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def complete_checkpoints(folder: Path, run_id: str) -> list[Path]:
    """This run's checkpoints that carry their marker, oldest first. Others are not counted and never deleted."""
    found = []
    for path in sorted(folder.glob("step-*")):
        if path.is_symlink() or not (path / MARKER).is_file():
            continue
        try:
            marker = read_json(path / MARKER)
        except PennameError:
            continue
        if isinstance(marker, dict) and marker.get("run_id") == run_id:
            found.append(path)
    return found


def _rotate(folder: Path, run_id: str, keep: int) -> None:
    for path in complete_checkpoints(folder, run_id)[:-keep]:
        (path / MARKER).unlink()  # first, so that a crash leaves an incomplete one and not a damaged one
        shutil.rmtree(path)


def damage(path: Path) -> str:
    """What is wrong with a checkpoint, in a few words; "" where every file is as it was written."""
    marker = read_json(path / MARKER)
    for name, entry in marker["files"].items():
        file = path / name
        if not file.is_file():
            return f"{name} is gone"
        if file.stat().st_size != entry["bytes"]:
            return f"{name} has {file.stat().st_size} bytes, not {entry['bytes']}"
        if sha256_file(file) != entry["sha256"]:
            return f"{name} has other bytes than were written"
    return ""


def newest_checkpoint(folder: Path, run_id: str) -> Checkpoint | None:
    """The newest checkpoint of this run that verifies; damaged ones are named on stderr and skipped."""
    for path in reversed(complete_checkpoints(folder, run_id)):
        fault = damage(path)
        if fault:
            say(f"checkpoint {path.name} is damaged ({fault}); taking an older one")
            continue
        state = read_json(path / "state.json")
        return Checkpoint(int(state["step"]), load_file(path / "adapter.safetensors"), load_file(path / "optimizer.safetensors"), state)
    return None
