"""Penname against TRL's SFTTrainer: the same model, the same real pairs, the same LoRA, in alternation.

    python benchmarks/trl.py [--rounds 7] [--steps 6] [--seq-len 2048] [--trl-dtype bf16|fp32] [--minutes N] [--book FILE]

Each round runs both sides, each in a process of its own, in changing order; the result is the median of the paired ratios, because a host
changes speed from minute to minute. One pair is one document on both sides. TRL's side is a script beside the checkout; its dtype is
bf16, also on a CPU that only emulates it. There ``--trl-dtype fp32`` gives TRL what such a CPU is good at, with two words of the script
replaced; Penname picks float32 by itself. ``--minutes`` begins no round that would not end in time, going by the longest so far.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from io import StringIO
from itertools import count
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TRL_SIDE = ROOT.parent / "shared/score/trl_side.py"
BOOK = ROOT.parent / "shared/books/raw/1260.txt"
RESULTS = ROOT / "benchmarks/results/trl.json"
CARRIER = "smollm2-135m"
PRODUCTS = {"aten::mm", "aten::addmm", "aten::addmm_", "aten::bmm", "aten::baddbmm"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=6, help="optimizer steps a side; the first two do not count")
    parser.add_argument("--seq-len", type=int, default=2048)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--trl-dtype", choices=("bf16", "fp32"), default="bf16")
    parser.add_argument("--split", action="store_true", help="measure once what is matrix products and what is not")
    parser.add_argument("--minutes", type=float, default=0.0, help="for all rounds together; 0: as long as they take")
    parser.add_argument("--book", type=Path, default=BOOK)
    parser.add_argument("--trl-side", type=Path, default=TRL_SIDE)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--side", choices=("ours", "trl"), help=argparse.SUPPRESS)
    parser.add_argument("--pairs", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--profile", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.side == "ours":
        print(json.dumps(our_side(args)))
        return
    if args.side == "trl":
        print(json.dumps(trl_side(args)))
        return
    for needed in (args.trl_side, args.book):
        if not needed.exists():
            print(f"trl: left out, {needed} is not here")
            return
    row = compare(args)
    print(table(row))


def compare(args: argparse.Namespace) -> dict[str, Any]:
    """All rounds; raises where a side fails."""
    rounds: list[dict[str, Any]] = []
    begun, longest = time.monotonic(), 0.0
    with tempfile.TemporaryDirectory() as folder:
        pairs = Path(folder) / "pairs.jsonl"
        pair_count = write_pairs(args.book, pairs)
        for number in range(args.rounds):
            started = time.monotonic()
            if rounds and args.minutes and started - begun + longest > args.minutes * 60:
                print(f"trl: {number} of {args.rounds} rounds; another would take longer than --minutes {args.minutes:g}", file=sys.stderr)
                break
            found: dict[str, Any] = {"load": round(os.getloadavg()[0], 2)}
            for side in ("ours", "trl") if number % 2 == 0 else ("trl", "ours"):
                found[side] = run_side(side, pairs, args, folder)
            found["ratio"] = round(found["ours"]["tokens_per_second"] / found["trl"]["tokens_per_second"], 3)
            found["memory"] = round(found["ours"]["peak_gb"] / found["trl"]["peak_gb"], 3)
            rounds.append(found)
            longest = max(longest, time.monotonic() - started)
            print(f"round {number + 1}: {json.dumps(found)}", file=sys.stderr, flush=True)
            keep(args.results, summary(args, pair_count, rounds))  # so that a long comparison that is stopped keeps its rounds
        row = summary(args, pair_count, rounds)
        if args.split:
            row["split"] = {side: run_side(side, pairs, args, folder, "--profile")["split"] for side in ("ours", "trl")}
            keep(args.results, row)
    return row


def summary(args: argparse.Namespace, pairs: int, rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """The medians of the paired ratios, and every round."""
    ratios = [r["ratio"] for r in rounds]
    return {
        "carrier": CARRIER,
        "pairs": pairs,
        "seq_len": args.seq_len,
        "steps": args.steps,
        "threads": args.threads,
        "cpu": cpu_name(),
        "cores": os.cpu_count(),
        "cpu_flags": cpu_flags(),
        "trl_dtype": args.trl_dtype,
        "our_dtype": rounds[0]["ours"]["dtype"],
        "ratio": statistics.median(ratios),
        "ratio_range": [min(ratios), max(ratios)],
        "memory": statistics.median(r["memory"] for r in rounds),
        "rounds": rounds,
    }


def run_side(side: str, pairs: Path, args: argparse.Namespace, folder: str, *more: str) -> dict[str, Any]:
    """One side in a process of its own; its JSON line."""
    given = {"side": side, "pairs": pairs, "trl-side": args.trl_side, "trl-dtype": args.trl_dtype}
    given |= {"seq-len": args.seq_len, "steps": args.steps, "threads": args.threads}
    # -P, or this file's own name would stand before the trl package
    command = [sys.executable, "-P", str(Path(__file__).resolve()), *more, *(f"--{name}={value}" for name, value in given.items())]
    environment = {**os.environ, "OMP_NUM_THREADS": str(args.threads)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"{side} failed:\n{done.stderr[-2000:]}")
    row: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    row["cpu_seconds"] = round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)  # loading included
    return row


@contextmanager
def splitting(found: dict[str, Any], wanted: bool) -> Iterator[None]:
    """Where it is wanted, put into ``found["split"]`` how many seconds of the block were matrix products, and how many were not."""
    if not wanted:
        yield
        return
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU]) as profiled:
        yield
    seconds = {event.key: event.self_cpu_time_total / 1e6 for event in profiled.key_averages()}
    products = sum(spent for name, spent in seconds.items() if name in PRODUCTS)
    found["split"] = {"products": round(products, 2), "rest": round(sum(seconds.values()) - products, 2)}


def write_pairs(source: Path, target: Path) -> int:
    """The passages of a real book with their keyword beats, as prompt and completion; the pipeline's own cutting and template."""
    from penname.beats import KeywordAnnotator, NameBook, cut_passages
    from penname.books import read_book
    from penname.carriers.prompt import beat_segment, passage_segment
    from penname.core.values import Cast

    book = read_book(source)
    passages = cut_passages(book)
    annotator = KeywordAnnotator([book], passages, {book.id: NameBook(book, Cast(book.id, (), ()))})
    with target.open("w", encoding="utf-8") as file:
        for passage in passages:
            text = book.text[passage.start : passage.end]
            row = {"prompt": beat_segment(annotator.line(passage, text)), "completion": passage_segment(text)}
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
    return len(passages)


