"""Hard-wrapped lines joined into paragraphs: what stands between blocks and lines, and which line-end hyphens stay."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise

from penname.books.blocks import Block, lines_of
from penname.books.draft import Rewrite

SCENE_BREAK = "* * *"
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")


def join_lines(text: str, blocks: list[Block], heading_runs: list[tuple[int, int]], mended: set[int]) -> Iterator[Rewrite]:
    """The rewrites that leave each block on one line (verse on its lines), a blank line between blocks, and nothing else.

    A block marked as gone is removed under its rule. Blocks ``first`` to ``last`` of a heading run become one line. A
    block in ``mended`` goes on where the one before it was broken off (by a page number, say).
    """
    hyphens = Hyphens(text, blocks)
    inner = {i for first, last in heading_runs for i in range(first + 1, last + 1)}
    one_line = {i for first, last in heading_runs for i in range(first, last + 1)}
    gone: Rewrite | None = None  # a removal that still grows
    at = 0
    written = False
    for index, block in enumerate(blocks):
        if block.kind == "gone":
            if gone and gone[3] != block.rule:
                yield gone
                gone = None
            gone = (gone[0] if gone else at, block.end, "", block.rule)
            at = block.end
            continue
        if gone:
            # White space behind what is gone at the very beginning goes with it.
            yield gone if written else (gone[0], block.start, "", gone[3])
            at = at if written else block.start
            gone = None
        if block.start > at:
            between = " " if index in inner or index in mended or block.goes_on else f"\n\n{SCENE_BREAK}\n\n" if block.scene else "\n\n"
            yield at, block.start, between if written else "", "scene-break" if block.scene else "paragraph" if written else "edge"
        if block.kind == "break":
            yield block.start, block.end, SCENE_BREAK, "scene-break"
        elif block.line_count > 1:
            verse = block.kind == "verse" and index not in one_line
            yield from _line_joints(text, block, verse, hyphens)
        at = block.end
        written = True
    if gone:
        yield gone
    if at < len(text):
        yield at, len(text), "\n" if written else "", "edge"


def _line_joints(text: str, block: Block, verse: bool, hyphens: Hyphens) -> Iterator[Rewrite]:
    for here, following in pairwise(lines_of(text, block)):
        if verse:
            yield here[1], following[0], "\n", "verse-line"
        elif text[here[1] - 1] in "-—–―":
            yield _dash_joint(text, here, following, hyphens)
        else:
            yield here[1], following[0], " ", "join"


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
        self._text, self._blocks = text, blocks

    @cached_property
    def _words(self) -> Counter[str]:
        words: Counter[str] = Counter()
        for block in self._blocks:  # block by block: a list of all words is many times the text
            words.update(_WORD.findall(self._text[block.start : block.end].lower()))
        return words

    @cached_property
    def _book_splits(self) -> bool:
        whole = hyphened = 0
        for block in self._blocks:
            if block.kind != "prose" or block.line_count == 1:
                continue
            for a, b in pairwise(lines_of(self._text, block)):
                halves = _halves(self._text, a, b) if self._text[a[1] - 1] == "-" else None
                if halves:
                    one, two = self._words["".join(halves)], self._words["-".join(halves)]
                    whole += one > two
                    hyphened += two > one
        return whole > max(5, hyphened)

    def splits(self, left: str, right: str, small: bool) -> bool:
        """Whether the hyphen was put in only to break the line."""
        hyphened, whole = self._words[f"{left}-{right}"], self._words[left + right]
        if hyphened != whole:
            return whole > hyphened
        return small and not (self._words[left] > 1 and self._words[right] > 1) and self._book_splits
