"""``penname write``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penname.cli.options import HERE, Json, Set, Where


def write(
    beat: Annotated[str | None, typer.Argument(metavar="BEAT", help="One line of what happens next, at most 20 words.")] = None,
    where: Where = HERE,
    overrides: Set = [],
    run: Annotated[str | None, typer.Option("--run", help="Which run; the one with the lowest held-out loss where not given.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Another seed, another passage.")] = 1,
    temperature: Annotated[float | None, typer.Option("--temperature", help="0 takes the likeliest token.")] = None,
    top_p: Annotated[float | None, typer.Option("--top-p", help="Nucleus sampling.")] = None,
    candidates: Annotated[int, typer.Option("--candidates", min=1, help="So many passages for the beat.")] = 1,
    context: Annotated[Path | None, typer.Option("--context", help="A file with the text so far.")] = None,
    beats: Annotated[Path | None, typer.Option("--beats", help="A file of beats, one a line: a whole scene.")] = None,
    cast: Annotated[str, typer.Option("--cast", help='Names to use: "Anne Hart, Mr. Lowe".')] = "",
    compare: Annotated[bool, typer.Option("--compare", help="The base model and every run side by side.")] = False,
    scale: Annotated[float, typer.Option("--scale", help="A weaker (0.5) or stronger (1.2) voice.")] = 1.0,
    json: Json = False,
) -> None:
    """Write a passage from a beat, in the voice; it streams as it is written.

    Example: penname -C bronte write "Jane finds the attic door unlocked." --seed 3
    """
    from penname.core.errors import BadInput
    from penname.core.files import json_text, read_text
    from penname.core.folder import open_voice
    from penname.core.progress import say
    from penname.serving import write as writing
    from penname.serving.voices import open_run, said_verdict

    voice = open_voice(where, overrides)
    if (beat is None) == (beats is None):
        raise BadInput('write wants one beat, or a file of them with --beats: penname write "The carriage is late."')
    lines = writing.read_beats(beats) if beats else [writing.check_beat(beat or "")]
    lines = [writing.with_cast(line, cast) for line in lines]
    given = {key: value for key, value in (("temperature", temperature), ("top_p", top_p)) if value is not None}
    settings = voice.config.sampling.model_copy(update=given)
    earlier = [("", read_text(context).strip())] if context else []
    from penname.core.beatstyle import style_warning

    if warning := style_warning(lines[0], writing.trained_style(voice)):
        say(warning)
    say(said_verdict(voice))
    chosen = open_run(voice, run)
    carrier = voice.config.carrier
    opened = {"device": carrier.device, "dtype": carrier.dtype}
    if compare:
        names = [name for name in voice.finished_runs() if run is None or name == run]
        pens = [(None, "base model"), *((open_run(voice, name).adapter, name) for name in names)]
    else:
        pens = [(chosen.adapter, chosen.name)]
    rows = []
    for adapter, name in pens:
        pen = writing.open_pen(chosen.carrier, name, adapter, scale=scale, **opened)
        if not (json or compare) and candidates == 1 and len(lines) == 1:
            for piece in writing.stream_passage(pen, lines[0], settings, seed, earlier):
                print(piece, end="", flush=True)
            print()
            return
        for line, texts in writing.write_passages(pen, lines, settings, seed, candidates=candidates, context=earlier):
            rows.append({"who": name, "beat": line, "passages": texts})
    if json:
        print(json_text(rows), end="")
        return
    for row in rows:
        if len(pens) > 1:
            print(f"\n== {row['who']}")
        for number, text in enumerate(row["passages"], 1):
            print(f"\n-- {number}\n{text}" if candidates > 1 else f"\n{text}")
