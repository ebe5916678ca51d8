"""What stands before, between and behind the chapters: title pages, imprints, contents, credits, notes, dedications, end marks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from penname.books.blocks import Block
from penname.books.candidates import CONTENTS, is_list, plain
from penname.books.headings import Structure
from penname.books.subtitles import PRINTER
from penname.core.config import BooksConfig

_CREDIT = re.compile(
    r"\W*(?:(?:this\s+)?(?:e-?text|e-?book|html(?:\s+version)?|(?:text|html)\s+file)\s+(?:was\s+)?(?:first\s+)?"
    r"(?:prepared|produced|created|scanned|transcribed|typed|converted|proofed|by)\b"
    r"|(?:produced|transcribed|scanned|digiti[sz]ed|proof-?read|prepared|typed|converted|proofed)\s+(?:and\s+[\w-]+\s+)?(?:by|from)\b"
    r"|this\s+web\s+edition\b|(?:to\s+the\s+best\s+of\s+our\s+knowledge,?\s+)?(?:the\s+text\s+of\s+)?this\s+work\s+is\s+in\s+the\s+.{0,12}public\s+domain"
    r"|special\s+thanks|many\s+thanks\s+to|online\s+distributed|distributed\s+proof|\(?this\s+file\s+was\s+produced\s+from"
    r"|note:\s+project\s+gutenberg"
    r"|(?:this\s+)?(?:e-?text|ebook)\s+(?:is|was)\s+.{0,40}(?:public\s+domain|scanned|prepared))",
    re.IGNORECASE,
)
_NET = re.compile(
    r"https?://|www\.|pgdp|gutenberg|\b[\w.+-]+@[\w-]+\.\w|archive\.org|e-?books@adelaide|distributed\s+proofread|proofreading\s+team",
    re.IGNORECASE,
)
_NOTE = re.compile(
    r"\W*(?:the\s+)?transcriber(?:['’]?s?['’]?)?\s*(?:end)?-?\s*notes?\b"
    r"|\W*transcription\s+notes?\b|\W*notes?\s+(?:by|of|from)\s+the\s+transcriber",
    re.IGNORECASE,
)
_ABOUT_EDITION = re.compile(r"about\s+this\s+(?:(?:digital|electronic|web)\s+)?(?:edition|e-?book|e-?text)\W*", re.IGNORECASE)
_PRINTED = re.compile(r"\W*(?:made\s+and\s+)?printed\s+(?:and\s+bound\s+)?(?:in|by|at)\b", re.IGNORECASE)
_END_MARK = re.compile(
    r"\W*(?:the\s+end|end|finis|fin|the\s+end\s+of\s+.{1,60}|end\s+of\s+(?:the\s+)?(?:\w+\s+)?(?:vol(?:ume)?|book|part|story|novel)\b.{0,40})\W*",
    re.IGNORECASE,
)
_DEDICATION = re.compile(
    r"\W*(?:T[Oo]\W*$|TO\s+[A-Z]|To\s+(?:my|all|those|the\s+memory|[A-Z])|"
    r"(?i:dedicat|inscribed|affectionately|respectfully|this\s+(?:work|book|volume|story|novel)\s+is))"
)
_IMPRINT = re.compile(
    r"&\s+co\b|\b(?:copyright|all rights reserved|published|publishers?|"
    r"printed|printers?|press|edition|london|new york|boston|edinburgh|philadelphia|"
    r"and co\b|\d{4}\b|illustrat|frontispiece|reprint)",
    re.IGNORECASE,
)
_RUNNING_HEAD = re.compile(r"(?:\d{1,4}\s+)?([^\W\d_][^\d]{2,60}?)(?:\s+\d{1,4})?")
_ENDNOTE = re.compile(r"\W*(?:end|foot)note\s+\d{1,3}\W*", re.IGNORECASE)
_EDITOR_HEADING = re.compile(
    r"(?:(?:an?|the|general|critical)\s+)*(?:editor['’]?s['’]?|translator['’]?s['’]?|(?:biblio|bio)graphical|critical)\s+"
    r"(?:introduction|introductory|preface|foreword|note|notice|sketch|remarks)\b",
    re.IGNORECASE,
)
_STORY_HEADING = re.compile(r"\b(?:prologue|prelude|proem|exordium|curtain|letter)\b", re.IGNORECASE)
_EDITOR_NAMES = 3
_ATTRIBUTION = re.compile(r"\s*(?:--|[—–―-])\s*[\w\"'“‘].{0,80}", re.DOTALL)
_INDEX = re.compile(r"\W*(?:(?:general\s+)?index|errata|corrigenda)\W*", re.IGNORECASE)
_ADVERTS = re.compile(
    r"\W*(?:advertisements?|(?:books?|works|novels|stories|other\s+books)?\s*by\s+the\s+same\s+author.{0,40}"
    r"|(?:other\s+|new\s+|popular\s+|recent\s+|list\s+of\s+|catalogue\s+of\s+)+(?:[\w,&]+\s+){0,4}(?:novels|works|books|publications|fiction).{0,40}"
    r"|(?:novels|works|books|stories)\s+by\s+.{2,60})\W*",
    re.IGNORECASE,
)
_PRICE = re.compile(r"\b\d+s\.|\$\d|\b(?:cloth|8vo|12mo|crown|vols?\b\.?|editions?|illustrated|publish\w+|price)\b", re.IGNORECASE)
_PRICE_CHARS = 1000  # advertisements have such a word in every so many characters, a story one in ten thousand
_PROSE_WORDS = 40
_TITLE_PAGE_BLOCKS = 8
_TAIL_SHARE = 0.15  # no printer's matter behind the story is longer than this share of the text


def find_furniture(text: str, blocks: list[Block], structure: Structure, title: str, author: str, settings: BooksConfig) -> dict[int, str]:
    """Blocks to remove, by number, each with its rule."""
    gone = dict.fromkeys(structure.listed, "contents") | dict.fromkeys(structure.page_numbers, "page-number")
    heads = {i for h in structure.headings for i in range(h.first, h.last + 1)}
    gone |= dict.fromkeys(structure.sections, "section-number")
    gone |= _running_heads(text, blocks, heads)
    starts = sorted(h.first for h in structure.headings)
    for i, rule in _contents_regions(text, blocks, starts, heads):
        gone.setdefault(i, rule)
    if starts:
        first = starts[0]
    else:
        first = next((i for i, block in enumerate(blocks) if _begins_story(text, block)), 0)
    gone |= {i: rule for i, rule in _front_rules(text, blocks, first, settings) if i not in gone}
    for i, rule in _transcribers(text, blocks, starts, first):
        gone.setdefault(i, rule)
    for i, rule in _between(text, blocks, structure, title, heads):
        gone.setdefault(i, rule)
    for i in _captions(text, blocks, heads, first):
        gone.setdefault(i, "illustration")
    for i in _endnotes(text, blocks, starts):
        gone.setdefault(i, "footnote")
    for i, rule in _behind(text, blocks, structure, heads):
        gone.setdefault(i, rule)
    for i, rule in _credits_behind(text, blocks, structure):
        gone.setdefault(i, rule)
    if settings.front_matter != "all":
        for i in _editors(text, blocks, structure, author):
            gone.setdefault(i, "editor")
    last = max((i for i in range(len(blocks)) if i not in gone), default=0)
    if last > first and re.fullmatch(r"\d{1,3}", text[blocks[last].start : blocks[last].end]):  # four digits are the year of writing
        gone[last] = "page-number"
    gone |= dict.fromkeys(_idle_breaks(blocks, gone, heads), "end-mark")
    return gone


def _idle_breaks(blocks: list[Block], gone: dict[int, str], heads: set[int]) -> Iterator[int]:
    """Scene breaks with no scene behind or before them: right before or behind a heading, or at the end."""
    forward = range(len(blocks))
    for order, edge in ((reversed(forward), True), (forward, False)):
        idle = edge
        for i in order:
            if i in gone:
                continue
            if blocks[i].kind == "break" and idle:
                yield i
            else:
                idle = i in heads


def _editors(text: str, blocks: list[Block], structure: Structure, author: str) -> Iterator[int]:
    """Front matter that the author has not written: by its heading, or because it speaks of the author by name again and again."""
    starts = [h.first for h in structure.headings]
    pieces = [(h.first, stop, h.last + 1) for h, stop in zip(structure.headings, starts[1:], strict=False) if h.kind == "front"]
    for first, stop, body in [(0, min(starts, default=0), 0), *pieces]:
        heading = plain(text[blocks[first].start : blocks[body - 1].end]) if body > first else ""
        prose = "\n".join(text[block.start : block.end] for block in blocks[body:stop] if is_prose(text, block))
        if _EDITOR_HEADING.match(heading) or (not _STORY_HEADING.search(heading) and _speaks_of(prose, author)):
            yield from range(first, stop)


def _speaks_of(prose: str, author: str) -> bool:
    """Whether a text has the author's family name three times, and once as a stranger writes it: an own preface is only signed."""
    names = author.split()
    if len(names) < 2 or len(names[-1]) < 3:
        return False
    name = re.escape(names[-1])
    strange = rf"\b(?:{re.escape(names[0])}|Mr\.?|Mrs\.?|Miss|Dr\.?)\s+(?:[A-Z]\S*\s+)?{name}\b|\b{name}['’]s\b"
    return len(re.findall(rf"\b{name}\b", prose)) >= _EDITOR_NAMES and bool(re.search(strange, prose))


