"""Chapters that have a title and no number, in a text whose format marks no headings: their blocks."""

from __future__ import annotations

import re
from collections import Counter

from penname.books.blocks import Block, lines_of
from penname.books.candidates import CONTENTS, plain

_PROSE_WORDS = 60  # fewer words than this behind a listed title are no chapter
_CAPITAL_WORDS = 300
_FRONT_BLOCKS = 60
_NUMBERED = re.compile(r"^(?:chapter\s+)?(?:[IVXLC]+|\d{1,3})[.:)]\s+", re.IGNORECASE)


def listed_titles(text: str, blocks: list[Block]) -> list[int]:
    """Chapters by title alone: the entries of a contents list that stand by themselves further on, with prose behind them."""
    opening = next((i for i, b in enumerate(blocks[:_FRONT_BLOCKS]) if CONTENTS.fullmatch(plain(text[b.start : b.end][:80]))), None)
    if opening is None:
        return []
    titles: set[str] = set()
    at = opening + 1
    while at < len(blocks) and text.count(" ", blocks[at].start, blocks[at].end) < 40 * blocks[at].line_count:
        entries = {_title_letters(text[start:end]) for start, end in lines_of(text, blocks[at])}
        if entries <= titles:
            break  # the first chapter's own title: the list is over
        titles |= entries
        at += 1
    titles.discard("")
    short = [i for i in range(at, len(blocks)) if blocks[i].kind != "break" and blocks[i].end - blocks[i].start <= 160]
    places = [i for i in short if _title_letters(text[blocks[i].start : blocks[i].end]) in titles]
    ends = [*places, len(blocks)][1:]
    told = [i for i, end in zip(places, ends, strict=False) if words_until(text, blocks, i, end) >= _PROSE_WORDS]
    return told if len(told) >= 2 else []


def capital_titles(text: str, blocks: list[Block]) -> list[int]:
    """Chapters by title alone, without a contents list: lines in capitals with more room above them than paragraphs have.

    They stand only where nearly all such lines have a chapter's worth of prose behind them: an inscription has not.
    """
    usual = Counter(block.gap for block in blocks).most_common(1)[0][0]
    wide = [i for i, b in enumerate(blocks) if (b.kind == "prose" and b.gap > usual) or i == 0]
    lines = [i for i in wide if blocks[i].line_count <= 2 and 3 <= blocks[i].end - blocks[i].start <= 90]
    capitals = [i for i in lines if text[blocks[i].start : blocks[i].end].isupper() and text[blocks[i].start] not in "\"'“‘("]
    ends = [*capitals, len(blocks)][1:]
    told = [i for i, end in zip(capitals, ends, strict=False) if words_until(text, blocks, i, end) >= _CAPITAL_WORDS]
    if len(told) < 3 or len(told) < 0.75 * (len(capitals) - 1):  # the book's own title may stand above the first
        return []
    return told


def _title_letters(text: str) -> str:
    """A title without its number, page and marks, for comparison."""
    line = _NUMBERED.sub("", plain(text))
    return "".join(char for char in line.casefold() if char.isalpha())


def words_until(text: str, blocks: list[Block], index: int, end: int) -> int:
    """Words of running text between a block and a later one."""
    return sum(text.count(" ", b.start, b.end) + 1 for b in blocks[index + 1 : end] if b.kind in ("prose", "verse"))
