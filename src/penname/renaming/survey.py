"""Where names stand in a book: every span that becomes an edit, found once and used for all copies.

One old name word becomes one new word wherever it stands in a book. So people who share a form ("Miss Bennet", the Reeds, the
two Johns) share it in the copy, nobody else does, and a place named after a family ("Lucas Lodge") follows the family.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

from penname.core.beatnames import ARTICLE_BEFORE
from penname.core.values import Book, Cast, Entity
from penname.renaming.dictionary import Dictionary, bare
from penname.renaming.namewords import NameWord, collect_words, title_names
from penname.renaming.words import PLACE_KINDS, WORD, split_name

# A ship, a horse or an inn that is named so often belongs to the story; one that is named less may be an allusion.
OTHER_MIN = 5
_SUFFIXES = ("s", "es", "ian", "ians", "ish", "ite", "ites", "ism", "esque", "like", "y", "ie", "ey")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a slot that changes: the name word it comes from, how it is written, and the letters that follow the stem."""

    key: str
    form: str  # "plain", "upper", "initial"; "flat" is without accents, as "Gerard" is beside "Gérard"
    ending: str = ""


Pieces = tuple[str | Piece, ...]


@dataclass(frozen=True, slots=True)
class Slot:
    """A span of the book that becomes an edit in each copy. ``pieces`` hold what stays (str) and what changes (Piece)."""

    start: int
    end: int
    entity: str
    pieces: Pieces
    article: tuple[int, int, str, str] | None = None  # span and text of an a/an before it, and the old first word


@dataclass(frozen=True)
class Survey:
    """The name words of a book and the slots of its text."""

    words: dict[str, NameWord]
    slots: tuple[Slot, ...]
    surfaces: dict[tuple[str, str], Pieces]  # (entity id, surface) -> pieces, for every name of every renamed or kept entity


def renamed_entities(cast: Cast, places: str = "fictional") -> dict[str, Entity]:
    """The entities that get a new name: people, fictional places, and other things that recur, unless a person said to keep them."""
    counts = Counter(mention.entity_id for mention in cast.mentions)
    out = {}
    for entity in cast.entities:
        recurs = entity.kind == "other" and not entity.real and counts[entity.id] >= OTHER_MIN
        fits = entity.kind == "person" or (entity.kind == "place" and (places == "all" or not entity.real)) or recurs
        if fits and not entity.fixed:
            out[entity.id] = entity
    return out


def lower_counts(text: str) -> Counter[str]:
    """How often each word stands in lower case."""
    return Counter(re.findall(r"(?<![^\W\d_])[a-zà-öø-ÿœšž]+(?![^\W\d_])", text))


def survey_book(book: Book, cast: Cast, dictionary: Dictionary, places: str = "fictional") -> Survey:
    """All name words and slots of a book. Linear in the length of its text."""
    from penname.renaming.sweep import signatures, sweep

    text = book.text
    renamed = renamed_entities(cast, places)
    spans = [(part, m.entity_id) for m in cast.mentions if m.entity_id in renamed for part in _paragraph_parts(text, m.start, m.end)]
    surfaces: Counter[tuple[str, str]] = Counter((id, text[start:end]) for (start, end), id in spans)
    surfaces.update({(entity.id, name): 0 for entity in renamed.values() for name in entity.names})
    own = title_names(surfaces, renamed)
    words = collect_words(surfaces, renamed, own, lower_counts(text), dictionary)
    split = {(id, surface): surface_pieces(surface, renamed[id], words, own[id]) for id, surface in surfaces}
    slots = []
    for (start, end), id in spans:
        pieces = split[id, text[start:end]]
        if any(isinstance(piece, Piece) for piece in pieces):
            slots.append(Slot(start, end, id, pieces))
    fixed = {entity.id for entity in cast.entities if entity.fixed}
    closed = [(m.start, m.end) for m in cast.mentions if m.entity_id in fixed]
    slots = sweep(text, words, slots, closed, _phrases(split, surfaces, words), cast.mentions)
    slots += signatures(text, words, slots, renamed)
    for slot in slots:
        for piece in slot.pieces:
            if isinstance(piece, Piece):
                words[piece.key].initial |= piece.form == "initial"
    named = {(e.id, name): split.get((e.id, name), (name,)) for e in cast.entities if e.id in renamed or e.fixed for name in e.names}
    return Survey(words, tuple(_with_article(text, slot) for slot in sorted(slots, key=lambda slot: slot.start)), named)


