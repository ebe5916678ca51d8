"""``penname control``."""

from __future__ import annotations

from typing import Annotated

import typer

from penname.cli.options import HERE, Json, Set, Where


def control(
    where: Where = HERE,
    overrides: Set = [],
    register: Annotated[bool, typer.Option("--register", help="Only write the registration.")] = False,
    json: Json = False,
) -> None:
    """Register thresholds, then show that the instrument can see: author against base model and others, and nothing against nothing.

    Run it before training. Exit 4 where a control fails.

    Example: penname -C bronte control
    """
    from penname.core.files import json_text, read_json
    from penname.core.folder import open_voice
    from penname.core.lock import hold
    from penname.judging.stage import require_sight, run_control, run_register

    voice = open_voice(where, overrides)
    with hold(voice.path, "register" if register else "control"):
        run_register(voice)
        if not register:
            run_control(voice)
    if register:
        registered = read_json(voice.judging / "registration.json")
        print(json_text(registered) if json else f"registered as {registered['hash'][:12]}", end="" if json else "\n")
        return
    controls = read_json(voice.judging / "controls.json")
    if json:
        print(json_text(controls), end="")
    else:
        from penname.cli.tables import console, new_table

        table = new_table("control", "AUC", "interval", "p", "blocks", right=(1, 2, 3, 4))
        for name, row in {**controls["positive"], **controls["negative"]}.items():
            interval = f"{row['low']:.2f} to {row['high']:.2f}"
            table.add_row(name, f"{row['auc']:.3f}", interval, f"{row['p']:.3f}", f"{row['n_high']} and {row['n_low']}")
        console().print(table)
    require_sight(voice)
