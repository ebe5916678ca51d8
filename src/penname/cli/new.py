"""``penname new``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penname.cli.options import Json, Set


def new(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make.")],
    book: Annotated[
        list[str] | None, typer.Option("--book", metavar="SOURCE", help="A book by the author: file, folder, or gutenberg:ID.")
    ] = None,
    other: Annotated[list[str] | None, typer.Option("--other", metavar="SOURCE", help="A book by another author of the time.")] = None,
    name: Annotated[str, typer.Option(help="What the voice is called; the folder's name where not given.")] = "",
    overrides: Set = [],
    json: Json = False,
) -> None:
    """Make a voice folder.

    Example: penname new bronte --book jane-eyre.txt --book gutenberg:9182 --other emma.txt --other adam-bede.txt
    """
    import shlex

    from penname.core.files import json_text
    from penname.core.progress import say
    from penname.voice.new import new_voice

    voice = new_voice(directory, book or [], other or [], name=name, overrides=overrides)
    print(json_text({"voice": voice.name, "folder": str(voice.path)}) if json else f"{voice.path}\n", end="")
    say(f"made {voice.path / 'voice.toml'}; next: penname -C {shlex.quote(str(voice.path))} run")
