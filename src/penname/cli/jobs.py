"""``penname jobs``."""

from __future__ import annotations

from penname.cli.options import HERE, Json, Where


def jobs(where: Where = HERE, json: Json = False) -> None:
    """Show the jobs of this voice: state, step, loss, rate and time left.

    Example: penname -C bronte jobs
    """
    from dataclasses import asdict

    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.core.progress import format_seconds
    from penname.jobs.show import job_rows

    rows = job_rows(open_voice(where).path)
    if json:
        print(json_text([asdict(row) for row in rows]), end="")
        return

    from rich.text import Text

    from penname.cli.tables import console, new_table

    if not rows:
        print("no job was launched here; start one with: penname launch run")
        return
    colours = {"running": "cyan", "done": "green", "failed": "red", "stopped": "yellow", "died": "red"}
    table = new_table("job", "command", "state", "step", "loss", "tokens/s", "left", right=(3, 4, 5, 6))
    for row in rows:
        table.add_row(
            Text(row.id),
            Text(row.command),
            Text(row.state + (f" ({row.why})" if row.why else ""), style=colours[row.state]),
            f"{row.step}/{row.steps or '?'}" if row.step else "",
            f"{row.loss:.3f}" if row.loss is not None else "",
            f"{row.tokens_per_second:,.0f}" if row.tokens_per_second else "",
            format_seconds(row.seconds_left) if row.seconds_left is not None else "",
        )
    console().print(table)
