"""The name words of a book: what each is (first name, surname, a place's), whose, and what its new word must be like."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from penname.core.callings import CALLINGS
from penname.core.values import Entity
from penname.renaming.dictionary import Dictionary, bare
from penname.renaming.words import COURTESY, FIRST_NAME_TITLES, LANGUAGE_TITLES, NOT_NAMES, TITLE_SURNAMES, Part, split_name

# A name word that the book also writes in lower case this often is an ordinary word ("Grace", "Will", "Temple"): outside the
# mentions that the cast found, it is a name only beside another name or a title.
ORDINARY_MIN = 4


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
    initial: bool = False  # stands as an initial somewhere ("J. E.")
    saint: bool = False  # stands after "St."
    calling: bool = False  # "the Coroner": what somebody is, and the only name that the book gives them
    stem_of: tuple[str, str] | None = None  # (key of the word it is made from, ending): "Reeds" from "Reed"

    @property
    def role(self) -> str:
        """ "given", "surname", "place", or "bare" where it is only ever met alone. People come before places named after them."""
        given, surname = self.roles["given"], self.roles["surname"]
        if given or surname:
            return "given" if given >= surname else "surname"
        return "bare" if self.roles["bare"] else "place"

    @property
    def owner(self) -> str:
        """The entity that bears it most often."""
        return min(self.owners, key=lambda entity: (-self.owners[entity], entity))


def title_names(surfaces: Iterable[tuple[str, str]], renamed: Mapping[str, Entity]) -> dict[str, frozenset[str]]:
    """Title words that are an entity's own name: {"p4": {"abbot"}} for a Miss Abbot, {"p2": {"good"}} for Captain John Good."""
    own = {id: frozenset(map(bare, (entity.family or "").split())) & TITLE_SURNAMES for id, entity in renamed.items()}
    for entity_id, surface in surfaces:
        own[entity_id] |= {bare(part.text) for part in split_name(surface) if part.kind == "name"} & NOT_NAMES
    return own


def collect_words(
    surfaces: Counter[tuple[str, str]],
    renamed: Mapping[str, Entity],
    own: Mapping[str, frozenset[str]],
    lower: Counter[str],
    dictionary: Dictionary,
) -> dict[str, NameWord]:
    """The name words in the counted (entity id, surface) pairs, by bare word. ``lower`` counts the book's words in lower case."""
    words: dict[str, NameWord] = {}
    written: dict[str, Counter[str]] = defaultdict(Counter)
    by_entity: dict[str, list[tuple[list[Part], int]]] = defaultdict(list)
    within: set[str] = set()  # words that stand in names of several words, or in a place's
    for (entity_id, surface), count in surfaces.items():
        by_entity[entity_id].append((split_name(surface, renamed[entity_id].kind == "place", own[entity_id]), count))
    for entity_id, names in by_entity.items():
        entity = renamed[entity_id]
        language = _language(names)
        ends = _ends(names)
        for parts, count in names:
            for i, part in enumerate(parts):
                if part.kind != "name":
                    continue
                key = bare(part.text)
                role = "place" if entity.kind == "place" else _role(parts, i, entity, ends, dictionary)
                word = words.setdefault(key, NameWord(key, part.text))
                word.count += count
                word.owners[entity_id] += count
                word.roles[role] += 10 * count + 1  # a name that no mention carries still says a little
                if role != "place":
                    word.genders[entity.gender] += 10 * count + 1
                word.languages[language or dictionary.languages.get(key, "")] += 10 * count + 1
                word.saint |= i > 0 and bare(parts[i - 1].text) in ("st", "saint", "ste")
                written[key][part.text] += count
                if len(parts) > 1 or entity.kind == "place":
                    within.add(key)
    for key, forms in written.items():
        words[key].calling = key in CALLINGS and key not in within
        # "JANE" at a chapter's opening must not make all of "Jane" capitals.
        words[key].text = min(forms, key=lambda form: (form.isupper() and len(form) > 1, -forms[form], form))
        words[key].ordinary = (key in NOT_NAMES and not words[key].calling) or lower[words[key].text.lower()] >= ORDINARY_MIN
    _link_derived(words)
    return words


def _language(names: list[tuple[list[Part], int]]) -> str:
    """The language that an entity's titles and accents speak for, "" for English."""
    votes: Counter[str] = Counter()
    for parts, count in names:
        for part in parts:
            title = bare(part.text)
            if part.kind != "name" and title in LANGUAGE_TITLES:
                votes[LANGUAGE_TITLES[title]] += 2 * count
            elif part.kind != "name" and title in COURTESY:
                votes[""] += 2 * count
            elif part.kind == "name" and not part.text.isascii():
                votes["fr"] += count
    return min(votes, key=lambda language: (-votes[language], language)) if votes else ""


def _ends(names: list[tuple[list[Part], int]]) -> tuple[set[str], set[str]]:
    """Bare words that begin, and that end, a name of several name words of this entity."""
    firsts, lasts = set(), set()
    for parts, _ in names:
        keys = [bare(part.text) for part in parts if part.kind == "name"]
        if len(keys) > 1:
            firsts.add(keys[0])
            lasts.add(keys[-1])
    return firsts, lasts


def _role(parts: list[Part], i: int, entity: Entity, ends: tuple[set[str], set[str]], dictionary: Dictionary) -> str:
    """ "given", "surname", "place" ("Duchess of Monmouth"), or "bare" where it stands alone and could be either."""
    key, (firsts, lasts) = bare(parts[i].text), ends
    others = [k for k, part in enumerate(parts) if part.kind == "name" and k != i]
    known = dictionary.known.get(key, "")
    first_name = bool(known) and entity.gender[0] in known + "u"
    if i and bare(parts[i - 1].text) == "of":
        return "place"
    if entity.family and key == bare(entity.family) and (key in lasts or not first_name):
        return "surname"
    if others or any(part.kind == "initial" for part in parts):
        return "given" if any(k > i for k in others) else "surname"
    if (key in firsts) != (key in lasts):
        return "given" if key in firsts else "surname"
    if i == 0:
        return "given" if first_name else "bare"
    return "given" if first_name or bare(parts[i - 1].text) in FIRST_NAME_TITLES else "surname"


def _link_derived(words: dict[str, NameWord]) -> None:
    """Plurals of a family name and spelling variants are made from the word they come from, not drawn apart."""
    for key in sorted(words):
        word = words[key]
        for ending in ("s", "es"):
            base = words.get(key.removesuffix(ending)) if key.endswith(ending) and len(key) > len(ending) + 2 else None
            family = (base is not None and base.roles["surname"] > base.roles["given"]) or set(word.roles) == {"bare"}  # "the two Gilberts"
            plural = base and base.stem_of is None and family and not word.roles["given"]
            if base and plural and base.count >= word.count:
                word.stem_of = base.key, ending
                break
        else:
            base = words.get(key[:-1]) if len(key) > 5 and key[-1] in "eh" else None
            if base and base.stem_of is None and set(base.owners) & set(word.owners):
                word.stem_of = base.key, key[-1]
