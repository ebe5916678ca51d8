from __future__ import annotations

import pytest

from penname.core.beatnames import fitting_article, new_surface, rename_beat, starts_with_vowel
from penname.core.values import Beat, Mention

NAMES = {
    "Jane": "Ada",
    "Jane Eyre": "Ada Brandreth",
    "Eyre": "Brandreth",
    "p1|Jane": "Ada",
    "p9|Grace": "Thea",
    "Mrs. Reed": "Mrs. Oxley",
    "Reed": "Oxley",
    "q1|Mary": "Mary",
    "Mary": "Leila",
}


def beat(text: str, *names: tuple[str, str]) -> Beat:
    return Beat(
        "b:0:0", text, "sentence", "person", tuple(Mention(text.index(name), text.index(name) + len(name), id) for name, id in names)
    )


def test_spans_are_replaced_with_possessive_plural_and_article():
    line = beat("A Reed strikes Jane's cheek; the Reeds laugh.", ("Reed ", "p2"), ("Jane's", "p1"), ("Reeds", "p2"))
    line = Beat(line.passage_id, line.text, line.style, line.source, (Mention(2, 6, "p2"), *line.names[1:]))
    assert rename_beat(line, NAMES) == "An Oxley strikes Ada's cheek; the Oxleys laugh."


def test_a_word_that_only_this_person_bears_needs_the_person():
    assert rename_beat(beat("Grace laughs, with grace.", ("Grace", "p9")), NAMES) == "Thea laughs, with grace."
    assert rename_beat("Grace laughs, with grace.", NAMES) == "Grace laughs, with grace."


def test_a_plain_line_takes_the_longest_name_first():
    assert rename_beat("Jane Eyre defies Mrs. Reed; Jane wins.", NAMES) == "Ada Brandreth defies Mrs. Oxley; Ada wins."


def test_a_kept_name_stays_though_another_person_bears_its_word():
    assert rename_beat(beat("Mary is prayed to.", ("Mary", "q1")), NAMES) == "Mary is prayed to."


def test_a_surface_that_is_unknown_as_a_whole_goes_word_by_word():
    assert new_surface("Miss Jane Eyre", NAMES) == "Miss Ada Brandreth"
    assert new_surface("JANE EYRE", NAMES) == "ADA BRANDRETH"
    assert new_surface("London", NAMES) is None


@pytest.mark.parametrize(
    ("article", "old", "new", "fits"),
    [
        ("a", "Reed", "Oxley", "an"),
        ("an", "Eyre", "Reed", "a"),
        ("An", "Eyre", "Reed", "A"),
        ("A", "Reed", "Oxley", "An"),
        ("AN", "EYRE", "REED", "A"),
        ("A", "REED", "OXLEY", "AN"),
        ("a", "Reed", "Brandreth", "a"),
        ("an", "Helen", "Adela", "an"),
        ("an", "Hotspur", "Harper", "an"),
    ],
)
def test_fitting_article(article, old, new, fits):
    assert fitting_article(article, old, new) == fits


@pytest.mark.parametrize(
    ("word", "vowel"),
    [
        ("Eyre", True),
        ("Eugene", False),
        ("Una", False),
        ("Umfraville", True),
        ("Hour", True),
        ("Honoria", True),
        ("Onesimus", True),
        ("Yorke", False),
        ("Élise", True),
    ],
)
def test_vowel_sounds(word, vowel):
    assert starts_with_vowel(word) is vowel
