"""What is to be renamed in a book: its name words, and every span of the text where they stand. Done once for all copies.

One old name word becomes one new word wherever it stands in a book. So people who share a form ("Miss Bennet", the Reeds, the
two Johns) share it in the copy, nobody else does, and a place named after a family ("Lucas Lodge") follows the family.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from penname.core.beatnames import ARTICLE_BEFORE
from penname.core.values import Book, Cast, Entity, Mention
from penname.renaming.dictionary import Dictionary, bare
from penname.renaming.words import GIVEN_TITLES, LANGUAGE_TITLES, SURNAME_TITLES, WORD, Part, base_word, is_capital, split_name

# A name word that the book also writes in lower case more often than this is an ordinary word ("Grace", "Will", "Temple"): outside
# the mentions that the cast found, it is a name only beside another name or a title.
ORDINARY_MIN = 4
_CAPITALISED = re.compile(r"(?<![^\W\d_])[A-ZÀ-ÖØ-ÞŒŠŽ][^\W\d_]*(?:['’][^\W\d_]+)*|(?<![^\W\d_])[a-z]['’][A-ZÀ-Þ][^\W\d_]+")
_INITIALS = re.compile(r"(?<![\w.])[A-Z]\.(?:[ -]?[A-Z]\.)+(?!\w)")
_TITLE_BEFORE = re.compile(r"(?:\b|_)([A-Z][a-zé]+)\.?\s+$")
_SUFFIXES = ("s", "es", "ian", "ians", "ish", "ite", "ites", "ism", "esque", "like", "y", "ie", "ey")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of a slot that changes: the name word it comes from, how it is written, and the letters that follow the stem."""

    key: str
    form: str  # "plain", "upper", "initial"
    ending: str = ""


@dataclass(frozen=True, slots=True)
class Slot:
    """A span of the book that becomes an edit in each copy. ``pieces`` hold what stays (str) and what changes (Piece)."""

    start: int
    end: int
    entity: str
    pieces: tuple[str | Piece, ...]
    article: tuple[int, int, str, str] | None = None  # span and text of an a/an before it, and the old first word


@dataclass(slots=True)
class NameWord:
    """One old name word of the book and what its new word must be like."""

    key: str
    text: str
    count: int = 0
    roles: Counter[str] = field(default_factory=Counter)
    genders: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    owners: Counter[str] = field(default_factory=Counter)
    ordinary: bool = False
    initial: bool = False
    stem_of: tuple[str, str] | None = None  # (key of the word it is made from, ending): "Reeds" from "Reed"

    @property
    def role(self) -> str:
        """ "given", "surname", "place", or "bare" where it is only ever met alone. People come before places named after them."""
        given, surname = self.roles["given"], self.roles["surname"]
        if given or surname:
            return "given" if given >= surname else "surname"
        return "bare" if self.roles["bare"] else "place"


@dataclass(frozen=True)
class Survey:
    """The name words of a book (or of several, in a series) and the slots of each text."""

    words: dict[str, NameWord]
    slots: tuple[Slot, ...]
    surfaces: dict[tuple[str, str], tuple[str | Piece, ...]]  # (entity id, surface) -> pieces


def is_renamed(entity: Entity, places: str = "fictional") -> bool:
    """Whether an entity gets a new name: people and fictional places do, unless a person said to keep them."""
    if entity.fixed or entity.kind == "other":
        return False
    return entity.kind == "person" or not entity.real or places == "all"


def lower_counts(text: str) -> Counter[str]:
    """How often each word stands in lower case."""
    return Counter(re.findall(r"(?<![^\W\d_])[a-zà-öø-ÿœšž]+(?![^\W\d_])", text))


