"""How books, casts, copies, passages and beats stand on disk: the formats of the voice folder, one writer and reader each."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from penname.core.errors import BadInput
from penname.core.files import json_text, jsonl_text, read_json, read_jsonl, read_text
from penname.core.values import (
    AlphabetRow,
    Beat,
    Book,
    Cast,
    Chapter,
    Edit,
    Entity,
    Mention,
    Passage,
    Question,
    RenamedCopy,
    apply_edits,
)


def _put(path: Path, text: str) -> None:
    # Plain writes: these go into a stage_writer's folder, which syncs and renames the whole.
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode("utf-8"))


@contextmanager
def _as_written(path: Path) -> Iterator[None]:
    """BadInput where what is read from ``path`` is not of the shape that was written there."""
    try:
        yield
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"{path} is damaged or of another version ({error}); penname check names the verb that makes it again") from None


def save_book(folder: Path, book: Book) -> None:
    """Write ``text.txt``, ``book.json`` and ``removed.jsonl`` into ``folder``."""
    data = asdict(book)
    del data["text"], data["removed"]
    _put(folder / "text.txt", book.text)
    _put(folder / "book.json", json_text(data))
    _put(folder / "removed.jsonl", jsonl_text(asdict(span) for span in book.removed))


def load_book(folder: Path) -> Book:
    """The Book in ``folder``, without the removed spans (they are an account, not an input)."""
    data = read_json(folder / "book.json")
    with _as_written(folder / "book.json"):
        data["chapters"] = tuple(Chapter(**row) for row in data["chapters"])
        data["alphabet"] = tuple(AlphabetRow(**row) for row in data["alphabet"])
        data["oddities"] = tuple(data["oddities"])
        return Book(text=read_text(folder / "text.txt"), **data)


def load_books(folder: Path) -> list[Book]:
    """Every Book under ``books/``, sorted by id."""
    return [load_book(path.parent) for path in sorted(folder.glob("*/book.json"))]


def save_cast(path: Path, cast: Cast) -> None:
    """Write ``cast/<book>.json``; score/score_cast.py reads its entities and mentions."""
    data = {
        "book_id": cast.book_id,
        "entities": [asdict(entity) for entity in cast.entities],
        "unresolved": [asdict(question) for question in cast.unresolved],
        "decided": list(cast.decided),
    }
    rows = ",\n".join(f"[{m.start}, {m.end}, {_quoted(m.entity_id)}]" for m in cast.mentions)
    _put(path, json_text(data)[:-2].rstrip() + ',\n  "mentions": [\n' + rows + "\n]}\n")


def load_cast(path: Path) -> Cast:
    """The Cast in a ``cast/<book>.json``."""
    data = read_json(path)
    with _as_written(path):
        return Cast(
            data["book_id"],
            tuple(Entity(**{**row, "names": tuple(row["names"]), "evidence": tuple(row["evidence"])}) for row in data["entities"]),
            tuple(Mention(*row) for row in data["mentions"]),
            tuple(_question(row) for row in data["unresolved"]),
            tuple(data["decided"]),
        )


def load_casts(folder: Path, books: list[Book]) -> list[Cast]:
    """The Cast of each of the books, in their order."""
    return [load_cast(folder / f"{book.id}.json") for book in books]


def _question(row: dict[str, Any]) -> Question:
    row = dict(row, entity_ids=tuple(row["entity_ids"]), snippets=tuple(tuple(span) for span in row["snippets"]))
    row["options"] = tuple(row["options"])
    return Question(**row)


def _quoted(text: str) -> str:
    return json_text(text).rstrip("\n")


def save_copy(folder: Path, copy: RenamedCopy) -> None:
    """Write ``<book>.txt`` and ``<book>.edits.jsonl``; names.json of the whole copy is the caller's."""
    _put(folder / f"{copy.book_id}.txt", copy.text)
    _put(
        folder / f"{copy.book_id}.edits.jsonl",
        jsonl_text({"start": e.start, "end": e.end, "new": e.new, "entity": e.entity} for e in copy.edits),
    )


def load_copy(folder: Path, book: Book) -> RenamedCopy:
    """The copy of ``book`` in ``copies/<k>``; refused where text and edits do not agree."""
    with _as_written(folder / f"{book.id}.edits.jsonl"):
        edits = tuple(Edit(**row) for row in read_jsonl(folder / f"{book.id}.edits.jsonl"))
    text = read_text(folder / f"{book.id}.txt")
    if apply_edits(book.text, edits) != text:
        raise BadInput(f"{folder / book.id}.txt is not its book with its edits applied; run: penname rename")
    names = read_json(folder / "names.json").get(book.id)
    if not isinstance(names, dict):  # with no names a beat would keep those of the book
        raise BadInput(f"{folder / 'names.json'} has no names of {book.id}; run: penname rename")
    return RenamedCopy(book.id, int(folder.name), text, edits, names)


def save_passages(path: Path, passages: list[Passage]) -> None:
    """Write ``passages.jsonl``."""
    _put(path, jsonl_text(asdict(passage) for passage in passages))


def load_passages(path: Path) -> list[Passage]:
    """The passages in file order."""
    with _as_written(path):
        return [Passage(**row) for row in read_jsonl(path)]


def save_beats(path: Path, beats: list[Beat]) -> None:
    """Write ``beats.jsonl``."""
    _put(path, jsonl_text(asdict(beat) for beat in beats))


def load_beats(path: Path) -> list[Beat]:
    """The beats in file order."""
    with _as_written(path):
        return [Beat(**{**row, "names": tuple(Mention(**name) for name in row["names"])}) for row in read_jsonl(path)]
