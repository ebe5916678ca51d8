"""Sentences that say outright that two names are one person's."""

from __future__ import annotations

import pytest


def homes(cast, text: str, name: str) -> set[str]:
    return {m.entity_id for m in cast.mentions if text[m.start : m.end] == name}


@pytest.mark.parametrize(
    ("sentence", "one", "other"),
    [
        ("There was an old friend in Bath: Miss Hamilton, now Mrs. Smith, had been kind to her.", "Miss Hamilton", "Mrs. Smith"),
        ("They took Abel Magwitch, otherwise Provis, and they bound him.", "Abel Magwitch", "Provis"),
        ("Then Mr. Williams, better known as Sadness, sat down.", "Mr. Williams", "Sadness"),
        ("(Master Kidder was Cupid's mortal name.) He laughed.", "Master Kidder", "Cupid"),
        ("Cupid's real name was Master Kidder, and he laughed.", "Master Kidder", "Cupid"),
        ("There stood Drummle, whose Christian name was Bentley, and he scowled.", "Drummle", "Bentley"),
        ("She met Cecilia Jupe, or Babette, as they all called her, and they walked.", "Cecilia Jupe", "Babette"),
        ("They liked Mr. Wilcox, or, as she must now call him, Leopold, and he smiled.", "Mr. Wilcox", "Leopold"),
        ("Then Mr. Trotter, or Rusty for short, went home.", "Mr. Trotter", "Rusty"),
        ("So Dorothea Brooke, called Rosette, rode out.", "Dorothea Brooke", "Rosette"),
        ("Then Daisy Miller smiled at herself. Her real name was Annie Miller, as he knew.", "Daisy Miller", "Annie Miller"),
        ('"My name is Hobin," said Georgette. She smiled.', "Hobin", "Georgette"),
    ],
)
def test_the_text_says_that_two_names_are_one(cast_of, sentence, one, other):
    scene = f'"Yes," said {one}. They told {one} all.\n\n"No," cried {other}. They told {other} more.\n\n'
    apart, text = cast_of(scene * 4), scene * 4 + sentence + "\n\n"
    assert homes(apart, scene * 4, one) != homes(apart, scene * 4, other)
    cast = cast_of(text)
    assert homes(cast, text, one) == homes(cast, text, other) != set()


@pytest.mark.parametrize(
    "sentence",
    [
        "He saw Miss Hamilton now. Mrs. Smith had been kind to her.",
        '"My name is not Miss Hamilton," said Mrs. Smith.',
        '"My name is Miss Hamilton," he read, and then Mrs. Smith came.',
        "Miss Hamilton or Mrs. Smith called him.",
        "Mrs. Smith slept. His real name was Miss Hamilton.",
    ],
)
def test_what_says_nothing_of_the_kind_joins_nothing(cast_of, sentence):
    text = "I saw Miss Hamilton in town. I saw Mrs. Smith at home.\n\n" * 3 + sentence + "\n\n"
    cast = cast_of(text)
    assert homes(cast, text, "Miss Hamilton").isdisjoint(homes(cast, text, "Mrs. Smith"))


def test_a_first_name_of_two_joins_nobody(cast_of):
    text = "Arthur Graham rode out. Then Arthur slept, and Arthur ate. Arthur Huntingdon came late, and Mr. Huntingdon sat down.\n\n" * 4
    text += "She married Mr. Huntingdon, or Arthur, as she now called him.\n\n"
    cast = cast_of(text)
    assert homes(cast, text, "Arthur Graham").isdisjoint(homes(cast, text, "Mr. Huntingdon"))
