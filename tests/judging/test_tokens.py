"""Typography is the same for all, names are hidden, and small words are not lost."""

from __future__ import annotations

from penname.judging.tokens import Lexicon, hide_names, tokenise

LEARNED = Lexicon([tokenise("the rose will miss a lady in her hope. " * 30 + "I met Rose Hope, and Rose saw Will there. " * 3)])


def spelled(text, **more):
    return hide_names(tokenise(text), LEARNED, **more).spelled()


def test_curly_and_straight_are_the_same():
    assert tokenise("“Don’t go — not yet…”").spelled() == tokenise('"Don\'t go -- not yet..."').spelled()


def test_one_letter_words_and_apostrophes_stay():
    assert spelled("I saw a man; I didn't.") == ["i", "saw", "a", "man", ";", "i", "didn't", "."]


def test_editions_do_not_show():
    assert spelled("Mr. Low went to-day") == spelled("Mr Low went today")
    assert spelled("so he said - and went") == spelled("so he said--and went")


def test_a_capital_inside_a_sentence_is_a_name():
    assert spelled("the lady saw Rose there") == ["the", "lady", "saw", "_", "there"]


def test_a_name_at_a_sentence_start_is_hidden_and_a_word_is_not():
    assert spelled("Ruth went. The lady saw.") == ["_", "went", ".", "the", "lady", "saw", "."]


def test_emphasis_in_capitals_is_a_word():
    assert spelled("I met HER there") == ["i", "met", "her", "there"]


def test_capitalised_nouns_are_a_habit_and_no_names():
    text = "the Rose and the Lady will miss the Hope of a Rose in her Hope and the Lady " * 5
    assert "rose" in spelled(text)


def test_hidden_words_go_wherever_they_stand():
    assert spelled("the rose will miss a lady", hidden={"rose", "lady"}) == ["the", "_", "will", "miss", "a", "_"]


def test_an_empty_text_has_no_words():
    assert tokenise("").words() == 0
    assert spelled("...!") == ["...", "!"]
