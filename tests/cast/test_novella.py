"""The bundled story against its cast, labelled by hand."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from itertools import combinations
from pathlib import Path

import pytest

from penname.cast import build_cast
from penname.core.values import Cast

from .conftest import book_of

LABELS = Path(__file__).parent.parent / "data/novella_cast.json"


@pytest.fixture(scope="module")
def labelled(story) -> tuple[str, dict, Cast]:
    if not LABELS.exists():
        pytest.skip("tests/data/novella_cast.json is not here")
    text = story.read_text(encoding="utf-8")
    return text, json.loads(LABELS.read_text(encoding="utf-8")), build_cast([book_of(text)])[0]


def homes(text: str, cast: Cast) -> dict[str, str]:
    """Each surface of a person, and the entity that most of its mentions belong to."""
    entities = cast.by_id()
    owners: dict[str, Counter[str]] = defaultdict(Counter)
    for mention in cast.mentions:
        if entities[mention.entity_id].kind == "person":
            owners[" ".join(text[mention.start : mention.end].split())][mention.entity_id] += 1
    return {surface: count.most_common(1)[0][0] for surface, count in owners.items()}


def own_names(labels: dict) -> dict[int, list[str]]:
    """Names that one person alone bears, by person."""
    shared = Counter(name for person in labels["people"] for name in set(person["names"]))
    unclear = {row["form"] for row in labels["ambiguous"]}
    return {k: [n for n in person["names"] if shared[n] == 1 and n not in unclear] for k, person in enumerate(labels["people"])}


def both_gilbert(one: dict, other: dict) -> bool:
    """Father and son are both Gilbert Sallow: no form tells them apart."""
    return "Gilbert Sallow" in one["names"] and "Gilbert Sallow" in other["names"]


def test_nobody_is_two_people(labelled):
    text, labels, cast = labelled
    home = homes(text, cast)
    people = own_names(labels)
    wrong = [
        (a, b)
        for one, other in combinations(people, 2)
        for a in people[one]
        for b in people[other]
        if a in home and b in home and home[a] == home[b] and not both_gilbert(labels["people"][one], labels["people"][other])
    ]
    assert wrong == []


def test_most_names_of_a_person_are_together(labelled):
    text, labels, cast = labelled
    home = homes(text, cast)
    together = pairs = 0
    for names in own_names(labels).values():
        for a, b in combinations([n for n in names if n in home], 2):
            pairs += 1
            together += home[a] == home[b]
    assert pairs > 40
    assert together / pairs >= 0.7  # what is missing is a marriage, a child's word and sailors' spellings: questions for a person


def test_genders(labelled):
    text, labels, cast = labelled
    home, entities = homes(text, cast), cast.by_id()
    named = [
        (person, next((home[n] for n in names if n in home), ""))
        for person, names in zip(labels["people"], own_names(labels).values(), strict=True)
    ]
    got = [(person["gender"], entities[id].gender) for person, id in named if id]
    assert sum(want == gender for want, gender in got) / len(got) >= 0.9
    assert sum(gender not in (want, "unknown") for want, gender in got) <= 1
