"""A person who answers the questions about Jane Eyre ends with no wrong link among its most frequent names."""

from __future__ import annotations

from collections import Counter, defaultdict
from itertools import combinations

import pytest

from penname.books import read_book
from penname.cast import Decision, Decisions, build_cast
from penname.cast.stage import proposed
from penname.core.values import Book, Cast, Question

from .people_of_jane_eyre import EITHER, PEOPLE, PLACES, bearers

FREQUENT = 40


@pytest.fixture(scope="module")
def jane_eyre(shared) -> Book:
    return read_book(shared / "books/raw/1260.txt")


def answer(question: Question) -> Decision | None:
    """What a person who knows the book says; None where the proposal is right or the name is unknown to the list."""
    name = question.form
    if name in PLACES:
        return Decision("kind", (name,), "place", question=question.id)
    people = bearers(name)
    if question.kind == "kind" and people:
        return Decision("kind", (name,), "person", question=question.id)
    if question.kind == "gender" and people:
        return Decision("gender", (name,), PEOPLE[people[0]][0], question=question.id)
    if question.kind != "link" or name in EITHER or not people:
        return None
    named = {target: bearers(target) for row in (question.proposal, *question.options) for target in list(row["names"])[1:]}
    if len(people) > 1:
        targets = [next((t for t, who in named.items() if who == [person]), "") for person in people]
        targets = [t for t in targets if t]
        return Decision("share", (name, *targets), question=question.id) if len(targets) > 1 else None
    for target, who in named.items():
        if who == people:
            return Decision("link", (name, target), question=question.id)
    return Decision("split", (name,), question=question.id)


def wrong_links(book: Book, cast: Cast) -> list[tuple[str, str, str]]:
    """Pairs among the most frequent names of people that are one and should be two, or are two and should be one."""
    entities = cast.by_id()
    owners: dict[str, Counter[str]] = defaultdict(Counter)
    for mention in cast.mentions:
        if entities[mention.entity_id].kind == "person":
            owners[" ".join(book.text[mention.start : mention.end].split())][mention.entity_id] += 1
    frequent = sorted(owners, key=lambda name: (-owners[name].total(), name))[:FREQUENT]
    faults = [("not on the list", name, "") for name in frequent if not bearers(name) and name not in EITHER]
    known = [name for name in frequent if len(bearers(name)) == 1]
    home = {name: owners[name].most_common(1)[0][0] for name in known}
    for one, other in combinations(known, 2):
        if (home[one] == home[other]) != (bearers(one) == bearers(other)):
            faults.append(("one that are two" if home[one] == home[other] else "two that are one", one, other))
    return faults


def test_the_queue_answered_by_a_person_leaves_no_wrong_link(jane_eyre):
    decisions = Decisions()
    cast = build_cast([jane_eyre], decisions)[0]
    assert 0 < len(cast.unresolved) <= 40
    assert [q.count for q in cast.unresolved] == sorted((q.count for q in cast.unresolved), reverse=True)
    for _ in range(3):
        given = [answer(q) or proposed(q.proposal, "", q.id) for q in cast.unresolved]
        decisions = decisions.add(given)
        cast = build_cast([jane_eyre], decisions)[0]
        if not cast.unresolved:
            break
    assert not cast.unresolved
    assert wrong_links(jane_eyre, cast) == []


def test_the_check_sees_a_wrong_link(jane_eyre):
    cast = build_cast([jane_eyre], Decisions((Decision("merge", ("Hannah", "Leah")), Decision("split", ("Janet",)))))[0]
    faults = wrong_links(jane_eyre, cast)
    assert ("one that are two", "Hannah", "Leah") in faults
    assert ("two that are one", "Jane", "Janet") in faults
