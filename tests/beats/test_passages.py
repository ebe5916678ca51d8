"""Cutting: every word once, at paragraph ends, within the limits, out of dialogue and letters where that can be avoided."""

from __future__ import annotations

import pytest

from penname.beats import cut_passages
from penname.core.config import BeatsConfig
from penname.core.values import Book, Chapter

SETTINGS = BeatsConfig(passage_words_min=20, passage_words_max=60)


def one_chapter(*paragraphs: str, kind: str = "chapter", split: str = "train") -> Book:
    head = "CHAPTER I\n\n"
    text = head + "\n\n".join(paragraphs)
    return Book("b", "B", "A", text, (Chapter(kind, 1, "CHAPTER I", 0, len(text), len(head), split),))


def words(n: int, word: str = "walked") -> str:
    return " ".join([word] * (n - 1)) + " home."


def texts(book: Book, settings: BeatsConfig = SETTINGS) -> list[str]:
    return [book.text[p.start : p.end] for p in cut_passages(book, settings)]


def test_ids_offsets_and_split() -> None:
    book = one_chapter(words(40), words(40), split="heldout")
    first, second = cut_passages(book, SETTINGS)
    assert (first.id, first.chapter, first.split, second.id) == ("b:0:0", 0, "heldout", "b:0:1")
    assert book.text[first.start : first.end] == words(40)


def test_a_paragraph_is_never_cut_while_it_fits() -> None:
    assert [len(t.split()) for t in texts(one_chapter(words(30), words(30), words(30), words(30)))] in (
        [30, 30, 30, 30],
        [60, 60],
        [30, 60, 30],
    )


def test_a_paragraph_that_is_too_long_is_cut_at_sentence_ends() -> None:
    sentence = "Mr. Reed walked slowly to the market and came home by the river path."
    book = one_chapter(" ".join([sentence] * 9))
    assert [t.count("Mr. Reed") for t in texts(book)] == [3, 3, 3]
    assert all(t.startswith("Mr. Reed walked") and t.endswith("path.") for t in texts(book))


def test_a_short_chapter_is_one_passage_and_front_matter_none() -> None:
    assert texts(one_chapter("Only this.")) == ["Only this."]
    assert texts(one_chapter(words(40), kind="front")) == []
    assert texts(one_chapter()) == []


def test_an_exchange_of_dialogue_stays_together() -> None:
    prose = [words(22), words(22)]
    talk = [
        '"Where is the book?" he asked, and looked about the room.',
        '"It is where you left it," said Jane.',
        '"Give it to me at once."',
    ]
    assert [t.count('"') for t in texts(one_chapter(prose[0], *talk, prose[1], words(30)))] == [6, 0] or all(
        t.count('"') in (0, 6) for t in texts(one_chapter(prose[0], *talk, prose[1], words(30)))
    )


def test_a_letter_stays_together() -> None:
    letter = ["My dear Jane,--", words(12, "wrote"), words(12, "waited"), "Your affectionate friend,\nHelen Burns."]
    for cut in (texts(one_chapter(words(30), *letter, words(30))), texts(one_chapter(words(25), *letter, words(45), words(30)))):
        assert sum("My dear Jane" in t and "Helen Burns" in t and "waited" in t for t in cut) == 1


def test_a_scene_break_is_where_to_cut_and_its_mark_ends_a_passage() -> None:
    cut = texts(one_chapter(words(25), words(20, "ran"), "* * *", words(25, "slept"), words(20, "woke")))
    assert [t.endswith("* * *") for t in cut] == [True, False]


@pytest.mark.parametrize("least, most", [(120, 350), (80, 200), (200, 700)])
def test_jane_eyre_every_word_once_and_lengths_within_the_limits(shared, least: int, most: int) -> None:
    from penname.books import read_book

    book = read_book(shared / "books/raw/1260.txt")
    settings = BeatsConfig(passage_words_min=least, passage_words_max=most)
    passages = cut_passages(book, settings)
    for number, chapter in enumerate(book.chapters):
        cut = [w for p in passages if p.chapter == number for w in book.text[p.start : p.end].split()]
        assert cut == (book.text[chapter.body_start : chapter.end].split() if chapter.kind == "chapter" else [])
    lengths = [len(book.text[p.start : p.end].split()) for p in passages]
    assert max(lengths) <= most
    assert sum(n < least for n in lengths) <= 0.02 * len(lengths)
    whole = sum(book.text[p.end : p.end + 2] == "\n\n" or not book.text[p.end :].strip() for p in passages)
    assert whole >= (0.97 if most >= 350 else 0.8) * len(passages)  # the rest lies inside paragraphs that are longer than a passage


def test_passages_are_the_same_every_time(story) -> None:
    if not story.exists():
        pytest.skip("the bundled story is not there")
    from penname.books import read_book

    assert cut_passages(read_book(story)) == cut_passages(read_book(story))
