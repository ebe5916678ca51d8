"""Names that are joined late: lisped, introduced once, the beginning of a fuller name, married, called dear."""

from __future__ import annotations

import pytest

from penname.cast.lexicon import load_lexicon
from penname.cast.names import short_of


def homes(cast, text: str, *names: str) -> set[str]:
    found = {name: {m.entity_id for m in cast.mentions if text[m.start : m.end] == name} for name in names}
    assert all(found.values()), found
    return set.union(*found.values())


def test_a_lisped_name_is_the_name(cast_of):
    scene = 'Then Cecilia wept. "Good-bye, Cecilia!" said Tom. "Good-bye, Thethilia," cried Sleary. Tom saw Cecilia, and she saw Tom.\n\n'
    cast = cast_of(scene * 4)
    assert len(homes(cast, scene * 4, "Cecilia", "Thethilia")) == 1


def test_a_name_that_only_looks_lisped_stays_apart(cast_of):
    scene = 'Then Russ slept. "Good-bye, Russ!" said Tom. "Good-bye, Ruth," cried Sleary. Tom saw Russ, and he saw Tom.\n\n'
    cast = cast_of(scene * 4)
    assert len(homes(cast, scene * 4, "Russ", "Ruth")) == 2


def test_the_beginning_of_a_fuller_name(cast_of):
    text = "They met Mary Agatha Ramsbottom at noon. " + "Then Mary Agatha laughed, and she went to Tom Sully. Tom saw Mary Agatha.\n\n" * 4
    assert len(homes(cast_of(text), text, "Mary Agatha", "Mary Agatha Ramsbottom")) == 1


def test_the_beginning_of_two_fuller_names_is_nobodys(cast_of):
    text = "They met Mary Agatha Ramsbottom at noon. They met Mary Agatha Fusby at one. "
    text += "Then Mary Agatha laughed, and she went to Tom Sully. Tom saw Mary Agatha.\n\n" * 4
    assert len(homes(cast_of(text), text, "Mary Agatha", "Mary Agatha Ramsbottom", "Mary Agatha Fusby")) > 1


def test_a_name_with_a_known_surname_begins_no_other(cast_of):
    text = "Then George Bagley came. Mr. Bagley sat down. They saw George Bagley, and he bowed.\n\n" * 3
    text += "They met George Bagley Fusby at noon. " + "Then Fusby laughed, and he went to Tom.\n\n" * 3
    assert len(homes(cast_of(text), text, "George Bagley", "George Bagley Fusby")) == 2


INTRODUCED = "First came Mr. Hall, and then Mr. Bobby Jaffers, the constable, with a stick. "
JAFFERS = '"Here he is," said Jaffers. Mr. Hall laughed at Jaffers, and he bowed.\n\n'


def test_a_full_name_that_introduces_a_surname(cast_of):
    text = INTRODUCED + JAFFERS * 12 + "Nobody knew Mr. Ezra Jaffers.\n\n"
    assert len(homes(cast_of(text), text, "Jaffers", "Mr. Bobby Jaffers")) == 1


def test_a_full_name_without_the_rank_introduces_nobody(cast_of):
    text = INTRODUCED + JAFFERS.replace("Jaffers", "Colonel Jaffers") * 12
    assert len(homes(cast_of(text), text, "Colonel Jaffers", "Mr. Bobby Jaffers")) == 2


def test_a_lady_stays_miss_to_her_servant(cast_of):
    text = "Leslie Oakley came down. She smiled. Then Leslie sat down, and Frank talked to Leslie. She was glad.\n\n" * 4
    text += '"O, Miss Leslie," said Fannie, "have pity!"\n\n' + "Then Mrs. Oakley rose. She wept. Mrs. Oakley left Frank alone.\n\n" * 4
    assert len(homes(cast_of(text), text, "Mrs. Oakley", "Leslie", "Miss Leslie")) == 1


def test_a_daughter_who_is_often_miss_is_not_the_mother(cast_of):
    text = "Kitty Oakley came down. She smiled. Then Kitty sat down, and Frank talked to Kitty. She was glad.\n\n" * 4
    text += '"O, Miss Kitty," said Fannie, "have pity!"\n\n' * 2 + "Then Mrs. Oakley rose. She wept. Mrs. Oakley kissed Kitty.\n\n" * 4
    assert len(homes(cast_of(text), text, "Mrs. Oakley", "Kitty")) == 2


EVIE = "Then Evie laughed. She went out, and Evie met Dolly. Dolly asked for Evie, and Mr. Cahill came.\n\n" * 20


@pytest.mark.parametrize(
    ("sentence", "people"), [("Evie is going to marry Percy Cahill in June.", 1), ("Evie saw Percy Cahill in June.", 2)]
)
def test_a_wedding_gives_the_wife_her_name(cast_of, sentence, people):
    text = EVIE + sentence + "\n\n" + "Later Mrs. Cahill wrote. She was well.\n\n"
    assert len(homes(cast_of(text), text, "Mrs. Cahill", "Evie")) == people


def test_a_wifes_name_from_before_the_wedding_is_anothers(cast_of):
    text = EVIE + "Once Mrs. Cahill wrote. She was well.\n\n" + "Evie is going to marry Percy Cahill in June.\n\n"
    assert len(homes(cast_of(text), text, "Mrs. Cahill", "Evie")) == 2


def test_who_is_called_dear_is_who_answers(cast_of):
    scene = '"I cannot, my dear Frederick."\n\n"She is very pretty," said Winterbourne. He smiled.\n\nThen he walked out with Daisy.\n\n'
    text = "Mr. Winterbourne walked by the lake. He was alone.\n\n" * 3 + scene * 3
    assert len(homes(cast_of(text), text, "Frederick", "Winterbourne")) == 1


def test_miss_and_an_unknown_word_make_a_surname(cast_of):
    text = '"My name is Hobbin," said she. "Her name is Hobbin," said Jake. They laughed, and Mademoiselle Hobbin danced.\n\n' * 3
    assert len(homes(cast_of(text), text, "Hobbin", "Mademoiselle Hobbin")) == 1


def test_a_byname_tied_with_hyphens_is_part_of_the_name(cast_of):
    text = "Then Winnie-the-Fosby sat down. They saw Winnie-the-Fosby, and Winnie laughed. Tom called Winnie.\n\n" * 3
    assert len(homes(cast_of(text), text, "Winnie-the-Fosby", "Winnie")) == 1


def test_a_pet_form_of_a_pet_form():
    assert short_of("tibbikins", "tibby", load_lexicon())