def is_prose(text: str, block: Block) -> bool:
    """Whether a block reads as running text: forty words or more, mostly in lower case."""
    if block.kind not in ("prose", "verse") or text.count(" ", block.start, block.end) < _PROSE_WORDS:
        return False
    body = text[block.start : min(block.end, block.start + 2000)]
    letters = sum(char.isalpha() for char in body)
    return letters > 0.6 * len(body) and sum(char.islower() for char in body) > 0.8 * letters


def _begins_story(text: str, block: Block) -> bool:
    """Whether a text without headings begins here: running text, or a whole sentence that no printer or transcriber wrote."""
    if block.kind not in ("prose", "verse") or _notice(text, block):
        return False
    sentence = text.count(" ", block.start, block.end) >= 7 and text[block.end - 1] in ".!?\"'”’"
    return is_prose(text, block) or block.end - block.start > 600 or (sentence and not _IMPRINT.search(_whole(text, block)))


def _notice(text: str, block: Block) -> bool:
    line = plain(text[block.start : min(block.end, block.start + 600)])
    return bool(_CREDIT.match(line) or _NOTE.match(line) or _NET.search(line))


def _front_rules(text: str, blocks: list[Block], first: int, settings: BooksConfig) -> Iterator[tuple[int, str]]:
    """What to remove before the first heading; running text stays, as an untitled piece of front matter."""
    dedicated = False
    sources = [i for i in range(1, first) if _ATTRIBUTION.fullmatch(text[blocks[i].start : min(blocks[i].end, blocks[i].start + 200)])]
    quoted = {j for i in sources for j in (i - 1, i) if text[blocks[i - 1].start] in "\"'“‘" or not is_prose(text, blocks[i - 1])}
    told = [i for i in range(first) if is_prose(text, blocks[i]) and not is_list(text, blocks[i])]
    between = range(told[0], told[-1]) if told else range(0)
    for i in range(first):
        block = blocks[i]
        line = plain(text[block.start : min(block.end, block.start + 600)])
        if i in quoted:
            yield i, "epigraph"
        elif _NOTE.match(line):
            yield i, "transcriber-note"
        elif _CREDIT.match(line) or _NET.search(line):
            yield i, "credit"
        elif is_prose(text, block) and not is_list(text, block):
            dedicated = False
            if block.kind == "verse":
                yield i, "epigraph"
        elif i in between and _is_sentence(text, block) and not _IMPRINT.search(line):
            dedicated = False
        elif _DEDICATION.match(_first_line(text, block)) or (dedicated and block.gap < 3 and not _IMPRINT.search(line)):
            dedicated = True
            if settings.dedication == "drop":
                yield i, "dedication"
        else:
            dedicated = False
            yield i, "imprint" if _IMPRINT.search(line) else "title-page"


