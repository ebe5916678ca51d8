"""Joining people whom the surer steps left apart: short forms, pet forms of surnames, rare spellings, and by context alone."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping
from math import inf
from typing import TYPE_CHECKING

from penname.cast.forms import Form
from penname.cast.lexicon import Lexicon
from penname.cast.names import short_of
from penname.cast.people import Person
from penname.cast.roles import known_first
from penname.cast.vocabulary import CIVIL_TITLES, FEMALE_KIN, MALE_KIN, MARRIED_TITLES, UNMARRIED_TITLES
from penname.core.letters import without_accents

if TYPE_CHECKING:
    from penname.cast.linking import Linker

_WED = 1.5  # log odds for a wife's name where the text says that the two marry
_INTRODUCED = 5  # mentions by the surname alone from which a full name may be its introduction
_INTRODUCTION = 1000  # characters


def join_short_forms(linker: Linker) -> None:
    """Join a person who goes by a short form ("Lizzy") to the person whose first name it can stand for."""
    by_first: dict[str, list[Person]] = defaultdict(list)
    by_prefix: dict[str, set[str]] = defaultdict(set)
    for person in linker.people:
        for first in person.firsts:
            by_first[first[0]].append(person)
            by_prefix[first[0][:3]].add(first[0])
    for person in sorted((p for p in linker.people if p.firsts and not p.married_name), key=lambda p: (p.count, p.shown)):
        fit = []
        kin = {word for first in person.firsts for word in related(first[0], by_first, by_prefix, linker.lexicon)}
        for other in dict.fromkeys(p for word in sorted(kin) for p in by_first[word]):
            if other is person or other.merged or other.married_name or (person.last and other.last != person.last):
                continue
            if person.gender and other.gender and person.gender != other.gender:
                continue
            strength = max((short_of(a[0], b[0], linker.lexicon) for a in person.firsts for b in other.firsts), default=0.0)
            if not strength:
                continue
            if person.last:
                strength += 0.6 - 1.2 * (person.noble() != other.noble())
                if min(full_count(person), full_count(other)) >= 10:
                    strength -= 2.0  # Thomas Gradgrind and Tom Gradgrind, each often: father and son
            fit.append((strength + linker.context.affinity(person, other) + min(0.2, other.count / 500), other, strength))
        fit.sort(key=lambda row: (-row[0], -row[1].count, row[1].shown))
        if (
            fit
            and fit[0][0] >= (-1.0 if fit[0][2] >= 1 and not person.last else 0.6 if fit[0][2] >= 1 else 0.9)
            and (len(fit) == 1 or fit[0][0] - fit[1][0] >= 0.3)
        ):
            linker.merge(fit[0][1], person, f"{person.firsts[0][0].title()} is a short form")
            for first in person.firsts:
                by_first[first[0]].append(fit[0][1])


def related(word: str, by_first: Mapping[str, list[Person]], by_prefix: Mapping[str, set[str]], lexicon: Lexicon) -> set[str]:
    """First names of this book that ``short_of`` could tie to the word: by the lists, or by the same first three letters."""
    name = word.capitalize()
    names = set(lexicon.short_forms.get(name, ())) | set(lexicon.full_forms.get(name, ()))
    for full in lexicon.full_forms.get(name, ()):
        names |= lexicon.short_forms[full]
    return ({n.lower() for n in names} & by_first.keys()) | by_prefix.get(word[:3], set())


def join_stated(linker: Linker) -> None:
    """Join the names that the text itself says are one person's."""
    for name, owners in linker.context.stated:
        home = {form: person for person in linker.people for form in person.forms}
        bearer, owner = home.get(name), next((home[form] for form in owners if form in home), None)
        if bearer is None or owner is None or bearer is owner or bearer.titles_clash(owner.gender) or owner.titles_clash(bearer.gender):
            continue
        if any(doubt.form is name and owner in doubt.others for doubt in linker.doubts):
            continue  # a first name that father and son bear
        into, other = (owner, bearer) if owner.count >= bearer.count else (bearer, owner)
        linker.merge(into, other, f"the text says that {name.shown} is a name of this person")


def join_pet_surnames(linker: Linker) -> None:
    """Join "Skaggsy" to Skaggs: a bare name that is a surname with a pet ending."""
    for person in [p for p in linker.people if not p.last and len(p.forms) == 1 and p.firsts]:
        word = person.firsts[0][0]
        bearers = [p for ending in ("y", "ie", "ey") if word.endswith(ending) for p in linker.bearers(word.removesuffix(ending))]
        for other in sorted(bearers, key=lambda p: (-p.count, p.shown)):
            if linker.context.affinity(person, other) > -1:
                linker.merge(other, person, f"a pet form of {other.last.title()}")
                break


