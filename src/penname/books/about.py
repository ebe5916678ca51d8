"""Title and author: from the format or the Gutenberg header, else from the title page, else from the file's name."""

from __future__ import annotations

import re
from pathlib import Path

from penname.books.blocks import Block, lines_of
from penname.books.candidates import plain, read_candidate
from penname.books.front import is_prose
from penname.books.headings import Structure
from penname.books.source import Source
from penname.books.titles import looks_like_title

_TITLE_PAGE_BLOCKS = 12
_NAME = re.compile(r"(?:[A-Z][\w'’-]*\.?\s+){1,3}(?:(?:de|du|van|von)\s+)?[A-Z][\w'’-]+")
_BY = re.compile(r"(?:(?:.*\b(?:written|compiled)\s+)?by|from the works of)\b[\s:]*(.*)", re.IGNORECASE)


def title_and_author(source: Source, about: dict[str, str], text: str, blocks: list[Block], structure: Structure) -> tuple[str, str]:
    """The book's title and its author, "" where nothing tells."""
    title, author = source.title or about.get("title", ""), source.author or about.get("author", "")
    first = structure.headings[0].first if structure.headings else 0
    lines = [
        line
        for block in blocks[: min(first, _TITLE_PAGE_BLOCKS)]
        if block.line_count <= 6 and not is_prose(text, block)
        for line in (plain(text[start:end]) for start, end in lines_of(text, block))
        if 0 < len(line) < 120
    ]
    if not author:
        for line, following in zip(lines, [*lines[1:], ""], strict=False):
            match = _BY.fullmatch(line)
            if match and (match[1] or following):
                author = match[1] or following
                break
    likely = [line for line in lines[:2] if looks_like_title(line) and not _BY.match(line) and not read_candidate(0, line)]
    if not title and likely:
        names = [] if author else [line for line in likely if _is_stranger(line, text)]
        if names:
            author = names[0]
        title = next((line for line in likely if line not in names), "").strip(" .")
    return _cased(title or _file_title(source.name)), _cased(author)


def _is_stranger(line: str, text: str) -> bool:
    """Whether a line names a person whom the text does not: an author, where "Agnes Grey" and "Hard Times" are titles."""
    name = _cased(line).strip(" .")
    if not _NAME.fullmatch(name):
        return False
    given, *_, family = name.split()
    body = text[text.find("\n", text.find(line)) :]
    if re.search(rf"\b{re.escape(family)}\b", body):
        return False
    return len(given.strip(".")) == 1 or not re.search(rf"\b{re.escape(given.lower())}\b", body)


def _file_title(name: str) -> str:
    """A title from a file's name: "1245_night_and_day.txt" gives "Night And Day"."""
    stem = Path(name).stem
    words = re.sub(r"^\d+[\s._-]+|[\s_:-]+", " ", stem).strip()
    return words.title() if words.islower() else words or stem


def _cased(name: str) -> str:
    return name.title().replace("'S", "'s").replace("’S", "’s") if name.isupper() else name
