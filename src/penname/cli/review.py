"""``penname review``."""

from __future__ import annotations

from typing import Annotated

import typer

from penname.cli.options import HERE, Set, Where


def review(
    where: Where = HERE,
    overrides: Set = [],
    port: Annotated[int, typer.Option("--port", help="0 takes a free one.")] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open a browser.")] = False,
) -> None:
    """Decide names on a local page, by keyboard. It listens on this machine only; stop it with Ctrl-C.

    Example: penname -C bronte review
    """
    import webbrowser

    from penname.cast import build_cast, load_decisions, save_decisions
    from penname.cast.stage import proposed
    from penname.core.folder import open_voice
    from penname.core.progress import say
    from penname.core.stage import require_whole
    from penname.core.store import load_books
    from penname.pages.desk import CastTools, Desk
    from penname.pages.server import serve_review
    from penname.renaming import rename

    voice = open_voice(where, overrides)
    require_whole(voice.books, "book")
    books = load_books(voice.books)
    config = voice.config
    tools = CastTools(
        load=lambda: load_decisions(voice.decisions),
        save=lambda decisions: save_decisions(voice.decisions, decisions),
        build=lambda of, decisions: build_cast(of, decisions, settings=config.cast, series=config.voice.series),
        answer=lambda row, book, question: proposed(row, book, question, by="person"),
        rename=lambda book, cast: rename(book, cast, config.voice.seed, 1, all_books=books, places=config.copies.places),
    )
    say("reading the books")

    def ready(address: str) -> None:
        print(address, flush=True)
        if not no_open:
            webbrowser.open(address)

    serve_review(Desk(voice, books, tools), port, ready)
    say("next: penname run")
