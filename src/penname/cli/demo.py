"""``penname demo``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penname.cli.options import Json


def demo(
    directory: Annotated[Path, typer.Argument(metavar="[DIR]", help="Where to make the demo's voice folder.")] = Path("demo-voice"),
    json: Json = False,
) -> None:
    """Make a voice from the bundled story, on CPU, in about ten minutes, and write its report. Run again, it goes on.

    Example: penname demo
    """
    import shlex

    from penname.core.files import json_text
    from penname.core.progress import format_seconds
    from penname.voice.demo import BUDGET_SECONDS, run_demo

    result = run_demo(directory)
    if json:
        found = {"voice": str(result.voice.path), "verdict": result.verdict, "sentence": result.sentence, "seconds": result.seconds}
        print(json_text(found), end="")
        return

    from penname.cli.tables import console, new_table

    if result.seconds:
        total = sum(result.seconds.values())
        table = new_table("stage", "took", "share", "may take", right=(1, 2, 3))
        for name, seconds in result.seconds.items():
            table.add_row(name, format_seconds(seconds), f"{seconds / total:.0%}", format_seconds(BUDGET_SECONDS[name]))
        table.add_row("all", format_seconds(total), "", format_seconds(sum(BUDGET_SECONDS.values())))
        console(stderr=True).print(table)
    print(result.sentence)
    place = shlex.quote(str(result.voice.path))
    print(f'report: {result.voice.report.resolve()}; try next: penname -C {place} write "The tide takes the boat."')
