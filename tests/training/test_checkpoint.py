"""Checkpoints: complete or not there, verified, rotated; nothing of another run is touched."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
import torch

from penname.core.errors import PennameError
from penname.training import checkpoint
from penname.training.checkpoint import MARKER, complete_checkpoints, damage, newest_checkpoint, save_checkpoint

ADAPTER = {"a": torch.arange(6.0)}
OPTIMIZER = {"a/exp_avg": torch.ones(6), "a/step": torch.tensor(3.0)}


def save(folder: Path, step: int, run_id: str = "run", keep: int = 2, value: float = 0.0) -> Path:
    return save_checkpoint(folder, step, {"a": ADAPTER["a"] + value}, OPTIMIZER, {"seed": 1}, run_id=run_id, keep=keep)


def test_what_is_saved_comes_back_bit_by_bit(tmp_path: Path) -> None:
    save(tmp_path, 3)
    found = newest_checkpoint(tmp_path, "run")
    assert found is not None
    assert found.step == 3
    assert torch.equal(found.adapter["a"], ADAPTER["a"])
    assert set(found.optimizer) == set(OPTIMIZER)
    assert found.state["seed"] == 1


def test_a_disk_that_keeps_other_bytes_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The marker holds the hashes of what was to be written, not of what stands there."""
    monkeypatch.setattr(checkpoint, "_write_synced", lambda path, data: path.write_bytes(bytes([data[0] ^ 1]) + data[1:]))
    assert damage(save(tmp_path, 3)) == "adapter.safetensors has other bytes than were written"


def test_rotation_keeps_the_newest_complete_ones_of_this_run_only(tmp_path: Path) -> None:
    save(tmp_path, 1, run_id="another")
    (tmp_path / "step-000002").mkdir()  # left without its marker by a crash
    (tmp_path / "step-keep.txt").write_text("a person's file")
    (tmp_path / "step-000000").symlink_to(save(tmp_path / "elsewhere", 0))
    for step in (3, 4, 5):
        save(tmp_path, step)
    assert [p.name for p in complete_checkpoints(tmp_path, "run")] == ["step-000004", "step-000005"]
    kept = ["elsewhere", "step-000000", "step-000001", "step-000002", "step-000004", "step-000005", "step-keep.txt"]
    assert sorted(p.name for p in tmp_path.iterdir()) == kept
    assert (tmp_path / "elsewhere/step-000000" / MARKER).is_file()


def test_without_its_marker_a_checkpoint_does_not_exist(tmp_path: Path) -> None:
    save(tmp_path, 1)
    (save(tmp_path, 2) / MARKER).unlink()
    found = newest_checkpoint(tmp_path, "run")
    assert found is not None
    assert found.step == 1


@pytest.mark.parametrize("name", ["adapter.safetensors", "optimizer.safetensors", "state.json"])
@pytest.mark.parametrize("fault", ["truncated", "flipped", "gone"])
def test_a_damaged_checkpoint_is_named_and_an_older_one_taken(tmp_path: Path, capsys: Any, name: str, fault: str) -> None:
    save(tmp_path, 1)
    file = save(tmp_path, 2) / name
    data = bytearray(file.read_bytes())
    if fault == "truncated":
        file.write_bytes(data[:-1])
    elif fault == "flipped":
        data[len(data) // 2] ^= 4
        file.write_bytes(data)
    else:
        file.unlink()
    found = newest_checkpoint(tmp_path, "run")
    assert found is not None
    assert found.step == 1
    assert f"checkpoint step-000002 is damaged ({name} " in capsys.readouterr().err
    assert (tmp_path / "step-000002").is_dir(), "it is left for a person to look at"


def test_a_checkpoint_of_another_run_is_not_taken(tmp_path: Path) -> None:
    save(tmp_path, 2, run_id="another")
    assert newest_checkpoint(tmp_path, "run") is None


def test_a_marker_that_is_no_json_counts_as_none(tmp_path: Path) -> None:
    (save(tmp_path, 2) / MARKER).write_text("{")
    assert newest_checkpoint(tmp_path, "run") is None


@pytest.mark.parametrize("fail_at", [0, 1, 2])
def test_a_full_disk_is_one_sentence_and_the_older_checkpoint_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fail_at: int) -> None:
    from penname.training import checkpoint

    save(tmp_path, 1)
    kept, calls = checkpoint._write_synced, []

    def full(path: Path, data: bytes) -> None:
        calls.append(path)
        if len(calls) > fail_at:
            raise OSError(errno.ENOSPC, "No space left on device")
        kept(path, data)

    monkeypatch.setattr(checkpoint, "_write_synced", full)
    with pytest.raises(PennameError, match="the disk is full"):
        save(tmp_path, 2)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["step-000001"]
    assert damage(tmp_path / "step-000001") == ""


def test_half_a_save_that_a_crash_left_is_in_nobodys_way(tmp_path: Path) -> None:
    (tmp_path / ".writing-000002").mkdir()
    (tmp_path / ".writing-000002/odd").write_text("half")
    assert sorted(path.name for path in save(tmp_path, 2).iterdir()) == [
        "adapter.safetensors", "complete.json", "optimizer.safetensors", "state.json",
    ]  # fmt: skip


def test_files_are_on_the_disk_before_their_names_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced, sync = [], os.fsync

    def recorded(handle: int) -> None:
        synced.append((Path(f"/proc/self/fd/{handle}").readlink(), os.fstat(handle).st_size))
        sync(handle)

    monkeypatch.setattr(os, "fsync", recorded)
    final = save(tmp_path, 2)
    names = ("adapter.safetensors", "optimizer.safetensors", "state.json")
    aside = tmp_path / ".writing-000002"
    assert synced[:3] == [(aside / name, (final / name).stat().st_size) for name in names]
    assert [path for path, _ in synced[3:5]] == [aside, tmp_path]


def test_a_checkpoint_that_goes_loses_its_marker_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that a crash leaves an incomplete one and not a damaged one."""
    gone, remove = [], shutil.rmtree

    def recorded(path: Path, **settings: Any) -> None:
        gone.append((path.name, (path / MARKER).exists()))
        remove(path, **settings)

    monkeypatch.setattr(shutil, "rmtree", recorded)
    for step in (1, 2, 3, 3):
        save(tmp_path, step)
    assert [found for found in gone if found[0].startswith("step-")] == [("step-000001", False), ("step-000003", False)]


def test_saving_a_step_again_replaces_it(tmp_path: Path) -> None:
    save(tmp_path, 1)
    save(tmp_path, 1, value=1.0)
    found = newest_checkpoint(tmp_path, "run")
    assert found is not None
    assert torch.equal(found.adapter["a"], ADAPTER["a"] + 1)
