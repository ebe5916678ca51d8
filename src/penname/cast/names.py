"""Names of persons, taken apart and compared."""

from __future__ import annotations

import re
from dataclasses import dataclass

from penname.cast.evidence import title_gender
from penname.cast.lexicon import Lexicon
from penname.cast.vocabulary import CAPITAL_PARTICLES, SUFFIXES


@dataclass(frozen=True)
class Name:
    """One person's name in parts, all lower-case: ``first`` (with middle names and initials), ``last`` with its particles."""

    titles: tuple[str, ...]
    first: tuple[str, ...]
    last: str
    suffix: str = ""

    @property
    def gender(self) -> str:
        """The gender that the titles imply, or nothing."""
        return title_gender(self.titles)


def part_name(titles: tuple[str, ...], words: tuple[str, ...]) -> Name:
    """Split words into first names and surname; a single word comes back as ``first`` only and is placed by the linker."""
    rest = name_units(words)
    suffix = ""
    while len(rest) > 1 and (rest[-1] in SUFFIXES or rest[-1].startswith("the ")):  # "Rudolf the Third"
        suffix = rest.pop()
    if len(rest) == 1:
        return Name(titles, (rest[0],), "", suffix)
    return Name(titles, tuple(rest[:-1]), rest[-1], suffix)


def name_units(words: tuple[str, ...]) -> list[str]:
    """The words with each particle tied to what follows: ("catherine", "de", "bourgh") -> ["catherine", "de bourgh"]."""
    units: list[str] = []
    held = ""
    for k, word in enumerate(words):
        if word in CAPITAL_PARTICLES and k < len(words) - 1:
            held += word + " "
        else:
            units.append(held + word)
            held = ""
    return units


def name_gender(name: str, lexicon: Lexicon) -> str:
    """Gender of a first name by the census, where nine in ten bearers agree."""
    entry = lexicon.first_names.get(name.capitalize())
    if entry is None:
        return ""
    return "female" if entry[0] >= 0.9 else "male" if entry[0] <= 0.1 else ""


def short_of(short: str, full: str, lexicon: Lexicon) -> float:
    """How well ``short`` can stand for ``full``: 1 by the list of short forms, less by its look, 0 not at all."""
    if short == full:
        return 0.0
    x, y = full.capitalize(), short.capitalize()
    if (x, y) in lexicon.sure_short or (y, x) in lexicon.sure_short:
        return 1.0
    if y in lexicon.short_forms.get(x, ()) or x in lexicon.short_forms.get(y, ()):
        both_full = x in lexicon.short_forms and y in lexicon.short_forms
        return 0.5 if both_full and abs(len(x) - len(y)) < 2 else 1.0
    if lexicon.short_forms.keys() & (lexicon.full_forms.get(x, frozenset()) & lexicon.full_forms.get(y, frozenset())):
        return 0.7  # two short forms of one name: Lizzy and Eliza
    stem = short.rstrip("s")
    for ending in ("ie", "ey", "y", "kin", "kins"):
        if stem.endswith(ending) and len(stem) - len(ending) >= 3:
            root = stem[: -len(ending)]
            if (
                full.startswith(root)
                or full == re.sub("i$", "y", root)
                or (root[-1] == root[-2] and full.startswith(root[:-1]) and len(root) > 3)
            ):
                return 0.6
    return 0.4 if len(short) >= 3 and full.startswith(short) and len(full) - len(short) >= 2 else 0.0
