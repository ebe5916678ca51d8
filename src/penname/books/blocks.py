"""Lines to blocks: paragraphs, verse and other kept lines, scene breaks; and the joining of hard-wrapped lines."""

from __future__ import annotations

import re
from array import array
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from penname.books.numerals import WORD_PATTERN, WORDS
from penname.books.titles import looks_like_title

BlockKind = Literal["prose", "verse", "break", "gone"]
LayoutKind = Literal["blank", "wrapped", "lines", "kept"]

_BREAK_LINE = re.compile(r"(?:\\?[*•·⁂☆★†#~=_+—–-]\s*)+|(?:[oO0]\s+){2,}[oO0]")
_BREAK_STARTS = frozenset("\\*•·⁂☆★†#~=_+—–-")
_TERMINAL = frozenset(".!?:\"'”’)—*_")
_TERM = re.compile(r"(?P<q>[\"'“‘])[\w-]+(?: [\w-]+){0,3}(?:(?P=q)|[”’]) [a-z]")  # a word or title in quotes, no speech
_SPEECH_ENDS = frozenset(".!?,-—…")
_HEADING_LINE = re.compile(
    rf"(?:THE\s+)?(?:(?:VOLUME|VOL\.?|PART|BOOK|CHAPTER|CHAP\.?|LETTER|STAVE|CANTO|PHASE|EPOCH|EPISODE|SECTION)\s+(?:THE\s+)?"
    rf"(?:[IVXLCDM]+|\d{{1,3}}|{WORD_PATTERN})(?![\w'’])(?P<rest>.*)|(?:{WORD_PATTERN})\s+(?:VOLUME|PART|BOOK|CHAPTER|LETTER))",
    re.IGNORECASE,
)
FORCED = re.compile(
    r"\W*(?:(?:the\s+)?(?:table\s+of\s+)?contents|(?:a\s+)?list\s+of\s+(?:illustrations|plates)|(?:author['’]s\s+|the\s+)?(?:preface|prologue|epilogue|conclusion)"
    r"|the\s+end|finis)\W*",
    re.IGNORECASE,
)
_OPENERS = (
    "volume vol part book chapter chap letter stave canto phase epoch episode section the table contents list author preface prologue "
    "epilogue conclusion finis"
)
_HEADING_STARTS = frozenset(word[:3].upper() for word in (*_OPENERS.split(), *WORDS))
_BREAK_CHARS = 200
_SPARE_COLUMNS = 3
_VERSE_COLUMNS = 8


class Layout(NamedTuple):
    """How paragraphs are set apart: by blank lines, by how full their lines are ("wrapped"), each line one, or as they were kept.

    Lines are wrapped at ``width`` (0: not at all); one with ``spare`` columns to spare for the next word ended on purpose.
    """

    kind: LayoutKind
    width: int = 0
    spare: int = _SPARE_COLUMNS


class Block(NamedTuple):
    """A run of ``line_count`` lines that belong together, from where the first begins to where the last ends.

    ``gap`` is the number of blank lines before it. ``rule`` says why a block is gone. ``scene`` is True where a scene
    break stood before it that was only white space; ``goes_on`` where it continues the sentence of the block before.
    """

    kind: BlockKind
    start: int
    end: int
    line_count: int = 1
    gap: int = 0
    rule: str = ""
    scene: bool = False
    goes_on: bool = False


def lines_of(text: str, block: Block) -> list[tuple[int, int]]:
    """The lines of a block as ``(start, end)``, without their edges of white space. Found anew: kept, they outweigh the text."""
    if block.line_count == 1:
        return [(block.start, block.end)]
    lines = []
    at = block.start
    for line in text[block.start : block.end].split("\n"):
        body = line.strip(" ")
        lead = len(line) - len(line.lstrip(" "))
        lines.append((at + lead, at + lead + len(body)))
        at += len(line) + 1
    return lines


class _Line(NamedTuple):
    start: int
    text: str
    indent: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def cut_blocks(text: str, kept: bool) -> list[Block]:
    """The blocks of a text in order. ``kept``: its line breaks are the author's, nothing was hard-wrapped.

    Otherwise paragraphs are told apart by blank lines, or, where there are none, by how full the lines are: a line that
    had room for the next line's first word ended its paragraph.
    """
    layout = Layout("kept") if kept else find_layout(text)
    return _with_seams(text, [_block(run, gap, layout) for gap, run in _runs(text, layout)], layout.width)


