"""Lines to blocks: paragraphs, verse and other kept lines, scene breaks; and the joining of hard-wrapped lines."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal, NamedTuple

from penname.books.draft import Rewrite
from penname.books.numerals import WORD_PATTERN, WORDS

BlockKind = Literal["prose", "verse", "break", "gone"]
Layout = Literal["blank", "wrapped", "lines", "kept"]

SCENE_BREAK = "* * *"
_BREAK_LINE = re.compile(r"(?:[*•·⁂☆★†#~=_+—–-]\s*)+|(?:[oO0]\s+){2,}[oO0]")
_BREAK_STARTS = frozenset("*•·⁂☆★†#~=_+—–-")
_TERMINAL = frozenset(".!?:\"'”’)—*_")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
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
_KEPT: tuple[Layout, int] = ("kept", 0)
_SPARE_COLUMNS = 3
_VERSE_COLUMNS = 8


class Block(NamedTuple):
    """A run of lines that belong together; a line is ``(start, end)`` without its edges of white space.

    ``gap`` is the number of blank lines before it. ``rule`` says why a block is gone. ``scene`` is True where a scene
    break stood before it that was only white space; ``goes_on`` where it continues the sentence of the block before.
    """

    kind: BlockKind
    lines: tuple[tuple[int, int], ...]
    gap: int = 0
    rule: str = ""
    scene: bool = False
    goes_on: bool = False

    @property
    def start(self) -> int:
        """Where its first line begins."""
        return self.lines[0][0]

    @property
    def end(self) -> int:
        """Where its last line ends."""
        return self.lines[-1][1]


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
    lines = _lines(text)
    layout, width = _KEPT if kept else find_layout(lines)
    return list(_seams(text, [_block(run, gap, width, layout) for gap, run in _runs(lines, layout, width)], width))


def _lines(text: str) -> list[_Line]:
    lines = []
    at = 0
    for line in text.split("\n"):
        body = line.strip(" ")
        lead = line.index(body[0]) if body else 0
        lines.append(_Line(at + lead, body, lead))
        at += len(line) + 1
    return lines


def find_layout(lines: list[_Line]) -> tuple[Layout, int]:
    """How paragraphs are set apart, and the width that lines are wrapped at (0: not wrapped)."""
    sizes = sorted(len(line.text) for line in lines if line.text)
    if not sizes:
        return "lines", 0
    width = sizes[int(0.95 * (len(sizes) - 1))]
    longest = sizes[int(0.995 * (len(sizes) - 1))]
    if longest > 1.5 * width + 20 or width > 140:
        # One line a paragraph. With blank lines between, lines that touch are verse; without, every line is a paragraph.
        touching = sum(bool(last.text and here.text) for last, here in pairwise(lines))
        return ("kept" if touching < 0.3 * len(sizes) else "lines"), 0
    blocks = breaks = 0
    for last, here in pairwise(lines):
        if not here.text:
            continue
        if not last.text:
            blocks += 1
        elif _room(last, here, width) >= 10 and last.text[-1] in ".!?\"'”’" and not here.text[0].islower():
            breaks += 1
    return ("wrapped" if breaks > blocks + min(20, blocks + 3) else "blank"), width


def _room(line: _Line, following: _Line, width: int) -> int:
    """Columns that a line would have had to spare with the next line's first word on it; negative: the break was forced."""
    space = following.text.find(" ")
    return width - len(line.text) - 1 - (space if space > 0 else len(following.text))


def _runs(lines: list[_Line], layout: Layout, width: int) -> Iterator[tuple[int, list[_Line]]]:
    run: list[_Line] = []
    gap = blank = 0
    for number, line in enumerate(lines):
        if not line.text:
            if run:
                yield gap, run
                run = []
            blank += 1
            continue
        alone = layout == "lines" or _is_break(line.text) or (layout == "wrapped" and is_heading_line(line.text))
        if run and (alone or _ends(run, line, lines[number + 1] if number + 1 < len(lines) else None, layout, width)):
            yield gap, run
            run = []
        if not run:
            gap, blank = blank, 0
        run.append(line)
        if alone or (len(run) == 1 and is_heading_line(line.text) and _room_after(line, lines, number, width)):
            yield gap, run
            run = []
    if run:
        yield gap, run


