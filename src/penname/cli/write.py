"""``penname write``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from penname.cli.options import HERE, Json, Scale, Set, Where

COLUMN_MIN = 36  # characters in which a passage still reads
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # but tab and newline


def write(
    beat: Annotated[str | None, typer.Argument(metavar="BEAT", help="One line of what happens next, at most 20 words.")] = None,
    where: Where = HERE,
    overrides: Set = [],
    run: Annotated[str | None, typer.Option("--run", help="Which run; the one with the lowest held-out loss where not given.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Another seed, another passage.")] = 1,
    temperature: Annotated[float | None, typer.Option("--temperature", min=0.0, help="0 takes the likeliest token.")] = None,
    top_p: Annotated[float | None, typer.Option("--top-p", help="Nucleus sampling.")] = None,
    candidates: Annotated[int, typer.Option("--candidates", min=1, help="So many passages for the beat.")] = 1,
    context: Annotated[Path | None, typer.Option("--context", help="A file with the text so far.")] = None,
    beats: Annotated[Path | None, typer.Option("--beats", help="A file of beats, one a line: a whole scene.")] = None,
    cast: Annotated[str, typer.Option("--cast", help='Names to use: "Anne Hart, Mr. Lowe".')] = "",
    compare: Annotated[bool, typer.Option("--compare", help="The base model and every run side by side.")] = False,
    scale: Scale = 1.0,
    merged: Annotated[Path | None, typer.Option("--merged", metavar="DIR", help="A merged export instead of a run.")] = None,
    server: Annotated[str | None, typer.Option("--server", metavar="URL", help="A running server: vLLM or llama.cpp.")] = None,
    model: Annotated[str, typer.Option("--model", help="What the server calls the adapter, where it has more than one.")] = "",
    json: Json = False,
) -> None:
    """Write a passage from a beat, in the voice; it streams as it is written.

    Example: penname -C bronte write "Jane finds the attic door unlocked." --seed 3
    """
    from penname.core.beatstyle import style_warning
    from penname.core.errors import BadInput
    from penname.core.files import json_text, read_text
    from penname.core.folder import open_voice
    from penname.core.progress import say
    from penname.serving import write as writing
    from penname.serving.voices import said_verdict

    voice = open_voice(where, overrides)
    if (beat is None) == (beats is None):
        raise BadInput('write wants one beat, or a file of them with --beats: penname write "The carriage is late."')
    lines = writing.read_beats(beats) if beats else [writing.check_beat(beat or "")]
    lines = [writing.with_cast(line, cast) for line in lines]
    settings = writing.sampling(voice, temperature, top_p)
    earlier = [("", read_text(context).strip())] if context else []
    if warning := style_warning(lines[0], writing.trained_style(voice)):
        say(warning)
    rows = []
    told = False
    for pen in writing.pens(voice, run=run, merged=merged, server=server, model=model, compare=compare, scale=scale):
        if not told:
            say(said_verdict(voice))
            told = True
        if not (json or compare) and candidates == 1 and len(lines) == 1:
            for piece in writing.stream_passage(pen, lines[0], settings, seed, earlier):
                print(_shown(piece), end="", flush=True)
            print()
            return
        for line, texts in writing.write_passages(pen, lines, settings, seed, candidates=candidates, context=earlier):
            rows.append({"who": pen.name, "beat": line, "passages": texts})
            if not (json or compare):
                _print_passages(texts)
    if json:
        print(json_text(rows), end="")
    elif compare:
        _print_side_by_side(rows)


def _shown(text: str) -> str:
    """What may be shown of what a model or a server wrote: a terminal obeys control characters, so none reaches it."""
    return _CONTROL.sub("", text)


def _print_passages(texts: list[str]) -> None:
    for number, text in enumerate(map(_shown, texts), 1):
        print(f"-- {number}\n{text}\n" if len(texts) > 1 else f"{text}\n", flush=True)


def _print_side_by_side(rows: list[dict[str, Any]]) -> None:
    """A column for each who wrote where the terminal is wide enough, else one below the other."""
    from rich.console import Console
    from rich.table import Table

    by_name: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        by_name.setdefault(row["who"], []).append(row)
    console = Console(highlight=False, markup=False)
    wide = console.width >= COLUMN_MIN * len(by_name)
    for own in zip(*by_name.values(), strict=True):  # one row a name, all of the same beat
        print(f"[{own[0]['beat']}]\n")
        if not wide:
            for row in own:
                print(f"== {row['who']}\n")
                _print_passages(row["passages"])
            continue
        table = Table(*by_name, box=None, padding=(0, 3, 1, 0))
        for texts in zip(*(row["passages"] for row in own), strict=True):
            table.add_row(*map(_shown, texts))
        console.print(table)
