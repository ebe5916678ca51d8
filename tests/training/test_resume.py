"""Interrupted anywhere, a run ends with the very adapter that an undisturbed one has."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.torch import load_file

from penname.core.errors import StaleInput
from penname.core.folder import VoiceFolder, open_voice
from penname.shards import run_shards
from penname.training.checkpoint import newest_checkpoint
from penname.training.heldout import heldout_loss
from penname.training.loop import RunFiles, Stopped, train
from penname.training.run import train_run
from penname.training.signals import StopFlag
from penname.training.stage import planned_runs
from tiny import tiny_carrier
from tiny_training import Tiny, make_tiny_voice, toml
from voices import tiny_voice

KILLS = 15  # a kind of carrier; two kinds make thirty
CHILD = Path(__file__).with_name("train_child.py")


def adapter_bytes(voice: VoiceFolder) -> bytes:
    (found,) = voice.runs.glob("*-s1/adapter/adapter_model.safetensors")
    return found.read_bytes()


def losses(voice: VoiceFolder) -> list[tuple[int, float]]:
    (found,) = voice.runs.glob("*-s1/metrics.jsonl")
    rows = [json.loads(line) for line in found.read_text().splitlines()]
    return [(row["step"], row.get("loss", row.get("heldout_loss"))) for row in rows]


@pytest.mark.parametrize("kind", ["qwen3", "qwen3_5"])
def test_stopped_and_resumed_equals_uninterrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    whole = make_tiny_voice(tmp_path / "whole", kind, save_steps=100)
    train_run(whole, 1)
    parts = make_tiny_voice(tmp_path / "parts", kind, save_steps=100)
    for _ in range(2):
        calls = iter([False, True])
        monkeypatch.setattr("penname.training.signals.StopFlag.__call__", lambda self, calls=calls: next(calls))
        with pytest.raises(Stopped, match="and saved it; go on with: penname train"):
            train_run(parts, 1)
    monkeypatch.undo()
    train_run(parts, 1)
    assert adapter_bytes(parts) == adapter_bytes(whole)
    assert losses(parts) == losses(whole)


def test_another_seed_gives_another_adapter(tmp_path: Path) -> None:
    voice = make_tiny_voice(tmp_path, "qwen3", max_steps=2)
    folders = [train_run(voice, seed).folder for seed in (1, 2)]
    assert [folder.name for folder in folders] == ["qwen3-s0-all-x2-am-s1", "qwen3-s0-all-x2-am-s2"]
    first, second = (load_file(folder / "adapter/adapter_model.safetensors") for folder in folders)
    assert any(not (first[name] == second[name]).all() for name in first)
    arms = [json.loads((folder / "run.json").read_text())["arm"] for folder in folders]
    assert arms[0] == arms[1], "an arm's runs differ only by seed"


def test_a_damaged_newest_checkpoint_costs_steps_and_no_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = make_tiny_voice(tmp_path / "whole", "qwen3")
    train_run(whole, 1)
    voice = make_tiny_voice(tmp_path / "voice", "qwen3")
    train_run(voice, 1)
    (run,) = voice.runs.iterdir()
    newest = sorted((run / "checkpoints").iterdir())[-1] / "adapter.safetensors"
    data = bytearray(newest.read_bytes())
    data[-3] ^= 1
    newest.write_bytes(data)
    shutil.rmtree(run / "adapter")
    train_run(voice, 1)
    assert adapter_bytes(voice) == adapter_bytes(whole)


def test_a_changed_shard_is_refused_and_nothing_lost(tmp_path: Path) -> None:
    voice = make_tiny_voice(tmp_path, "qwen3", max_steps=2)
    train_run(voice, 1)
    before = adapter_bytes(voice)
    tokens = voice.current_shards / "tokens.bin"
    data = bytearray(tokens.read_bytes())
    data[8] ^= 1
    tokens.write_bytes(data)
    with pytest.raises(StaleInput, match=r"tokens\.bin is missing or not what was written .*; run: penname shard"):
        train_run(voice, 1)
    assert adapter_bytes(voice) == before


def test_another_order_at_resume_is_refused(dense: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    peft_model, settings = dense.attached(max_steps=2)
    train(peft_model, dense.shards, settings, seed=1, run_id="x", files=RunFiles(tmp_path))
    peft_model, settings = dense.attached(max_steps=2)
    with pytest.raises(StaleInput, match="goes with another order of the rows"):
        train(peft_model, dense.shards, settings, seed=2, run_id="x", files=RunFiles(tmp_path))


def test_another_carrier_revision_begins_anew_and_keeps_the_old_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    carrier = tmp_path / "carrier"
    shutil.copytree(tiny_carrier("qwen3"), carrier)
    voice = tiny_voice(tmp_path / "v", carrier, settings=toml(max_steps=2))
    run_shards(voice)
    train_run(voice, 1)
    before = adapter_bytes(voice)
    shutil.copyfile(tiny_carrier("qwen3", seed=1) / "model.safetensors", carrier / "model.safetensors")
    train_run(voice, 1)
    assert "was made from other inputs or settings; it is kept as runs/replaced/carrier-all-x2-am-s1-" in capsys.readouterr().err
    assert adapter_bytes(voice) != before
    (kept,) = voice.runs.glob("replaced/*/adapter/adapter_model.safetensors")
    assert kept.read_bytes() == before


def test_other_meaning_begins_anew_and_other_watching_does_not(tmp_path: Path) -> None:
    voice = make_tiny_voice(tmp_path, "qwen3", max_steps=2)
    train_run(voice, 1)
    assert [row.state for row in planned_runs(voice)] == ["fresh", "missing"]
    assert planned_runs(open_voice(tmp_path, ["training.save_steps=7", "training.track='none'"]))[0].state == "fresh"
    assert planned_runs(open_voice(tmp_path, ["training.learning_rate=0.1"]))[0].why == "its settings have changed"
    assert planned_runs(open_voice(tmp_path, ["shards.copies=1"]))[0].state == "missing", "another arm has another name"


def start(voice: VoiceFolder, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    env = {**os.environ, "OMP_NUM_THREADS": "1", **environment}
    pipe = subprocess.PIPE
    err = pipe if not arguments else None
    return subprocess.Popen(
        [sys.executable, str(CHILD), str(voice.path), *arguments], env=env, stdin=pipe, stdout=pipe, stderr=err, text=True
    )


def lines(voice: VoiceFolder) -> int:
    return sum(path.read_bytes().count(b"\n") for path in voice.runs.glob("*-s1/metrics.jsonl"))


def wait_for_lines(voice: VoiceFolder, count: int, alive: Callable[[], bool]) -> None:
    while lines(voice) < count:
        assert alive(), "the training process has ended"
        time.sleep(0.01)


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGINT, marks=pytest.mark.slow)])
def test_a_signal_saves_and_exits(tmp_path: Path, number: int) -> None:
    voice = make_tiny_voice(tmp_path, "qwen3", max_steps=5000, epochs=5000.0, save_steps=10**6, eval_steps=10**6)
    child = start(voice)
    wait_for_lines(voice, 3, lambda: child.poll() is None)
    child.send_signal(number)
    _, err = child.communicate()
    assert child.returncode == 130
    assert "and saved it; go on with: penname train" in err
    (saved,) = voice.runs.glob("*/checkpoints/step-*")
    steps = [step for step, _ in losses(voice)]
    assert saved.name == f"step-{steps[-1]:06d}"


def test_a_signal_amid_an_evaluation_saves_and_exits(dense: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []

    def interrupted(*arguments: Any) -> float | None:
        calls.append(1)
        if len(calls) == 2:
            os.kill(os.getpid(), signal.SIGTERM)
        return heldout_loss(*arguments)

    monkeypatch.setattr("penname.training.loop.heldout_loss", interrupted)
    peft_model, settings = dense.attached()
    with StopFlag() as stop, pytest.raises(Stopped, match="stopped after step 2 of 6 and saved it"):
        train(peft_model, dense.shards, settings, seed=1, run_id="x", files=RunFiles(tmp_path), should_stop=stop)
    found = newest_checkpoint(tmp_path / "checkpoints", "x")
    assert found is not None
    assert [step for step, _ in found.state["position"]["history"]] == [0, 2], "the evaluation was finished, and is not made again"


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["qwen3", "qwen3_5"])
def test_killed_at_random_moments_also_while_saving(tmp_path: Path, kind: str) -> None:
    settings = {"max_steps": 150, "epochs": 50.0, "save_steps": 1, "eval_steps": 10}
    whole = make_tiny_voice(tmp_path / "whole", kind, **settings)
    train_run(whole, 1)
    voice = make_tiny_voice(tmp_path / "voice", kind, **settings)
    draw, halves = random.Random(0), 0
    server = start(voice, "--serve", SLOW="0.02")  # half of each checkpoint file is on disk for a while, so many kills fall into a save
    for _ in range(KILLS):
        pid = go(server)
        wait_for_lines(voice, lines(voice) + 1, lambda pid=pid: Path(f"/proc/{pid}").exists())
        time.sleep(draw.random() * 0.15)
        os.kill(pid, signal.SIGKILL)
        assert server.stdout.readline() == "-9\n", "it must still run to be killed"
        halves += bool(list(voice.runs.glob("*/checkpoints/.writing-*")))
    assert halves > 0, "at least one kill fell into a save"
    go(server)
    assert server.stdout.readline() == "0\n"
    server.stdin.close()
    server.wait()
    assert adapter_bytes(voice) == adapter_bytes(whole)
    assert losses(voice) == losses(whole)


def go(server: subprocess.Popen[str]) -> int:
    server.stdin.write("go\n")
    server.stdin.flush()
    return int(server.stdout.readline())
