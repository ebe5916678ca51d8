"""A GPU machine in under ten minutes: rows of ``carrier bench --random-init`` at seq_len 4096, TRL beside them, and the preflight on CUDA.

    python benchmarks/gpu.py [--carrier NAME ...] [--seq-len 4096] [--minutes 9.5] [--results FILE]

Needs no weights: every model is made from its public configuration, or from that of a carrier's folder. Penname's rows come first, then the
preflights, then TRL; what does not fit --minutes is left out by name. Prints a table and writes results/gpu.json after every row. Without
a CUDA device it says so and stops. It has not run on a GPU yet: none was at hand when it was written; a test runs it with --device cpu.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks/results/gpu.json"
CARRIERS = ("qwen3-0.6b", "qwen3-1.7b", "qwen3-4b", "qwen3.5-0.8b")
DOCUMENT = 512  # tokens
SIDE_SECONDS = 150


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--carrier", action="append", help="a known name or a carrier's folder; may be given again")
    parser.add_argument("--seq-len", type=int, default=4096)
    parser.add_argument("--minutes", type=float, default=9.5, help="for everything")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--results", type=Path, default=RESULTS)
    parser.add_argument("--side", choices=tuple(SIDES), help=argparse.SUPPRESS)
    args = parser.parse_args()
    carriers = args.carrier or list(CARRIERS)
    if args.side:
        print(json.dumps(SIDES[args.side](carriers[0], args.seq_len, args.device)))
        return
    import torch

    if args.device == "cuda" and not torch.cuda.is_available():
        print("gpu: left out, torch sees no CUDA device here")
        return
    until = time.monotonic() + args.minutes * 60
    rows: list[dict[str, Any]] = [{"carrier": Path(carrier).name} for carrier in carriers]
    for side in SIDES:
        for row, carrier in zip(rows, carriers, strict=True):
            print(f"gpu: {side} {row['carrier']}", file=sys.stderr, flush=True)
            row[side] = in_process(side, carrier, args, until - time.monotonic())
            args.results.parent.mkdir(parents=True, exist_ok=True)
            args.results.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    print(table(rows))


def in_process(side: str, carrier: str, args: argparse.Namespace, seconds_left: float) -> dict[str, Any]:
    """A side in a process of its own, so that neither's memory nor its failure touches the other; a failure is a sentence in its place."""
    if seconds_left < 5:
        return {"failed": "left out: the time was over"}
    seconds = min(SIDE_SECONDS, seconds_left)
    where = ["--carrier", str(Path(carrier).resolve()) if Path(carrier).is_dir() else carrier, "--device", args.device]
    command = [sys.executable, "-P", str(Path(__file__).resolve()), "--side", side, *where, "--seq-len", str(args.seq_len)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(command, capture_output=True, text=True, timeout=seconds, cwd=folder)
    except subprocess.TimeoutExpired:
        return {"failed": f"took more than {seconds:.0f} s"}
    if done.returncode != 0:
        return {"failed": (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[-1]}
    row: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return {"failed": f"out of memory: {row['why']}"} | row if row.get("out_of_memory") else row


def our_row(carrier: str, seq_len: int, device: str) -> dict[str, Any]:
    """The row of ``carrier bench``."""
    from penname.training.bench import BenchSpec, bench_step

    return bench_step(BenchSpec(carrier, not Path(carrier).is_dir(), seq_len, document_tokens=DOCUMENT, device=device))


def configuration(carrier: str) -> dict[str, Any]:
    from penname.carriers.facts import read_config
    from penname.carriers.known import known_configuration

    return read_config(Path(carrier)) if Path(carrier).is_dir() else known_configuration(carrier)


def trl_row(carrier: str, seq_len: int, device: str, steps: int = 8) -> dict[str, Any]:
    """TRL's SFTTrainer with packing and the same LoRA on the same random model, and documents of the same length."""
    import torch
    from datasets import Dataset
    from peft import LoraConfig
    from transformers import PreTrainedTokenizerFast, TrainerCallback
    from trl import SFTConfig, SFTTrainer

    from penname.carriers.random_init import random_model
    from penname.carriers.targets import ATTENTION_MLP

    config = configuration(carrier)
    model = random_model(config, device, torch.bfloat16 if device == "cuda" else torch.float32)
    draw = torch.Generator().manual_seed(0)
    count = steps * seq_len // DOCUMENT + 8
    ids = torch.randint(0, config["vocab_size"], (count, DOCUMENT), generator=draw).tolist()
    masked = DOCUMENT // 10
    rows = [{"input_ids": row, "completion_mask": [0] * masked + [1] * (DOCUMENT - masked)} for row in ids]
    arguments = SFTConfig(
        output_dir="trl-out", per_device_train_batch_size=1, max_steps=steps, max_length=seq_len, packing=True, bf16=device == "cuda",
        logging_steps=1, report_to=[], save_strategy="no", gradient_checkpointing=False, use_cpu=device == "cpu", disable_tqdm=True,
    )  # fmt: skip
    lora = LoraConfig(r=32, lora_alpha=64, task_type="CAUSAL_LM", target_modules=list(ATTENTION_MLP))
    trainer = SFTTrainer(
        model=model, args=arguments, train_dataset=Dataset.from_list(rows), processing_class=bare_tokenizer(PreTrainedTokenizerFast),
        peft_config=lora,
    )  # fmt: skip
    seconds: list[float] = []

    class Clock(TrainerCallback):  # type: ignore[misc]
        def on_step_begin(self, *_: Any, **__: Any) -> None:
            self.started = time.perf_counter()

        def on_step_end(self, *_: Any, **__: Any) -> None:
            if device == "cuda":
                torch.cuda.synchronize()
            seconds.append(time.perf_counter() - self.started)

    trainer.add_callback(Clock())
    trainer.train()
    peak = torch.cuda.max_memory_allocated() if device == "cuda" else None
    return {"tokens_per_second": round(seq_len / statistics.median(seconds[3:]), 1), "peak_bytes": peak}


def bare_tokenizer(kind: Any) -> Any:
    """TRL wants a tokenizer beside rows that are tokenised already; it only asks it for the end token."""
    from tokenizers import Tokenizer, models

    tokenizer = Tokenizer(models.WordLevel({"<end>": 0}, unk_token="<end>"))
    return kind(tokenizer_object=tokenizer, eos_token="<end>", pad_token="<end>")


def preflight_row(carrier: str, seq_len: int, device: str) -> dict[str, Any]:
    """Isolation, reach and loss, proved on this device for the packed attention and recurrence that it resolves."""
    import numpy as np
    import torch

    from penname.carriers.random_init import random_model
    from penname.core.config import TrainingConfig
    from penname.training.carrier import prepare_model
    from penname.training.fused import fuse_model
    from penname.training.lora import attach_lora
    from penname.training.preflight import Pieces, prove_isolation, prove_loss, prove_reach, stirred_adapter

    config = configuration(carrier)
    model = random_model(config, device, torch.bfloat16 if device == "cuda" else torch.float32)
    resolved = prepare_model(model)
    settings = TrainingConfig()
    peft_model = attach_lora(model, settings, seed=1)
    resolved |= fuse_model(model)
    draw = np.random.default_rng(0)
    pieces = Pieces(tuple(draw.integers(0, config["vocab_size"], length) for length in (64, 64, 64)))  # type: ignore[arg-type]
    with stirred_adapter(peft_model):
        return {
            "resolved": resolved,
            "isolation": prove_isolation(peft_model, pieces),
            "reach": prove_reach(peft_model, pieces, settings),
            "loss": prove_loss(peft_model, pieces),
        }


SIDES: dict[str, Callable[[str, int, str], dict[str, Any]]] = {"ours": our_row, "preflight": preflight_row, "trl": trl_row}


def table(rows: list[dict[str, Any]]) -> str:
    lines = [f"{'carrier':14}{'tokens/s':>10}{'TRL':>10}{'ratio':>7}{'of matmul':>11}{'peak GB':>9}  preflight"]
    for row in rows:
        ours, trl, proof = row["ours"], row["trl"], row["preflight"]
        mine, theirs = ours.get("tokens_per_second"), trl.get("tokens_per_second")
        ratio = f"{mine / theirs:.2f}" if mine and theirs else "-"
        share, peak = ours.get("matmul_share", 0), (ours.get("peak_bytes") or 0) / 1e9
        cells = f"{mine or 0:>10,.0f}{theirs or 0:>10,.0f}{ratio:>7}{share:>11.0%}{peak:>9.2f}"
        lines.append(f"{row['carrier']:14}{cells}  {proof.get('failed', 'passed')}")
        lines += [f"  {name}: {side['failed']}" for name, side in (("ours", ours), ("TRL", trl)) if "failed" in side]
    return "\n".join(lines)


if __name__ == "__main__":
    main()
