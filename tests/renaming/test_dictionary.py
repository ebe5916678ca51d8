from __future__ import annotations

from collections import Counter

import pytest

from penname.core.errors import BadInput
from penname.core.hashing import sha256_file
from penname.renaming.dictionary import DATA, bare, load_dictionary, parse_dictionary, shape_of, syllables

FAMOUS = [
    "shakespeare",
    "dickens",
    "austen",
    "bronte",
    "thackeray",
    "darwin",
    "lincoln",
    "washington",
    "napoleon",
    "hitler",
    "eliot",
    "byron",
]
ORDINARY = [
    "rose",
    "grace",
    "hope",
    "will",
    "mark",
    "wood",
    "temple",
    "king",
    "baker",
    "smith",
    "hill",
    "field",
    "frost",
    "winter",
    "young",
]


def drawn() -> Counter[str]:
    pools = load_dictionary().pools
    return Counter(bare(name) for (role, _, _), names in pools.items() for name in names for _ in role[:1])


def test_it_holds_about_23000_names_and_its_hash_is_that_of_its_file():
    dictionary = load_dictionary()
    assert 22_500 <= dictionary.size <= 23_500
    assert dictionary.sha256 == sha256_file(DATA)


def test_no_famous_people_and_no_ordinary_words_can_be_drawn():
    names = drawn()
    assert [word for word in FAMOUS + ORDINARY if names[word]] == []


def test_given_names_have_one_gender_and_fit_the_period():
    pools = load_dictionary().pools
    women = {name for (role, language, _), names in pools.items() if role == "f" and language == "en" for name in names}
    men = {name for (role, language, _), names in pools.items() if role == "m" and language == "en" for name in names}
    assert {"Adelaide", "Beatrice", "Charlotte", "Matilda"} <= women
    assert {"Edwin", "Leonard", "Archibald", "Bernard"} <= men
    assert not women & men
    assert not {"Tiffany", "Kimberly", "Brandon", "Kevin", "Jason", "Heather", "Tyler"} & (women | men)


def test_copy_0_draws_from_names_that_no_training_copy_may_use():
    pools = load_dictionary().pools
    kept = {bare(name) for (_, _, reserved), names in pools.items() if reserved for name in names}
    trained = {bare(name) for (_, _, reserved), names in pools.items() if not reserved for name in names}
    assert len(kept) > 4000
    assert not kept & trained


def test_the_gender_of_a_name_is_known_even_where_it_is_never_drawn():
    known = load_dictionary().known
    assert (known["mary"], known["rose"], known["walter"], known["clara"]) == ("f", "f", "m", "f")


@pytest.mark.parametrize(
    ("word", "count"),
    [("Jane", 1), ("Eyre", 1), ("Helen", 2), ("Rochester", 3), ("Georgiana", 3), ("Reed", 1), ("Charlotte", 2), ("M'Carthy", 2)],
)
def test_syllables(word, count):
    assert syllables(word) == count


def test_shape_says_what_a_new_name_must_have_in_common():
    assert (shape_of("Rivers").hiss_end, shape_of("Reed").hiss_end) == (True, False)
    assert (shape_of("Eyre").vowel, shape_of("Eugenia").vowel, shape_of("Rochester").vowel) == (True, False, False)
    assert (shape_of("Zélie").ascii, shape_of("Zelie").ascii) == (False, True)


def test_a_line_that_is_no_entry_is_refused_with_its_number():
    with pytest.raises(BadInput, match="line 2 of the name dictionary has the roles 'q'"):
        parse_dictionary("# names\nAbbott\tq\n")
