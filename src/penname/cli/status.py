"""``penname status``."""

from __future__ import annotations

from collections.abc import Mapping

from penname.cli.options import HERE, Json, Set, Where

# The two or three figures of a stage that a person looks for; --json has them all.
HOLDS = {
    "books": ("books", "words", "chapters"),
    "cast": ("people", "places", "unresolved"),
    "copies": ("copies", "edits"),
    "beats": ("beats", "rejected"),
    "shards": ("rows", "learned_tokens"),
    "register": ("passages", "samples"),
    "control": ("samples", "passed"),
    "judge": ("runs", "samples"),
    "report": ("runs",),
}

FULL_COLUMNS = 64  # a narrower terminal gets no size and time, so that words stay whole


def status(where: Where = HERE, overrides: Set = [], json: Json = False) -> None:
    """Show each stage (missing, fresh, stale, running or blocked), what it holds, disk use, and the next command.

    Example: penname -C bronte status
    """
    from dataclasses import asdict

    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.core.progress import as_called
    from penname.voice.status import voice_status

    found = voice_status(open_voice(where, overrides))
    if json:
        print(json_text({**asdict(found), "next_command": as_called(found.next_command)}), end="")
        return

    from rich.text import Text

    from penname.cli.tables import console, new_table
    from penname.core.progress import format_bytes, format_seconds

    colours = {"fresh": "green", "stale": "yellow", "missing": "bright_black", "running": "cyan", "blocked": "red"}
    title = Text(f"{found.voice} on {found.carrier}")
    out = console()
    headings = ("stage", "state", "holds", "size", "took")[: 5 if out.width >= FULL_COLUMNS else 3]
    table = new_table(*headings, right=(3, 4), title=title, title_justify="left")
    for row in found.rows:
        holds = _holds(row.stage, row.counts)
        why = f" ({row.why})" if row.why else ""
        took = format_seconds(row.seconds) if row.seconds is not None else ""
        state = Text(row.state + why, style=colours[row.state])
        size = format_bytes(row.size_bytes) if row.size_bytes else ""
        table.add_row(*(Text(row.stage), state, Text(holds), size, took)[: len(headings)])
    out.print(table)
    out.print(f"{format_bytes(found.size_bytes)} in all; next: ", Text(as_called(found.next_command), style="bold"), sep="")


def _holds(stage: str, counts: Mapping[str, object]) -> str:
    told = []
    for key in HOLDS.get(stage, ()):
        value = counts.get(key)
        if key == "passed" and key in counts:
            told.append("passed" if value else "failed")
        elif isinstance(value, int) and (value or key != "unresolved"):
            name = key.replace("_", " ")
            told.append(f"{value:,} {name[:-1] if value == 1 and name.endswith('s') else name}")
    return ", ".join(told)
