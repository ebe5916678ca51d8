"""People as the linker sees them, and what the text around their names says about who is who."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field

from penname.cast.context import Calls, Presence
from penname.cast.forms import Form
from penname.cast.gender import GenderTally
from penname.cast.vocabulary import CIVIL_TITLES, NOBLE_TITLES, UNMARRIED_TITLES

_BEFORE_FIRST = UNMARRIED_TITLES | CIVIL_TITLES | {"master"}
_NONE: Counter[Hashable] = Counter()
_TOGETHER, _APART = 1.2, 0.11  # weight of one sentence that names both, and of one place where they are near but not together
_ANSWERED, _NAMED = 1.2, 1.2
_CELL = 8  # blocks
_MEETINGS, _SPEECHES = 40, 8  # so many are counted in full


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

    def first_share(self) -> float:
        """Share of the mentions by the first name alone."""
        firsts = {first[0] for first in self.firsts} - {self.last}
        return sum(f.count for f in self.forms if len(f.words) == 1 and f.words[0] in firsts) / max(1, self.count)

    def has_title(self, titles: frozenset[str]) -> bool:
        """Whether one of the titles is used."""
        return any(title in titles for title in self.titles)

    def titled_last(self, titles: frozenset[str]) -> int:
        """Mentions by the surname alone after one of the titles: "Mrs. Bennet"."""
        return sum(f.count for f in self.forms if len(f.words) == 1 and f.words[0] == self.last and titles.intersection(f.titles))

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
    stated: list[tuple[Form, tuple[Form, ...]]] = field(default_factory=list)  # a name, and whose the text says it is
    weddings: list[tuple[int, Form, Form]] = field(default_factory=list)  # where it says so, a woman and a man who marry

    def affinity(self, one: Person, other: Person) -> float:
        """Log odds, -6 to 6, that two names are one person's, by where they stand.

        Two names of one person stand in one sentence in 4 of 100 meetings, names of two in 18. Who speaks names himself
        in 7 of 100 cases, another who is near in 32; and the one called is the next to speak in 47, another in 7.
        """
        a, b = one.presence, other.presence
        small, large = (a, b) if len(a.blocks) < len(b.blocks) else (b, a)
        shared = sum(min(count, large.blocks[block]) for block, count in small.blocks.items() if block in large.blocks)
        both = len(a.sentences & b.sentences)
        scale = min(1.0, _MEETINGS / max(1, shared))  # meetings of one scene are no independent witnesses
        met = max(-5.0, scale * (_APART * max(0, shared - both) - _TOGETHER * both))
        answered = self._sum(self.calls.answers, one, other) + self._sum(self.calls.answers, other, one)
        named = self._sum(self.calls.speakers, one, other) + self._sum(self.calls.speakers, other, one)
        scale = min(1.0, _SPEECHES / max(1, answered + named))
        spoken = max(-5.0, min(5.0, scale * (_ANSWERED * answered - _NAMED * named)))
        return max(-6.0, min(6.0, met + spoken))

    def near(self, name: Person, bearer: Person) -> float:
        """Share of the mentions of a name that have the bearer in the same chapter or so, about 10,000 characters to each side."""
        cells = {cell + step for cell in {block // _CELL for block in bearer.presence.blocks} for step in (-1, 0, 1)}
        return sum(n for block, n in name.presence.blocks.items() if block // _CELL in cells) / max(1, name.count)

    def _sum(self, table: Mapping[Hashable, Counter[Hashable]], called: Person, speaker: Person) -> int:
        """How often a name of ``called`` is followed in the table by one of ``speaker``."""
        theirs = set(speaker.forms)
        return sum(n for form in called.forms for who, n in table.get(form, _NONE).items() if who in theirs)


@dataclass(slots=True)
class Doubt:
    """A form that more than one person could bear: what was chosen, and the others, best first."""

    form: Form
    chosen: Person
    others: list[Person]
    margin: float
