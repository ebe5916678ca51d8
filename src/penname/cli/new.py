"""``penname new``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penname.cli.options import Set


def new(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The folder to make.")],
    book: Annotated[
        list[str] | None, typer.Option("--book", metavar="SOURCE", help="A book by the author: file, folder, or gutenberg:ID.")
    ] = None,
    other: Annotated[list[str] | None, typer.Option("--other", metavar="SOURCE", help="A book by another author of the time.")] = None,
    name: Annotated[str, typer.Option(help="What the voice is called; the folder's name where not given.")] = "",
    overrides: Set = [],
) -> None:
    """Make a voice folder.

    Example: penname new bronte --book jane-eyre.txt --book gutenberg:9182 --other emma.txt --other adam-bede.txt
    """
    from penname.voice.new import new_voice

    voice = new_voice(directory, book or [], other or [], name=name, overrides=overrides)
    print(voice.path)
    typer.echo(f"made {voice.path}/voice.toml; next: penname -C {voice.path} run", err=True)
