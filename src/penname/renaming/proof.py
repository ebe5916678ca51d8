"""The proof of a copy. It looks at the book, the cast and the copy, and at nothing the renaming kept for itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from penname.core.beatnames import starts_with_vowel
from penname.core.errors import ProofFailed
from penname.core.values import Book, Cast, Edit, Entity, RenamedCopy

# A lone name that the book also writes in lower case this often is an ordinary word too, and may stand where nobody is meant.
ORDINARY_MIN = 4
_NAME_WORD = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_ARTICLE = re.compile(r"(?<![\w’'-])(an?)\s+[\"“‘'_]?([^\W\d_]+)", re.I)
# Written down apart from the lists that the renaming uses, on purpose: the two must agree.
_TITLES = frozenset(
    ["mr", "mrs", "ms", "miss", "misses", "messrs", "master", "mister", "sir", "lord", "lady", "dame", "madam", "madame", "mme", "mlle", "mdlle", "mademoiselle", "monsieur", "messieurs", "m", "mm", "dr", "doctor", "rev", "reverend", "captain", "capt", "colonel", "col", "major", "general", "lieutenant", "sergeant", "corporal", "admiral", "professor", "prof", "uncle", "aunt", "auntie", "grandmother", "grandfather", "granny", "king", "queen", "prince", "princess", "duke", "duchess", "earl", "count", "countess", "baron", "baroness", "marquis", "viscount", "squire", "father", "mother", "brother", "sister", "cousin", "nurse", "old", "young", "little", "poor", "dear", "saint", "st", "ste", "the", "of", "a", "an", "and", "de", "la", "le", "les", "du", "des", "del", "della", "di", "da", "von", "van", "der", "den", "d", "l", "herr", "frau", "fraulein", "fräulein", "signor", "signora", "signorina", "señor", "señora", "senor", "senora", "don", "doña", "dona", "abbé", "abbe", "père", "pere", "mère", "mere", "my", "his", "her", "your", "our", "their", "its", "junior", "senior", "jr", "sr", "esq", "esquire", "bart", "y", "e", "et", "god", "judge", "justice", "inspector", "constable", "superintendent", "governor", "parson", "vicar", "deacon", "bishop", "archbishop", "cardinal", "abbot", "abbess", "prior", "dean", "rector", "curate", "canon", "emperor", "empress", "pope", "friar", "president", "senator", "mayor", "alderman", "honourable", "hon", "papa", "mamma", "mama"]
)


@dataclass(frozen=True)
class Proof:
    """What was checked of one copy."""

    book_id: str
    copy: int
    edits: int
    surfaces: int  # surface forms searched for
    words: int  # old name words that became new ones
    survivors_allowed: int  # lone ordinary words and kept names that stand in the copy as they stood in the book


def prove(book: Book, cast: Cast, copy: RenamedCopy, *, places: str = "fictional", all_books: Sequence[Book] = ()) -> Proof:
    """Check a copy; ProofFailed says what is wrong, where.

    The copy is the book with its edits and the edits invert; one old word of an entity has one new word, and one new word one
    old word; no new name stood in any of the books; no surface form of a renamed entity survives; every a/an that was right is right;
    paragraphs are as they were.
    """
    faults: list[str] = []
    spans = _rebuild(book, copy, faults)
    word_map = _consistent(book, copy, faults)
    _fresh([book, *all_books], word_map, faults)
    surfaces, allowed = _survivors(book, cast, copy, places, spans, faults)
    _articles(book, copy, spans, faults)
    if book.text.count("\n\n") != copy.text.count("\n\n"):
        faults.append("the number of paragraphs changed")
    if faults:
        more = f" (and {len(faults) - 3} more)" if len(faults) > 3 else ""
        raise ProofFailed(
            f"copy {copy.copy} of {book.id} is refused: {'; '.join(faults[:3])}{more}; mend the cast with penname cast --show NAME, then penname rename"
        )
    return Proof(book.id, copy.copy, len(copy.edits), surfaces, len(word_map), allowed)


Spans = list[tuple[int, int, Edit]]


def _rebuild(book: Book, copy: RenamedCopy, faults: list[str]) -> Spans:
    """Where each edit lies in the copy. Undoing them must give the book back, byte for byte."""
    spans: Spans = []
    parts: list[str] = []
    at = at_copy = shift = 0
    for edit in copy.edits:
        if not at <= edit.start < edit.end <= len(book.text):
            faults.append(f"the edit at {edit.start} is out of order or out of range")
            return spans
        if "\n\n" in book.text[edit.start : edit.end] or "\n\n" in edit.new:
            faults.append(f"the edit at {edit.start} crosses a paragraph")
        start = edit.start + shift
        end = start + len(edit.new)
        if copy.text[start:end] != edit.new:
            faults.append(f"the copy does not hold its edit at {edit.start} ({copy.text[start:end]!r}, not {edit.new!r})")
        parts += (copy.text[at_copy:start], book.text[edit.start : edit.end])
        spans.append((start, end, edit))
        at, at_copy, shift = edit.end, end, end - edit.end
    parts.append(copy.text[at_copy:])
    if "".join(parts) != book.text:
        faults.append("undoing the edits does not give the book back")
    return spans


def _consistent(book: Book, copy: RenamedCopy, faults: list[str]) -> dict[str, str]:
    """Old word -> new word; one to one, whoever bears it."""
    new_of: dict[tuple[str, str], str] = {}
    old_of: dict[str, str] = {}
    word_map: dict[str, str] = {}
    for edit in copy.edits:
        old = book.text[edit.start : edit.end]
        if old.lower() in ("a", "an"):
            continue
        first = new_of.setdefault((edit.entity, old), edit.new)
        if first != edit.new:
            faults.append(f"{old!r} became both {first!r} and {edit.new!r}")
        old_words, new_words = _NAME_WORD.findall(old), _NAME_WORD.findall(edit.new)
        if len(old_words) != len(new_words):
            faults.append(f"{old!r} became {edit.new!r}, which has another number of words")
            continue
        for before, after in zip(map(_stem, old_words), map(_stem, new_words), strict=True):
            if len(before) > 1 and (word_map.setdefault(before, after) != after or old_of.setdefault(after, before) != before):
                faults.append(f"the word {before!r} became {after!r}, but {word_map[before]!r} or another old word has that place")
    return {old: new for old, new in word_map.items() if old != new}


def _stem(word: str) -> str:
    return re.sub(r"[’']s?$", "", word.lower()).replace("’", "'")


@lru_cache(maxsize=64)
def _book_words(text: str) -> frozenset[str]:
    """Every word of a text in lower case, whole and in its parts."""
    words = set(re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", text.lower().replace("’", "'")))
    return frozenset(words | {part for word in words for part in re.split("['-]", word)})


@lru_cache(maxsize=16)
def _lower_counts(text: str) -> Counter[str]:
    return Counter(re.findall(r"(?<![^\W\d_])[a-zà-öø-ÿ]+(?![^\W\d_])", text))


def _fresh(books: Sequence[Book], word_map: dict[str, str], faults: list[str]) -> None:
    for book in {book.id: book for book in books}.values():
        words = _book_words(book.text)
        faults += [f"the new name {new!r} (for {old!r}) already stands in {book.id}" for old, new in word_map.items() if new in words]


def _renamed(entity: Entity, places: str) -> bool:
    return not entity.fixed and (entity.kind == "person" or (entity.kind == "place" and (places == "all" or not entity.real)))


def _survivors(book: Book, cast: Cast, copy: RenamedCopy, places: str, spans: Spans, faults: list[str]) -> tuple[int, int]:
    """The second look: every surface form of every renamed entity is searched for in the copy."""
    lower = _lower_counts(book.text)
    renamed = {entity.id: entity for entity in cast.entities if _renamed(entity, places)}
    fixed = {entity.id for entity in cast.entities if entity.fixed}
    kept = [(m.start, m.end) for m in cast.mentions if m.entity_id in fixed]
    whole: set[str] = set()
    lone: set[str] = set()
    for entity in renamed.values():
        for name in entity.names:
            words = [w for w in re.findall(r"[^\W\d_]+(?:[’'][^\W\d_]+)*", re.sub(r"[’']s?$", "", name)) if w[0].isupper()]
            told = [w for w in words if w.lower() not in _TITLES and len(w) > 1]
            if told and entity.kind == "person":
                whole.add(" ".join(name.split()))
                lone |= {w for w in told if lower[w.lower()] < ORDINARY_MIN}
            elif len(told) == 1 and len(words) == 1 and lower[told[0].lower()] < ORDINARY_MIN:
                lone.add(told[0])
    allowed = 0
    seen = Counter(re.findall(r"[^\W\d_]+", copy.text))
    many = [name for name in whole if " " in name and all(seen[part] for part in re.findall(r"[^\W\d_]+", name))]
    for name in sorted(many) + sorted(word for word in lone if all(seen[part] for part in re.findall(r"[^\W\d_]+", word))):
        pattern = r"(?<![\w’'-])" + r"\s+".join(map(re.escape, name.split())) + r"(?![\w-])"
        for match in re.finditer(pattern, copy.text):
            if _in_kept(match.start(), spans, kept):
                allowed += 1
            else:
                around = " ".join(copy.text[max(0, match.start() - 25) : match.end() + 25].split())
                faults.append(f"{name!r} survives: ...{around}...")
                break
    return len(whole) + len(lone), allowed


def _in_kept(at: int, spans: Spans, kept: list[tuple[int, int]]) -> bool:
    """Whether a place of the copy lies in a mention that a person said to keep."""
    if not kept:
        return False
    shift = 0
    for _, end, edit in spans:
        if end > at:
            break
        shift = end - edit.end
    return any(start <= at - shift < end for start, end in kept)


def _articles(book: Book, copy: RenamedCopy, spans: Spans, faults: list[str]) -> None:
    for start, end, edit in spans:
        for match in islice(_ARTICLE.finditer(copy.text, max(0, start - 8), end), 4):
            article, word = match.groups()
            if match.end() <= start or not word[0].isupper() or (len(article) == 1 and article == "A"):
                continue
            if (article.lower() == "an") == starts_with_vowel(word):
                continue
            before = list(_ARTICLE.finditer(book.text, max(0, edit.start - 8), edit.end))
            if not before or (before[-1].group(1).lower() == "an") == starts_with_vowel(before[-1].group(2)):
                faults.append(f"{article} {word!r} at {match.start()} has the wrong article")
