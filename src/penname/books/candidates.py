"""Lines that look like headings, each read as style, number and title. Whether they are headings their sequence decides."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from penname.books.blocks import Block, lines_of
from penname.books.numerals import WORD_PATTERN, WORDS, number
from penname.books.titles import looks_like_title

LEVELS = {
    "volume": 1, "vol": 1, "tome": 1,
    "part": 2, "book": 2, "phase": 2, "epoch": 2, "period": 2, "division": 2,
    "chapter": 3, "chap": 3, "chaper": 3, "chapitre": 3, "stave": 3, "letter": 3, "episode": 3, "canto": 3, "narrative": 3, "lecture": 3,
    "adventure": 3, "tale": 3, "story": 3, "section": 4, "scene": 4,
}  # fmt: skip
_ONE_KEY = {"vol": "volume", "tome": "volume", "chap": "chapter", "chaper": "chapter", "chapitre": "chapter"}
_KEY = "|".join(LEVELS)
_NUMBER = rf"[ivxlcdm]+j?|\d{{1,4}}|{WORD_PATTERN}"
_KEYED = re.compile(
    rf"(?:the\s+)?(?P<key>{_KEY})\b\.?\s*(?:the\s+|no\.?\s+|number\s+)?(?P<num>{_NUMBER})(?![\w'’])(?P<rest>.*)",
    re.IGNORECASE | re.DOTALL,
)
_TURNED = re.compile(
    rf"(?:the\s+)?(?P<num>{WORD_PATTERN}|\d{{1,3}}(?:st|nd|rd|th))\s+(?P<key>{_KEY})\b(?P<rest>.*)", re.IGNORECASE | re.DOTALL
)
_BARE = re.compile(rf"[\[(—–-]*\s*(?P<num>{_NUMBER})\s*[\])—–-]*\s*[.:]?", re.IGNORECASE)
_TITLED = re.compile(r"(?P<num>[IVXLCDM]+|\d{1,3})(?:[.:)]|\s*[—–]|\s*-{1,2}(?=\s)|(?<=\w)(?=\s[A-Z]))\s*(?P<rest>\S.*)", re.DOTALL)
_FRONT = (
    r"prefaces?|prefatory|introduction|introductory|foreword|prologue|proem|prelude|advertisement|dedication|letter of dedication|"
    r"dedicatory|to the reader|"
    r"exordium|note|notice|apology|argument|preamble|before the curtain|etymology|extracts"
)
_BACK = r"epilogue|afterword|conclusion|postscript|finale|l['’]envoi|envoi|appendix|appendices|glossary|notes|endnotes|footnotes|coda|note"
_NAMED = re.compile(
    rf"(?:(?:the|an?|author['’]?s?|editor['’]?s?|translator['’]?s?|(?:biblio|bio)graphical|explanatory|general|critical)\s+)*(?P<name>{_FRONT}|{_BACK})"
    rf"(?:\s+(?:to|by|of|from|on)\s+[^.!?]{{1,80}}|\s+[ivx\d]+|\s+(?:letter|note|chapter|remarks|epistle))?\s*[.:]?",
    re.IGNORECASE,
)
_BACK_NAME = re.compile(_BACK, re.IGNORECASE)
CONTENTS = re.compile(
    r"\W*(?:(?:the\s+)?(?:table\s+of\s+)?contents|(?:a\s+)?(?:list\s+of\s+)?(?:(?:the|full-page)\s+)?(?:illustrations|plates|maps)|index)"
    r"(?:\s+of\s+(?:the\s+)?\w+(?:\s+\w+)?)?(?:\s+page)?\W*",
    re.IGNORECASE,
)
_ENTRY_START = re.compile(r"\W*(?:[IVXLC]+|\d{1,3}|chapter)\b[.\s]", re.IGNORECASE)
_SPACED = re.compile(r"(?:[A-Z] ){3,}")
_MARKUP = re.compile(r"[_=*#~]+")
MAX_HEADING_CHARS = 400


class Candidate(NamedTuple):
    """A block that looks like a heading. ``style`` groups those that are numbered alike; ``words`` follow before the next one."""

    block: int
    style: str  # "chapter", "volume", ..., "bare-roman", "titled-arabic", ..., "named"
    number: int
    titled: bool
    hinted: bool = False  # the format itself marks it as a heading
    words: int = 0  # of running text up to the next candidate
    before: int = 0  # of running text before this one
    title: str = ""  # of a bare number with a title
    back: bool = False  # named: such a name can stand behind the story

    @property
    def level(self) -> int:
        """1 for volumes, 2 for parts and books, 3 for chapters and bare numbers, 4 for sections."""
        return LEVELS.get(self.style, 3)


def plain(text: str) -> str:
    """A line without its emphasis marks, spaces folded, spaced-out letters closed up: "C H A P T E R" is a word."""
    bare = _MARKUP.sub(" ", text).strip()
    if not _SPACED.match(bare):
        return " ".join(bare.split())
    words = [re.sub(r"(?<=\b[A-Z]) (?=[A-Z]\b)", "", " ".join(part.split())) for part in re.split(r" {2,}|\n", bare)]
    return re.sub(rf"^({_KEY})([IVXLCDM]+|\d+)\b", r"\1 \2", " ".join(filter(None, words)), flags=re.IGNORECASE)


def read_candidate(index: int, text: str, hinted: bool = False) -> Candidate | None:
    """The candidate that a block's text is, or None."""
    line = plain(text)
    if not line or len(line) > MAX_HEADING_CHARS:
        return None
    match = _KEYED.fullmatch(line) or _TURNED.fullmatch(line)
    if match:
        value = number(match["num"].rstrip("stndrh") if match["num"][0].isdigit() else match["num"])
        if value is None or line[0].islower() or not _rest_is_title(match["rest"], hinted):
            return None
        key = match["key"].lower()
        return Candidate(index, _ONE_KEY.get(key, key), value, bool(match["rest"].strip(" .:—–-")), hinted)
    match = _BARE.fullmatch(line)
    if match:
        written = match["num"]
        value = number(written)
        if value is None or (written.islower() and not written.isdigit() and len(written) < 3):
            return None
        return Candidate(index, f"bare-{_numbering(written)}", value, False, hinted)
    match = _TITLED.fullmatch(line)
    if match and (hinted or looks_like_title(match["rest"])) and len(line) < 200:
        value = number(match["num"])
        if value is not None:
            return Candidate(index, f"titled-{_numbering(match['num'])}", value, True, hinted, title=match["rest"])
    match = _NAMED.fullmatch(line)
    if match and not line[0].islower() and len(line) <= 120:
        return Candidate(index, "named", 0, True, hinted, back=bool(_BACK_NAME.fullmatch(match["name"])))
    return None


