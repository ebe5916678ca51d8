"""Rows, comparisons and plans, with the figures that were measured elsewhere."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from penname.carriers.bench_rows import BenchRow, compare, fastest_rows, labels, pooled, read_rows
from penname.carriers.corpus import finished_runs, plan_corpus
from penname.carriers.plan import Corpus, project
from penname.core.errors import BadInput
from penname.core.store import save_book
from penname.core.values import Book, Chapter

SPEEDS = {"qwen3-0.6b": 2399, "qwen3-1.7b": 1415, "qwen3-4b": 717, "qwen3.5-0.8b": 540}
DENSE = ("qwen3-0.6b", "qwen3-1.7b", "qwen3-4b")


def row(carrier, speed, spread=0.0, peak=None, host=None, device="cuda"):
    return BenchRow(carrier, speed, spread, peak, host, device, {})


ROWS = [row(carrier, speed) for carrier, speed in SPEEDS.items()]


def test_hours_of_one_run_and_of_the_dense_sweep():
    plan = project(ROWS, Corpus(1_300_000, 6, 3), seeds=2, sweep=DENSE)
    assert {p.carrier: round(p.hours, 1) for p in plan.carriers} == {
        "qwen3-0.6b": 2.7,
        "qwen3-1.7b": 4.6,
        "qwen3-4b": 9.1,
        "qwen3.5-0.8b": 12.0,
    }
    assert round(plan.sweep_hours) == 33
    assert "33 h" in plan.sentence and "projection" in plan.sentence


def test_300_000_words():
    corpus = plan_corpus(None, words=300_000)
    assert (corpus.tokens, corpus.trained_tokens) == (390_000, 7_020_000)
    plan = project(ROWS, corpus, seeds=2, sweep=DENSE)
    assert {p.carrier: round(p.hours, 1) for p in plan.carriers}["qwen3-1.7b"] == 1.4
    assert round(plan.sweep_hours) == 10


def test_the_spread_gives_the_range():
    one = project([row("a", 1000, spread=0.2)], Corpus(3_600_000, 1, 1), seeds=1).carriers[0]
    assert (round(one.hours, 3), round(one.hours_low, 3), round(one.hours_high, 3)) == (1.0, 0.9, 1.1)


def test_the_cheapest_within_a_limit_counts_the_slow_end_and_the_memory():
    rows = [row("small", 1000, spread=0.2, peak=20 * 10**9), row("big", 2000, peak=90 * 10**9)]
    corpus = Corpus(3_600_000, 1, 1)
    assert project(rows, corpus, limit_hours=2).cheapest == "big"
    assert project(rows, corpus, limit_hours=2, memory_bytes=80 * 10**9).cheapest == "small"
    assert project(rows, corpus, limit_hours=1.05, memory_bytes=80 * 10**9).cheapest is None  # 1.0 h, but up to 1.1


def test_on_unified_memory_device_and_host_share():
    rows = [row("a", 1000, peak=10 * 10**9, host=8 * 10**9)]
    apart = project(rows, Corpus(1000, 1, 1), memory_bytes=16 * 10**9).carriers[0]
    shared = project(rows, Corpus(1000, 1, 1), memory_bytes=16 * 10**9, unified=True).carriers[0]
    assert (apart.bytes_needed, apart.fits_memory) == (10 * 10**9, True)
    assert (shared.bytes_needed, shared.fits_memory) == (18 * 10**9, False)


def test_a_carrier_is_planned_with_its_fastest_row_that_fits():
    wide, narrow = (replace(row("a", speed, peak=peak), settings={"batch": batch}) for speed, peak, batch in ((1000, 50, 4), (700, 10, 1)))
    rows = [wide, narrow, row("b", 800, peak=10)]
    assert [(r.carrier, r.tokens_per_second) for r in fastest_rows(rows)] == [("a", 1000), ("b", 800)]
    plan = project(rows, Corpus(3_600_000, 1, 1), memory_bytes=20)
    assert {p.carrier: (round(p.hours, 2), p.fits_memory) for p in plan.carriers} == {"b": (1.25, True), "a": (1.43, True)}


def test_a_difference_stands_clear_of_the_spreads_or_does_not():
    clear = compare(row("dense", 1415, 0.05), row("hybrid", 540, 0.05))
    assert clear.clear and clear.sentence("dense", "hybrid").startswith("hybrid is 2.62 times slower than dense")
    close = compare(row("a", 1000, 0.2), row("b", 1050, 0.2))
    assert not close.clear and "no difference is shown" in close.sentence("a", "b")
    assert compare(row("a", 1000, 0.01), row("b", 1050, 0.01)).clear


def test_repetitions_are_pooled_and_settings_told_apart():
    again = [replace(row("a", speed, 0.02), settings={"seq_len": 2048, "batch": 1}) for speed in (900, 1000, 1100)]
    other = replace(row("a", 400), settings={"seq_len": 4096, "batch": 1})
    again = [replace(one, host_bytes=size) for one, size in zip(again, (5, 7, None), strict=True)]
    rows = pooled([*again, other])
    assert rows[0].host_bytes == 7  # what a machine with one memory for both must hold
    assert [(r.tokens_per_second, round(r.spread, 2)) for r in rows] == [(1000, 0.2), (400, 0.0)]
    assert labels(rows) == ["a, seq_len 2048", "a, seq_len 4096"]


def test_rows_are_read_and_bad_ones_named(tmp_path):
    path = tmp_path / "bench.jsonl"
    good = {"carrier": "a", "tokens_per_second": 100.0, "spread": 0.1, "peak_bytes": 5, "seq_len": 2048}
    path.write_text("\n".join(json.dumps(r) for r in (good, {"carrier": "b", "out_of_memory": True, "tokens_per_second": None})))
    rows = read_rows(path)
    assert [(r.carrier, r.tokens_per_second, dict(r.settings)) for r in rows] == [("a", 100.0, {"seq_len": 2048})]
    for bad, sentence in [
        ({"carrier": "a"}, "no usable tokens_per_second"),
        ({"carrier": "a", "tokens_per_second": -1}, "cannot be a measurement"),
        ({"carrier": "a", "tokens_per_second": 1, "spread": "wide"}, "no usable spread"),
        ({"tokens_per_second": 1}, "names no carrier"),
        (["x"], "line 1, holds no JSON object"),
        ({"carrier": "b", "out_of_memory": True}, "holds no measured row"),
    ]:
        path.write_text(json.dumps(bad))
        with pytest.raises(BadInput, match=sentence):
            read_rows(path)


def test_an_unknown_carrier_or_an_empty_corpus_is_refused():
    with pytest.raises(BadInput, match="no measured row of qwen9"):
        project(ROWS, Corpus(1, 1, 1), sweep=("qwen9",))
    with pytest.raises(BadInput, match="above zero"):
        project(ROWS, Corpus(0, 6, 3))
    with pytest.raises(BadInput, match="not both"):
        plan_corpus(None, words=1, tokens=1)


def test_a_voice_folder_gives_the_corpus_and_its_runs_the_actual_hours(tmp_path):
    with pytest.raises(BadInput, match="a plan needs a corpus"):
        plan_corpus(tmp_path)
    (tmp_path / "voice.toml").write_text("[copies]\ncount = 4\n[training]\nepochs = 2.0\n")
    with pytest.raises(BadInput, match="run: penname book"):
        plan_corpus(tmp_path)
    text = "word " * 1000
    chapters = (Chapter("chapter", 1, "I", 0, 2500, 0, "train"), Chapter("chapter", 1, "II", 2500, 5000, 2500, "heldout"))
    save_book(tmp_path / "books/b", Book("b", "B", "A", text, chapters))
    assert plan_corpus(tmp_path) == Corpus(650, 4, 2.0)
    run = {"state": "complete", "tokens": 3_600_000, "hours": {"planned": 1.0, "actual": 1.25}, "carrier": {"name": "a"}}
    for name, record in {"a-s1": run, "a-s2": run | {"state": "running"}, "z-s1": run | {"carrier": {"name": "z"}}}.items():
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "run.json").write_text(json.dumps(record))
    runs = finished_runs(tmp_path, [row("a", 1000)])
    assert [r.sentence for r in runs] == ["a-s1: projected 1.00 h, actual 1.25 h (+25%)"]