def join_accents(linker: Linker) -> None:
    """Join names that only an accent tells apart: "Lipóti Virag" and "Lipoti Virag"."""
    bearer: dict[tuple[tuple[str, ...], ...], Person] = {}
    for person in sorted(linker.people, key=lambda p: (-p.count, p.shown)):
        plain = [(form.titles, tuple(map(without_accents, form.words))) for form in person.forms]
        same = next((bearer[key] for key in plain if key in bearer), None)
        if same:
            linker.merge(same, person, "the same name but for an accent")
        bearer |= {key: bearer.get(key, same or person) for key in plain}


def join_beginnings(linker: Linker) -> None:
    """Join a name of several words to the one fuller name that begins with it: "Mary Ann" and "Mary Ann Wilson"."""
    longer: dict[tuple[str, ...], set[Person]] = defaultdict(set)
    for person in linker.people:
        for form in person.forms:
            for k in range(2, len(form.words)):
                longer[form.words[:k]].add(person)
    for person in list(linker.people):
        if not known_first(person.last, linker.lexicon) and linker.roles.as_last[person.last] > full_count(person):
            continue  # a surname: George Amberson is not George Amberson Minafer
        fuller = {other for form in person.forms if not form.titles for other in longer.get(form.words, ())} - {person}
        if len(fuller) == 1 and not (other := fuller.pop()).merged and {person.gender, other.gender} != {"female", "male"}:
            linker.merge(other, person, "the beginning of a fuller name")


def join_introduced(linker: Linker) -> None:
    """Join a surname that goes without a first name to the rare full name that introduces it: "Mr. Bobby Jaffers", then Jaffers."""
    for person in [p for p in linker.people if p.last and not p.firsts and p.gender and p.count >= _INTRODUCED]:
        begins = min(form.spans[0].start for form in person.forms)
        bearers = [p for p in linker.bearers(person.last) if p.firsts and not p.married_name and p.gender == person.gender]
        if any(p.count * 8 > person.count for p in bearers):
            continue
        bearers = [p for p in bearers if person.titles.keys() <= p.titles.keys() | CIVIL_TITLES]  # no Senator Smith
        rows = [(form.spans[0].start, p) for p in bearers for form in p.forms if begins - _INTRODUCTION < form.spans[0].start < begins]
        if rows:
            linker.merge(person, max(rows, key=lambda row: row[0])[1], "the full name that introduces the surname")


def join_lisps(linker: Linker) -> None:
    """Join a name that a lisping speaker says to the name: "Thethilia" is Cecilia."""
    spoken: dict[str, list[Person]] = defaultdict(list)
    for person in linker.people:
        for word in {form.words[-1] for form in person.forms if len(form.words) == 1}:
            spoken[_lisped(word)].append(person)
    for person in [p for p in linker.people if p.presence.quoted == p.count and len(p.forms) == 1 and len(p.forms[0].words) == 1]:
        word = person.forms[0].words[0]
        bearers = [p for p in spoken[word] if p is not person and not p.merged]
        if (
            len(bearers) == 1
            and "th" in word
            and not known_first(word, linker.lexicon)
            and not linker.lexicon.knows_surname(word.capitalize())
        ):
            linker.merge(bearers[0], person, "the name as a lisping speaker says it")


def _lisped(word: str) -> str:
    return re.sub(r"ss?|z|c(?=[eiy])", "th", word)


def join_spellings(linker: Linker) -> None:
    """Join a rare spelling to a frequent one that differs by one letter: Forester and Forster."""
    by_stem: dict[tuple[str, int], list[Person]] = defaultdict(list)
    for person in linker.people:
        word = person.last or (person.firsts[0][0] if person.firsts else "")
        if len(word) >= 6 and len(person.forms) <= 99:
            by_stem[word[:2], 0].append(person)
    for people in by_stem.values():
        for rare in sorted(people, key=lambda p: (p.count, p.shown)):
            if rare.count > 6 or rare not in linker.people or len({f.key for f in rare.forms}) > 1:
                continue
            for other in sorted(people, key=lambda p: (-p.count, p.shown)):
                if other is rare or other not in linker.people or other.count < 4 * rare.count:
                    continue
                if rare.gender and other.gender and rare.gender != other.gender:
                    continue
                if one_letter_off(linker, rare.forms[0], other):
                    linker.merge(other, rare, "a rare spelling of the same name")
                    break


def one_letter_off(linker: Linker, form: Form, other: Person) -> bool:
    """Whether a form is another\'s spelling with one letter changed, and no first name of its own."""
    word = form.words[-1]
    for theirs in other.forms:
        known = theirs.words[-1]
        if (
            min(len(word), len(known)) < 6
            or not one_edit(word, known)
            or (known_first(word, linker.lexicon) and known_first(known, linker.lexicon))
        ):
            continue
        if len(form.words) == 1 and (bool(form.titles) >= bool(theirs.titles)) and not titles_part(form, theirs):
            return True
    return False


def titles_part(one: Form, other: Form) -> bool:
    """Whether the titles of two forms speak for different people."""
    married = [bool(set(f.titles) & MARRIED_TITLES) - bool(set(f.titles) & UNMARRIED_TITLES) for f in (one, other) if f.titles]
    return len(married) == 2 and married[0] != married[1]


