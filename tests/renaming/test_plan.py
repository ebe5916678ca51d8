"""Which pool of the dictionary each kind of old name draws from, and what several books of a series make of one word."""

from __future__ import annotations

import pytest

from penname.renaming import rename
from penname.renaming.copies import merged_words, spell
from penname.renaming.dictionary import load_dictionary, parse_dictionary
from penname.renaming.survey import Piece, survey_book
from renaming.hand import hand_book, hand_cast

# One name a pool, none of them kept for copy 0.
POOLS = parse_dictionary(
    "Alma\tf\nBasil\tm\nCarver\ts\nEastwick\tp\nO'Hagan\to\tirish\nD'Urban\td\tnorman\nMcBain\ts\n"
    "Odile\tf\tfr\nOmer\tm\tfr\nOzanne\ts\tfr\nAsaph\tt\tsaint\nBride\tu\tsaint\n"
)


def drawn(text: str, people: str) -> str:
    """The text in which every name comes from ``POOLS``."""
    book = hand_book(text)
    return rename(book, hand_cast(book, people), 1, 1, dictionary=POOLS).text


@pytest.mark.parametrize(
    ("text", "people", "expected"),
    [
        ("Miss Jane Eyre came.", "p1 female Eyre | Miss Jane Eyre", "Miss Alma Carver came."),
        ("Master John Reed came.", "p1 male Reed | Master John Reed", "Master Basil Carver came."),
        ("They saw Thornfield Hall.", "q1 place - | Thornfield Hall", "They saw Eastwick Hall."),
        ("Monsieur Sarrasin came.", "p1 male - | Monsieur Sarrasin", "Monsieur Ozanne came."),
        ("Mademoiselle Jeanne Sarrasin came.", "p1 female Sarrasin | Mademoiselle Jeanne Sarrasin", "Mademoiselle Odile Ozanne came."),
        ("Mrs. McLeod came.", "p1 female - | Mrs. McLeod", "Mrs. McBain came."),
        ("Mrs. MacLeod came.", "p1 female - | Mrs. MacLeod", "Mrs. MacBain came."),
        ("Mrs. Macdonald came.", "p1 female - | Mrs. Macdonald", "Mrs. Macbain came."),
        ("Then Heathcliff came.", "p1 male - | Heathcliff", "Then Carver came."),
        ("St. John Rivers came.", "p1 male Rivers | St. John Rivers", "St. Asaph Carver came."),
        ("They met St. Jane Rivers.", "p1 female Rivers | St. Jane Rivers", "They met St. Bride Carver."),
    ],
)
def test_each_kind_of_name_draws_from_its_own_pool(text: str, people: str, expected: str) -> None:
    assert drawn(text, people) == expected


def test_a_form_without_the_accents_of_its_name_stays_without() -> None:
    assert spell([Piece("gérard", "flat"), "s"], {"gérard": "Zoë"}) == "Zoes"
    book = hand_book("Gérard came. Gérard sat. GÉRARD! Gerard’s hat.")
    copy = rename(
        book, hand_cast(book, "p1 male - | Gérard, Gerard, GÉRARD"), 1, 1, dictionary=parse_dictionary("Béziers\ts\nLéandre\ts\n")
    )
    name = copy.names["Gérard"]
    flat = name.replace("é", "e")
    assert copy.text == f"{name} came. {name} sat. {name.upper()}! {flat}’s hat."
    assert copy.names["Gerard"] == flat != name


def test_a_series_makes_one_word_of_what_its_books_say_of_it() -> None:
    one, two = hand_book("Jane Eyre met J. Eyre. Jane.", "one"), hand_book("Jane met Jane Reed.", "two")
    surveys = [
        survey_book(one, hand_cast(one, "p1 female Eyre | Jane Eyre, J. Eyre, Jane"), load_dictionary()),
        survey_book(two, hand_cast(two, "p7 female Reed | Jane Reed, Jane"), load_dictionary()),
    ]
    first, second = (survey.words["jane"] for survey in surveys)
    merged = merged_words(surveys)
    jane = merged["jane"]
    assert sorted(merged) == ["eyre", "jane", "reed"]
    assert (jane.count, jane.initial) == (first.count + second.count, True) == (4, True)
    for name in ("roles", "genders", "languages", "owners"):
        assert getattr(jane, name) == getattr(first, name) + getattr(second, name), name
    assert sorted(jane.owners) == ["p1", "p7"]


@pytest.mark.parametrize(
    "letters",
    ["M.P.", "J.P.", "M.D.", "D.D.", "M.A.", "B.A.", "A.M.", "P.M.", "P.S.", "N.B.", "R.N.", "U.S.", "A.D.", "B.C.", "Q.C.", "K.C."],
)
def test_letters_that_say_something_else_are_no_signature(letters: str) -> None:
    given = {
        "M": "Mary",
        "J": "John",
        "D": "Dora",
        "B": "Basil",
        "A": "Anne",
        "P": "Peter",
        "N": "Nora",
        "R": "Rufus",
        "U": "Una",
        "Q": "Quentin",
        "K": "Kate",
    }
    family = {"P": "Pott", "D": "Dane", "A": "Ashe", "M": "Moss", "S": "Sand", "B": "Birt", "N": "Nash", "C": "Cole"}
    name = f"{given[letters[0]]} {family[letters[2]]}"
    book = hand_book(f"Then {name} wrote it out in full: {letters} in the morning.")
    copy = rename(book, hand_cast(book, f"p1 unknown - | {name}"), 1, 1)
    assert name not in copy.text and f"in full: {letters} in" in copy.text


@pytest.mark.parametrize("ending", ["s", "ian", "ians", "ish", "ite", "ites", "ism", "esque", "like", "y", "ie", "ey"])
def test_what_is_made_from_a_surname_keeps_its_ending(ending: str) -> None:
    book = hand_book(f"Mr. Rochester came in a Rochester{ending} way; so did Mr. Rochester.")
    copy = rename(book, hand_cast(book, "p1 male - | Mr. Rochester"), 1, 1, dictionary=parse_dictionary("Carver\ts\n"))
    assert copy.text == f"Mr. Carver came in a Carver{ending} way; so did Mr. Carver."


def test_a_plural_in_es_follows_a_surname_in_s_or_x() -> None:
    book = hand_book("Mr. Jenkins came. All the Jenkinses came. Mr. Jenkins sat.")
    copy = rename(book, hand_cast(book, "p1 male - | Mr. Jenkins"), 1, 1, dictionary=parse_dictionary("Perkins\ts\n"))
    assert copy.text == "Mr. Perkins came. All the Perkinses came. Mr. Perkins sat."


def test_a_name_that_is_a_word_of_the_book_is_in_the_map_only_with_its_owner() -> None:
    book = hand_book("Grace Poole came by grace, in grace, with grace, for grace. Jane Reed sat. GRACE!")
    copy = rename(book, hand_cast(book, "p1 female - | Grace Poole, Grace\np2 female - | Jane Reed, JANE"), 1, 1)
    assert "Grace" not in copy.names and copy.names["p1|Grace"] == copy.names["Grace Poole"].split()[0]
    assert copy.names["Jane"] == copy.names["p2|Jane"] == copy.names["Jane Reed"].split()[0]
