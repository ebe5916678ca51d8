"""Which forms name one person: titles, first names, surnames and short forms, from the surest link to the least sure.

Each step either joins a form to a person or founds a new one. Where several persons could bear a form, ``Context`` weighs
them: two names of one person hardly ever stand in one sentence, and who is called by a name is often the next to speak.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Sequence

from penname.cast.forms import Form
from penname.cast.gender import GenderTally, census_log_odds
from penname.cast.joins import (
    full_count,
    goes_by_first,
    join_accents,
    join_beginnings,
    join_by_context,
    join_introduced,
    join_lisps,
    join_married,
    join_pet_surnames,
    join_short_forms,
    join_spellings,
    join_stated,
    note_near_pairs,
)
from penname.cast.lexicon import Lexicon
from penname.cast.names import Name, name_gender, part_name
from penname.cast.people import Context, Doubt, Person
from penname.cast.roles import Roles, is_plural, known_first, part_trades
from penname.cast.vocabulary import (
    CIVIL_TITLES,
    KIN_TITLES,
    MARRIED_TITLES,
    NOBLE_TITLES,
    SURNAME_TITLES,
    UNMARRIED_TITLES,
)

_ABOUT = 1.5  # log odds between a bearer of a first name who is named wherever it is, and one who is nowhere near
_CALLED_FIRST = 2.0  # log odds against a bare surname for somebody who always goes by the first name, where a namesake does not
_FREE_AFFINITY = 3.0  # log odds from which a titled surname can be a person whose surname the book never writes
_RANKS = frozenset({"admiral", "general", "colonel", "major", "master"})  # "Master Linton" is the son of the Mr.


class Linker:
    """Links the person forms of one book. ``people`` and ``doubts`` are the result."""

    def __init__(self, forms: Sequence[Form], context: Context, lexicon: Lexicon) -> None:
        self.lexicon, self.context = lexicon, context
        self.forms = sorted(forms, key=lambda f: (-f.count, f.key))
        self.names = {form: part_name(*form.key) for form in self.forms}
        self.people: list[Person] = []
        self.by_last: dict[str, list[Person]] = defaultdict(list)
        self.by_first: dict[str, list[Person]] = defaultdict(list)
        self.doubts: list[Doubt] = []
        self.near: list[tuple[Person, Person, float]] = []  # pairs that may be one person, and how much speaks for it

    def link(self) -> list[Person]:
        """All steps, surest first."""
        last_words = {form.words[-1] for form in self.forms}
        part_trades(self.names, self.lexicon)
        families = [f for f in self.forms if "family plural" in f.signs or "unknown plural" in f.signs or is_plural(f, last_words)]
        apart = set(families)
        self.forms = [f for f in self.forms if f not in apart]
        self.roles = Roles(self.forms, self.names, self.lexicon)
        full = [f for f in self.forms if self.names[f].last]
        single = [f for f in self.forms if not self.names[f].last]
        roles = {form: self.roles.of(form) for form in single}
        for form in sorted(full, key=lambda f: (len(self.names[f].first[0]) == 1, -f.count, f.key)):
            self._place_full(form)
        for form in single:
            if roles[form] == "first":
                self._place_first(form)
        join_short_forms(self)
        join_stated(self)
        surnamed = [f for f in single if f.titles and roles[f] == "last"]
        for form in sorted(surnamed, key=lambda f: (f.titles[-1] not in UNMARRIED_TITLES, -f.count, f.key)):
            if roles[form] == "last":
                self._place_titled_surname(form)
        for form in single:
            if not form.titles and roles[form] == "last":
                self._place_bare_surname(form)
        join_pet_surnames(self)
        join_stated(self)
        join_accents(self)
        join_beginnings(self)
        join_introduced(self)
        join_lisps(self)
        join_spellings(self)
        join_by_context(self)
        join_married(self)
        note_near_pairs(self)
        for form in families:
            self._new(form, plural=True)
        return self.people

    # ------------------------------------------------------------ founding and joining

    def _new(self, form: Form, first: tuple[str, ...] = (), last: str = "", married: str = "", plural: bool = False) -> Person:
        person = Person([], [first] if first else [], last, married, plural=plural)
        self.people.append(person)
        self.by_last[last].append(person)
        self.by_first[first[0] if first else ""].append(person)
        self._add(person, form, "")
        return person

    def _add(self, person: Person, form: Form, why: str) -> None:
        person.forms.append(form)
        person.titles.update({title: form.count for title in form.titles})
        person.presence.merge(self.context.presences[form])
        person.tally.merge(self.context.tallies[form])
        if why:
            person.evidence.append(f"{form.shown}: {why}")

    def merge(self, into: Person, person: Person, why: str) -> None:
        """Make one person of two; doubts follow."""
        into.forms += person.forms
        into.firsts += person.firsts
        into.last = into.last or person.last
        into.titles.update(person.titles)
        into.presence.merge(person.presence)
        into.tally.merge(person.tally)
        into.evidence += [f"{person.shown}: {why}", *person.evidence]
        self.people.remove(person)
        person.merged = True
        if into.last and into not in self.by_last[into.last]:
            self.by_last[into.last].append(into)
        for doubt in self.doubts:
            doubt.chosen = into if doubt.chosen is person else doubt.chosen
            doubt.others = list(
                dict.fromkeys(into if p is person else p for p in doubt.others if (into if p is person else p) is not doubt.chosen)
            )

    def _probe(self, form: Form) -> Person:
        """The form as a person of its own, to be weighed against others."""
        name = self.names[form]
        tally = GenderTally()
        tally.merge(self.context.tallies[form])
        return Person([form], [name.first], name.last, titles=Counter(name.titles), presence=self.context.presences[form], tally=tally)

    def _choose(self, form: Form, candidates: list[tuple[float, Person]], floor: float, why: str, about: float = 0.0) -> Person | None:
        """Join the form to the best candidate above ``floor``; note the others. None where nobody fits.

        ``about`` weighs who is named in the same chapters against who is not.
        """
        if not candidates:
            return None
        probe = self._probe(form)
        if about:
            near = [about * self.context.near(probe, p) for _, p in candidates]
            candidates = [(prior + score - max(near), p) for score, (prior, p) in zip(near, candidates, strict=True)]
        scored = sorted(
            ((prior + self.context.affinity(p, probe), p) for prior, p in candidates),
            key=lambda row: (-row[0], -row[1].count, row[1].shown),
        )
        best, person = scored[0]
        if best < floor:
            return None
        if len(scored) > 1:
            self.doubts.append(Doubt(form, person, [p for _, p in scored[1:]], best - scored[1][0]))
        self._add(person, form, why)
        return person

    # ------------------------------------------------------------ steps

    def _place_full(self, form: Form) -> None:
        name = self.names[form]
        first = name.first[0]
        married = first if name.titles and name.titles[-1] in MARRIED_TITLES and not self._woman(first) else ""
        fit = []
        for person in self.bearers(name.last):
            if bool(person.married_name) != bool(married) or person.titles_clash(name.gender):
                continue
            if any(self._same_firsts(name.first, other) for other in person.firsts):
                fit.append((1.0, person))
            elif any(
                len(one) == 1 and one[0] in more[1:] and not known_first(one[0], self.lexicon)
                for other in person.firsts
                for one, more in ((name.first, other), (other, name.first))
            ):
                fit.append((0.5, person))  # a middle name: "Fairfax Rochester" and "Edward Fairfax Rochester"
        chosen = self._choose(form, fit, -3.5, f"same surname, and {first.title()} fits")
        if chosen is None:
            self._new(form, name.first, name.last, married)
        elif name.first not in chosen.firsts:
            chosen.firsts.append(name.first)
            self.by_first[first].append(chosen)

    def _woman(self, first: str) -> bool:
        """Whether a first name after "Mrs." can be her own, and not her husband's."""
        known = name_gender(first, self.lexicon)
        return known == "female" or (not known and census_log_odds(first, self.lexicon) < 0)

    def _same_firsts(self, a: tuple[str, ...], b: tuple[str, ...]) -> bool:
        def fits(x: str, y: str) -> bool:
            return x == y or (min(len(x), len(y)) == 1 and x[0] == y[0])

        return fits(a[0], b[0]) and (len(a) == 1 or len(b) == 1 or fits(a[1], b[1]))

    def bearers(self, last: str) -> list[Person]:
        """The people of that surname."""
        return [p for p in self.by_last[last] if not p.merged]

    def _place_titled_surname(self, form: Form) -> None:
        name = self.names[form]
        word, title = name.first[0], form.titles[-1]
        candidates: list[tuple[float, Person]] = []
        for person in self.bearers(word):
            prior = self._title_prior(title, name, person)
            if prior is not None:
                candidates.append((prior, person))
        if title in UNMARRIED_TITLES | CIVIL_TITLES and len(candidates) > 1:
            # "Miss Bennet" is the sister who is not "Miss Elizabeth" or "Miss Lydia".
            most_named = max(p.count for _, p in candidates)
            least = min(p.titled_first() for _, p in candidates if p.count * 10 >= most_named)
            most = 6.0 if title in UNMARRIED_TITLES else 1.0
            candidates = [(prior - max(0.0, min(most, p.titled_first() - least)) + 0.5 * math.log10(p.count), p) for prior, p in candidates]
        most_named = max((p.count for _, p in candidates), default=0)
        rivals = [p for _, p in candidates if p.firsts and p.count * 20 >= most_named]
        floor = -0.5 if len(rivals) < 2 else 1.2 if title in CIVIL_TITLES else 0.3
        if title in NOBLE_TITLES:
            floor = 0.0
        elif title in UNMARRIED_TITLES:
            floor = -2.5 if len(candidates) == 1 else -4.0
            if len(candidates) == 1 and candidates[0][1].titled_first() >= 3 and full_count(candidates[0][1]) < 5:
                candidates = [(candidates[0][0] - 2.0, candidates[0][1])]  # "Miss Marianne" is hardly "Miss Dashwood"
                floor = 0.0
        elif title in MARRIED_TITLES and len(rivals) > 1:
            floor = 1.0  # a mother of daughters, more likely than one of them
        if title in UNMARRIED_TITLES | CIVIL_TITLES:
            candidates += self._by_position(form, name)
        chosen = self._choose(form, candidates, floor, "same surname, and the title fits")
        if chosen and chosen.last != word:
            chosen.last = word
            for same in [p for p in self.bearers(word) if set(p.firsts) & set(chosen.firsts)]:
                self.merge(chosen, same, "the same first name and surname")
            self.by_last[word].append(chosen)
        if not chosen:
            person = self._new(form, (), word)
            self.near += [(person, other, prior) for prior, other in candidates if other.count * 20 >= form.count]

    def _by_position(self, form: Form, name: Name) -> list[tuple[float, Person]]:
        """People without a surname who may be meant by a titled one, because calls and meetings say so: "Miss Dashwood" is Elinor."""
        probe = self._probe(form)
        free = [
            p
            for p in self.people
            if p.firsts
            and goes_by_first(p, self.lexicon)
            and not p.married_name
            and p.last != name.first[0]
            and p.count >= 3
            and p.gender == name.gender
            and full_count(p) * 50 <= p.count  # without a surname, or with one that is hardly ever used
        ]
        return [(0.5 * math.log10(p.count) - 1.0, p) for p in free if self.context.affinity(p, probe) >= _FREE_AFFINITY]

    def _title_prior(self, title: str, name: Name, person: Person) -> float | None:
        """How well a titled surname suits a bearer of the surname by titles alone; None where it cannot be."""
        if person.married_name or (name.gender and person.gender and person.gender != name.gender):
            return None
        prior = person.surname_share() * min(1.0, person.count / 5)
        if title in person.titles:
            prior += 0.5
        if title in MARRIED_TITLES:
            if person.titled_last(UNMARRIED_TITLES):
                return None  # Mrs. Bennet is not Miss Bennet
            if sum(person.titles[word] for word in UNMARRIED_TITLES) > 1:
                prior -= 1.5  # but a servant may once say "Miss Leslie" to the lady
            prior += person.tally.wife()
        elif title in UNMARRIED_TITLES:
            if person.titled_last(MARRIED_TITLES) or person.noble():
                return None
            prior -= person.tally.wife()
        elif title in NOBLE_TITLES:
            if not person.has_title(NOBLE_TITLES):
                prior -= 1.0
            if person.has_title(UNMARRIED_TITLES):
                return None
        elif title in CIVIL_TITLES:
            if person.noble():
                return None
            if "master" in person.titles:
                prior -= 1.0
        elif title not in person.titles and person.has_title(CIVIL_TITLES):
            prior -= 3.0 if title in _RANKS else 1.5  # an admiral is hardly ever the Mr. of his name
        return prior

    def _place_bare_surname(self, form: Form) -> None:
        word = self.names[form].first[0]
        gender = self.context.tallies[form].gender()
        candidates = []
        for person in self.bearers(word):
            prior = 2.0 * person.surname_share() + min(1.5, 0.75 * math.log10(person.count))
            if person.has_title(CIVIL_TITLES):
                prior += 0.5
            if person.titled_last(SURNAME_TITLES):
                prior += 0.5
            if person.gender and gender != "unknown" and gender != person.gender:
                prior -= 1.5
            if person.gender == "female" and gender == "unknown":
                prior -= 0.7
            if person.married_name:
                prior -= 3
            if any(
                other is not person and other.firsts and other.gender == person.gender and 4 * other.count >= person.count
                for other in self.bearers(word)
            ):
                prior -= _CALLED_FIRST * person.first_share()
            if person.gender == "female" and not person.firsts:
                prior -= 1.5  # who is always Mrs. or Lady to the book is so to its people
            candidates.append((prior, person))
        if not self._choose(form, candidates, -6.0, "the surname alone"):
            self._new(form, (), word)

    def _place_first(self, form: Form) -> None:
        name = self.names[form]
        word = name.first[0]
        gender = name.gender or self.context.tallies[form].gender()
        rank = [t for t in form.titles if t in NOBLE_TITLES]
        kin = any(t in KIN_TITLES for t in form.titles)
        candidates = []
        for person in dict.fromkeys(self.by_first[word]):
            if person.married_name or person.merged:
                continue
            if gender in ("female", "male") and person.gender and gender != person.gender:
                continue
            prior = min(3.0, 1.5 * math.log10(person.count)) + self._family_weight(person)
            if rank:
                prior += 3.0 if any(t in person.titles for t in rank) else -2.0
            elif person.noble():
                prior -= 1.5
            if kin and not any(t in person.titles for t in form.titles):
                prior -= 2.0
            candidates.append((prior, person))
        floor = 0.0 if rank or kin else -3.0 if len(candidates) > 1 else -7.0
        if not self._choose(form, candidates, floor, "the first name alone", about=_ABOUT):
            self._new(form, (word,))

    def _family_weight(self, person: Person) -> float:
        """More for a surname that the book uses often: its bearers are likelier to be meant by a first name."""
        return min(1.5, math.log10(1 + self.roles.surname_uses[person.last])) if person.last else 0.0