def _is_sentence(text: str, block: Block) -> bool:
    """Whether a short block is running text too: mostly in small letters, up to the end of a sentence."""
    body = text[block.start : block.end]
    small = sum(char.islower() for char in body)
    return block.kind == "prose" and body[-1] in ".!?\"'”’" and body.count(" ") > 2 and small > 0.7 * sum(char.isalpha() for char in body)


def _running_heads(text: str, blocks: list[Block], heads: set[int]) -> dict[int, str]:
    """Lines that stand again and again by themselves, in capitals or with a page number: the tops of printed pages."""
    seen: dict[str, list[int]] = {}
    numbered: dict[str, int] = {}
    for i, block in enumerate(blocks):
        if i in heads or block.end - block.start > 70 or block.line_count > 1 or block.kind == "break":
            continue
        line = plain(text[block.start : block.end])
        match = _RUNNING_HEAD.fullmatch(line)
        if match and match[1].isupper() and line[-1] not in "\"'!?":
            seen.setdefault(match[1], []).append(i)
            numbered[match[1]] = numbered.get(match[1], 0) + any(char.isdigit() for char in line)
    return {
        i: "running-head"
        for head, places in seen.items()
        if len(places) >= 8 and (numbered[head] >= 4 or len(places) >= 20)
        for i in places
    }


