"""The house style, character by character."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penname.books.typography import normalise
from penname.core.config import BooksConfig

CURLY = BooksConfig(typography="curly")
KEEP = BooksConfig(italics="keep")


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("“Yes,” she said; ‘no’ — it’s", "\"Yes,\" she said; 'no'—it's"),
        ("There is--I repeat it--a difference", "There is—I repeat it—a difference"),
        ("wait -- here", "wait—here"),
        ("wait – here, 1914–18, London–Dover", "wait—here, 1914–18, London—Dover"),
        ("dust and heat - adding to truth", "dust and heat—adding to truth"),
        ("to-morrow, ten-and-six, 5 - 3", "to-morrow, ten-and-six, 5 - 3"),
        ("Mr. B---- of ----shire", "Mr. B— of —shire"),
        ("in the year ---- I was", "in the year —— I was"),
        ("Lieut. F. of the _______ regiment", "Lieut. F. of the —— regiment"),
        ("so…  well. . . . yes . . . no", "so... well.... yes ... no"),
        ("a\u00a0b\tc\u2003d\u00ade\u200bf", "a b c def"),
        ("café cafe\u0301 œuvre æther", "café café œuvre æther"),
        ("_Never_, said *he*; _two words_.", "Never, said he; two words."),
        ("_un_sympathizing, Sure_ly_, 21_st_, _my_self", "unsympathizing, Surely, 21st, myself"),
        ("snake_case and a_b and misch_ee_vous", "snake_case and a_b and misch_ee_vous"),
        ("5 * 3 * 2", "5 * 3 * 2"),
        ("=THE MILL=, ~spaced~; a=b, x = 3, ~5 and ==", "THE MILL, spaced; a=b, x = 3, ~5 and =="),
        ("one\r\ntwo\rthree\u2028four", "one\ntwo\nthree\nfour"),
    ],
)
def test_straight(given_text: str, expected: str) -> None:
    assert normalise(given_text) == expected


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        ("\"Yes,\" she said; 'no' -- it's", "“Yes,” she said; ‘no’—it’s"),
        ('"unclosed, and in the next\n\n"paragraph too."', "“unclosed, and in the next\n\n“paragraph too.”"),
        ("'Tis so, 'twas so, the '90s", "’Tis so, ’twas so, the ’90s"),
        ("wait...", "wait…"),
    ],
)
def test_curly(given_text: str, expected: str) -> None:
    assert normalise(given_text, CURLY) == expected


def test_italics_stay_where_they_are_wanted() -> None:
    assert normalise("_Never_, said he.", KEEP) == "_Never_, said he."


def test_italics_do_not_run_over_a_paragraph() -> None:
    assert normalise("_open\n\nclosed_") == "_open\n\nclosed_"


@pytest.mark.parametrize(
    "text", ["_-_a_a_", "~  --  77~7--7--~", "*  --  77*    '*77--77'", ". .=. .'...._ \u2013  a_", "_ \u2013 _", "=_a_="]
)
def test_pairs_that_another_rule_makes_are_found_at_once(text: str) -> None:
    for house in (BooksConfig(), CURLY, KEEP):
        assert normalise(normalise(text, house), house) == normalise(text, house)


PIECES = st.lists(
    st.sampled_from(
        [
            "a",
            "Bc",
            "7",
            " ",
            "  ",
            "\n",
            "\n\n",
            "\n\n\n",
            "-",
            "--",
            "—",
            "–",
            "_",
            "*",
            "=",
            "~",
            "**",
            "__",
            ".",
            ". .",
            "…",
            '"',
            "'",
            "“",
            "’",
            "\r\n",
            "\t",
            "\u00a0",
            "\u00ad",
            "e\u0301",
            ",",
        ]
    ),
    max_size=24,
).map("".join)


@settings(max_examples=600)
@given(PIECES)
def test_twice_is_once(text: str) -> None:
    for house in (BooksConfig(), CURLY, KEEP):
        once = normalise(text, house)
        assert normalise(once, house) == once


@given(st.text(max_size=80))
def test_twice_is_once_on_any_text(text: str) -> None:
    once = normalise(text)
    assert normalise(once) == once
