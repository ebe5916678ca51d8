"""``penname run``."""

from __future__ import annotations

from typing import Annotated

import typer

from penname.cli.options import HERE, Json, Set, Where, Yes


def run(
    where: Where = HERE,
    to: Annotated[str | None, typer.Option("--to", metavar="STAGE", help="Stop after this stage.")] = None,
    decide: Annotated[str | None, typer.Option("--decide", help="'auto' takes the proposed answer to every question about names.")] = None,
    anyway: Annotated[bool, typer.Option("--anyway", help="Train although a control failed; recorded in the verdict.")] = False,
    yes: Yes = False,
    overrides: Set = [],
    json: Json = False,
) -> None:
    """Do what is missing or stale, in order: books, cast, copies, beats, shards, register, control, train, judge, report.

    Exit 3 where a person must decide names first; exit 4 where the instrument is blind. Interrupted anywhere, run it again.

    Example: penname -C bronte run --decide auto
    """
    from penname.core.errors import BadInput
    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.voice.run import RunOptions, run_voice

    if decide not in (None, "auto", "ask"):
        raise BadInput(f'--decide takes "auto" or "ask", and "{decide}" is neither')
    taken = run_voice(open_voice(where, overrides), to, RunOptions(decide, yes, anyway))
    if json:
        print(json_text({"seconds": taken}), end="")
