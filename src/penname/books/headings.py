"""Which candidates are headings. A sequence 1, 2, 3 ... with prose in between proves them; a stray one outside it is none.

Contents lists have no prose in between, so they are known apart from the chapters that they list. Headings without numbers
stand where the format itself marks them (HTML, EPUB, DOCX ...), or by their name before and behind the chapters (preface,
epilogue).
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from penname.books.blocks import Block
from penname.books.candidates import Candidate, find_candidates, read_candidate
from penname.books.numerals import LAST
from penname.books.subtitles import title_blocks
from penname.books.unnumbered import capital_titles, listed_titles, words_until

HeadingKind = Literal["chapter", "front", "back", "heading"]
_PROSE_WORDS = 60  # fewer words than this between two headings are no chapter
_LIST_WORDS = 25  # fewer than this between two lines that look like headings is how a contents list looks
_LIST_ENTRIES = 3
_PART_WORDS = 300  # no more than this stands between a part's heading and its first chapter: a motto, a half title


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that stands: blocks ``first`` to ``last`` (its title may be a block of its own).

    A division that begins without a heading in the text has ``last`` = ``first`` - 1 and its name in ``label``.
    """

    first: int
    last: int
    kind: HeadingKind
    level: int
    number: int = 0
    label: str = ""


@dataclass(frozen=True, slots=True)
class Structure:
    """The headings in order, and the blocks that belong to contents lists."""

    headings: tuple[Heading, ...]
    listed: frozenset[int]
    page_numbers: frozenset[int] = frozenset()
    sections: frozenset[int] = frozenset()  # bare numbers that part the text inside chapters


def find_structure(text: str, blocks: list[Block], hints: Mapping[int, tuple[int, str, bool]]) -> Structure:
    """The structure of a book. ``hints``: block -> (level, label, shown) where the format marks a division."""
    shown = frozenset(i for i, (_, _, is_shown) in hints.items() if is_shown)
    found, total = find_candidates(text, blocks, shown)
    listed = _contents_runs(found)
    found = [c for c in found if c.block not in listed]
    pages = _page_numbers(found)
    found = [c for c in found if c.block not in pages]
    named = {c.block: c for c in found if c.style == "named"}
    chosen, sections = _sections(_choose([c for c in found if c.style != "named"], total), found, named)
    below = _marked_below(text, blocks, chosen, hints)
    if below:
        chosen = [(c, "heading") for c, _ in chosen]
    headings = _with_titles(text, blocks, chosen, below)
    headings = _add_hinted(text, blocks, headings, hints)
    if not headings:
        headings = [Heading(i, i, "chapter", 3) for i in listed_titles(text, blocks) or capital_titles(text, blocks)]
    headings = _add_named(headings, list(named.values()), sections)
    return Structure(tuple(headings), frozenset(listed), frozenset(pages), frozenset(sections))


def _marked_below(
    text: str, blocks: list[Block], chosen: list[tuple[Candidate, HeadingKind]], hints: Mapping[int, tuple[int, str, bool]]
) -> set[int]:
    """The divisions without numbers that the format marks below parts, where there are more of them: the chapters of such a book."""
    parts = {c.block for c, kind in chosen if kind == "chapter" and c.level <= 2}
    if not parts or not parts <= hints.keys():
        return set()
    level = max(hints[i][0] for i in parts)
    below = [i for i in sorted(hints) if i > min(parts) and hints[i][0] > level and hints[i][2]]
    ends = [*below[1:], len(blocks)]
    told = sum(words_until(text, blocks, i, end) >= _PROSE_WORDS for i, end in zip(below, ends, strict=True))
    return set(below) if told > len(parts) else set()


