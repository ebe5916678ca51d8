"""The proof of a copy. It looks at the book, the cast and the copy, and at nothing the renaming kept for itself."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice

from penname.core.beatnames import starts_with_vowel
from penname.core.callings import CALLINGS
from penname.core.errors import ProofFailed
from penname.core.values import Book, Cast, Edit, Entity, RenamedCopy
from penname.renaming.dictionary import bare
from penname.renaming.words import COURTESY, FEASTS, NATIONS, NOT_NAMES, PLACE_KINDS, ROMAN, TITLE_SURNAMES, WEEKDAYS

# A lone name that the book also writes in lower case this often is an ordinary word too, and may stand where nobody is meant.
ORDINARY_MIN = 4
UNCHANGED_MIN = 3  # mentions from which a person who keeps every name is told
_KEPT = NOT_NAMES | NATIONS | FEASTS | WEEKDAYS
_LETTERS = re.compile(r"[^\W\d_]+")
_NAME_WORD = re.compile(r"[^\W\d_]+(?:[’'-][^\W\d_]+)*")
_ARTICLE = re.compile(r"(?<![\w’'-])(an?)\s+[\"“‘'_]?([^\W\d_]+)", re.I)


@dataclass(frozen=True)
class Proof:
    """What was checked of one copy."""

    book_id: str
    copy: int
    edits: int
    surfaces: int  # surface forms searched for
    words: int  # old name words that became new ones
    survivors_allowed: int  # lone ordinary words and kept names that stand in the copy as they stood in the book
    unchanged: tuple[str, ...]  # people who are met often and whose every name stays, being a title and no more: "Mum"


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
            f"copy {copy.copy} of {book.id} is refused: {'; '.join(faults[:3])}{more}; "
            "look at the name with penname cast --show NAME, decide, and run: penname rename"
        )
    return Proof(book.id, copy.copy, len(copy.edits), surfaces, len(word_map), allowed, _unchanged(cast, copy))


def _unchanged(cast: Cast, copy: RenamedCopy) -> tuple[str, ...]:
    mentions, edited = Counter(mention.entity_id for mention in cast.mentions), {edit.entity for edit in copy.edits}
    return tuple(
        entity.names[0]
        for entity in cast.entities
        if entity.kind == "person" and not entity.fixed and entity.id not in edited and mentions[entity.id] >= UNCHANGED_MIN
    )


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
    """Old word -> new word of all that changed: one to one, and never both changed and kept within one entity."""
    new_of: dict[tuple[str, str], str] = {}
    old_of: dict[str, str] = {}
    word_map: dict[str, str] = {}
    for edit in copy.edits:
        old = book.text[edit.start : edit.end]
        if old.lower() in ("a", "an"):
            continue
        if (edit.entity, old) in new_of:
            if new_of[edit.entity, old] != edit.new:
                faults.append(f"{old!r} became both {new_of[edit.entity, old]!r} and {edit.new!r}")
            continue
        new_of[edit.entity, old] = edit.new
        old_words, new_words = _NAME_WORD.findall(old), _NAME_WORD.findall(edit.new)
        if len(old_words) != len(new_words):
            faults.append(f"{old!r} became {edit.new!r}, which has another number of words")
            continue
        for before, after in zip(map(_stem, old_words), map(_stem, new_words), strict=True):
            if new_of.setdefault((edit.entity, before + "|"), after) != after:
                faults.append(f"the word {before!r} of {edit.entity} became {after!r} and {new_of[edit.entity, before + '|']!r}")
            elif before != after and len(before) > 1:
                if word_map.setdefault(before, after) != after:
                    faults.append(f"the word {before!r} became both {word_map[before]!r} and {after!r}")
                if old_of.setdefault(after, before) != before:
                    faults.append(f"{old_of[after]!r} and {before!r} both became {after!r}")
    return word_map


def _stem(word: str) -> str:
    return bare(re.sub(r"[’']s?$", "", word))


@lru_cache(maxsize=4)
def _holders(texts: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Every word of the (id, text) pairs in lower case, whole and in its parts, and the first that holds it."""
    holders: dict[str, str] = {}
    for id, text in texts:
        whole = set(map(bare, set(re.findall(r"[^\W\d_]+(?:['’-][^\W\d_]+)*", text))))
        parts = {part for word in whole for part in re.split("['-]", word)}
        holders |= dict.fromkeys((whole | parts) - holders.keys(), id)
    return holders