def join_by_context(linker: Linker) -> None:
    """Join a first name without surname to a surname without first name, where calls and answers say so."""
    firsts = [p for p in linker.people if p.firsts and not p.last and p.count >= 2 and not _is_role(p) and goes_by_first(p, linker.lexicon)]
    lasts = [p for p in linker.people if p.last and (not p.firsts or p.married_name) and p.count >= 3 and not p.plural]
    rows = []
    for first in firsts:
        for last in lasts:
            if not first.gender or first.gender != last.gender:
                continue
            score = linker.context.affinity(first, last)
            if score >= 2.0:
                rows.append((score, first, last))
    _join_best(linker, rows, "who is called so is the one who answers, and the two never meet")


def join_married(linker: Linker) -> None:
    """Join "Mrs. Casaubon" to Dorothea Brooke where calls and meetings say so clearly."""
    rows = [row for row in _wives(linker) if row[0] >= 1.2]
    _join_best(linker, rows, "a married name: the two never meet, and it begins later")


def _wives(linker: Linker) -> list[tuple[float, Person, Person]]:
    """Wives' names that begin when the book has long known a woman by her own, each with that woman and their affinity."""
    home = {form: person for person in linker.people for form in person.forms}
    said: dict[tuple[Person, str], int] = {}  # where a wedding is first spoken of
    for at, woman_form, man_form in linker.context.weddings:
        if woman_form in home and man_form in home:
            said.setdefault((home[woman_form], home[man_form].last), at)
    wives = [p for p in linker.people if p.titled_last(MARRIED_TITLES) and not p.firsts]
    women = [p for p in linker.people if p.firsts and p.gender == "female" and not p.married_name and not p.plural]
    rows = []
    for wife in wives:
        if not any(p.gender == "male" for p in linker.bearers(wife.last)):
            continue
        begins = min(wife.presence.blocks)
        for woman in women:
            before = sum(count for block, count in woman.presence.blocks.items() if block < begins)
            if woman.titled_last(MARRIED_TITLES) or (woman.last == wife.last and woman.titled_last(UNMARRIED_TITLES) > 2):
                continue
            wed = said.get((woman, wife.last), inf) < min(form.spans[0].start for form in wife.forms)
            if before >= max(5, woman.count / 10) and (wed or wife.count >= 10):
                rows.append((linker.context.affinity(woman, wife) + _WED * wed, woman, wife))
    return rows


def _join_best(linker: Linker, rows: list[tuple[float, Person, Person]], why: str) -> None:
    """Join the pairs, best first, that have no rival; the person with a first name goes into the one without."""
    rows.sort(key=lambda row: (-row[0], row[1].shown, row[2].shown))
    taken: set[int] = set()
    for score, first, last in rows:
        rivals = [s for s, f, other in rows if (f is first) != (other is last)]
        if id(first) in taken or id(last) in taken or any(s > score - 0.8 for s in rivals):
            continue
        taken |= {id(first), id(last)}
        linker.merge(last, first, why)


def goes_by_first(person: Person, lexicon: Lexicon) -> bool:
    """Whether a name is a first name by the lists or by a title before it: a lone "Quiverful" may as well be a surname."""
    lists = (lexicon.first_names, lexicon.full_forms, lexicon.short_forms)
    return bool(person.titles) or any(first[0].capitalize() in names for first in person.firsts for names in lists)


def _is_role(person: Person) -> bool:
    """Whether a name is a word for what somebody is: "the Jack", "Dad"."""
    return any(form.share("the") > 0.3 or form.words[-1] in MALE_KIN | FEMALE_KIN for form in person.forms)


def note_near_pairs(linker: Linker) -> None:
    """Pairs that the rules leave apart though something speaks for one person; the best partner of each."""
    firsts = [p for p in linker.people if p.firsts and not p.last]
    lasts = [p for p in linker.people if p.last and (not p.firsts or p.married_name)]
    for first in firsts:
        rows = [(linker.context.affinity(first, last), last) for last in lasts if first.gender and first.gender == last.gender]
        score, last = max(rows, key=lambda row: (row[0], row[1].count, row[1].shown), default=(0.0, first))
        if score >= 0.7:
            linker.near.append((first, last, score))
    linker.near += [(woman, wife, score) for score, woman, wife in _wives(linker) if score >= 0.7]


def full_count(person: Person) -> int:
    """Mentions by a name of several words."""
    return sum(form.count for form in person.forms if len(form.words) > 1)


def one_edit(a: str, b: str) -> bool:
    """Whether one letter changed, added or left out makes ``a`` of ``b``."""
    if a == b or abs(len(a) - len(b)) > 1:
        return False
    k = 0
    while k < min(len(a), len(b)) and a[k] == b[k]:
        k += 1
    return a[k + 1 :] == b[k + 1 :] or a[k:] == b[k + 1 :] or a[k + 1 :] == b[k:]
