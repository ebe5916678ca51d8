"""Titles on the line behind a heading: whether the next block is one, by its look and by the habit of the book."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from penname.books.blocks import Block
from penname.books.candidates import Candidate, plain
from penname.books.titles import looks_like_title

PRINTER = re.compile(
    r"\b(?:printed|published|publishers?|copyright)\b|^\W*(?:london|new york|edinburgh)\b\W.*\d{4}\W*$", re.IGNORECASE | re.DOTALL
)
_TELLS = re.compile(
    r"(?:in which|wherein|containing|shows?|showing|treats?|treating|relates?|relating|describes?|concerning|being|how|of)\b", re.IGNORECASE
)


def title_blocks(text: str, blocks: list[Block], chosen: Sequence[tuple[Candidate, str]], below: set[int]) -> set[int]:
    """The headings whose title is the block behind them, where that is the habit of the book."""
    standing = {c.block for c, _ in chosen} | below
    titled = {c.block: not c.titled and c.block + 1 not in standing and _titled(text, blocks, c.block + 1) for c, _ in chosen}
    habit: dict[str, bool] = {}
    for kind in ("chapter", "heading", "front"):
        bare = [c for c, its in chosen if its == kind and not c.titled]
        habit[kind] = sum(titled[c.block] for c in bare) > 0.5 * len(bare)
    titled |= {c.block: True for c, _ in chosen if not c.titled and c.block + 1 not in standing and _quoted(text, blocks, c.block + 1)}
    chapters = [c for c, its in chosen if its == "chapter" and not c.titled]
    behind = Counter(blocks[c.block + 2].gap for c in chapters if titled[c.block] and c.block + 2 < len(blocks))
    usual = behind.most_common(1)[0][0] if behind else 0
    if sum(titled[c.block] for c in chapters) > 0.8 * len(chapters) and usual > 1:
        # A title that is a sentence ("If love were all!"), set off as the book's other titles are.
        titled |= {c.block: True for c in chapters if _set_off(text, blocks, c.block + 1, usual) and c.block + 1 not in standing}
    told = [c for c in chapters if c.block + 1 not in standing and (titled[c.block] or _tells(text, blocks, c.block + 1))]
    if len(told) > max(1, 0.8 * len(chapters)) and sum(
        _TELLS.match(_line(text, blocks, c.block + 1)) is not None for c in told
    ) > 0.3 * len(told):
        titled |= {c.block: True for c in told}
        habit["chapter"] = True
    return {c.block for c, kind in chosen if titled[c.block] and habit[kind]}


def _line(text: str, blocks: list[Block], index: int) -> str:
    return plain(text[blocks[index].start : blocks[index].end]) if index < len(blocks) else ""


def _tells(text: str, blocks: list[Block], index: int) -> bool:
    """Whether a block is one sentence of a few lines: "In which the reader is told of a lamp." """
    line = _line(text, blocks, index)
    return 0 < len(line) <= 200 and blocks[index].kind != "break" and line[0].isupper() and not re.search(r"[.!?][\"'”’]?\s+[A-Z\"“]", line)


def _quoted(text: str, blocks: list[Block], index: int) -> bool:
    """Whether a block is a title in capitals and in quotes; it is a speech where the book has no titles."""
    line = _line(text, blocks, index)
    return 2 < len(line) <= 80 and line[0] in '"“' and line[-1] in '"”' and line.isupper()


def _set_off(text: str, blocks: list[Block], index: int, usual: int) -> bool:
    """Whether a block is one short line with as much room behind it as the book's titles have."""
    if index + 1 >= len(blocks):
        return False
    block = blocks[index]
    line = block.kind == "prose" and block.line_count == 1 and block.end - block.start < 80
    return line and text[block.end - 1] not in ",;:-" and blocks[index + 1].gap == usual


def _titled(text: str, blocks: list[Block], index: int) -> bool:
    if index >= len(blocks):
        return False
    block = blocks[index]
    if block.kind not in ("prose", "verse") or block.end - block.start > 300 or block.line_count > 5:
        return False
    line = plain(text[block.start : block.end])
    return bool(line) and line[0] not in "\"'“‘(—-" and looks_like_title(line) and not PRINTER.search(line)