def _sections(
    chosen: list[tuple[Candidate, HeadingKind]], found: list[Candidate], named: Mapping[int, Candidate]
) -> tuple[list[tuple[Candidate, HeadingKind]], set[int]]:
    """Bare numbers that part the inside of chapters, out of the chapters: those of a prologue, and runs 1, 2 ... in each chapter."""
    chapters = [c for c, kind in chosen if kind == "chapter"]
    sections: set[int] = set()
    follows = {b.block: a for a, b in pairwise(found)}
    run: list[Candidate] = []
    for c in [*chapters, None]:
        if c is not None and run and c.number == run[-1].number + 1:
            run.append(c)
            continue
        opener = follows.get(run[0].block) if run else None
        if (
            run
            and opener is not None
            and opener.block in named
            and opener.words < _LIST_WORDS
            and len(run) < 0.5 * len(chapters)
            and "-" in run[0].style
        ):
            sections |= {item.block for item in run}
        run = [c] if c is not None else []
    for at, (opener, c) in enumerate(pairwise(found), 1):
        if opener.block in named and opener.words < _LIST_WORDS and c.block == opener.block + 1 and c.number == 1:
            parts = _numbered_on(found, at)
            if len(parts) > 1 and len(parts & {item.block for item in chapters}) < 0.5 * max(1, len(chapters)):
                sections |= parts
    heads = [c.block for c, _ in chosen if c.block not in sections]
    taken = set(heads)
    for style in ("bare-arabic", "bare-roman"):
        items = [c for c in found if c.style == style and c.block not in taken and c.words >= _PROSE_WORDS and heads and c.block > heads[0]]
        chain = _chain(items, heads)
        if len(chain) >= 2 and sum(c.number == 1 for c in chain) >= 1 and len(chain) > 0.8 * len(items):
            sections |= {c.block for c in chain}
    return [(c, kind) for c, kind in chosen if c.block not in sections], sections


def _numbered_on(found: list[Candidate], at: int) -> set[int]:
    """The blocks of the bare number at ``at`` and of those behind it that count on, each with text of its own."""
    run: set[int] = set()
    for k in range(at, len(found)):
        c = found[k]
        if not c.style.startswith("bare-") or c.style != found[at].style or c.number != 1 + len(run) or c.words < _LIST_WORDS:
            break
        run.add(c.block)
    return run


def _contents_runs(found: list[Candidate]) -> set[int]:
    """Blocks of contents lists: several heading-like lines in a row with next to nothing in between, listed again later."""
    last_told = {c.number: i for i, c in enumerate(found) if c.words >= _LIST_WORDS}  # where a number last has prose behind it

    def told_after(c: Candidate, at: int) -> bool:
        return last_told.get(c.number, -1) > at

    listed: set[int] = set()
    at = 0
    while at < len(found):
        end = at
        while end < len(found) and found[end].words < _LIST_WORDS:
            end += 1
        stop = end
        # The last entry is followed by whatever comes after the list, so its words tell nothing.
        if at < end < len(found) and _continues(found[end - 1], found[end]) and told_after(found[end], end):
            stop += 1
        # "BOOK I" right above the first chapter is no entry: it opens the story.
        while stop == end < len(found) and stop > at and found[stop - 1].level < found[stop].level:
            stop -= 1
        if stop - at >= _LIST_ENTRIES and sum(told_after(c, stop - 1) for c in found[at:stop]) >= 0.5 * (stop - at):
            listed.update(c.block for c in found[at:stop])
        at = end + 1
    return listed


def _continues(last: Candidate, here: Candidate) -> bool:
    return here.style == last.style and here.number == last.number + 1


