"""``penname export dataset``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penname.cli.options import HERE, Json, Set, Where


def dataset(
    directory: Annotated[
        Path | None, typer.Argument(metavar="[DIR]", help="Where to; exports/dataset in the voice folder if not given.")
    ] = None,
    where: Where = HERE,
    overrides: Set = [],
    json: Json = False,
) -> None:
    """Write the beat and passage pairs as JSONL and Parquet, with prompt and completion.

    Example: penname -C bronte export dataset pairs
    """
    from penname.beats.dataset import export_dataset
    from penname.carriers.prompt import beat_segment, passage_segment
    from penname.core.files import json_text
    from penname.core.folder import open_voice

    voice = open_voice(where, overrides)
    folder = directory or voice.path / "exports" / "dataset"
    counts = export_dataset(voice, folder, beat_segment, passage_segment)
    if json:
        print(json_text(counts | {"folder": str(folder)}), end="")
    else:
        print(f"{counts['train']} training and {counts['heldout']} held-out pairs in {folder}")
