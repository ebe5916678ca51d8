"""``penname train``."""

from __future__ import annotations

from typing import Annotated

import typer

from penname.cli.options import HERE, Json, Set, Where, Yes


def train(
    where: Where = HERE,
    overrides: Set = [],
    seed: Annotated[int | None, typer.Option("--seed", help="Only the run of this seed; all of training.seeds without it.")] = None,
    yes: Yes = False,
    anyway: Annotated[bool, typer.Option("--anyway", help="A control has failed and training goes on nevertheless; recorded.")] = False,
    json: Json = False,
) -> None:
    """Train the runs of this configuration, one a seed; a run that was interrupted goes on from its newest checkpoint.

    Before the first step it proves isolation, mask, reach and sampling parity on the very model, and prints the hours of its plan.

    On several GPUs: torchrun --nproc-per-node 4 --no-python penname -C bronte train --yes

    Example: penname -C bronte train --seed 1 --set training.max_steps=200
    """
    import os
    import sys
    from contextlib import nullcontext

    from penname.core.files import json_text, read_json
    from penname.core.folder import open_voice
    from penname.core.lock import hold
    from penname.training.stage import planned_runs, run_train

    voice = open_voice(where, overrides)
    confirm = (lambda question: typer.confirm(question, err=True)) if sys.stdin.isatty() else None
    # One seed alone holds only its own run, so that a sweep can train several beside each other; runs only read the shards.
    # Under torchrun one process holds the lock for all of them.
    with hold(voice.path, "train") if seed is None and os.environ.get("RANK", "0") == "0" else nullcontext():
        run_train(voice, seed, yes=yes, anyway=anyway, confirm=confirm)
    records = [read_json(voice.runs / row.name / "run.json") for row in planned_runs(voice) if seed is None or row.seed == seed]
    if json:
        print(json_text(records), end="")
        return
    for record in records:
        best = f", best held-out loss {record['best']['loss']:.3f} at step {record['best']['step']}" if record["best"] else ""
        print(f"{record['run']}: {record['trained_tokens']:,} learned tokens in {record['steps_done']:,} steps{best}")
