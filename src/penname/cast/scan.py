"""Every capitalised word of a text, with where it stands, and how each word of the text is written as a whole."""

# ruff: noqa: SIM905 - word lists read better as text

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from penname.cast.vocabulary import ABBREVIATED

LETTER = r"[^\W\d_]"
# A capitalised word: it may hold apostrophes ("O'Brien", "M'Choakumchild", "D’Urberville"); a hyphen ends it. "I" and "I'se" are none.
_CAPITAL = re.compile(rf"(?<![^\W_])(?!I(?![.\w'’-])|I['’](?:[a-z]|M\b|LL\b|VE\b|D\b|SE\b))[A-ZÀ-ÖØ-ÞŒ](?:{LETTER}|['’](?={LETTER}))*")
_LOWER = re.compile(r"(?<![\w'’])[a-zà-öø-ÿœ]+(?:['’][a-z]+)?(?![\w])")
_CLITIC = re.compile(r"['’](?:s|S|d|ll|re|ve|m|t|em|un|n|se|st)$")
_OPENING = "\"“‘'([{_*«„"
_CLOSING = "\"”’')]}_*»"

MID, SOFT, INITIAL = 0, 1, 2  # a capital that nothing forces; after a dash, a colon or an exclamation; a sentence begins


@dataclass(slots=True)
class Token:
    """One capitalised word. ``start:end`` leaves out a possessive; ``key`` is lower-case with straight apostrophes."""

    start: int
    end: int
    word: str
    key: str
    place: int  # MID, SOFT or INITIAL
    caps: bool  # "JANE"
    possessive: bool
    quoted: bool  # a quotation opens just before it


@dataclass(slots=True)
class Scan:
    """What one text holds: its capitalised words and the counts of all words."""

    text: str
    tokens: list[Token]
    lower: Counter[str]  # lower-case uses
    mid: Counter[str]  # capitalised where nothing forces a capital
    initial: Counter[str]  # capitalised where a sentence or quotation begins, or after a dash
    caps: Counter[str]  # in capitals throughout


def scan_text(text: str) -> Scan:
    """Find the capitalised words of ``text`` and count how every word is written."""
    lower: Counter[str] = Counter(_LOWER.findall(text))
    scan = Scan(text, [], lower, Counter(), Counter(), Counter())
    headings = _heading_spans(text)
    heading = 0
    for match in _CAPITAL.finditer(text):
        word, start = match.group(), match.start()
        possessive = False
        if len(word) > 2 and (word[-2] in "'’" or word[-3] in "'’"):
            clitic = _CLITIC.search(word)
            if clitic:
                possessive = clitic.group()[1:] in "sS"
                word = word[: clitic.start()]
        end = start + len(word)
        caps = len(word) > 1 and word.isupper()
        place, quoted = position(text, start)
        while heading < len(headings) and headings[heading][1] <= start:
            heading += 1
        if heading < len(headings) and headings[heading][0] <= start and place == MID:
            place = SOFT  # a heading in title case forces its capitals
        token = Token(start, end, word, word.lower().replace("’", "'"), place, caps, possessive, quoted)
        if caps and len(word) > 1:
            scan.caps[token.key] += 1
        elif place == MID:
            scan.mid[token.key] += 1
        else:
            scan.initial[token.key] += 1
        scan.tokens.append(token)
    return scan


def pool_counts(scans: Sequence[Scan]) -> Scan:
    """The counts of several texts together; no text and no tokens."""
    pool = Scan("", [], Counter(), Counter(), Counter(), Counter())
    for scan in scans:
        pool.lower += scan.lower
        pool.mid += scan.mid
        pool.initial += scan.initial
        pool.caps += scan.caps
    return pool


_SHORT_PARAGRAPH = re.compile(r"(?:\A|\n[ \t]*\n)[ \t]*(?=([^\n]{2,90}(?:\n[^\n]{2,60})?)\n[ \t]*\n)")
_SMALL_WORDS = frozenset(
    "a an and at by for from how in is it its of on or that the their to was what where which who why with without".split()
)


def _heading_spans(text: str) -> list[tuple[int, int]]:
    """Short paragraphs of three words or more in which every word but the smallest has a capital."""
    spans = []
    for match in _SHORT_PARAGRAPH.finditer(text):
        words = re.findall(r"[^\W\d_]+", match.group(1))
        if len(words) >= 3 and all(word[0].isupper() or word in _SMALL_WORDS for word in words):
            spans.append((match.start(1), match.end(1)))
    return spans


def position(text: str, start: int) -> tuple[int, bool]:
    """Whether the capital at ``start`` is free (MID), soft or forced, and whether a quotation opens just before it."""
    k = start - 1
    quoted = False
    space = False
    while k >= 0:
        c = text[k]
        if c == " " or c == "\t":
            space = True
        elif c == "\n":
            space = True
            j = k - 1
            while j >= 0 and text[j] in " \t\r":
                j -= 1
            if j < 0 or text[j] == "\n":
                return INITIAL, quoted
        elif c in _OPENING or c in _CLOSING:
            if c in '"“«„':
                quoted = quoted or not space or c == "“"
            elif c in "‘'" and not space:
                quoted = True
        else:
            break
        k -= 1
    if k < 0:
        return INITIAL, quoted
    c = text[k]
    if c == ".":
        return (MID if _is_abbreviation(text, k) else INITIAL), quoted
    if c in "!?":
        # "Oh! Jane": an exclamation may go on within the sentence.
        return INITIAL, quoted
    if quoted:
        return INITIAL, True
    if c in ":—–" or (c == "-" and text[k - 1 : k] == "-"):
        return SOFT, False
    return MID, False


def _is_abbreviation(text: str, dot: int) -> bool:
    k = dot
    while k > 0 and text[k - 1].isalpha():
        k -= 1
    word = text[k:dot]
    if not word:
        return False
    if len(word) == 1 and word.isupper():
        return word != "I" or (
            text[dot + 1 : dot + 2] not in ("\n", "") and text[dot + 2 : dot + 3].isupper() and text[k - 2 : k - 1].isupper()
        )
    return word[0].isupper() and word.lower() in ABBREVIATED
