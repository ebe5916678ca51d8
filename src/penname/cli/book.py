"""``penname book``."""

from __future__ import annotations

from typing import Annotated

import typer

from penname.cli.options import HERE, Json, Set, Where


def book(
    source: Annotated[
        str, typer.Argument(help="Only read this one (a file, a folder of chapters, gutenberg:ID) and show it; nothing is written.")
    ] = "",
    where: Where = HERE,
    overrides: Set = [],
    show: Annotated[bool, typer.Option("--show", help="Print chapters, words, alphabet, removals and oddities of each book.")] = False,
    json: Json = False,
) -> None:
    """Clean the books of the voice, with an account of every line that was removed.

    Example: penname -C bronte book --show
    """
    from penname.books.read import read_book
    from penname.books.show import book_summary, load_with_removed, show_book
    from penname.core.config import load_config
    from penname.core.files import json_text

    if source:
        toml = where / "voice.toml"
        found = read_book(source, settings=load_config(toml if toml.is_file() else None, overrides).books)
        print(json_text(book_summary(found)) if json else show_book(found) + "\n", end="")
        return

    from penname.books.stage import run_books
    from penname.core.folder import open_voice
    from penname.core.lock import hold
    from penname.core.progress import format_count
    from penname.core.stage import require_whole
    from penname.voice.graph import stage_named, stage_state

    voice = open_voice(where, overrides)
    if not (show and stage_state(voice, stage_named("books")).state == "fresh"):
        with hold(voice.path, "books"):
            manifest = run_books(voice)
        if not show:
            counts = manifest.counts
            said = (
                f"{format_count(counts['books'], 'book')}, {counts['words']:,} words, {format_count(counts['chapters'], 'chapter')}, "
                f"{counts['heldout_chapters']} of them "
                f"held out ({counts['heldout_words']:,} words); see each with: penname book --show\n"
            )
            print(json_text({"folder": str(voice.books), **counts}) if json else said, end="")
            return
    require_whole(voice.books, "book")
    books = [load_with_removed(path.parent) for path in sorted(voice.books.glob("*/book.json"))]
    print(json_text([book_summary(item) for item in books]) if json else "\n\n".join(show_book(item) for item in books) + "\n", end="")
