"""The parts of a name: titles, particles and kinds of place stay as they are; the rest are name words that change."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from penname.core.callings import CALLINGS
from penname.renaming.dictionary import bare

WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
POSSESSIVE = re.compile(r"['’]s?$")

_DATA = Path(__file__).parent / "data" / "titles.txt"


def _read_sets() -> dict[str, frozenset[str]]:
    sets: dict[str, frozenset[str]] = {}
    for line in _DATA.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            name, words = line.split(": ")
            sets[name] = sets.get(name, frozenset()) | frozenset(words.split()) | frozenset(map(bare, words.split()))
    return sets


_SETS = _read_sets()
SURNAME_TITLES = _SETS["surname-title"]
FIRST_NAME_TITLES = _SETS["first-name-title"]
NOT_NAMES = SURNAME_TITLES | _SETS["given-title"] | _SETS["other"]
COURTESY = _SETS["courtesy"]
TITLE_SURNAMES = _SETS["title-surname"]
LONE_NAMES = CALLINGS | _SETS["lone-name"]
PLACE_KINDS = _SETS["place-kind"]
NATIONS = _SETS["nation"]
WEEKDAYS = _SETS["calendar"]
FEASTS = _SETS["feast"]
LANGUAGE_TITLES = {word: language for language in ("fr", "de", "it", "es") for word in _SETS[f"language-{language}"]}
COMPASS = _SETS["compass"]
ROMAN = re.compile(r"(?=[IVXLC]{2})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})$")


@dataclass(frozen=True, slots=True)
class Part:
    """One word of a name: its span in the surface, and what it is."""

    start: int
    end: int  # without a possessive ending
    text: str
    kind: str  # "name", "initial" or "other"


def base_word(token: str) -> str:
    """A token without its possessive ending: "Jane's" -> "Jane"."""
    return POSSESSIVE.sub("", token)


def is_capital(word: str) -> bool:
    """Whether it begins with a capital letter, elisions apart ("d'Arcy" does)."""
    return word[:1].isupper() or (len(word) > 2 and word[1] in "'’" and word[2].isupper())


def split_name(surface: str, place: bool = False, own: frozenset[str] = frozenset()) -> list[Part]:
    """The words of a name as it stands in a text, each told to be a name word, an initial or something that stays.

    ``own`` are title words that are this entity's name: the "Abbot" of Miss Abbot.
    """
    parts: list[Part] = []
    for match in WORD.finditer(surface):
        text = base_word(match.group())
        end = match.start() + len(text)
        key = bare(text)
        if len(text) == 1:
            kind = "initial" if text.isupper() and surface[end : end + 1] in (".", "-", "—", "–", "_", "*", "") else "other"
        elif is_capital(text) and not ROMAN.match(text) and (key in own or key not in NOT_NAMES):
            kind = "name" if key in own or not _is_capital_word(key, parts, surface[end:], place) else "other"
        else:
            kind = "other"
        parts.append(Part(match.start(), end, text, kind))
    if len(parts) == 1 and not place and is_capital(parts[0].text) and bare(parts[0].text) in LONE_NAMES:
        parts[0] = Part(parts[0].start, parts[0].end, parts[0].text, "name")  # "the Constable" is called nothing else
    if place:
        parts = _keep_place_kind(parts)
    last = parts[-1] if parts else None
    titled = last and len(parts) > 1 and bare(parts[0].text) in COURTESY and not any(part.kind == "name" for part in parts)
    if last and titled and bare(last.text) in TITLE_SURNAMES and is_capital(last.text):
        parts[-1] = Part(last.start, last.end, last.text, "name")
    return parts


def _is_capital_word(key: str, before: list[Part], after: str, place: bool) -> bool:
    """Whether a word is one that English spells with a capital and no name: "English", "Sunday", "Christmas"."""
    titled = bool(before) and bare(before[-1].text) in SURNAME_TITLES
    if key in NATIONS:
        # "Mr. French" and "Mary English" bear it as a surname; "English Celine" does not.
        return place or not before or not (titled or before[-1].kind == "name")
    if key in WEEKDAYS:
        return bool(before or WORD.search(after))  # a person who is called Sunday is called nothing else
    return key in FEASTS and not titled and (place or not (before and before[-1].kind == "name"))


def _keep_place_kind(parts: list[Part]) -> list[Part]:
    out = [Part(p.start, p.end, p.text, "other") if p.kind == "name" and bare(p.text) in PLACE_KINDS else p for p in parts]
    if any(p.kind == "name" for p in out):
        return out
    # All of it is kinds ("Moor House", "Marsh End"): the first of several is what must change.
    kinds = [i for i, part in enumerate(parts) if part.kind == "name"]
    if len(kinds) > 1 and bare(parts[kinds[0]].text) not in COMPASS:
        out[kinds[0]] = parts[kinds[0]]
    return out