def _page_numbers(found: list[Candidate]) -> set[int]:
    """Bare arabic numbers that count pages: a long run upwards, each with about a page of text behind it."""
    items = [c for c in found if c.style == "bare-arabic" and not c.hinted]
    rising = [b for a, b in pairwise(items) if 0 < b.number - a.number <= 3]
    if len(items) < 20 or len(rising) < 0.8 * len(items):
        return set()
    words = sorted(c.words for c in items)
    return {c.block for c in items} if words[len(words) // 2] < 600 else set()


def _choose(found: list[Candidate], total: int) -> list[tuple[Candidate, HeadingKind]]:
    """The chains that stand: the book's chapters, and the volumes and parts above them."""
    styles: dict[str, list[Candidate]] = {}
    for candidate in found:
        styles.setdefault(candidate.style, []).append(candidate)
    outer_blocks = [c.block for c in found if c.level <= 2]
    upper = {style: _chain(items, []) for style, items in styles.items() if items[0].level <= 2}
    inner = {style: _chain(items, outer_blocks) for style, items in styles.items() if items[0].level > 2}
    weights = {style: _weight(chain, total) for style, chain in inner.items()}
    main = max(weights, key=lambda style: weights[style], default="")
    if main and weights[main] > 0:
        chosen: list[tuple[Candidate, HeadingKind]] = [(c, "chapter") for c in _with_misprints(inner[main], styles[main])]
        if main.startswith("bare-arabic"):
            # Two numberings of bare numbers: the one with fewer entries, in the other style, counts the parts.
            roman = inner.get("bare-roman", [])
            if 2 <= len(roman) < len(chosen) / 2:
                chosen += [(c, "heading") for c in roman]
        chosen += [(c, "heading") for chain in upper.values() if _parts_the_book(chain, inner[main]) for c in chain]
        first = chosen[0][0].block
        letters = (chain for style, chain in inner.items() if style != main and "-" not in style and _weight(chain, total) > 0)
        chosen += [(c, "front") for chain in letters for c in chain if c.block < first]
        return sorted(chosen, key=lambda item: item[0].block)
    weights = {style: _weight(chain, total) for style, chain in upper.items()}
    main = max(weights, key=lambda style: weights[style], default="")
    if not main or weights[main] <= 0:
        return []
    chosen = [(c, "chapter") for c in upper[main]]
    chosen += [(c, "heading") for style, chain in upper.items() if style != main for c in chain]
    return sorted(chosen, key=lambda item: item[0].block)


def _weight(chain: list[Candidate], total: int) -> float:
    """How much a chain counts for as the book's chapters; 0 where it proves nothing."""
    if not chain:
        return 0
    keyed = "-" not in chain[0].style
    ends = [c.before for c in chain[1:]] + [total]
    prose = sum(end - c.before >= _PROSE_WORDS for c, end in zip(chain, ends, strict=True))
    if len(chain) < (1 if keyed else 2) or prose < 0.5 * len(chain):
        return 0
    if len(chain) > 3 and sum(b.number == a.number + 1 for a, b in pairwise(chain)) < 0.25 * len(chain):
        return 0  # "THE LETTER 31", "THE LETTER 33": the head of every other page
    if not keyed and chain[0].number == 1 and chain[0].before > max(1500, 0.25 * total):
        return 0  # numbered stanzas or a list far inside the story
    return prose * (3 if keyed else 1) + sum(c.hinted for c in chain)


def _parts_the_book(chain: list[Candidate], chapters: list[Candidate]) -> bool:
    """Whether a chain of volumes or parts stands above the chapters: right before one of them, or where they begin again.

    One that has a page of text behind each of its members is a list inside a chapter ("BOOK I. (Folio), ...").
    """
    blocks = [c.block for c in chapters]

    def stands(part: Candidate) -> bool:
        at = bisect_right(blocks, part.block)
        return part.words < _PART_WORDS or (0 < at < len(chapters) and chapters[at].number <= chapters[at - 1].number)

    return sum(map(stands, chain)) >= 0.5 * len(chain)


def _with_misprints(chain: list[Candidate], items: list[Candidate]) -> list[Candidate]:
    """The chain with headings whose number is misprinted: as many stand in a gap, with prose behind them, as it lacks."""
    out = list(chain)
    taken = {c.block for c in chain}
    for a, b in pairwise(chain):
        lost = b.number - a.number - 1
        if lost > 0:
            between = [c for c in items if a.block < c.block < b.block and c.block not in taken and c.words >= _PROSE_WORDS]
            if len(between) == lost:
                out += [c._replace(number=a.number + 1 + n) for n, c in enumerate(between)]
    return sorted(out, key=lambda c: c.block)


def _chain(items: list[Candidate], outer: list[int]) -> list[Candidate]:
    """The best sequence among candidates of one style: steps of one, small gaps at a price, back to 1 at a price.

    Dynamic programming over the candidates, linear in their number: a candidate looks back only at the best chains that
    end in one of the four numbers before its own, and at the best chain of all.
    """
    best: list[tuple[float, int]] = []
    by_number: dict[int, int] = {}
    top = -1
    outer_at = 0
    for i, item in enumerate(items):
        while outer_at < len(outer) and outer[outer_at] < item.block:
            outer_at += 1
        gain = 1 + (0.5 if item.words >= _PROSE_WORDS else 0) + (0.5 if item.hinted else 0)
        value = gain - min(2.5, 0.5 * (max(item.number, 1) - 1))
        back = -1
        if item.number == LAST and top >= 0:
            value, back = best[top][0] + gain, top
        for step in range(1, 5):
            j = by_number.get(item.number - step, -1)
            if j >= 0 and best[j][0] + gain - 0.7 * (step - 1) > value:
                value, back = best[j][0] + gain - 0.7 * (step - 1), j
        if item.number == 1 and top >= 0:
            opened = outer_at > 0 and outer[outer_at - 1] > items[top].block
            if best[top][0] + gain - (0 if opened else 1.2) > value:
                value, back = best[top][0] + gain - (0 if opened else 1.2), top
        best.append((value, back))
        j = by_number.get(item.number, -1)
        if j < 0 or value >= best[j][0]:
            by_number[item.number] = i
        if top < 0 or value > best[top][0]:
            top = i
    chain = []
    while top >= 0:
        chain.append(items[top])
        top = best[top][1]
    return chain[::-1]


def _with_titles(text: str, blocks: list[Block], chosen: list[tuple[Candidate, HeadingKind]], below: set[int]) -> list[Heading]:
    """Headings with their title blocks; what stands ``below`` is a heading itself."""
    titled = title_blocks(text, blocks, chosen, below)
    return [
        Heading(c.block, c.block + (c.block in titled), kind, c.level if kind != "heading" else min(c.level, 2), c.number)
        for c, kind in chosen
    ]


def _add_hinted(text: str, blocks: list[Block], headings: list[Heading], hints: Mapping[int, tuple[int, str, bool]]) -> list[Heading]:
    """Headings that the format marks and that have no number: chapters by title, interludes, prefaces."""
    taken = {i for h in headings for i in range(h.first, h.last + 1)} | {h.first for h in headings}
    numbered = Counter(hints[h.first][0] for h in headings if h.kind == "chapter" and h.first in hints)
    free = [i for i in sorted(hints) if i not in taken and i < len(blocks)]
    places = [*sorted({*taken, *free}), len(blocks)]
    words = {i: words_until(text, blocks, i, places[bisect_right(places, i)]) for i in free}
    prose = [i for i in free if words[i] >= _PROSE_WORDS]
    chapters = [h.first for h in headings if h.kind == "chapter"]
    if numbered:
        level = numbered.most_common(1)[0][0]
        new = [i for i in prose if hints[i][0] == level]
    else:
        levels = Counter(hints[i][0] for i in prose)
        level = max(levels, key=lambda lv: (levels[lv], -lv), default=0)
        if chapters and level:
            return headings  # the numbers carry the book, and the format marks none of them
        new = [i for i in prose if hints[i][0] == level] if levels[level] > 1 or len(free) == 1 else []
    chapters = chapters or new
    out = list(headings)
    for i in new:
        shown = hints[i][2]
        named = read_candidate(i, text[blocks[i].start : blocks[i].end] if shown else hints[i][1], True)
        out.append(Heading(i, i if shown else i - 1, _kind_of(i, named, chapters, bool(numbered)), 3, label=hints[i][1]))
    above = [
        i
        for i in free
        if i not in new and hints[i][2] and hints[i][0] < level and words[i] < _PROSE_WORDS and new and i > min(new[0], *chapters)
    ]
    out += [Heading(i, i, "heading", 2, label=hints[i][1]) for i in above]
    return sorted(out, key=lambda h: h.first)


def _kind_of(index: int, named: Candidate | None, chapters: list[int], numbered: bool) -> HeadingKind:
    if numbered and index < chapters[0]:
        return "front"
    if named is not None and named.style == "named":
        if index <= chapters[0] or (not numbered and index < chapters[len(chapters) // 2]):
            return "front"
        if named.back and index >= chapters[-1]:
            return "back"
    return "chapter"


def _add_named(headings: list[Heading], named: list[Candidate], sections: set[int]) -> list[Heading]:
    chapters = [h.first for h in headings if h.kind == "chapter"]
    taken = {i for h in headings for i in range(h.first, h.last + 1)}
    out = list(headings)
    for c in named:
        if c.block in taken or not chapters or (c.words < _LIST_WORDS and c.block + 1 not in sections):
            continue
        if c.block < chapters[0]:
            out.append(Heading(c.block, c.block, "front", 3))
        elif c.back and c.block > chapters[-1]:
            out.append(Heading(c.block, c.block, "back", 3))
    return sorted(out, key=lambda h: h.first)
