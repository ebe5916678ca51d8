"""Two processes under torchrun (gloo): the same order, the same losses to rounding, one set of files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from penname.core.folder import VoiceFolder
from penname.training.run import train_run
from tiny_training import make_tiny_voice

CHILD = Path(__file__).with_name("train_child.py")


def rows(voice: VoiceFolder) -> list[dict]:
    (found,) = voice.runs.glob("*/metrics.jsonl")
    return [json.loads(line) for line in found.read_text().splitlines()]


def torchrun(voice: VoiceFolder, processes: int) -> subprocess.CompletedProcess[str]:
    # Standalone: torchrun takes a free port by itself, so that nobody else can have it meanwhile.
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--local-addr=127.0.0.1", f"--nproc-per-node={processes}"]
    env = {**os.environ, "OMP_NUM_THREADS": "1", "GLOO_SOCKET_IFNAME": "lo"}
    return subprocess.run([*command, str(CHILD), str(voice.path)], env=env, capture_output=True, text=True)


@pytest.mark.parametrize("accumulate", [3, pytest.param(1, marks=pytest.mark.slow)])
def test_two_processes_give_the_losses_of_one(tmp_path: Path, accumulate: int) -> None:
    """With three rows a step one process has two and the other one; with a single row one process has none."""
    one = make_tiny_voice(tmp_path / "one", "qwen3", grad_accum_steps=accumulate)
    train_run(one, 1)
    two = make_tiny_voice(tmp_path / "two", "qwen3", grad_accum_steps=accumulate)
    done = torchrun(two, 2)
    assert done.returncode == 0, done.stderr
    alone, together = rows(one), rows(two)
    assert [(row["step"], row.get("tokens")) for row in together] == [(row["step"], row.get("tokens")) for row in alone]
    for key in ("loss", "heldout_loss", "grad_norm"):
        assert [row[key] for row in together if key in row] == pytest.approx([row[key] for row in alone if key in row], abs=1e-5)
    adapters = [load_file(next(v.runs.glob("*/adapter/adapter_model.safetensors"))) for v in (one, two)]
    for name, tensor in adapters[0].items():
        torch.testing.assert_close(adapters[1][name], tensor, atol=2e-4, rtol=1e-3)
