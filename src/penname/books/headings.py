"""Which blocks are headings: numbered ones proved by their sequence, named ones (preface, epilogue) by their name.

A line that looks like a heading is only a candidate. Candidates of one style ("CHAPTER" + roman, bare arabic numbers, ...)
are headings when they form a sequence 1, 2, 3 ... with prose in between; a stray one outside the sequence is none, and a
contents list, which has no prose in between, loses to the chapters that it lists.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from penname.books.blocks import Block
from penname.books.numerals import LAST, WORD_PATTERN, number

_KEYS = {
    "volume": 1, "vol": 1, "tome": 1,
    "part": 2, "book": 2, "phase": 2, "epoch": 2, "period": 2, "division": 2,
    "chapter": 3, "chap": 3, "chaper": 3, "chapitre": 3, "stave": 3, "letter": 3, "episode": 3, "canto": 3, "narrative": 3, "lecture": 3,
    "section": 4, "scene": 4,
}  # fmt: skip
_ONE_KEY = {"vol": "volume", "tome": "volume", "chap": "chapter", "chaper": "chapter", "chapitre": "chapter"}
_KEY = "|".join(_KEYS)
_NUMBER = rf"[ivxlcdm]+j?|\d{{1,4}}|{WORD_PATTERN}"
_KEYED = re.compile(rf"^(?:the\s+)?(?P<key>{_KEY})\b\.?\s*(?:the\s+|no\.?\s+|number\s+)?(?P<num>{_NUMBER})(?![\w'’])(?P<rest>.*)$", re.IGNORECASE | re.DOTALL)
_TURNED = re.compile(rf"^(?:the\s+)?(?P<num>{WORD_PATTERN}|\d{{1,3}}(?:st|nd|rd|th))\s+(?P<key>{_KEY})\b(?P<rest>.*)$", re.IGNORECASE | re.DOTALL)
_BARE = re.compile(rf"^[\[(—–-]*\s*(?P<num>{_NUMBER})\s*[\])—–-]*\s*[.:]?$", re.IGNORECASE)
_TITLED = re.compile(r"^(?P<num>[IVXLCDM]+|\d{1,3})(?:[.:)]|\s*[—–]|\s*-{1,2})\s*(?P<rest>\S.*)$", re.DOTALL)
_FRONT = (
    r"prefaces?|introduction|introductory|foreword|prologue|proem|prelude|advertisement|dedication|dedicatory|to the reader|"
    r"exordium|note|notice|apology|argument|preamble|before the curtain|etymology|extracts|author['’]s note"
)
_BACK = r"epilogue|afterword|conclusion|postscript|finale|l['’]envoi|envoi|appendix|appendices|glossary|notes|endnotes|coda|author['’]s note|note"
_NAMED = re.compile(
    rf"^(?:(?:the|an?|author['’]?s?|editor['’]?s?|biographical|explanatory|general|critical)\s+)*(?P<name>{_FRONT}|{_BACK})"
    rf"(?:\s+(?:to|by|of|from|on)\s+[^.!?]{{1,80}}|\s+[ivx\d]+|\s+(?:letter|note|chapter|remarks|epistle))?\s*[.:]?$",
    re.IGNORECASE,
)
_BACK_NAME = re.compile(_BACK, re.IGNORECASE)
_MARKUP = re.compile(r"[_=*#~]+")
_PROSE_WORDS = 60

HeadingKind = Literal["chapter", "front", "back", "heading"]


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading that stands: blocks ``first`` to ``last`` (its title may be a block of its own)."""

    first: int
    last: int
    kind: HeadingKind
    level: int
    number: int


@dataclass(frozen=True, slots=True)
class _Candidate:
    block: int
    style: str
    key: str
    number: int
    titled: bool
    words: int = 0  # words of text up to the next candidate


def plain(text: str) -> str:
    """A line without its emphasis marks, spaces folded, spaced-out letters closed up: "C H A P T E R" is a word."""
    line = " ".join(_MARKUP.sub(" ", text).split())
    if re.fullmatch(r"(?:\w ){3,}\w\W*(?: .*)?", line) and re.match(r"(?:[A-Z] ){3,}", line):
        line = re.sub(r"(?<=\b[A-Z]) (?=[A-Z]\b)", "", line)
    return line


def heading_line(line: str) -> bool:
    """Whether a line is nothing but a heading's keyword and number, or a bare number: it never joins a paragraph."""
    if len(line) > 60:
        return False
    match = _KEYED.match(line) or _TURNED.match(line)
    if match:
        return not match["rest"].strip(" .:—–-]*_") and line[:1].lstrip("_*[") not in "abcdefghijklmnopqrstuvwxyz"
    return False