def survey_book(book: Book, cast: Cast, dictionary: Dictionary, places: str = "fictional") -> Survey:
    """All name words and slots of a book. Linear in the length of its text."""
    text = book.text
    renamed = {entity.id: entity for entity in cast.entities if is_renamed(entity, places)}
    surfaces = _surface_counts(text, cast, renamed)
    words = _name_words(surfaces, renamed, dictionary)
    lower = lower_counts(text)
    for word in words.values():
        word.ordinary = lower[word.text.lower()] >= ORDINARY_MIN
    _link_derived(words)
    seen: dict[tuple[str, str], tuple[str | Piece, ...]] = {}
    slots = []
    for mention in cast.mentions:
        entity = renamed.get(mention.entity_id)
        if entity is None:
            continue
        surface = text[mention.start : mention.end]
        pieces = seen.get((entity.id, surface))
        if pieces is None:
            pieces = seen[entity.id, surface] = _pieces(surface, entity, words)
        if any(isinstance(piece, Piece) for piece in pieces):
            slots.append(Slot(mention.start, mention.end, entity.id, pieces))
    fixed = {entity.id for entity in cast.entities if entity.fixed}
    closed = [(m.start, m.end) for m in cast.mentions if m.entity_id in fixed]
    slots = _sweep(text, words, slots, closed, _phrases(surfaces, words, renamed), cast.mentions)
    slots += _signatures(text, words, slots, renamed)
    for piece in (p for slot in slots for p in slot.pieces if isinstance(p, Piece)):
        words[piece.key].initial |= piece.form == "initial"
    named = {(e.id, name): _pieces(name, e, words) for e in renamed.values() for name in e.names}
    return Survey(words, tuple(_with_article(text, slot) for slot in sorted(slots, key=lambda s: s.start)), named)


def _surface_counts(text: str, cast: Cast, renamed: dict[str, Entity]) -> Counter[tuple[str, str]]:
    counts: Counter[tuple[str, str]] = Counter()
    for mention in cast.mentions:
        if mention.entity_id in renamed:
            counts[mention.entity_id, text[mention.start : mention.end]] += 1
    for entity in renamed.values():
        for name in entity.names:
            counts[entity.id, name] += 0
    return counts


def _name_words(surfaces: Counter[tuple[str, str]], renamed: dict[str, Entity], dictionary: Dictionary) -> dict[str, NameWord]:
    words: dict[str, NameWord] = {}
    writing: dict[str, Counter[str]] = defaultdict(Counter)
    for (entity_id, surface), count in surfaces.items():
        entity = renamed[entity_id]
        parts = split_name(surface, entity.kind == "place")
        roles = _roles(parts, entity, dictionary)
        language = next((LANGUAGE_TITLES[bare(p.text)] for p in parts if p.kind != "name" and bare(p.text) in LANGUAGE_TITLES), "")
        for part, role in zip(parts, roles, strict=True):
            if part.kind != "name":
                continue
            key = bare(part.text)
            word = words.setdefault(key, NameWord(key, part.text))
            weight = count or 0.1
            word.count += count
            writing[key][part.text] += count
            word.roles[role] += weight  # type: ignore[assignment]
            word.owners[entity_id] += count
            if role != "place":
                word.genders[entity.gender] += weight  # type: ignore[assignment]
            word.languages[language or dictionary.languages.get(key, "")] += weight  # type: ignore[assignment]
    for key, forms in writing.items():
        # "JANE" alone at a chapter's opening must not make all of "Jane" capitals.
        words[key].text = min(forms, key=lambda form: (form.isupper() and len(form) > 1, -forms[form], form))
    return words


def _roles(parts: list[Part], entity: Entity, dictionary: Dictionary) -> list[str]:
    """The role of each part: "given", "surname", "place", or "bare" where it stands alone and could be either."""
    names = [i for i, part in enumerate(parts) if part.kind == "name"]
    roles = ["other"] * len(parts)
    if entity.kind == "place":
        return ["place" if part.kind == "name" else "other" for part in parts]
    titles = [bare(part.text) for part in parts[: names[0]]] if names else []
    for position, i in enumerate(names):
        key = bare(parts[i].text)
        before = bare(parts[i - 1].text) if i else ""
        if before == "of":
            roles[i] = "place"
        elif entity.family and key == bare(entity.family):
            roles[i] = "surname"
        elif len(names) > 1 or any(part.kind == "initial" for part in parts):
            roles[i] = "surname" if position == len(names) - 1 else "given"
        elif titles and titles[-1] in SURNAME_TITLES:
            roles[i] = "given" if key in dictionary.known and key not in dictionary.surnames else "surname"
        elif titles and titles[-1] in GIVEN_TITLES:
            roles[i] = "given"
        else:
            roles[i] = "bare"
    return roles