def _numbering(written: str) -> str:
    return "arabic" if written.isdigit() else "word" if written.lower() in WORDS else "roman"


def _rest_is_title(rest: str, hinted: bool) -> bool:
    """Whether what follows a keyword and number can be a heading's rest: nothing, or a title, set off or in title case."""
    bare = rest.strip()
    if not bare or hinted:
        return True
    if bare[0] in ".:—–-)],;":
        body = bare.strip(" .:—–-)],;")
        if not body:
            return True
        if bare[0] in ",;":
            return looks_like_title(body)
        return not body[0].islower() or bare[0] in "—–-:"
    return looks_like_title(bare)  # "CHAPTER I THE CONSUL'S YARN": no mark, so the title itself must look like one


def find_candidates(text: str, blocks: list[Block], hinted: frozenset[int]) -> tuple[list[Candidate], int]:
    """Every block that looks like a heading, with the words of running text before it and up to the next one."""
    words = [0]
    for block in blocks:
        counts = block.kind not in ("gone", "break") and not is_list(text, block)
        words.append(words[-1] + (text.count(" ", block.start, block.end) + block.line_count if counts else 0))
    found = []
    for i, block in enumerate(blocks):
        if block.kind in ("prose", "verse") and block.end - block.start <= MAX_HEADING_CHARS and text[block.start] not in "\"'“‘":
            candidate = read_candidate(i, text[block.start : block.end], i in hinted)
            if candidate:
                found.append(candidate)
    titles = Counter(c.title for c in found)
    found = [c for c in found if not c.title or titles[c.title] < 4]  # the same title again and again is a running head
    ends = [*(c.block for c in found), len(blocks)][1:]
    return [c._replace(words=words[end] - words[c.block + 1], before=words[c.block]) for c, end in zip(found, ends, strict=True)], words[-1]


def is_list(text: str, block: Block) -> bool:
    """Whether most lines of a block begin with a number or end in one: entries of a contents list."""
    if block.line_count < 3:
        return False
    entries = sum(bool(_ENTRY_START.match(text, start, end)) or text[end - 1].isdigit() for start, end in lines_of(text, block))
    return entries > 0.5 * block.line_count