def _lines(text: str) -> Iterator[_Line]:
    at, size = 0, len(text)
    while at <= size:
        end = text.find("\n", at)
        end = end if end >= 0 else size
        line = text[at:end]
        body = line.lstrip(" ")
        lead = len(line) - len(body)
        yield _Line(at + lead, body.rstrip(" "), lead)
        at = end + 1


def _followed(text: str) -> Iterator[tuple[_Line, _Line | None]]:
    """Each line with the one behind it."""
    last: _Line | None = None
    for line in _lines(text):
        if last is not None:
            yield last, line
        last = line
    if last is not None:
        yield last, None


def find_layout(text: str) -> Layout:
    """How paragraphs are set apart, and the width that lines are wrapped at."""
    sizes, ends, inside = array("i"), array("i"), array("i")
    blocks = touching = 0
    for line, following in _followed(text):
        if line.text:
            sizes.append(len(line.text))
        if following is None or not following.text:
            continue
        if not line.text:
            blocks += 1
            continue
        touching += 1
        if following.text[0].islower():
            inside.append(_needed(line, following))
        elif line.text[-1] in ".!?\"'”’":
            ends.append(_needed(line, following))
    if not sizes:
        return Layout("lines")
    width, longest = (_quantile(sizes, share) for share in (0.95, 0.995))
    # Lines that go on in lower case were wrapped, however long a few others are.
    if (longest > 1.5 * width + 20 or width > 140) and len(inside) <= 0.2 * touching:
        # One line a paragraph. With blank lines between, lines that touch are verse; without, every line is a paragraph.
        return Layout("kept" if touching < 0.3 * len(sizes) else "lines")
    breaks = int(np.count_nonzero(np.array(ends) <= width - 10))
    # Lines that were broken by phrases have room to spare inside sentences too.
    spare = max(_SPARE_COLUMNS, width - _quantile(inside, 0.05) + 1) if inside else _SPARE_COLUMNS
    return Layout("wrapped" if breaks > blocks + min(20, blocks + 3) else "blank", width, spare)


def _quantile(sizes: array[int], share: float) -> int:
    at = int(share * (len(sizes) - 1))
    return int(np.partition(np.array(sizes), at)[at])


def _needed(line: _Line, following: _Line) -> int:
    """The columns that a line would have taken with the next line's first word on it."""
    space = following.text.find(" ")
    return len(line.text) + 1 + (space if space > 0 else len(following.text))


def _room(line: _Line, following: _Line, width: int) -> int:
    """Columns that a line would have had to spare with the next line's first word on it; negative: the break was forced."""
    return width - _needed(line, following)


def _runs(text: str, layout: Layout) -> Iterator[tuple[int, list[_Line]]]:
    run: list[_Line] = []
    gap = blank = 0
    headed = title = False  # right behind a heading; in its title
    for line, after in _followed(text):
        if not line.text:
            if run:
                yield gap, run
                run = []
            blank += 1
            continue
        alone = layout.kind == "lines" or _is_break(line.text) or (layout.kind == "wrapped" and is_heading_line(line.text))
        if run and (alone or _ends(run, line, after, layout) or (title and not _title_goes_on(run, line))):
            yield gap, run
            run = []
        if not run:
            gap, blank = blank, 0
            title = headed and looks_like_title(line.text)
        headed = layout.kind == "wrapped" and alone
        run.append(line)
        if alone or (len(run) == 1 and is_heading_line(line.text) and _room_after(line, after, layout.width)):
            yield gap, run
            run = []
    if run:
        yield gap, run


def _title_goes_on(title: list[_Line], line: _Line) -> bool:
    """Whether the title in a text without blank lines has one more line: capitals go on in capitals."""
    return looks_like_title(line.text) and title[-1].text.isupper() == line.text.isupper()


def _is_break(line: str) -> bool:
    return len(line) <= _BREAK_CHARS and (line[0] in _BREAK_STARTS or line[1:3] in (" o", " O", " 0")) and bool(_BREAK_LINE.fullmatch(line))


def _room_after(line: _Line, after: _Line | None, width: int) -> bool:
    """Whether a heading's line ends by choice: its title does not simply run on to the next line."""
    return after is None or not after.text or _room(line, after, width) >= _VERSE_COLUMNS