def _captions(text: str, blocks: list[Block], heads: set[int], first: int) -> Iterator[int]:
    """Captions that have lost their picture: one line, set apart, without an end, that repeats words of the page around it."""
    for i, block in enumerate(blocks):
        if i < first or i in heads or block.kind != "prose" or block.line_count > 2 or block.gap < 2:
            continue
        if not 15 <= block.end - block.start <= 200 or not text[block.end - 1].isalnum() or text[block.start].islower():
            continue
        around = text[max(0, block.start - 4000) : block.start], text[block.end : block.end + 4000]
        if any(_letters(text[block.start : block.end]) in _letters(part) for part in around):
            yield i


def _contents_regions(text: str, blocks: list[Block], starts: list[int], heads: set[int]) -> Iterator[tuple[int, str]]:
    """Each CONTENTS (or list of illustrations) with its entries: up to running text or the next heading that stands."""
    limit = max(starts, default=len(blocks))
    i = 0
    while i < limit:
        if i in heads or blocks[i].kind not in ("prose", "verse") or not _opens_contents(text, blocks[i]):
            i += 1
            continue
        yield i, "contents"
        i += 1
        while i < len(blocks) and i not in heads and (not is_prose(text, blocks[i]) or is_list(text, blocks[i])):
            yield i, "contents"
            i += 1


def _opens_contents(text: str, block: Block) -> bool:
    if not CONTENTS.fullmatch(_first_line(text, block)):
        return False
    return block.line_count == 1 or is_list(text, block)


def _first_line(text: str, block: Block) -> str:
    end = min(block.end, block.start + 200)
    line = text.find("\n", block.start, end)
    return plain(text[block.start : line if line >= 0 else end])


def _transcribers(text: str, blocks: list[Block], starts: list[int], first: int) -> Iterator[tuple[int, str]]:
    """Transcriber's notes near either end: from their heading to a wide gap, a heading of the book, or running prose after a gap."""
    near = {*range(min(len(blocks), first + 40)), *range(max(0, len(blocks) - 400), len(blocks))}
    stops = set(starts)
    for i in sorted(near):
        line = _first_line(text, blocks[i]) if blocks[i].kind in ("prose", "verse") else ""
        if (
            line
            and len(line) < 120
            and _CREDIT.match(line)
            and (i <= first or i > (starts[-1] if starts else 0))
            and _NET.search(_whole(text, blocks[i]))
        ):
            yield i, "credit"
        if not line or not _NOTE.match(line):
            continue
        j = i
        while j < len(blocks) and j not in stops and (j == i or blocks[j].gap < 3):
            yield j, "transcriber-note"
            j += 1


def _endnotes(text: str, blocks: list[Block], starts: list[int]) -> Iterator[int]:
    """Notes gathered behind the story, each under "Endnote 1" and so on: from the first to the end or the next heading."""
    begin = starts[-1] if starts else 0
    first = next((i for i in range(begin, len(blocks)) if _ENDNOTE.fullmatch(_first_line(text, blocks[i]))), len(blocks))
    if first < len(blocks) and len(text) - blocks[first].start < _TAIL_SHARE * len(text):
        yield from range(first, len(blocks))