def _is_break(line: str) -> bool:
    return len(line) <= _BREAK_CHARS and (line[0] in _BREAK_STARTS or line[1:3] in (" o", " O", " 0")) and bool(_BREAK_LINE.fullmatch(line))


def _room_after(line: _Line, lines: list[_Line], number: int, width: int) -> bool:
    """Whether a heading's line ends by choice: its title does not simply run on to the next line."""
    following = lines[number + 1] if number + 1 < len(lines) else None
    return following is None or not following.text or _room(line, following, width) >= _VERSE_COLUMNS


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


def _ends(run: list[_Line], line: _Line, after: _Line | None, layout: Layout, width: int) -> bool:
    """Whether a paragraph without a blank line behind it ends before ``line``."""
    last = run[-1]
    if layout != "wrapped":
        # A heading that lacks the blank line before it, but not the one behind it.
        alone = layout == "blank" and (after is None or not after.text) and last.text[-1] in _TERMINAL
        return alone and line.text.isupper() and is_heading_line(line.text)
    if line.indent >= 2 and last.indent < 2:
        return True
    room = _room(last, line, width)
    if room < _SPARE_COLUMNS or line.text[0].islower():
        return False
    if last.text[-1] in _TERMINAL:
        return True
    if room < _VERSE_COLUMNS:
        return False
    # A short line, and the next begins with a capital: verse goes on, as long as its lines stay short; else a new paragraph.
    verse = all(len(item.text) < width - _VERSE_COLUMNS for item in (*run, line)) and last.text.isupper() == line.text.isupper()
    return not (verse and (after is None or not after.text or _room(line, after, width) >= _SPARE_COLUMNS))


def _block(run: list[_Line], gap: int, width: int, layout: Layout) -> Block:
    spans = tuple((line.start, line.end) for line in run)
    if len(run) == 1:
        return Block("break" if _is_break(run[0].text) else "prose", spans, gap)
    if layout == "kept":
        return Block("verse", spans, gap)
    free = sum(1 for a, b in pairwise(run) if _room(a, b, width) >= _VERSE_COLUMNS)
    # Prose that was wrapped by phrases has loose lines too, but they do not begin with capitals or stand indented.
    set_off = sum(not line.text[0].islower() for line in run) >= 0.6 * len(run) or all(line.indent >= 4 for line in run)
    return Block("verse" if free > 0.6 * (len(run) - 1) and set_off else "prose", spans, gap)


def _seams(text: str, blocks: list[Block], width: int) -> Iterator[Block]:
    """Mark scene breaks that are only white space (extra blank lines, rare, between two full paragraphs), and broken sentences."""
    plain = [i for i in range(1, len(blocks)) if _full(text, blocks[i - 1]) and _full(text, blocks[i])]
    gaps = Counter(blocks[i].gap for i in plain)
    usual = gaps.most_common(1)[0][0] if gaps else 0
    wide = {i for i in plain if usual + 1 <= blocks[i].gap <= usual + 3}
    if usual > 1 or len(wide) > 0.03 * len(plain):
        wide = set()
    for i, block in enumerate(blocks):
        if i in wide:
            yield block._replace(scene=True)
        elif i and width and _goes_on(text, blocks[i - 1], block, width):
            yield block._replace(goes_on=True)
        else:
            yield block


def _goes_on(text: str, before: Block, block: Block, width: int) -> bool:
    """Whether a blank line fell into a sentence: a full last line without an end, and a small letter behind it."""
    if block.gap > 2 or block.kind != "prose" or before.kind != "prose" or not text[block.start].islower():
        return False
    start, end = before.lines[-1]
    return end - start >= width - 12 and (text[end - 1].isalnum() or text[end - 1] in ",;-")


def _full(text: str, block: Block) -> bool:
    return (
        block.kind == "prose" and block.end - block.start >= 100 and text[block.end - 1] in ".!?\"'”’" and not text[block.start].islower()
    )