def _candidate(index: int, text: str) -> _Candidate | None:
    line = plain(text)
    if not line or len(line) > 400:
        return None
    match = _KEYED.match(line) or _TURNED.match(line)
    if match:
        value = number(re.sub(r"(?:st|nd|rd|th)$", "", match["num"]) if match["num"][:1].isdigit() else match["num"])
        rest = match["rest"]
        if value is None or line[0].islower() or not _rest_is_title(rest):
            return None
        key = match["key"].lower()
        key = _ONE_KEY.get(key, key)
        return _Candidate(index, key, key, value, bool(rest.strip(" .:—–-")))
    match = _BARE.match(line)
    if match:
        value = number(match["num"])
        if value is None or match["num"].islower() and not match["num"].isdigit() and len(match["num"]) < 3:
            return None
        kind = "arabic" if match["num"].isdigit() else "word" if match["num"].lower() in _WORDS else "roman"
        return _Candidate(index, f"bare-{kind}", "", value, False)
    match = _TITLED.match(line)
    if match and _looks_like_title(match["rest"]) and len(line) < 200:
        value = number(match["num"])
        if value is not None:
            kind = "arabic" if match["num"].isdigit() else "roman"
            return _Candidate(index, f"titled-{kind}", "", value, True)
    return None


_WORDS = frozenset(WORD_PATTERN.replace("\\", "").split("|"))


def _rest_is_title(rest: str) -> bool:
    if not rest.strip():
        return True
    if rest.lstrip()[0] in ".:—–-)],;" or rest.startswith("]"):
        body = rest.strip(" .:—–-)],;")
        return not body or not body[0].islower() or len(body.split()) > 1 and body[0].islower() and rest.lstrip()[0] in "—–-:."
    # "CHAPTER I THE CONSUL'S YARN": no mark, so the title itself must look like one.
    return _looks_like_title(rest.strip())


def _looks_like_title(text: str) -> bool:
    words = re.findall(r"[^\W\d_][\w'’-]*", text)
    if not words or len(words) > 40:
        return False
    letters = [char for char in text if char.isalpha()]
    if sum(char.isupper() for char in letters) > 0.8 * len(letters):
        return True
    if text.rstrip()[-1] in ",;" or len(words) > 14:
        return False
    small = {"a", "an", "and", "at", "by", "for", "from", "in", "into", "of", "on", "or", "the", "to", "with", "is", "as", "de", "la", "which", "that"}
    big = [word for word in words if word.lower() not in small]
    return words[0][0].isupper() and sum(word[0].isupper() for word in big) >= 0.7 * max(1, len(big)) and len(big) > 0


def find_headings(text: str, blocks: list[Block]) -> list[Heading]:
    """The headings that stand, in order. [] where no sequence and no name is found."""
    words = [0] * (len(blocks) + 1)
    for i, block in enumerate(blocks):
        words[i + 1] = words[i] + (0 if block.kind == "gone" else text.count(" ", block.start, block.end) + 1)
    found = []
    for i, block in enumerate(blocks):
        if block.kind in ("prose", "verse", "heading") and block.end - block.start <= 400:
            candidate = _candidate(i, text[block.start : block.end])
            if candidate:
                found.append(candidate)
    found = [
        _Candidate(c.block, c.style, c.key, c.number, c.titled, words[n.block if n else len(blocks)] - words[c.block + 1])
        for c, n in zip(found, [*found[1:], None], strict=True)
    ] if found else []
    chosen = _choose(found)
    headings = [_with_title(text, blocks, c, level, kind, chosen) for c, level, kind in chosen]
    return _with_named(text, blocks, headings)


def _choose(found: list[_Candidate]) -> list[tuple[_Candidate, int, HeadingKind]]:
    styles: dict[str, list[_Candidate]] = {}
    for candidate in found:
        styles.setdefault(candidate.style, []).append(candidate)
    outer = [c for c in found if c.key and _KEYS[c.key] <= 2]
    outer_blocks = [c.block for c in outer]
    chains = {style: _chain(items, outer_blocks if not (items[0].key and _KEYS[items[0].key] <= 2) else []) for style, items in styles.items()}
    inner = {s: c for s, c in chains.items() if not (c and c[0].key and _KEYS[c[0].key] <= 2)}
    main = max(inner, key=lambda s: _weight(inner[s]), default=None)
    chosen: list[tuple[_Candidate, int, HeadingKind]] = []
    if main is not None and _weight(inner[main]) > 0:
        chosen += [(c, 3, "chapter") for c in inner[main]]
    upper = [(style, chain) for style, chain in chains.items() if style not in inner and chain and len(chain) >= (1 if chosen else 2)]
    for style, chain in upper:
        level = _KEYS[style]
        if not chosen and style == max(upper, key=lambda pair: len(pair[1]))[0]:
            return [(c, level, "chapter") for c in chain]
        chosen += [(c, level, "heading") for c in chain]
    return sorted(chosen, key=lambda item: item[0].block)