def _link_derived(words: dict[str, NameWord]) -> None:
    """Plurals of a family name and spelling variants are made from the word they come from, not drawn apart."""
    for key in sorted(words):
        word = words[key]
        for ending in ("s", "es"):
            base = words.get(key.removesuffix(ending)) if key.endswith(ending) and len(key) > len(ending) + 2 else None
            if (
                base
                and base.stem_of is None
                and base.roles["surname"] >= base.roles["given"]
                and not word.roles["given"]
                and base.count >= word.count
            ):
                word.stem_of = base.key, ending
                break
        else:
            base = words.get(key[:-1]) if len(key) > 5 and key[-1] in "eh" else None
            if base and base.stem_of is None and set(base.owners) & set(word.owners):
                word.stem_of = base.key, key[-1]


def _piece(token: str, words: dict[str, NameWord]) -> Piece | None:
    """The piece for a token of the text, or None where it holds no name word."""
    key, ending = bare(token), ""
    word = words.get(key)
    if word is None:
        for suffix in _SUFFIXES:
            stem = words.get(key[: -len(suffix)]) if key.endswith(suffix) and len(key) > len(suffix) + 2 else None
            if stem and not stem.ordinary and (suffix in ("s", "es") or len(stem.key) > 3) and "surname" in stem.roles:
                word, ending = stem, suffix
                break
    if word is None:
        return None
    if word.stem_of:
        base, ending = word.stem_of
        word = words[base]
    upper = token.isupper() and len(token) > 1
    return Piece(word.key, "upper" if upper else "plain", ending.upper() if upper else ending)


def _pieces(surface: str, entity: Entity, words: dict[str, NameWord]) -> tuple[str | Piece, ...]:
    out: list[str | Piece] = []
    at = 0
    for part in split_name(surface, entity.kind == "place"):
        piece = _initial(part.text, entity, words) if part.kind == "initial" else None if part.kind == "other" else _piece(part.text, words)
        if piece:
            out += (surface[at : part.start], piece)
            at = part.end
    out.append(surface[at:])
    return tuple(piece for piece in out if piece != "")


def _initial(letter: str, entity: Entity, words: dict[str, NameWord]) -> Piece | None:
    keys = [bare(p.text) for name in entity.names for p in split_name(name) if p.kind == "name" and p.text[0].upper() == letter]
    keys = [key for key in keys if key in words and words[key].stem_of is None]
    return Piece(max(keys, key=lambda key: (words[key].count, key)), "initial") if keys else None


def _phrases(surfaces: Counter[tuple[str, str]], words: dict[str, NameWord], renamed: dict[str, Entity]) -> dict[str, str]:
    """Names of several words that hold an ordinary word ("Grace Poole", "Miss Temple"): single-spaced surface -> entity."""
    out: dict[str, str] = {}
    for (entity_id, surface), _ in sorted(surfaces.items(), key=lambda item: (-item[1], item[0])):
        flat = base_word(" ".join(surface.split()))
        pieces = _pieces(flat, renamed[entity_id], words)
        if " " in flat and any(isinstance(p, Piece) and words[p.key].ordinary for p in pieces):
            out.setdefault(flat, entity_id)
    return out