def join_lines(text: str, blocks: list[Block], heading_runs: list[tuple[int, int]], mended: set[int]) -> list[Rewrite]:
    """The rewrites that leave each block on one line (verse on its lines), a blank line between blocks, and nothing else.

    A block marked as gone is removed under its rule. Blocks ``first`` to ``last`` of a heading run become one line. A
    block in ``mended`` goes on where the one before it was broken off (by a page number, say).
    """
    hyphens: Hyphens | None = None
    inner = {i for first, last in heading_runs for i in range(first + 1, last + 1)}
    one_line = {i for first, last in heading_runs for i in range(first, last + 1)}
    out: list[Rewrite] = []
    at = 0
    written = False
    for index, block in enumerate(blocks):
        if block.kind == "gone":
            if out and out[-1][1] == at and out[-1][2] == "" and out[-1][3] == block.rule:
                out[-1] = (out[-1][0], block.end, "", block.rule)
            else:
                out.append((at, block.end, "", block.rule))
            at = block.end
            continue
        if block.start > at and not written and out and out[-1][1] == at and not out[-1][2]:
            out[-1] = (out[-1][0], block.start, "", out[-1][3])
            at = block.start
        if block.start > at:
            between = " " if index in inner or index in mended or block.goes_on else f"\n\n{SCENE_BREAK}\n\n" if block.scene else "\n\n"
            out.append((at, block.start, between if written else "", "scene-break" if block.scene else "paragraph" if written else "edge"))
        if block.kind == "break":
            out.append((block.start, block.end, SCENE_BREAK, "scene-break"))
        for here, following in pairwise(block.lines):
            if block.kind == "verse" and index not in one_line:
                out.append((here[1], following[0], "\n", "verse-line"))
            elif text[here[1] - 1] in "-—–―":
                hyphens = hyphens or Hyphens(text, blocks)
                out.append(_dash_joint(text, here, following, hyphens))
            else:
                out.append((here[1], following[0], " ", "join"))
        at = block.end
        written = True
    if at < len(text):
        out.append((at, len(text), "\n" if written else "", "edge"))
    return out


def _dash_joint(text: str, here: tuple[int, int], following: tuple[int, int], hyphens: Hyphens) -> Rewrite:
    """How a line that ends in a dash or hyphen joins the next: without a space; a hyphen stays or goes by the book's evidence."""
    end = here[1]
    line = text[here[0] : end]
    last = line[-1]
    if line.endswith(("--", "—", "–", "―")):
        bare = line.rstrip("-—–―")
        blank = (bare.endswith(" ") or len(line) - len(bare) > 2) and not text.startswith("shire", following[0])
        return (end, following[0], " ", "join") if blank else (end - 1, following[0], last, "join")
    halves = _halves(text, here, following)
    if halves and hyphens.splits(*halves, small=text[following[0]].islower()):
        return end - 1, following[0] + 1, text[following[0]], "line-end-hyphen"
    return end - 1, following[0], last, "line-end-hyphen-kept" if halves else "join"


def _halves(text: str, here: tuple[int, int], following: tuple[int, int]) -> tuple[str, str] | None:
    """The two halves of a word that a line-end hyphen parts, in lower case."""
    first = re.search(r"([^\W\d_]+)-$", text[max(here[0], here[1] - 60) : here[1]])
    second = _WORD.match(text, following[0], following[1])
    return (first[1].lower(), second[0].split("-")[0].lower()) if first and second else None


class Hyphens:
    """What the rest of the book says about hyphens at line ends.

    "to-" + "morrow" keeps its hyphen where the book writes "to-morrow" oftener than "tomorrow". Where it writes neither, the
    habit of the book decides: most files break lines only at hyphens that are there anyway, some (scans) split words.
    """

    def __init__(self, text: str, blocks: list[Block]) -> None:
        self._words: Counter[str] = Counter()
        for block in blocks:  # block by block: a list of all words is many times the text
            self._words.update(_WORD.findall(text[block.start : block.end].lower()))
        ends = [_halves(text, a, b) for block in blocks if block.kind == "prose" for a, b in pairwise(block.lines) if text[a[1] - 1] == "-"]
        known = [self._words[left + right] - self._words[f"{left}-{right}"] for left, right in filter(None, ends)]
        self._book_splits = sum(n > 0 for n in known) > 5 and sum(n > 0 for n in known) > sum(n < 0 for n in known)

    def splits(self, left: str, right: str, small: bool) -> bool:
        """Whether the hyphen was put in only to break the line."""
        hyphened, whole = self._words[f"{left}-{right}"], self._words[left + right]
        if hyphened != whole:
            return whole > hyphened
        return self._book_splits and small and not (self._words[left] > 1 and self._words[right] > 1)
