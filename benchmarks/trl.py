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
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TRL_SIDE = ROOT.parent / "shared/score/trl_side.py"
BOOK = ROOT.parent / "shared/books/raw/1260.txt"
RESULTS = ROOT / "benchmarks/results/trl.json"
CARRIER = "smollm2-135m"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--steps", type=int, default=6, help="optimizer steps a side; the first two do not count")
    parser.add_argument("--seq-len", type=int, default=2048)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--trl-dtype", choices=("bf16", "fp32"), default="bf16")
    parser.add_argument("--minutes", type=float, default=0.0, help="for all rounds together; 0: as long as they take")
    parser.add_argument("--book", type=Path, default=BOOK)
    parser.add_argument("--trl-side", type=Path, default=TRL_SIDE)
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--side", choices=("ours", "trl"), help=argparse.SUPPRESS)
    parser.add_argument("--pairs", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.side == "ours":
        print(json.dumps(our_side(args.pairs, args.seq_len, args.steps, args.threads)))
        return
    if args.side == "trl":
        trl_in_fp32(args.trl_side, args.pairs, args)
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
        count = write_pairs(args.book, pairs)
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
            keep(args.results, summary(args, count, rounds))  # so that a long comparison that is stopped keeps its rounds
    return summary(args, count, rounds)


def summary(args: argparse.Namespace, count: int, rounds: list[dict[str, Any]]) -> dict[str, Any]:
    """The medians of the paired ratios, and every round."""
    ratios = [r["ratio"] for r in rounds]
    return {
        "carrier": CARRIER,
        "pairs": count,
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


def run_side(side: str, pairs: Path, args: argparse.Namespace, folder: str) -> dict[str, Any]:
    """One side in a process of its own; its JSON line."""
    sizes = ["--seq-len", str(args.seq_len), "--steps", str(args.steps), "--threads", str(args.threads)]
    if side == "trl" and args.trl_dtype == "bf16":
        from penname.carriers import resolve_carrier

        command = [sys.executable, "-P", str(args.trl_side), str(resolve_carrier(CARRIER)), str(pairs), *sizes]
    else:
        command = [
            sys.executable,
            "-P",  # or this file's own name would stand before the trl package
            str(Path(__file__).resolve()),
            "--side",
            side,
            "--pairs",
            str(pairs),
            "--trl-side",
            str(args.trl_side),
            *sizes,
        ]
    environment = {**os.environ, "OMP_NUM_THREADS": str(args.threads)}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    if done.returncode != 0:
        raise SystemExit(f"{side} failed:\n{done.stderr[-2000:]}")
    row: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    row["cpu_seconds"] = round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)  # loading included
    return row


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


def our_side(pairs: Path, seq_len: int, steps: int, threads: int) -> dict[str, Any]:
    """The trainer's own path: packed rows, forward, backward, clipping, AdamW."""
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

    set_threads(threads)
    folder = resolve_carrier(CARRIER)
    tokenizer = load_tokenizer(folder)
    rows = [json.loads(line) for line in pairs.read_text(encoding="utf-8").splitlines()]
    documents = [encode_document(tokenizer, [(row["prompt"].strip()[1:-1], row["completion"])]) for row in rows]
    documents = [(ids, trained) for ids, trained in documents if len(ids) <= seq_len]
    packed = pack([len(ids) for ids, _ in documents], seq_len)
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
    rates, shares = [], []
    for step in range(steps):
        members = [documents[d] for d in packed[order[step % len(order)]]]
        ids, trained = (np.concatenate([np.array(part[i]) for part in members]) for i in (0, 1))
        batch = make_batch(ids, trained, tuple(len(part[0]) for part in members))
        started = time.perf_counter()
        forward_backward(model, batch, 1.0 / len(batch.targets))
        torch.nn.utils.clip_grad_norm_(parameters.values(), settings.clip_norm)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        seconds = time.perf_counter() - started
        rates.append(batch.tokens / seconds)
        shares.append(step_flops(model, model.config.to_dict(), [batch]) / seconds)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    matmul = matmul_rate(dtype, torch.device("cpu"))
    bf16 = matmul_rate(torch.bfloat16, torch.device("cpu"), repeats=1)
    return {
        "tokens_per_second": round(statistics.median(rates[2:]), 1),
        "loaded_gb": round(loaded, 2),
        "peak_gb": round(peak, 2),
        "dtype": str(dtype).removeprefix("torch."),
        "resolved": resolved,
        "matmul_gflops": round(matmul / 1e9, 1),
        "matmul_share": round(statistics.median(shares[2:]) / matmul, 3),
        "bf16_matmul_gflops": round(bf16 / 1e9, 1),
    }


def trl_in_fp32(script: Path, pairs: Path, args: argparse.Namespace) -> None:
    """TRL's side with float32 in the place of bf16, and nothing else changed."""
    from penname.carriers import resolve_carrier

    source = script.read_text(encoding="utf-8")
    for old, new in (("dtype=torch.bfloat16", "dtype=torch.float32"), ("bf16=True", "bf16=False")):
        if source.count(old) != 1:
            raise SystemExit(f"{script} has changed: it does not hold {old!r} once")
        source = source.replace(old, new)
    sizes = ["--seq-len", str(args.seq_len), "--steps", str(args.steps), "--threads", str(args.threads)]
    sys.argv = [str(script), str(resolve_carrier(CARRIER)), str(pairs), *sizes]
    exec(compile(source, str(script), "exec"), {"__name__": "__main__", "__file__": str(script)})


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