def _sweep(
    text: str,
    words: dict[str, NameWord],
    slots: list[Slot],
    closed: list[tuple[int, int]],
    phrases: dict[str, str],
    mentions: tuple[Mention, ...],
) -> list[Slot]:
    """The slots of the cast's mentions, and those of every name word that stands outside them."""
    found = list(slots)
    taken = sorted([(slot.start, slot.end) for slot in slots] + closed)
    if phrases:
        longest_first = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
        pattern = re.compile(r"(?<!\w)(?:" + "|".join(r"\s+".join(map(re.escape, p.split())) for p in longest_first) + r")(?![^\W_])")
        extra = []
        for match, free in _free(pattern, text, taken):
            if free:
                entity_id = phrases[" ".join(match.group().split())]
                extra.append(Slot(*match.span(), entity_id, _loose_pieces(match.group(), words, True)))
        found += extra
        taken = sorted(taken + [(slot.start, slot.end) for slot in extra])
    inside = iter(sorted(mentions))
    mention = next(inside, None)
    for match, free in _free(_CAPITALISED, text, taken):
        if not free:
            continue
        pieces = _loose_pieces(match.group(), words, _beside_title(text, match.start()))
        keys = [piece.key for piece in pieces if isinstance(piece, Piece)]
        if keys:
            while mention and mention.end <= match.start():
                mention = next(inside, None)
            owner = words[keys[0]].owners
            here = mention.entity_id if mention and mention.start <= match.start() and mention.entity_id in owner else None
            found.append(Slot(*match.span(), here or min(owner, key=lambda e: (-owner[e], e)), pieces))
    return found


def _free(pattern: re.Pattern[str], text: str, taken: list[tuple[int, int]]):  # type: ignore[no-untyped-def]
    """Each match with whether it touches none of the sorted spans."""
    i = 0
    for match in pattern.finditer(text):
        while i < len(taken) and taken[i][1] <= match.start():
            i += 1
        yield match, i >= len(taken) or taken[i][0] >= match.end()


def _beside_title(text: str, at: int) -> bool:
    before = _TITLE_BEFORE.search(text, max(0, at - 16), at)
    return bool(before) and bare(before.group(1)) in SURNAME_TITLES if before else False


def _loose_pieces(surface: str, words: dict[str, NameWord], sure: bool) -> tuple[str | Piece, ...]:
    """Pieces of a span that is not a mention; ordinary words change only where it is sure that they are names."""
    out: list[str | Piece] = []
    at = 0
    for match in WORD.finditer(surface):
        token = base_word(match.group())
        candidates = [(match.start(), token)]
        if bare(token) not in words and re.search("['’]", token):
            candidates = [(match.start() + m.start(), m.group()) for m in re.finditer(r"[^\W\d_]+", token)]
        for start, candidate in candidates:
            piece = _piece(candidate, words) if is_capital(candidate) else None
            if piece and (sure or not words[piece.key].ordinary):
                out += (surface[at:start], piece)
                at = start + len(candidate)
    out.append(surface[at:])
    return tuple(piece for piece in out if piece != "")


def _signatures(text: str, words: dict[str, NameWord], slots: list[Slot], renamed: dict[str, Entity]) -> list[Slot]:
    """ "J. E." where exactly one person has a name with these initials."""
    bearers: dict[str, dict[str, tuple[str, ...]]] = defaultdict(dict)
    for entity in renamed.values():
        for name in entity.names:
            keys = [bare(p.text) for p in split_name(name) if p.kind == "name"] if entity.kind == "person" else []
            if len(keys) > 1 and all(key in words and words[key].stem_of is None for key in keys):
                bearers["".join(words[key].text[0] for key in keys)][entity.id] = tuple(keys)
    out = []
    for match, free in _free(_INITIALS, text, sorted((slot.start, slot.end) for slot in slots)):
        owners = bearers.get("".join(c for c in match.group() if c.isupper()), {})
        if free and len(owners) == 1:
            (entity_id, keys), *_ = owners.items()
            letters = re.split(r"[A-Z]", match.group())
            pieces: list[str | Piece] = []
            for key, after in zip(keys, letters[1:], strict=True):
                pieces += (Piece(key, "initial"), after)
            out.append(Slot(*match.span(), entity_id, tuple(pieces)))
    return out


def _with_article(text: str, slot: Slot) -> Slot:
    match = ARTICLE_BEFORE.search(text, max(0, slot.start - 12), slot.start)
    if not match or "\n\n" in match.group(2):
        return slot
    first = WORD.search(text, slot.start, slot.end)
    if not first:
        return slot
    return Slot(slot.start, slot.end, slot.entity, slot.pieces, (match.start(1), match.end(1), match.group(1), first.group()))