@lru_cache(maxsize=16)
def _lower_counts(text: str) -> Counter[str]:
    return Counter(re.findall(r"(?<![^\W\d_])[a-zà-öø-ÿ]+(?![^\W\d_])", text))


def _fresh(books: Sequence[Book], word_map: dict[str, str], faults: list[str]) -> None:
    holders = _holders(tuple({book.id: book.text for book in books}.items()))
    faults += [f"the new name {new!r} (for {old!r}) already stands in {holders[new]}" for old, new in word_map.items() if new in holders]


def _forms(entity: Entity, lower: Counter[str]) -> tuple[set[str], set[str]]:
    """The surface forms of an entity that must not survive: whole names, and lone name words that are no ordinary words."""
    whole, lone = set(), set()
    surname = frozenset((entity.family or "").lower().split()) & TITLE_SURNAMES  # the "Good" of Captain Good
    for name in entity.names:
        plain = re.sub(r"[’']s?$", "", name)
        words = [word for word in re.findall(r"[^\W\d_]+(?:[’'][^\W\d_]+)*", plain) if word[0].isupper()]
        told = [
            word for word in words if (word.lower() not in _KEPT or word.lower() in surname) and len(word) > 1 and not ROMAN.match(word)
        ]
        if len(words) == 1 and words[0].lower() in CALLINGS:
            told = words  # "Constable" is a title, yet here it is somebody's name
        if entity.kind != "person":
            told = [word for word in told if word.lower() not in PLACE_KINDS]  # "Moor House" is two common nouns
        if (told and len(words) > 1) or (len(words) > 1 and words[0].lower() in COURTESY and words[-1].lower() in TITLE_SURNAMES):
            whole.add(" ".join(plain.split()))
        if entity.kind == "person" or len(words) == 1:
            ordinary = {word for word in told if lower[word.lower()] >= ORDINARY_MIN or word.lower() in surname}
            lone |= {word for word in told if word not in ordinary and (len(words) == 1 or word.lower() not in PLACE_KINDS)}
    return whole, lone


@lru_cache(maxsize=16)
def _searched(text: str, entities: tuple[Entity, ...], places: str) -> tuple[tuple[str, frozenset[str]], ...]:
    """All surface forms that must not survive in any copy of the book, each with its words."""
    lower = _lower_counts(text)
    found: set[str] = set()
    for entity in entities:
        if not entity.fixed and (entity.kind == "person" or (entity.kind == "place" and (places == "all" or not entity.real))):
            whole, lone = _forms(entity, lower)
            found |= whole | lone
    return tuple((name, frozenset(_LETTERS.findall(name))) for name in sorted(found))


def _survivors(book: Book, cast: Cast, copy: RenamedCopy, places: str, spans: Spans, faults: list[str]) -> tuple[int, int]:
    """The second look: every surface form of every renamed entity is searched for in the copy."""
    surfaces = _searched(book.text, cast.entities, places)
    fixed = {entity.id for entity in cast.entities if entity.fixed}
    kept = [(m.start, m.end) for m in cast.mentions if m.entity_id in fixed]
    seen, flat = set(_LETTERS.findall(copy.text)), " ".join(copy.text.split())
    allowed = 0
    for name, words in surfaces:
        # Cheap looks first: nearly all are gone, and a regular expression over the text takes a hundred times as long.
        if not seen.issuperset(words) or name not in flat:
            continue
        pattern = r"(?<![\w’'-])" + r"\s+".join(map(re.escape, name.split())) + r"(?![\w-])"
        for match in re.finditer(pattern, copy.text):
            if _in_kept(match.start(), spans, kept):
                allowed += 1
            else:
                around = " ".join(copy.text[max(0, match.start() - 25) : match.end() + 25].split())
                faults.append(f"{name!r} survives: ...{around}...")
                break
    return len(surfaces), allowed


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
            if match.end() <= start or not word[0].isupper():
                continue
            if (article.lower() == "an") == starts_with_vowel(word):
                continue
            before = list(_ARTICLE.finditer(book.text, max(0, edit.start - 8), edit.end))
            if not before or (before[-1].group(1).lower() == "an") == starts_with_vowel(before[-1].group(2)):
                faults.append(f"{article} {word!r} at {match.start()} has the wrong article")
