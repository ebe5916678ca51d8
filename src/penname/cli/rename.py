"""``penname rename``."""

from __future__ import annotations

from penname.cli.options import HERE, Json, Set, Where


def rename(where: Where = HERE, overrides: Set = [], json: Json = False) -> None:
    """Make the renamed copies and prove each of them: 1, 2, ... to train on, and 0 for judging.

    Example: penname -C bronte rename --set copies.count=8
    """
    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.core.lock import hold
    from penname.core.progress import format_count
    from penname.renaming.stage import run_rename

    voice = open_voice(where, overrides)
    with hold(voice.path, "copies"):
        manifest = run_rename(voice)
    if json:
        print(json_text({"folder": str(voice.copies), **manifest.counts}), end="")
        return
    counts = manifest.counts
    print(
        f"{format_count(counts['copies'], 'copy')} of {format_count(counts['books'], 'book')} and one for judging, each proved: "
        f"{counts['edits']:,} edits, {counts['name_words']:,} name words, {counts['surfaces_searched']:,} forms searched for and not found"
    )
