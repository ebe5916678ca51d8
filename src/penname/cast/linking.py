"""Which forms name one person: titles, first names, surnames and short forms, from the surest link to the least sure."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from penname.cast.forms import Form, Key
from penname.cast.lexicon import Lexicon
from penname.cast.names import Name, name_gender, part_name, same_first
from penname.cast.vocabulary import (
    CIVIL_TITLES,
    FIRST_NAME_TITLES,
    KIN_TITLES,
    MARRIED_TITLES,
    NOBLE_TITLES,
    SURNAME_TITLES,
    UNMARRIED_TITLES,
)


@dataclass(slots=True, eq=False)
class Person:
    """One person as far as the forms tell: the names under which it goes."""

    forms: list[Form] = field(default_factory=list)
    firsts: list[tuple[str, ...]] = field(default_factory=list)
    last: str = ""
    gender: str = ""
    titles: Counter[str] = field(default_factory=Counter)
    wife_of: str = ""  # "Mrs. John Dashwood": the husband's first name
    evidence: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        return sum(form.count for form in self.forms)

    def add(self, form: Form, name: Name, why: str = "") -> None:
        """Take in a form."""
        self.forms.append(form)
        self.titles.update({title: form.count for title in name.titles})
        self.gender = self.gender or name.gender
        if why:
            self.evidence.append(why)

    def has_title(self, titles: frozenset[str]) -> bool:
        return any(title in titles for title in self.titles)


class Linker:
    """Links the person forms of one book. ``people`` is the result."""

    def __init__(self, forms: dict[Key, Form], lexicon: Lexicon) -> None:
        self.lexicon = lexicon
        self.forms = sorted((f for f in forms.values() if f.kind == "person"), key=lambda f: (-f.count, f.key))
        self.names = {form.key: part_name(*form.key) for form in self.forms}
        self.people: list[Person] = []
        self.as_first: Counter[str] = Counter()
        self.as_last: Counter[str] = Counter()

    def link(self) -> list[Person]:
        """All steps, surest first."""
        self._count_roles()
        full = [f for f in self.forms if self.names[f.key].last]
        single = [f for f in self.forms if not self.names[f.key].last]
        for form in full:
            self._place_full(form)
        titled = [f for f in single if f.titles]
        bare = [f for f in single if not f.titles]
        roles = {form.key: self._role(form) for form in single}
        for form in [f for f in titled if roles[f.key] == "last"]:
            self._place_titled_surname(form)
        for form in [f for f in bare if roles[f.key] == "last"]:
            self._place_bare_surname(form)
        for form in [f for f in titled if roles[f.key] == "first"] + [f for f in bare if roles[f.key] == "first"]:
            self._place_first(form)
        self._join_short_forms()
        return self.people

    def _count_roles(self) -> None:
        for form in self.forms:
            name = self.names[form.key]
            if name.last:
                self.as_first[name.first[0]] += form.count
                self.as_last[name.last] += form.count
            elif form.titles:
                title = form.titles[-1]
                if title in FIRST_NAME_TITLES or title in KIN_TITLES:
                    self.as_first[name.first[0]] += form.count
                elif title in SURNAME_TITLES:
                    self.as_last[name.first[0]] += form.count

    def _role(self, form: Form) -> str:
        """Whether a single word (with or without title) is a first name or a surname."""
        word = self.names[form.key].first[0]
        first, last = self.as_first[word], self.as_last[word]
        census = self.lexicon.first_names.get(word.capitalize())
        known_first = census is not None and census[1] < 1200 or word.capitalize() in self.lexicon.full_forms
        title = form.titles[-1] if form.titles else ""
        if title in FIRST_NAME_TITLES or title in KIN_TITLES:
            return "first" if first >= last or not last else "last"
        if title in SURNAME_TITLES:
            return "first" if known_first and first > 2 * last else "last"
        if first > last or first == last == 0 and known_first:
            return "first"
        if last > first:
            return "last"
        return "first" if not title else "last"

    def _place_full(self, form: Form) -> None:
        name = self.names[form.key]
        gender = name.gender or name_gender(name.first[0], self.lexicon)
        husband = bool(name.titles) and name.titles[-1] in MARRIED_TITLES and name_gender(name.first[0], self.lexicon) == "male"
        for person in self.people:
            if person.last != name.last or bool(person.wife_of) != husband:
                continue
            if not husband and gender and person.gender and gender != person.gender:
                continue
            if any(self._same_firsts(name.first, other) for other in person.firsts):
                person.add(form, name)
                person.firsts.append(name.first)
                return
        person = Person([], [name.first], name.last, "female" if husband else gender, wife_of=name.first[0] if husband else "")
        person.add(form, name)
        self.people.append(person)

    def _same_firsts(self, a: tuple[str, ...], b: tuple[str, ...]) -> bool:
        return same_first(a[0], b[0], self.lexicon)

    def _bearers(self, last: str) -> list[Person]:
        return [p for p in self.people if p.last == last]

    def _place_titled_surname(self, form: Form) -> None:
        name = self.names[form.key]
        word, title = name.first[0], form.titles[-1]
        bearers = [p for p in self._bearers(word) if not p.wife_of]
        gender = name.gender
        fit = [p for p in bearers if not (gender and p.gender and p.gender != gender)]
        if title in MARRIED_TITLES:
            fit = [p for p in fit if not p.has_title(UNMARRIED_TITLES) or p.has_title(MARRIED_TITLES)]
        elif title in UNMARRIED_TITLES:
            fit = [p for p in fit if not p.has_title(MARRIED_TITLES)]
        elif title in NOBLE_TITLES:
            fit = [p for p in fit if p.has_title(NOBLE_TITLES)]
        elif title in CIVIL_TITLES:
            fit = [p for p in fit if not p.has_title(NOBLE_TITLES)]
        if fit:
            best = max(fit, key=lambda p: (p.count, p.firsts))
            best.add(form, name)
            return
        person = Person([], [], word, gender)
        person.add(form, name)
        self.people.append(person)

    def _place_bare_surname(self, form: Form) -> None:
        name = self.names[form.key]
        bearers = self._bearers(name.first[0])
        men = [p for p in bearers if p.gender != "female"]
        if men or bearers:
            max(men or bearers, key=lambda p: (p.count, p.firsts)).add(form, name)
            return
        person = Person([], [], name.first[0], "")
        person.add(form, name)
        self.people.append(person)

    def _place_first(self, form: Form) -> None:
        name = self.names[form.key]
        word = name.first[0]
        gender = name.gender or name_gender(word, self.lexicon)
        fit = [p for p in self.people if any(first[0] == word for first in p.firsts) and not p.wife_of and not (gender and p.gender and gender != p.gender)]
        if fit:
            max(fit, key=lambda p: (p.count, p.firsts)).add(form, name)
            return
        person = Person([], [(word,)], "", gender)
        person.add(form, name)
        self.people.append(person)

    def _join_short_forms(self) -> None:
        """Join a person who has only a short form ("Lizzy") to the one person whose full first name it can stand for."""
        by_first: dict[str, list[Person]] = defaultdict(list)
        for person in self.people:
            for first in person.firsts:
                if person not in by_first[first[0]]:
                    by_first[first[0]].append(person)
        for person in [p for p in self.people if not p.last and p.firsts]:
            word = person.firsts[0][0].capitalize()
            full = {f.lower() for f in self.lexicon.full_forms.get(word, ())} | {f.lower() for f in self.lexicon.short_forms.get(word, ())}
            fit = [p for f in sorted(full) for p in by_first.get(f, ()) if p is not person and not (p.gender and person.gender and p.gender != person.gender)]
            if len(fit) == 1 and fit[0] in self.people and fit[0].count >= person.count:
                fit[0].forms += person.forms
                fit[0].titles.update(person.titles)
                fit[0].firsts += person.firsts
                self.people.remove(person)
