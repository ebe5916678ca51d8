"""``penname carrier bench``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penname.cli.options import Json

ROWS = Path("bench.jsonl")


def bench(
    carriers: Annotated[
        list[str], typer.Argument(metavar="CARRIER...", help="Staged carriers or folders; known names with --random-init.")
    ],
    random_init: Annotated[
        bool, typer.Option("--random-init", help="Random weights from the built-in configuration: nothing is staged.")
    ] = False,
    seq_len: Annotated[list[int], typer.Option("--seq-len", min=2, help="Tokens a packed row; may be repeated.")] = [2048],
    batch: Annotated[list[int], typer.Option("--batch", min=1, help="Rows an optimizer step; may be repeated.")] = [1],
    checkpointing: Annotated[str, typer.Option(help="Gradient checkpointing: off, on, or both.")] = "off",
    attention: Annotated[list[str], typer.Option("--attention", help="auto, per-document, varlen or flex; may be repeated.")] = ["auto"],
    target_modules: Annotated[str, typer.Option(help="A preset: attention+mlp or attention+mlp+linear.")] = "attention+mlp",
    lora_rank: Annotated[int, typer.Option(min=1, help="r of LoRA.")] = 32,
    dtype: Annotated[str, typer.Option(help="bf16 or fp32.")] = "bf16",
    device: Annotated[str, typer.Option(help="auto, cpu or cuda.")] = "auto",
    threads: Annotated[int, typer.Option(min=0, help="CPU threads; 0 for all cores.")] = 0,
    out: Annotated[Path, typer.Option("--out", help="JSONL file that the rows are added to.")] = ROWS,
    json: Json = False,
) -> None:
    """Time the trainer's own step: forward, backward and AdamW; 3 warm-up steps and 10 measured, a row for each combination.

    Example: penname carrier bench qwen3-0.6b qwen3.5-0.8b --random-init --seq-len 4096
    """
    from itertools import product

    from penname.core.errors import BadInput
    from penname.core.files import jsonl_text, read_text, write_text
    from penname.core.progress import progress
    from penname.training.bench import BenchSpec, bench_row, check_spec

    if checkpointing not in ("off", "on", "both"):
        raise BadInput(f'--checkpointing is off, on or both (it is "{checkpointing}")')
    on_and_off = {"off": [False], "on": [True], "both": [False, True]}[checkpointing]
    specs = [
        BenchSpec(
            carrier, random_init, length, rows, gradient_checkpointing=checkpointed, attention=backend, target_modules=target_modules,
            lora_rank=lora_rank, dtype=dtype, device=device, threads=threads,
        )
        for carrier, length, rows, checkpointed, backend in product(carriers, seq_len, batch, on_and_off, attention)
    ]  # fmt: skip
    for spec in specs:
        check_spec(spec)
    write_text(out, read_text(out) if out.exists() else "")  # what cannot be kept is not measured
    with progress("bench", len(specs)) as bar:
        for spec in specs:
            row = bench_row(spec)
            with out.open("a", encoding="utf-8") as file:
                file.write(jsonl_text([row]))
            bar.advance()
            print(jsonl_text([row]).strip() if json else _sentence(row))


def _sentence(row: dict) -> str:
    checkpointing = "on" if row["gradient_checkpointing"] else "off"
    head = f"{row['carrier']}, seq_len {row['seq_len']}, batch {row['batch']}, checkpointing {checkpointing}"
    if row["out_of_memory"]:
        return f"{head}: out of memory ({row['why']})"
    return (
        f"{head}: {row['tokens_per_second']:,.0f} tokens/s (spread {row['spread']:.0%}), {row['peak_bytes'] / 1e9:.2f} GB at the peak, "
        f"{row['matmul_share']:.0%} of the {row['matmul_flops'] / 1e12:.2f} TFLOP/s of a {row['dtype']} matrix product; "
        f"LoRA on {row['lora_modules']} modules, {row['lora_parameters']:,} parameters; "
        + ", ".join(f"{key} {value}" for key, value in row["resolved"].items())
    )