def is_heading_line(line: str) -> bool:
    """Whether a line opens a division by keyword and number: it never joins the paragraph before it."""
    if len(line) > 90 or line[0].islower() or line.lstrip("_*=[ ")[:3].upper() not in _HEADING_STARTS:
        return False
    if FORCED.fullmatch(line):
        return True
    match = _HEADING_LINE.match(line.strip("_*=[ "))
    if not match:
        return False
    rest = (match["rest"] or "").strip()
    return not rest.strip(".:—–-_*=] ") or rest[0] in ".:—–-" or rest[0].isupper()


def _ends(run: list[_Line], line: _Line, after: _Line | None, layout: Layout) -> bool:
    """Whether a paragraph without a blank line behind it ends before ``line``."""
    last = run[-1]
    if layout.kind != "wrapped":
        # A heading that lacks the blank line before it, but not the one behind it.
        alone = layout.kind == "blank" and (after is None or not after.text) and last.text[-1] in _TERMINAL
        return alone and line.text.isupper() and is_heading_line(line.text)
    if line.indent >= 2 and last.indent < 2:
        return True
    room = _room(last, line, layout.width)
    if line.text[0].islower():
        return False
    if room < layout.spare:
        return _speaker_changes(last.text, line.text)
    if last.text[-1] in _TERMINAL:
        return True
    if room < _VERSE_COLUMNS:
        return False
    # A short line, and the next begins with a capital: verse goes on, as long as its lines stay short; else a new paragraph.
    verse = all(len(item.text) < layout.width - _VERSE_COLUMNS for item in (*run, line)) and last.text.isupper() == line.text.isupper()
    return not (verse and (after is None or not after.text or _room(line, after, layout.width) >= layout.spare))


def _speaker_changes(last: str, line: str) -> bool:
    """Whether quotes tell that a paragraph ended with a full line: a speech closes there, or one opens behind a sentence's end.

    Measured on novels whose paragraphs are known: true of 99 in 100 such places where both hold, of 7 in 10 where one does.
    """
    closes = last[-1] in "\"'”’" and last[-2:-1] in _SPEECH_ENDS
    opens = line[0] in "\"'“‘" and line[1:2].isalpha() and not _TERM.match(line)
    return (closes and (opens or line[0].isupper())) or (opens and last[-1] in ".!?")


def _block(run: list[_Line], gap: int, layout: Layout) -> Block:
    kind: BlockKind = "prose"
    if len(run) == 1:
        kind = "break" if _is_break(run[0].text) else "prose"
    elif layout.kind == "kept":
        kind = "verse"
    else:
        free = sum(1 for a, b in pairwise(run) if _room(a, b, layout.width) >= _VERSE_COLUMNS)
        # Prose that was wrapped by phrases has loose lines too, but they do not begin with capitals or stand indented.
        set_off = sum(not line.text[0].islower() for line in run) >= 0.6 * len(run) or all(line.indent >= 4 for line in run)
        kind = "verse" if free > 0.6 * (len(run) - 1) and set_off else "prose"
    return Block(kind, run[0].start, run[-1].end, len(run), gap)


def _with_seams(text: str, blocks: list[Block], width: int) -> list[Block]:
    """Mark scene breaks that are only white space (extra blank lines, rare, between two full paragraphs), and broken sentences."""
    plain = [i for i in range(1, len(blocks)) if _full(text, blocks[i - 1]) and _full(text, blocks[i])]
    gaps = Counter(blocks[i].gap for i in plain)
    usual = gaps.most_common(1)[0][0] if gaps else 0
    wide = [i for i in plain if usual + 1 <= blocks[i].gap <= usual + 3]
    if usual <= 1 and len(wide) <= 0.03 * len(plain):
        for i in wide:
            blocks[i] = blocks[i]._replace(scene=True)
    for i in range(1, len(blocks)):
        if width and not blocks[i].scene and _goes_on(text, blocks[i - 1], blocks[i], width):
            blocks[i] = blocks[i]._replace(goes_on=True)
    return blocks


def _goes_on(text: str, before: Block, block: Block, width: int) -> bool:
    """Whether a blank line fell into a sentence: a full last line without an end, and a small letter behind it."""
    if block.gap > 2 or block.kind != "prose" or before.kind != "prose" or not text[block.start].islower():
        return False
    start, end = lines_of(text, before)[-1]
    return end - start >= width - 12 and (text[end - 1].isalnum() or text[end - 1] in ",;-")


def _full(text: str, block: Block) -> bool:
    return (
        block.kind == "prose" and block.end - block.start >= 100 and text[block.end - 1] in ".!?\"'”’" and not text[block.start].islower()
    )