def _paragraph_parts(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """A mention that runs over a blank line (a heading and the name after it) in parts, since an edit stays in its paragraph."""
    if "\n\n" not in text[start:end]:
        return [(start, end)]
    return [(start + part.start(), start + part.end()) for part in re.finditer(r"\S(?:.|\n(?!\s*\n))*", text[start:end])]


def surface_pieces(surface: str, entity: Entity, words: Mapping[str, NameWord], own: frozenset[str] = frozenset()) -> Pieces:
    """What stays and what changes in a name of an entity."""
    out: list[str | Piece] = []
    at = 0
    for part in split_name(surface, entity.kind == "place", own):
        piece = None
        if part.kind == "initial":
            piece = _initial_piece(part.text, entity, words)
        elif part.kind == "name" or _is_persons(part.text, words):
            piece = word_piece(part.text, words)
        if piece:
            out += (surface[at : part.start], piece)
            at = part.end
    out.append(surface[at:])
    return tuple(piece for piece in out if piece != "")


def _is_persons(text: str, words: Mapping[str, NameWord]) -> bool:
    """Whether a word that stays in other names ("Grange") is a person's name in this book, and no ordinary word of it."""
    word = words.get(bare(text)) if bare(text) in PLACE_KINDS and text[:1].isupper() else None
    return word is not None and not word.ordinary and word.role != "place"


def word_piece(token: str, words: Mapping[str, NameWord]) -> Piece | None:
    """The piece for one word of the text, or None where it holds no name word. "Reeds" and "Rochesterian" hold one."""
    key, ending = bare(token), ""
    word = words.get(key)
    if word is None:
        for suffix in _SUFFIXES:
            stem = words.get(key[: -len(suffix)]) if key.endswith(suffix) and len(key) > len(suffix) + 2 else None
            plural = suffix in ("s", "es")
            if stem and not stem.ordinary and not stem.stem_of and (plural or (len(stem.key) > 3 and stem.roles["surname"])):
                word, ending = stem, suffix
                break
    if word is None:
        return None
    if word.stem_of:
        base, ending = word.stem_of
        word = words[base]
    upper = token.isupper() and len(token) > 1
    flat = token.isascii() and not word.text.isascii()
    return Piece(word.key, "upper" if upper else "flat" if flat else "plain", ending.upper() if upper else ending)


def _initial_piece(letter: str, entity: Entity, words: Mapping[str, NameWord]) -> Piece | None:
    keys = {bare(p.text) for name in entity.names for p in split_name(name) if p.kind == "name" and p.text[0].upper() == letter}
    known = [words[key] for key in keys if key in words and words[key].stem_of is None]
    return Piece(min(known, key=lambda word: (-word.count, word.key)).key, "initial") if known else None


def _phrases(split: Mapping[tuple[str, str], Pieces], surfaces: Counter[tuple[str, str]], words: Mapping[str, NameWord]) -> dict[str, str]:
    """Names of several words that hold an ordinary word ("Grace Poole", "Miss Temple"): single-spaced surface -> entity."""
    out: dict[str, str] = {}
    for id, surface in sorted(split, key=lambda pair: (-surfaces[pair], pair)):
        flat = re.sub(r"['’]s?$", "", " ".join(surface.split()))
        if " " in flat and any(isinstance(piece, Piece) and words[piece.key].ordinary for piece in split[id, surface]):
            out.setdefault(flat, id)
    return out


def _with_article(text: str, slot: Slot) -> Slot:
    match = ARTICLE_BEFORE.search(text, max(0, slot.start - 12), slot.start)
    first = WORD.search(text, slot.start, slot.end)
    if not match or not first or "\n\n" in match.group(2):
        return slot
    return Slot(slot.start, slot.end, slot.entity, slot.pieces, (match.start(1), match.end(1), match.group(1), first.group()))
