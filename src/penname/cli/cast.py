"""``penname cast``."""

from __future__ import annotations

from typing import Annotated

import typer

from penname.cli.options import HERE, Json, Set, Where


def cast(
    where: Where = HERE,
    overrides: Set = [],
    decide: Annotated[str, typer.Option(help='"ask" stops at what a person must decide, "auto" takes the proposed answers.')] = "",
    book: Annotated[str, typer.Option(help="Only this book: for --show, or for the decision that is written.")] = "",
    show: Annotated[str, typer.Option(metavar="NAME", help='Show everything about one name; "all" lists the people and places.')] = "",
    merge: Annotated[tuple[str, str], typer.Option(metavar="A B", help="A and B are one person.")] = ("", ""),
    link: Annotated[tuple[str, str], typer.Option(metavar="FORM B", help="The form, and it alone, belongs to B.")] = ("", ""),
    share: Annotated[list[str], typer.Option(metavar="NAME", help="Give three times or more: a form, and those who bear it.")] = [],
    split: Annotated[list[str], typer.Option(metavar="A", help="This name is somebody else; several make one new person.")] = [],
    kind: Annotated[tuple[str, str], typer.Option(metavar="A KIND", help="A is a person, a place or other.")] = ("", ""),
    gender: Annotated[tuple[str, str], typer.Option(metavar="A GENDER", help="A is female, male or unknown.")] = ("", ""),
    keep: Annotated[list[str], typer.Option(metavar="A", help="A keeps its name in every copy.")] = [],
    drop: Annotated[list[str], typer.Option(metavar="A", help="A is no name.")] = [],
    json: Json = False,
) -> None:
    """Find the people and places of the books, and stop at what only a person can decide.

    Example: penname -C bronte cast --merge "Miss Temple" "Maria Temple"
    """
    from penname.cast.decide import Request, books_named, decide_by_hand
    from penname.cast.show import cast_summary, show_cast
    from penname.cast.stage import run_cast, show_name
    from penname.core.errors import BadInput
    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.core.lock import hold
    from penname.core.stage import require_whole
    from penname.core.store import load_casts

    voice = open_voice(where, overrides)
    request = Request(merge, link, tuple(share), tuple(split), kind, gender, tuple(keep), tuple(drop))
    if show and (request.any() or decide):
        raise BadInput("--show only shows, and nothing was decided; give the decision by itself, then --show")
    if show:
        for folder, verb in ((voice.books, "book"), (voice.cast, "cast")):
            require_whole(folder, verb)
    if show and show != "all":
        print(show_name(voice, show, book))
        return
    if not show:
        with hold(voice.path, "cast"):
            if request.any():
                decide_by_hand(voice, request, book)
            run_cast(voice, decide)
    books = books_named(voice, book)
    casts = load_casts(voice.cast, books)
    if json:
        print(json_text([cast_summary(item) for item in casts]), end="")
    else:
        print("\n\n".join(show_cast(b, c) for b, c in zip(books, casts, strict=True)))