def our_side(args: argparse.Namespace) -> dict[str, Any]:
    """The trainer's own path: packed rows, forward, backward, clipping, AdamW. With ``args.profile`` one more step is split, untimed."""
    import numpy as np
    import torch

    from penname.carriers import load_model, load_tokenizer, resolve_carrier, resolve_dtype, set_threads
    from penname.carriers.prompt import encode_document
    from penname.core.config import TrainingConfig
    from penname.shards.packing import pack
    from penname.training.batch import make_batch
    from penname.training.bench import matmul_rate, step_flops
    from penname.training.carrier import prepare_model
    from penname.training.fused import fuse_model
    from penname.training.lora import adapter_parameters, attach_lora
    from penname.training.optimizer import make_optimizer
    from penname.training.step import forward_backward

    set_threads(args.threads)
    folder = resolve_carrier(CARRIER)
    tokenizer = load_tokenizer(folder)
    rows = [json.loads(line) for line in args.pairs.read_text(encoding="utf-8").splitlines()]
    documents = [encode_document(tokenizer, [(row["prompt"].strip()[1:-1], row["completion"])]) for row in rows]
    documents = [(ids, trained) for ids, trained in documents if len(ids) <= args.seq_len]
    packed = pack([len(ids) for ids, _ in documents], args.seq_len)
    draw = np.random.default_rng(0)
    order = draw.permutation(len(packed))  # best fit puts the longest documents first; a run shuffles rows
    dtype = resolve_dtype("bf16", "cpu")
    model = load_model(folder, "cpu", dtype)
    resolved = prepare_model(model)
    settings = TrainingConfig(warmup_steps=0)
    peft_model = attach_lora(model, settings, seed=1)
    resolved |= fuse_model(model)
    model.train()
    loaded = resident_gb()
    parameters = adapter_parameters(peft_model)
    optimizer = make_optimizer(parameters, settings)
    rates, shares, found = [], [], {}
    for step in range(args.steps + args.profile):
        members = [documents[d] for d in packed[order[step % len(order)]]]
        ids, trained = (np.concatenate([np.array(part[i]) for part in members]) for i in (0, 1))
        batch = make_batch(ids, trained, tuple(len(part[0]) for part in members))
        started = time.perf_counter()
        with splitting(found, step == args.steps):
            forward_backward(model, batch, 1.0 / len(batch.targets))
        torch.nn.utils.clip_grad_norm_(parameters.values(), settings.clip_norm)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        if found:
            break
        seconds = time.perf_counter() - started
        rates.append(batch.tokens / seconds)
        shares.append(step_flops(model, model.config.to_dict(), [batch]) / seconds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    matmul = matmul_rate(dtype, torch.device("cpu"))
    bf16 = matmul_rate(torch.bfloat16, torch.device("cpu"), repeats=1)
    return found | {
        "tokens_per_second": round(statistics.median(rates[2:]), 1),
        "loaded_gb": round(loaded, 2),
        "peak_gb": round(peak, 2),
        "dtype": str(dtype).removeprefix("torch."),
        "resolved": resolved,
        "matmul_gflops": round(matmul / 1e9, 1),
        "matmul_share": round(statistics.median(shares[2:]) / matmul, 3),
        "bf16_matmul_gflops": round(bf16 / 1e9, 1),
    }


def trl_side(args: argparse.Namespace) -> dict[str, Any]:
    """The script that is TRL's side, in this process; for float32 with that in the place of bf16, and nothing else changed."""
    import trl

    from penname.carriers import resolve_carrier

    source = args.trl_side.read_text(encoding="utf-8")
    swaps = (("dtype=torch.bfloat16", "dtype=torch.float32"), ("bf16=True", "bf16=False")) if args.trl_dtype == "fp32" else ()
    for old, new in swaps:
        if source.count(old) != 1:
            raise SystemExit(f"{args.trl_side} has changed: it does not hold {old!r} once")
        source = source.replace(old, new)
    found: dict[str, Any] = {}
    steps, step_of = count(), trl.SFTTrainer.training_step

    def training_step(*given: Any, **named: Any) -> Any:
        with splitting(found, args.profile and next(steps) == args.steps - 1):
            return step_of(*given, **named)

    trl.SFTTrainer.training_step = training_step
    sizes = ["--seq-len", str(args.seq_len), "--steps", str(args.steps), "--threads", str(args.threads)]
    sys.argv = [str(args.trl_side), str(resolve_carrier(CARRIER)), str(args.pairs), *sizes]
    with redirect_stdout(StringIO()) as printed:
        exec(compile(source, str(args.trl_side), "exec"), {"__name__": "__main__", "__file__": str(args.trl_side)})
    return found | json.loads(printed.getvalue().strip().splitlines()[-1])


def table(row: dict[str, Any]) -> str:
    """Both sides, memory, and the share of a matrix product's rate."""
    lines = [f"{'':14}{'tokens/s':>10}{'peak GB':>10}"]
    for side in ("trl", "ours"):
        speed, peak = (statistics.median(r[side][key] for r in row["rounds"]) for key in ("tokens_per_second", "peak_gb"))
        dtype = row["trl_dtype"] if side == "trl" else row["our_dtype"]
        lines.append(f"{side + ' ' + dtype:14}{speed:>10.1f}{peak:>10.2f}")
    ours = [r["ours"] for r in row["rounds"]]
    share, rate, bf16 = (statistics.median(o[key] for o in ours) for key in ("matmul_share", "matmul_gflops", "bf16_matmul_gflops"))
    lines.append(
        f"paired ratio {row['ratio']:.2f} ({row['ratio_range'][0]:.2f} to {row['ratio_range'][1]:.2f}), memory {row['memory']:.2f} of TRL's"
    )
    lines.append(
        f"ours reaches {share:.0%} of this machine's {rate:.0f} GFLOP/s in a {row['our_dtype']} matrix product (bf16: {bf16:.0f} GFLOP/s)"
    )
    if "split" in row:
        (mine, theirs) = (row["split"][side] for side in ("ours", "trl"))
        lines.append(
            f"of a step, matrix products take {mine['products']:.1f} s (TRL {theirs['products']:.1f}), all else {mine['rest']:.1f} s "
            f"(TRL {theirs['rest']:.1f}: {theirs['rest'] / mine['rest']:.1f} times as long)"
        )
    return "\n".join(lines)


def keep(path: Path, row: dict[str, Any]) -> None:
    """Put the row into the results, one a (dtype of TRL, length of row)."""
    rows = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else []
    same = lambda other: all(other[key] == row[key] for key in ("trl_dtype", "our_dtype", "seq_len", "cpu"))  # noqa: E731
    rows = [other for other in rows if not same(other)] + [row]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


def cpu_name() -> str:
    """The processor and whether it multiplies bf16 in hardware."""
    from penname.carriers.loading import cpu_has_bf16

    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines() if Path("/proc/cpuinfo").exists() else []
    name = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), "unknown")
    return f"{name}, {'bf16 in hardware' if cpu_has_bf16() else 'no bf16 in hardware'}"


def cpu_flags() -> list[str]:
    """The vector and matrix instructions of the processor, as torch sees them."""
    import torch

    kinds = ("avx", "amx", "fma", "neon", "sve", "bf16", "sme", "arm_")
    return sorted(name for name, present in torch.cpu.get_capabilities().items() if present is True and name.startswith(kinds))


def resident_gb() -> float:
    with Path("/proc/self/statm").open() as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e9


if __name__ == "__main__":
    main()
