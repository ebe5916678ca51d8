"""People as the linker sees them, and what the text around their names says about who is who."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from penname.cast.context import Calls, Presence
from penname.cast.forms import Form
from penname.cast.gender import GenderTally
from penname.cast.vocabulary import CIVIL_TITLES, NOBLE_TITLES, UNMARRIED_TITLES

_BEFORE_FIRST = UNMARRIED_TITLES | CIVIL_TITLES | {"master"}
_NONE: Counter[Form] = Counter()


@dataclass(slots=True, eq=False)
class Person:
    """One person as far as the forms tell: the names under which it goes."""

    forms: list[Form] = field(default_factory=list)
    firsts: list[tuple[str, ...]] = field(default_factory=list)
    last: str = ""
    married_name: str = ""  # "Mrs. John Dashwood": the husband's first name
    titles: Counter[str] = field(default_factory=Counter)
    presence: Presence = field(default_factory=Presence)
    tally: GenderTally = field(default_factory=GenderTally)
    evidence: list[str] = field(default_factory=list)
    plural: bool = False
    merged: bool = False  # into another person, and gone

    @property
    def count(self) -> int:
        """Number of mentions."""
        return self.presence.count

    @property
    def gender(self) -> str:
        """female, male, or nothing while it is unknown."""
        gender = self.tally.gender()
        return "" if gender == "unknown" else gender

    @property
    def shown(self) -> str:
        """The fullest of the frequent names."""
        return max(self.forms, key=lambda f: (f.count * (1 + len(f.words)), f.key)).shown

    def titles_clash(self, gender: str) -> bool:
        """Whether titles say the other gender; the census and pronouns do not count here."""
        other = {"female": "male", "male": "female"}.get(gender)
        return bool(other) and self.tally.titles[other or ""] > self.tally.titles[gender]

    def noble(self) -> bool:
        """Whether a good part of the mentions carry a noble title."""
        return 4 * sum(n for title, n in self.titles.items() if title in NOBLE_TITLES) >= self.count

    def surname_share(self) -> float:
        """Share of the mentions that carry the surname."""
        return sum(f.count for f in self.forms if self.last and " ".join(f.words).endswith(self.last)) / max(1, self.count)

    def has_title(self, titles: frozenset[str]) -> bool:
        """Whether one of the titles is used."""
        return any(title in titles for title in self.titles)

    def titled_first(self) -> int:
        """Mentions as "Miss Elizabeth", "Mr. Edward": a title straight before the first name."""
        firsts = {first[0] for first in self.firsts}
        return sum(f.count for f in self.forms if f.titles and f.words[0] in firsts and f.titles[-1] in _BEFORE_FIRST)


@dataclass(slots=True)
class Context:
    """What the text around the forms says about who is who."""

    presences: dict[Form, Presence]
    calls: Calls
    tallies: dict[Form, GenderTally]

    def affinity(self, one: Person, other: Person) -> float:
        """Log odds, -5 to 4, that two names are one person's, by where they stand."""
        a, b = one.presence, other.presence
        both = len(a.sentences & b.sentences)
        small, large = (a, b) if len(a.blocks) < len(b.blocks) else (b, a)
        shared = sum(min(count, large.blocks[block]) for block, count in small.blocks.items() if block in large.blocks)
        score = -1.6 * both + 0.085 * max(0, shared - both)
        score += self._called(one, other) + self._called(other, one)
        return max(-5.0, min(4.0, score))

    def _called(self, called: Person, speaker: Person) -> float:
        """For every call by a name of ``called``: does ``speaker`` answer it, or somebody else, or is it ``speaker`` who calls?"""
        mine, theirs = set(called.forms), set(speaker.forms)
        answered = others = calls = 0
        for form in called.forms:
            for who, n in self.calls.answers.get(form, _NONE).items():
                answered += n if who in theirs else 0
                others += n if who not in theirs and who not in mine else 0
            calls += sum(n for who, n in self.calls.callers.get(form, _NONE).items() if who in theirs)
        return max(-2.0, min(3.0, 1.0 * answered - 0.4 * others)) * (answered > 0) - 1.5 * min(calls, 3)


@dataclass(slots=True)
class Doubt:
    """A form that more than one person could bear: what was chosen, and the others, best first."""

    form: Form
    chosen: Person
    others: list[Person]
    margin: float
