"""The step bench: what a row holds, FLOP counted by hand, and out of memory as a row."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from penname.carriers.bench_rows import row_from
from penname.core.errors import BadInput, PennameError
from penname.training import bench
from penname.training.bench import BenchSpec, bench_batch, bench_row, bench_step, check_spec, step_flops
from tiny import tiny_carrier


def spec(kind: str = "qwen3", **changes: object) -> BenchSpec:
    return BenchSpec(str(tiny_carrier(kind)), seq_len=96, document_tokens=40, threads=1, warmup_steps=1, steps=3, **changes)


def test_a_row_holds_what_compare_and_plan_read() -> None:
    row = bench_row(spec("qwen3_5", batch=2))  # in a process of its own
    assert (row["lora_modules"], row["seq_len"], row["batch"], row["out_of_memory"]) == (10, 96, 2, False)
    assert row["tokens_per_second"] > 0 and len(row["step_seconds"]) == 3
    assert row["resolved"]["attention"] == "per-document" and row["resolved"]["scan"].endswith("document by document")
    assert row["kernels"]["flash-attn"] is None or isinstance(row["kernels"]["flash-attn"], str)
    assert row["libraries"]["torch"] == torch.__version__
    read = row_from(row, "row")
    assert read.tokens_per_second == row["tokens_per_second"] and read.device == "cpu"


def test_rows_hold_whole_documents_and_a_rest() -> None:
    batch = bench_batch(spec(), 512, 0, "cpu")
    assert batch.documents == (40, 40, 16)
    assert len(batch.targets) == 36 + 36 + 14  # the first tenth of a document is its beat


def test_flop_by_hand() -> None:
    model = torch.nn.Module()
    model.model = torch.nn.Module()
    model.model.layers = torch.nn.ModuleList([torch.nn.Linear(8, 16, bias=False)])
    config = {"num_attention_heads": 2, "head_dim": 4, "hidden_size": 8, "num_hidden_layers": 1, "vocab_size": 10}
    batch = bench_batch(BenchSpec("", seq_len=20, document_tokens=10), 10, 0, "cpu")
    attention = 3 * 2 * (100 + 100) * 8
    assert step_flops(model, config, [batch]) == 4 * 128 * 20 + 4 * 18 * 8 * 10 + attention


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"), "CUDA out of memory. Tried to allocate 2 GiB"),
        (MemoryError(), "MemoryError"),  # says nothing
    ],
)
def test_out_of_memory_is_a_row(monkeypatch: pytest.MonkeyPatch, error: Exception, why: str) -> None:
    def full(*_: object) -> None:
        raise error

    monkeypatch.setattr(bench, "forward_backward", full)
    row = bench_step(spec())
    assert row["out_of_memory"] is True and row["tokens_per_second"] is None
    assert row["why"] == why


def test_another_error_is_not_called_out_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("shapes do not fit")

    monkeypatch.setattr(bench, "forward_backward", broken)
    with pytest.raises(RuntimeError, match="shapes do not fit"):
        bench_step(spec())


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [({"seq_len": 1}, "at least 2"), ({"batch": 0}, "batch must be at least 1"), ({"random_init": True}, "no built-in")],
)
def test_what_cannot_be_measured_is_refused(changes: dict, sentence: str) -> None:
    with pytest.raises(BadInput, match=sentence):
        check_spec(BenchSpec(**{"carrier": str(tiny_carrier("qwen3")), **changes}))


@pytest.mark.slow
def test_the_gpu_benchmark_runs_on_a_cpu_with_a_tiny_carrier(tmp_path: Path) -> None:
    script, results = Path(__file__).parents[2] / "benchmarks/gpu.py", tmp_path / "gpu.json"
    where = ["--device", "cpu", "--seq-len", "1024", "--results", str(results)]
    where += [word for kind in ("qwen3", "qwen3_5") for word in ("--carrier", str(tiny_carrier(kind)))]
    done = subprocess.run([sys.executable, str(script), *where], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    dense, hybrid = json.loads(results.read_text())
    for row in (dense, hybrid):
        assert not {side: row[side]["failed"] for side in ("ours", "preflight") if "failed" in row[side]}
        assert row["ours"]["tokens_per_second"] > 0
        assert row["preflight"]["resolved"]["attention"] == "per-document"
    assert dense["trl"]["tokens_per_second"] > 0
    assert "can't keep packed sequences apart" in hybrid["trl"]["failed"], "without kernels transformers refuses TRL's packed rows"
    passed = [line.split()[-1] for line in done.stdout.splitlines() if line.startswith("qwen")]
    assert passed == ["passed", "passed"]
    assert f"TRL: {hybrid['trl']['failed']}" in done.stdout


def test_the_gpu_benchmark_leaves_out_what_does_not_fit_its_time(tmp_path: Path) -> None:
    script, results = Path(__file__).parents[2] / "benchmarks/gpu.py", tmp_path / "gpu.json"
    where = ["--device", "cpu", "--minutes", "0", "--carrier", str(tiny_carrier("qwen3")), "--results", str(results)]
    done = subprocess.run([sys.executable, str(script), *where], capture_output=True, text=True, check=True)
    assert "ours: left out: the time was over" in done.stdout
    assert {side["failed"] for name, side in json.loads(results.read_text())[0].items() if name != "carrier"} == {
        "left out: the time was over"
    }


def test_a_bench_that_was_killed_failed_or_refused_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def ended(code: int, out: str = "", err: str = "") -> None:
        monkeypatch.setattr(subprocess, "run", lambda *_, **__: subprocess.CompletedProcess([], code, out, err))

    for code in (-9, 137):
        ended(code)
        row = bench_row(spec())
        assert (row["out_of_memory"], row["why"]) == (True, "the system stopped the process for memory")
    ended(1, err="Traceback\nValueError: odd")
    with pytest.raises(PennameError, match=r"ended with exit code 1: ValueError: odd"):
        bench_row(spec())
    ended(0, out='{"error": "no such carrier"}\n')
    with pytest.raises(BadInput, match="no such carrier"):
        bench_row(spec())


def test_rows_that_could_not_be_kept_are_not_measured(tmp_path, monkeypatch):
    from penname.cli.carrier_bench import bench as verb

    measured = []
    monkeypatch.setattr(bench, "check_spec", lambda spec: None)
    monkeypatch.setattr(bench, "bench_row", measured.append)
    with pytest.raises(BadInput, match="is a folder, and a file is wanted there"):
        verb(["x"], out=tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(PennameError, match="a file stands where a folder is wanted"):
        verb(["x"], out=tmp_path / "file/bench.jsonl")
    assert measured == []
