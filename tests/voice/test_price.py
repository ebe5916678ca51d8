"""Prices before anything is started: hours and memory of a sweep, and the disk that launched runs will write."""

from __future__ import annotations

import pytest

from penname.carriers.bench_rows import BenchRow
from penname.core.errors import BadInput
from penname.core.store import save_book
from penname.core.values import Book, Chapter
from penname.jobs.sweep import read_sweep
from penname.training.stage import PlannedRun
from penname.voice import price
from penname.voice.price import launch_bytes, price_sweep
from tiny import tiny_carrier

# 500 training words are 650 tokens; 4 copies and 2 epochs make 5,200, which this speed takes an hour for.
ROW = BenchRow("small", 5200 / 3600, 0.0, 3_000_000_000, None, "cuda", {})
TABLE = """
[sweep]
carriers = ["small", "unmeasured"]
seeds = [1, 2]
corpus_words = [0, 250]
"""


@pytest.fixture
def voice(tmp_path):
    (tmp_path / "voice.toml").write_text("[copies]\ncount = 4\n[training]\nepochs = 2.0\n")
    chapters = (
        Chapter("chapter", 1, "I", 0, 2500, 0, "train"),
        Chapter("chapter", 1, "II", 2500, 5000, 2500, "heldout"),
        Chapter("back", 1, "Afterword", 5000, 7500, 5000, "train"),
    )
    save_book(tmp_path / "books/b", Book("b", "B", "A", "word " * 1500, chapters))
    (tmp_path / "table.toml").write_text(TABLE)
    return tmp_path


def test_a_sweep_is_priced_arm_by_arm_and_in_all(voice):
    found = price_sweep(voice, read_sweep(voice / "table.toml"), [ROW])
    assert [(arm.carrier, arm.runs_left, arm.plan and round(arm.plan.hours, 6)) for arm in found.arms] == [
        ("small", 2, 1.0),
        ("small", 2, 0.5),
        ("unmeasured", 2, None),
        ("unmeasured", 2, None),
    ]
    assert found.arms[0].sentence == "small-all-x4-am: 2 runs to do, each 1.0 h (1.0 h to 1.0 h), 3.0 GB of memory"
    assert "no measured row; run: penname carrier bench unmeasured" in found.arms[2].sentence
    assert found.sentence.startswith(
        "in all 8 runs: 3.0 h (3.0 h to 3.0 h) one after another, 3.0 GB of memory at the most; 4 of them not priced"
    )


def test_complete_runs_cost_nothing(voice, monkeypatch):
    monkeypatch.setattr(price, "planned_runs", lambda _: [PlannedRun("a", 1, "fresh"), PlannedRun("b", 2, "missing")])
    (voice / "table.toml").write_text('[sweep]\nseeds = [1, 2]\ncarriers = ["small"]\n')
    found = price_sweep(voice, read_sweep(voice / "table.toml"), [ROW])
    assert found.sentence.startswith("in all 1 run: 1.0 h")


def test_a_finished_sweep_says_so(voice, monkeypatch):
    monkeypatch.setattr(price, "planned_runs", lambda _: [PlannedRun("a", 1, "fresh")])
    assert price_sweep(voice, read_sweep(voice / "table.toml"), []).sentence == "every run is complete; there is nothing to train"


def test_a_cap_on_steps_caps_the_price(voice):
    table = '[sweep]\nseeds = [1]\ncarriers = ["small"]\n[sweep.set]\n"training.max_steps" = 5\n"shards.seq_len" = 130\n'
    (voice / "table.toml").write_text(table)
    found = price_sweep(voice, read_sweep(voice / "table.toml"), [ROW])
    assert found.arms[0].plan.hours == pytest.approx(0.5)  # 5 steps of 4 rows of 130 tokens are 2,600


def test_an_arm_that_cannot_be_is_refused_before_anything_starts(voice):
    (voice / "table.toml").write_text('[sweep]\nseeds = [1]\n[sweep.set]\n"training.epoch" = 2.0\n')
    with pytest.raises(BadInput, match=r'no setting "training\.epoch", did you mean "training\.epochs"'):
        price_sweep(voice, read_sweep(voice / "table.toml"), [ROW])


def test_launched_runs_want_the_disk_of_their_checkpoints(voice):
    # r=32 on the tiny carrier is 65,536 parameters, 262,144 bytes in fp32. A checkpoint holds them and two moments of each; three
    # checkpoints stand at a time, and the adapter: ten times the adapter a run.
    command = ["run", "--set", f"carrier.name={tiny_carrier('qwen3')}"]
    assert launch_bytes(voice, command) == 2 * 10 * 262_144
    assert launch_bytes(voice, [*command, "--set", "training.seeds=[1]", "--set=training.lora_rank=16"]) == 10 * 131_072
    (voice / "table.toml").write_text(f'[sweep]\nseeds = [1, 2, 3]\ncarriers = ["{tiny_carrier("qwen3")}"]\n')
    assert launch_bytes(voice, ["sweep", "table.toml", "--yes"]) == 3 * 10 * 262_144
    assert launch_bytes(voice, ["judge"]) == 0
    assert launch_bytes(voice, ["run", "--set", "carrier.name=not-staged"]) == 0
    with pytest.raises(BadInput, match=r'no setting "training\.epoch"'):
        launch_bytes(voice, ["train", "--set", "training.epoch=1"])
