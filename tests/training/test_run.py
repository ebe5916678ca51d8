"""A whole run on tiny carriers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penname.shards import run_shards
from penname.training.run import train_run
from tiny import tiny_carrier
from voices import settings_toml, tiny_voice

SETTINGS = settings_toml(
    shards={"seq_len": 256},
    training={
        "max_steps": 4,
        "grad_accum_steps": 2,
        "eval_steps": 2,
        "save_steps": 2,
        "lora_rank": 4,
        "lora_alpha": 8,
        "warmup_steps": 0,
        "learning_rate": 0.01,
    },
    sampling={"max_tokens": 8},
)


@pytest.mark.parametrize("kind", ["qwen3", "qwen3_5"])
def test_a_run_leaves_adapter_record_and_metrics(tmp_path: Path, kind: str) -> None:
    voice = tiny_voice(tmp_path, tiny_carrier(kind), settings=SETTINGS)
    run_shards(voice)
    result = train_run(voice, 1)
    record = json.loads((result.folder / "run.json").read_text())
    assert record["state"] == "complete"
    assert record["steps_done"] == 4
    losses = [json.loads(line) for line in (result.folder / "metrics.jsonl").read_text().splitlines()]
    assert [row["step"] for row in losses] == [1, 2, 2, 3, 4, 4]
    assert losses[4]["loss"] < losses[0]["loss"]
