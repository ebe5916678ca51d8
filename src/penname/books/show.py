"""What ``penname book --show`` prints: chapters, words, alphabet, what was removed, and oddities."""

from __future__ import annotations

import unicodedata
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

from penname.core.files import read_jsonl
from penname.core.store import load_book
from penname.core.values import STORY_KINDS, Book, Removed

_CONTEXT_CHARS = 18


def load_with_removed(folder: Path) -> Book:
    """The Book in ``folder`` with the account of what was removed."""
    return replace(load_book(folder), removed=tuple(Removed(**row) for row in read_jsonl(folder / "removed.jsonl")))


def book_summary(book: Book) -> dict[str, Any]:
    """The facts of one book as plain values, for ``--json``."""
    rows = [
        {
            "heading": c.heading,
            "kind": c.kind,
            "level": c.level,
            "split": c.split,
            "words": len(book.text[c.body_start : c.end].split()),
            "start": c.start,
            "end": c.end,
        }
        for c in book.chapters
    ]
    removed: Counter[str] = Counter()
    for span in book.removed:
        removed[span.rule] += span.end - span.start
    return {
        "id": book.id,
        "title": book.title,
        "author": book.author,
        "language": book.language,
        "source": book.source,
        "words": book.words(),
        "chapters": rows,
        "removed_characters": dict(removed.most_common()),
        "alphabet": [
            {"character": row.char, "name": _name(row.char), "before": row.before, "after": row.after, "first": row.first}
            for row in book.alphabet
        ],
        "oddities": list(book.oddities),
    }


def show_book(book: Book) -> str:
    """The same for a person, as text."""
    facts = book_summary(book)
    chapters = [row for row in facts["chapters"] if row["kind"] in STORY_KINDS]
    held = [row for row in chapters if row["split"] == "heldout"]
    share = sum(row["words"] for row in held) / max(1, sum(row["words"] for row in chapters))
    lines = [
        f"{book.title}{', ' + book.author if book.author else ''} ({book.id}, from {book.source})",
        f"{facts['words']:,} words, {len(chapters)} chapters"
        + (f", {len(held)} of them held out ({share:.1%} of the words)" if held else ""),
        "",
    ]
    for row in facts["chapters"]:
        indent = "  " * max(0, row["level"] - 1) if row["kind"] == "heading" else "      "
        note = "" if row["kind"] == "chapter" else f"  [{row['kind']}]"
        note += "  held out" if row["split"] == "heldout" else ""
        words = "" if row["kind"] == "heading" else f"{row['words']:>8,}"
        lines.append(f"{words:>8}  {indent}{row['heading'][:90] or '(no heading)'}{note}")
    if facts["removed_characters"]:
        lines += ["", "removed (characters by rule):"]
        lines += [f"{size:>8,}  {rule}" for rule, size in facts["removed_characters"].items()]
    lines += ["", "alphabet (before, after, character, first place):"]
    lines += [_alphabet_line(book, row) for row in facts["alphabet"] if not _plain(row["character"])]
    letters = "".join(row["character"] for row in facts["alphabet"] if _plain(row["character"]) and row["after"])
    lines.append(f"   and {letters}")
    lines += ["", "oddities:" if book.oddities else "nothing odd found"]
    lines += [f"  - {oddity}" for oddity in book.oddities]
    return "\n".join(lines)


def _plain(char: str) -> bool:
    return char.isascii() and char.isalnum()


def _name(char: str) -> str:
    return unicodedata.name(char, f"U+{ord(char):04X}").lower()


def _alphabet_line(book: Book, row: dict[str, Any]) -> str:
    char, first = row["character"], row["first"]
    shown = char if char.isprintable() and not char.isspace() else repr(char)[1:-1]
    place = ""
    if first >= 0 and row["after"] < 100:
        around = book.text[max(0, first - _CONTEXT_CHARS) : first + _CONTEXT_CHARS].replace("\n", " ")
        place = f"  at {first:,}: {around}"
    return f"{row['before']:>8,} {row['after']:>8,}  {shown}  {row['name']}{place}"
