"""Any source to a Book: decode, strip, find the chapters, join the lines, set the typography; every step accounted for."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from penname.books.blocks import cut_blocks, join_lines, without
from penname.books.boilerplate import gutenberg_frame, metadata
from penname.books.decode import decode
from penname.books.draft import Draft
from penname.books.front import find_furniture
from penname.books.headings import Heading, find_headings
from penname.books.typography import normalise_characters, normalise_typography
from penname.core.config import BooksConfig
from penname.core.errors import BadInput
from penname.core.hashing import sha256_bytes, sha256_file
from penname.core.values import AlphabetRow, Book, Chapter

_PIECE_CHARS = 15_000  # about a Victorian chapter
_SLUG = re.compile(r"[^a-z0-9]+")


def read_book(source: str | Path, *, id: str | None = None, settings: BooksConfig | None = None) -> Book:
    """The Book in ``source``. BadInput, in one sentence, for anything that is no book."""
    settings = settings or BooksConfig()
    path = Path(source)
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise BadInput(f"there is no file {path}; name a book's file, or gutenberg:ID") from None
    text, _ = decode(data, path.name)
    about = metadata(text)
    draft = Draft(text)
    normalise_characters(draft)
    draft.rewrite(gutenberg_frame(draft.text))
    blocks = cut_blocks(draft.text)
    headings = find_headings(draft.text, blocks)
    blocks = without(blocks, find_furniture(draft.text, blocks, headings, settings))
    draft.marks = [at for h in headings for at in (blocks[h.first].start, blocks[h.last].end)]
    draft.rewrite(join_lines(draft.text, blocks, [(h.first, h.last) for h in headings]))
    normalise_typography(draft, settings)
    chapters = _chapters(draft, headings)
    title = about.get("title") or path.stem
    return Book(
        id=id or slug(title) or slug(path.stem) or "book",
        title=title,
        author=about.get("author", ""),
        text=draft.text,
        chapters=chapters,
        source=path.name,
        source_sha256=sha256_bytes(data),
        removed=draft.removed(),
        alphabet=_alphabet(text, draft.text),
    )


def source_digest(source: str | Path) -> str:
    """SHA-256 of a source's bytes, for telling whether what was made from it is stale."""
    path = Path(source)
    if not path.is_file():
        raise BadInput(f"there is no file {path}; name a book's file, or gutenberg:ID")
    return sha256_file(path)


def slug(title: str) -> str:
    """A short file name from a title: "Jane Eyre: An Autobiography" gives "jane-eyre"."""
    head = re.split(r"[:;(\[]|,? or,? |\n", title)[0]
    return _SLUG.sub("-", head.lower()).strip("-")[:60].strip("-")


def _chapters(draft: Draft, headings: list[Heading]) -> tuple[Chapter, ...]:
    text = draft.text
    if not headings:
        return _pieces(text)
    marks = draft.marks
    starts = marks[0::2] + [len(text)]
    out = []
    for i, heading in enumerate(headings):
        start, end, head_end = starts[i], starts[i + 1], marks[2 * i + 1]
        while head_end < end and text[head_end].isspace():
            head_end += 1
        end = start + len(text[start:end].rstrip())
        out.append(Chapter(heading.kind, heading.level, text[start:head_end].strip(), start, end, min(head_end, end)))
    return tuple(out)


def _pieces(text: str) -> tuple[Chapter, ...]:
    """A text without chapters, cut between paragraphs into pieces of about ``_PIECE_CHARS``."""
    whole = len(text.rstrip())
    count = max(1, round(whole / _PIECE_CHARS))
    cuts = [0]
    for k in range(1, count):
        at = text.find("\n\n", whole * k // count)
        if at > cuts[-1] and at + 2 < whole:
            cuts.append(at + 2)
    ends = [*cuts[1:], whole]
    return tuple(Chapter("piece", 1, "", start, len(text[:end].rstrip()), start) for start, end in zip(cuts, ends, strict=True))


def _alphabet(before: str, after: str) -> tuple[AlphabetRow, ...]:
    old, new = Counter(before), Counter(after)
    return tuple(AlphabetRow(char, old[char], new[char], after.find(char)) for char in sorted(old.keys() | new.keys()))
