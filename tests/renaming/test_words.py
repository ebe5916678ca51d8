from __future__ import annotations

import pytest

from penname.renaming.words import split_name


@pytest.mark.parametrize(
    ("surface", "names"),
    [
        ("Jane Eyre", ["Jane", "Eyre"]),
        ("Mr. Rochester's", ["Rochester"]),
        ("St. John Rivers", ["John", "Rivers"]),
        ("Lady Catherine de Bourgh", ["Catherine", "Bourgh"]),
        ("Mrs. O’Brien", ["O’Brien"]),
        ("the Colonel", []),
        ("Miss King", ["King"]),
        ("the King", []),
        ("Mr. Pope", ["Pope"]),
        ("my Lord", []),
        ("Henry VIII", ["Henry"]),
        ("Rudolf the Third", ["Rudolf"]),
        ("William the Conqueror", ["William"]),
        ("Mary-Ann", ["Mary", "Ann"]),
        ("M. Paul", ["Paul"]),
        ("aunt Philips", ["Philips"]),
    ],
)
def test_name_words_of_a_person(surface, names):
    assert [part.text for part in split_name(surface) if part.kind == "name"] == names


@pytest.mark.parametrize(
    ("surface", "names"),
    [
        ("Thornfield Hall", ["Thornfield"]),
        ("Wuthering Heights", ["Wuthering"]),
        ("Moor House", ["Moor"]),
        ("Marsh End", ["Marsh"]),
        ("the Hall", []),
        ("Lucas Lodge", ["Lucas"]),
        ("Lynde's Hollow", ["Lynde"]),
    ],
)
def test_of_a_place_its_kind_stays(surface, names):
    assert [part.text for part in split_name(surface, place=True) if part.kind == "name"] == names


def test_initials_are_told_from_words():
    assert [(part.text, part.kind) for part in split_name("J. Eyre")] == [("J", "initial"), ("Eyre", "name")]


def test_a_title_word_that_is_a_name_of_its_own_is_told_by_the_entity():
    assert [part.kind for part in split_name("Abbot")] == ["other"]
    assert [part.kind for part in split_name("Abbot", own=frozenset({"abbot"}))] == ["name"]