def _weight(chain: list[_Candidate]) -> float:
    """How much a chain counts for as the book's chapters; 0 where it proves nothing."""
    if not chain:
        return 0
    keyed = bool(chain[0].key)
    prose = sum(1 for c in chain if c.words >= _PROSE_WORDS)
    if len(chain) < (1 if keyed else 2) or prose < 0.5 * len(chain):
        return 0
    return prose * (3 if keyed else 1)


def _chain(items: list[_Candidate], outer: list[int]) -> list[_Candidate]:
    """The best sequence among candidates of one style: steps of one, small gaps at a price, back to 1 at a price.

    Dynamic programming over the candidates, linear in their number: a candidate looks back only at the best chains that
    end in one of the four numbers before its own, and at the best chain of all.
    """
    best: list[tuple[float, int]] = []
    by_number: dict[int, int] = {}
    top = -1
    outer_at = 0
    for i, item in enumerate(items):
        gain = 1 + (0.5 if item.words >= _PROSE_WORDS else 0)
        value = gain - min(2.5, 0.5 * (max(item.number, 1) - 1))
        back = -1
        if item.number == LAST and top >= 0:
            value, back = best[top][0] + gain, top
        for step in range(1, 5):
            j = by_number.get(item.number - step, -1)
            if j >= 0 and best[j][0] + gain - 0.7 * (step - 1) > value:
                value, back = best[j][0] + gain - 0.7 * (step - 1), j
        if item.number == 1 and top >= 0:
            opened = False
            while outer_at < len(outer) and outer[outer_at] < item.block:
                opened = opened or outer[outer_at] > items[top].block
                outer_at += 1
            price = 0 if opened else 1.2
            if best[top][0] + gain - price > value:
                value, back = best[top][0] + gain - price, top
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


def _with_title(text: str, blocks: list[Block], c: _Candidate, level: int, kind: HeadingKind, chosen: list[tuple[_Candidate, int, HeadingKind]]) -> Heading:
    last = c.block
    if not c.titled and _titles_follow(text, blocks, chosen, level):
        nxt = c.block + 1
        if nxt < len(blocks) and _title_block(text, blocks, nxt):
            last = nxt
    return Heading(c.block, last, kind, level, c.number)


def _titles_follow(text: str, blocks: list[Block], chosen: list[tuple[_Candidate, int, HeadingKind]], level: int) -> bool:
    """Whether the untitled headings of a level mostly have their title in the next block; a habit of the whole book."""
    bare = [c for c, at, _ in chosen if at == level and not c.titled]
    with_title = sum(1 for c in bare if c.block + 1 < len(blocks) and _title_block(text, blocks, c.block + 1))
    return with_title > 0.5 * len(bare)


def _title_block(text: str, blocks: list[Block], index: int) -> bool:
    block = blocks[index]
    if block.kind not in ("prose", "verse") or block.end - block.start > 240 or len(block.lines) > 4:
        return False
    line = plain(text[block.start : block.end])
    return bool(line) and line[0] not in "\"'“‘(" and _looks_like_title(line) and _candidate(index, line) is None


def _with_named(text: str, blocks: list[Block], headings: list[Heading]) -> list[Heading]:
    taken = {b for h in headings for b in range(h.first, h.last + 1)}
    chapters = [h for h in headings if h.kind == "chapter"]
    first = chapters[0].first if chapters else len(blocks)
    last = chapters[-1].last if chapters else -1
    out = list(headings)
    for i, block in enumerate(blocks):
        if i in taken or block.kind not in ("prose", "verse", "heading") or block.end - block.start > 120 or first < i < last:
            continue
        line = plain(text[block.start : block.end])
        match = _NAMED.match(line)
        if not match or line[0].islower():
            continue
        if i < first:
            out.append(Heading(i, i, "front", 3, 0))
        elif _BACK_NAME.fullmatch(match["name"]):
            out.append(Heading(i, i, "back", 3, 0))
    return sorted(out, key=lambda h: h.first)
