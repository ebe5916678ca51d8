"""The word lists that the package ships, read once: ordinary words, first names, surnames, short forms, places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

_FREQUENT = 5000  # ranks of surnames that count as known
_MANY = 99999


@dataclass(frozen=True)
class Lexicon:
    """What is known about words before any book is read. Name keys are capitalised once ("Jane"), word keys lower-case."""

    words: dict[str, tuple[str, float]]  # word -> (part-of-speech letters n v a r d f, uses per million words of prose)
    first_names: dict[str, tuple[float, int]]  # name -> (share of bearers that are women, rank from 0)
    surnames: dict[str, int]  # name -> rank from 0
    short_forms: dict[str, frozenset[str]]  # full first name -> its short forms
    full_forms: dict[str, frozenset[str]]  # short form -> the first names it can stand for
    sure_short: frozenset[tuple[str, str]]  # (full, short) pairs of the hand-made list
    surname_sounds: frozenset[str]  # of the surnames of six letters or more, see surname_sound
    places: dict[str, int]  # place -> 1 small town, 2 city, 3 known to everybody

    def knows_surname(self, name: str) -> bool:
        """Whether the name is a frequent surname, or one in another spelling ("Smythe", "Chamberlayne")."""
        return self.surnames.get(name, _MANY) < _FREQUENT or surname_sound(name) in self.surname_sounds

    def is_first_name(self, name: str) -> bool:
        """Whether the name is a frequent first name, or a short form of one that is hardly ever a word."""
        entry = self.first_names.get(name)
        return (entry is not None and entry[1] < 700) or (name in self.full_forms and self.per_million(name.lower()) < 1)

    def per_million(self, word: str) -> float:
        """How often the lower-case word stands in a million words of prose."""
        entry = self.words.get(word)
        return entry[1] if entry else 0.0

    def is_past(self, word: str) -> bool:
        """Whether the word is a past form of a verb ("walked", "said")."""
        entry = self.words.get(word)
        return entry is not None and "d" in entry[0]


def surname_sound(name: str) -> str:
    """A surname without what older spellings vary in: y for i, a silent e at the end, ph for f, double letters."""
    flat = name.lower().replace("ph", "f").replace("y", "i").removesuffix("e").replace("ck", "k")
    return "".join(c for k, c in enumerate(flat) if not k or c != flat[k - 1])


@cache
def load_lexicon() -> Lexicon:
    """The lists in ``penname.cast.data``."""
    words = {w: (letters, float(rate)) for w, letters, rate in _rows("words.tsv")}
    first = {n: (float(share), int(rank)) for n, share, rank in _rows("first_names.tsv")}
    for n, share, rank in _rows("period_first_names.tsv"):
        first.setdefault(n, (float(share), int(rank)))
    surnames = {row[0]: k for k, row in enumerate(_rows("surnames.txt"))}
    short: dict[str, set[str]] = {}
    for full, forms in _rows("nicknames.tsv"):
        short.setdefault(full, set()).update(forms.split())
    sure = set()
    for full, forms in _rows("period_nicknames.tsv"):
        short.setdefault(full, set()).update(forms.split())
        sure |= {(full, form) for form in forms.split()}
    full_forms: dict[str, set[str]] = {}
    for name, forms_set in short.items():
        for form in forms_set:
            full_forms.setdefault(form, set()).add(name)
    return Lexicon(
        words,
        first,
        surnames,
        {k: frozenset(v) for k, v in short.items()},
        {k: frozenset(v) for k, v in full_forms.items()},
        frozenset(sure),
        frozenset(surname_sound(name) for name, rank in surnames.items() if rank < _FREQUENT and len(name) > 5),
        {name: int(strength) for name, strength in [*_rows("places.tsv"), *_rows("period_places.tsv")]},
    )


def _rows(name: str) -> list[list[str]]:
    text = (resources.files("penname.cast") / "data" / name).read_text(encoding="utf-8")
    return [line.split("\t") for line in text.split("\n") if line and not line.startswith("#")]
