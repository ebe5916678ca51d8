"""``penname shard`` and ``penname train`` as a person calls them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tiny import tiny_carrier
from tiny_training import toml
from voices import tiny_voice


def penname(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    code = "from penname.cli.app import main; main()"
    return subprocess.run(
        [sys.executable, "-c", code, "-C", str(folder), *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tiny_voice(tmp_path, tiny_carrier("qwen3"), settings=toml(max_steps=2)).path


def test_shard_and_train_print_their_result_on_stdout_only(folder: Path) -> None:
    shard = penname(folder, "shard", "--json")
    assert shard.returncode == 0, shard.stderr
    counts = json.loads(shard.stdout)
    assert counts["train_documents"] > 10
    assert counts["stop_token"] == "<|endoftext|>"
    assert "documents" in penname(folder, "shard").stdout
    refused = penname(folder, "train", "--set", "training.ask_above_hours=0")
    assert refused.returncode == 3
    assert refused.stdout == ""
    assert f"nothing was trained. Say yes with: penname -C {folder} train --yes" in refused.stderr
    done = penname(folder, "train", "--seed", "2", "--json")
    assert done.returncode == 0, done.stderr
    (record,) = json.loads(done.stdout)
    assert (record["state"], record["seed"], record["steps_done"]) == ("complete", 2, 2)
    assert "Traceback" not in refused.stderr + done.stderr


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("train",), "run: penname -C FOLDER shard"),
        (("train", "--seed", "9"), "seed 9 is not among training.seeds"),
        (("shard", "--set", "carrier.name='no-such'"), 'the carrier "no-such" is not staged on this machine'),
        (("shard", "--set", "shards.seqlen=5"), 'there is no setting "shards.seqlen", did you mean "shards.seq_len"?'),
    ],
)
def test_what_cannot_be_done_is_one_sentence(folder: Path, arguments: tuple[str, ...], sentence: str) -> None:
    done = penname(folder, *arguments)
    assert done.returncode == 1
    assert sentence.replace("FOLDER", str(folder)) in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
