"""``penname sweep``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penname.cli.carrier_bench import ROWS as BENCH_ROWS
from penname.cli.options import HERE, Json, Where, Yes


def sweep(
    table: Annotated[Path, typer.Argument(help="A TOML file with a \\[sweep] table.")],
    where: Where = HERE,
    ray: Annotated[bool, typer.Option("--ray", help="Run as tasks of the Ray cluster that is up, not here one by one.")] = False,
    rows: Annotated[Path, typer.Option("--rows", help="Rows of `penname carrier bench` to price the runs by.")] = BENCH_ROWS,
    yes: Yes = False,
    json: Json = False,
) -> None:
    """Train a table of arms: carriers x seeds x corpus sizes x copies x target modules. Complete runs are skipped; run it again to go on.

    Before it asks it prices what is left: hours and memory of a run of each arm, and of all.

    Example: penname -C bronte sweep sizes.toml

    \\[sweep]
    carriers = ["qwen3-0.6b", "qwen3-1.7b"]
    seeds = [1, 2]
    corpus_words = [300000, 0]
    """
    import sys

    from penname.carriers.bench_rows import read_rows
    from penname.core.errors import NeedsPerson
    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.core.progress import format_count, progress, say
    from penname.jobs.ray_sweep import on_ray
    from penname.jobs.sweep import Outcome, one_by_one, read_sweep, run_sweep
    from penname.voice.price import price_sweep

    voice = open_voice(where)
    plan = read_sweep(table)
    price = price_sweep(voice.path, plan, read_rows(rows) if rows.exists() or rows != BENCH_ROWS else [])
    for arm in price.arms:
        if arm.runs_left:
            say(arm.sentence)
    say(price.sentence)
    if not yes and price.runs_left:
        if not sys.stdin.isatty():
            raise NeedsPerson(f"a sweep of {format_count(price.runs_left, 'run')} wants a yes; say it with: penname sweep {table} --yes")
        typer.confirm("Start?", abort=True, err=True)
    with progress("sweep", len(plan.tasks)) as count:

        def tell(outcome: Outcome) -> None:
            count.advance()
            say(f"{'done' if outcome.code == 0 else 'FAILED'}: {outcome.task.label}: {outcome.last_line}")

        result = run_sweep(voice.path, plan, tell, on_ray if ray else one_by_one)
    if json:
        print(json_text([{"run": o.task.label, "code": o.code, "said": o.last_line} for o in result.outcomes]), end="")
    else:
        print(f"{len(result.outcomes) - len(result.failed)} of {len(result.outcomes)} runs done; judge them with: penname judge")
    if result.failed:
        raise typer.Exit(1)