def _whole(text: str, block: Block) -> str:
    return text[block.start : min(block.end, block.start + 1000)]


def _between(text: str, blocks: list[Block], structure: Structure, title: str, heads: set[int]) -> Iterator[tuple[int, str]]:
    """Half titles, ends of volumes and the title pages of the next ones, which stand between the chapters."""
    wanted = _letters(title)
    for a, b in pairwise(structure.headings):
        page = range(a.last + 1, b.first) if a.kind == "heading" and b.first - a.last <= _TITLE_PAGE_BLOCKS else range(0)
        if any(PRINTER.search(_whole(text, blocks[i])) for i in page) and not any(is_prose(text, blocks[i]) for i in page):
            yield from ((i, "imprint" if _IMPRINT.search(_whole(text, blocks[i])) else "title-page") for i in page)
            continue
        for i in range(b.first - 1, max(a.last, b.first - 30), -1):
            line = _whole(text, blocks[i]) if i not in heads else ""
            if not line or len(line) > 200 or is_prose(text, blocks[i]):
                break
            if _END_MARK.fullmatch(plain(line)):
                yield i, "end-mark"
                yield from ((j, "title-page") for j in range(i + 1, b.first) if j not in heads)
                break
            if i == b.first - 1 and wanted and _letters(line) == wanted[: len(_letters(line))] and len(_letters(line)) > 0.3 * len(wanted):
                yield i, "title-page"


def _opens_tail(text: str, blocks: list[Block], index: int) -> bool:
    """Whether an index, a list of errors or a publisher's advertisements begin here, and nothing else follows."""
    line = _first_line(text, blocks[index])
    if _INDEX.fullmatch(line):
        return not any(is_prose(text, block) and not is_list(text, block) for block in blocks[index + 1 :])
    rest = len(text) - blocks[index].start
    return bool(_ADVERTS.fullmatch(line)) and len(_PRICE.findall(text, blocks[index].start)) >= max(2, rest / _PRICE_CHARS)


def _credits_behind(text: str, blocks: list[Block], structure: Structure) -> Iterator[tuple[int, str]]:
    """What printers and digital libraries put behind the story: a division about their edition, and notices at the very end."""
    heads = structure.headings
    for h, stop in zip(heads, [*(h.first for h in heads), len(blocks)][1:], strict=True):
        if _ABOUT_EDITION.fullmatch(plain(text[blocks[h.first].start : blocks[h.last].end]) if h.last >= h.first else h.label):
            yield from ((i, "credit") for i in range(h.first, stop))
    for i in range(len(blocks) - 1, heads[-1].last if heads else 0, -1):
        printed = _PRINTED.match(plain(_whole(text, blocks[i])))
        if is_prose(text, blocks[i]) or not (printed or _notice(text, blocks[i])):
            return
        yield i, "imprint" if printed else "credit"


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def _behind(text: str, blocks: list[Block], structure: Structure, heads: set[int]) -> Iterator[tuple[int, str]]:
    """The end mark behind the story and what printers put after it; a named part of the book behind it (a note) stays."""
    chapters = [h for h in structure.headings if h.kind == "chapter"]
    begin = chapters[-1].last + 1 if chapters else 0
    backs = [h.first for h in structure.headings if h.kind == "back"]
    for i in range(begin, len(blocks)):
        if i in heads or blocks[i].kind != "prose" or blocks[i].end - blocks[i].start > 120:
            continue
        if not _END_MARK.fullmatch(plain(text[blocks[i].start : blocks[i].end])):
            continue
        if len(text) - blocks[i].end > _TAIL_SHARE * len(text) + 2000:
            continue
        yield i, "end-mark"
        stop = min((at for at in backs if at > i), default=len(blocks))
        for j in range(i + 1, stop):
            yield j, "back-matter"
        return
    for i in range(begin + 1, len(blocks)):
        if blocks[i].gap > 1 and i not in heads and len(text) - blocks[i].start < _TAIL_SHARE * len(text) and _opens_tail(text, blocks, i):
            yield from ((j, "back-matter") for j in range(i, len(blocks)))
            return
