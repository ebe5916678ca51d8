"""Which lines are chapters, and which only look like it."""

# ruff: noqa: E501  (whole files stand in single strings)
from __future__ import annotations

from pathlib import Path

import pytest
from book_prose import chapters, paragraph, prose

from penname.books import read_book
from penname.books.numerals import LAST, number, roman
from penname.core.config import BooksConfig
from penname.core.values import Book


def read(tmp_path: Path, text: str, **settings: object) -> Book:
    path = tmp_path / "a_book.txt"
    path.write_text(text, encoding="utf-8")
    return read_book(path, settings=BooksConfig(**settings))  # type: ignore[arg-type]


def kinds(book: Book) -> list[tuple[str, str]]:
    return [(c.kind, c.heading) for c in book.chapters]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("XLII", 42),
        ("xlii", 42),
        ("IIII", 4),
        ("XXXX", 40),
        ("viij", 8),
        ("MCMXII", 1912),
        ("CIVIL", None),
        ("Mi", None),
        ("IC", None),
        ("", None),
        ("VX", None),
    ],
)
def test_roman(text: str, value: int | None) -> None:
    assert roman(text) == value


@pytest.mark.parametrize(
    ("text", "value"), [("7", 7), ("Twenty-first", 21), ("ninety nine", 99), ("Last", LAST), ("Grave", None), ("12345", None)]
)
def test_number(text: str, value: int | None) -> None:
    assert number(text) == value


@pytest.mark.parametrize(
    "headings",
    [
        ["CHAPTER I.", "CHAPTER II.", "CHAPTER III."],
        ["Chapter 1", "Chapter 2", "Chapter 3"],
        ["I.", "II.", "III."],
        ["I", "II", "III", "IV"],
        ["1", "2", "3"],
        ["Chapter the First", "Chapter the Second", "Chapter the Last"],
        ["CHAPTER ONE", "CHAPTER TWO", "CHAPTER THREE"],
        ["First Chapter", "Second Chapter", "Third Chapter"],
        ["CHAPTER I. THE MILL", "CHAPTER II. THE BRIDGE", "CHAPTER III. THE LAMP"],
        ["CHAPTER I--THE MILL", "CHAPTER II--THE BRIDGE", "CHAPTER III--THE LAMP"],
        ["CHAPTER I THE MILLER'S YARN", "CHAPTER II THE BRIDGE", "CHAPTER III THE LAMP"],
        ["I. THE MILL", "II. THE BRIDGE", "III. THE LAMP"],
        ["_Chapter I_", "_Chapter II_", "_Chapter III_"],
        ["STAVE ONE", "STAVE TWO", "STAVE THREE"],
        ["[ 1 ]", "[ 2 ]", "[ 3 ]"],
        ["C H A P T E R  I", "C H A P T E R  II", "C H A P T E R  III"],
        ["LETTER I.", "LETTER II.", "LETTER III."],
    ],
)
def test_every_way_of_numbering(tmp_path: Path, headings: list[str]) -> None:
    book = read(tmp_path, chapters(headings))
    assert [c.kind for c in book.chapters] == ["chapter"] * len(headings)
    for n, chapter in enumerate(book.chapters):
        assert book.text[chapter.start : chapter.body_start].strip() == chapter.heading
        assert book.text[chapter.body_start : chapter.end].startswith(f"Number {10 * n} began")


def test_a_title_on_the_next_line_belongs_to_the_heading(tmp_path: Path) -> None:
    book = read(tmp_path, chapters(["CHAPTER I.\n\nTHE MILL.", "CHAPTER II.\n\nTHE BRIDGE.", "CHAPTER III.\n\nCONCLUSION."]))
    assert [c.heading for c in book.chapters] == ["CHAPTER I. THE MILL.", "CHAPTER II. THE BRIDGE.", "CHAPTER III. CONCLUSION."]


def test_long_titles_over_two_lines(tmp_path: Path) -> None:
    first = "CHAPTER I\n\nTREATS OF THE PLACE WHERE THE MILLER WAS BORN AND OF THE\nCIRCUMSTANCES ATTENDING HIS BIRTH"
    book = read(tmp_path, chapters([first, "CHAPTER II\n\nOF THE BRIDGE AND WHO BUILT IT"]))
    assert (
        book.chapters[0].heading == "CHAPTER I TREATS OF THE PLACE WHERE THE MILLER WAS BORN AND OF THE CIRCUMSTANCES ATTENDING HIS BIRTH"
    )


def test_dialogue_after_a_heading_is_no_title(tmp_path: Path) -> None:
    text = 'CHAPTER I\n\n"TOM!"\n\nNo answer.\n\n' + prose(1) + '\n\n\nCHAPTER II\n\n"WELL!"\n\n' + prose(2)
    book = read(tmp_path, text)
    assert [c.heading for c in book.chapters] == ["CHAPTER I", "CHAPTER II"]
    assert book.text[book.chapters[0].body_start :].startswith('"TOM!"')


def test_what_only_looks_like_a_numeral_is_no_heading(tmp_path: Path) -> None:
    inside = "\n\nM. Paul\n\nI. Grave as usual\n\nCIVIL\n\nMIX\n\n"
    book = read(tmp_path, f"CHAPTER I\n\n{prose(1)}{inside}{prose(5)}\n\n\nCHAPTER II\n\n{prose(9)}\n")
    assert [c.heading for c in book.chapters] == ["CHAPTER I", "CHAPTER II"]
    assert "M. Paul\n\nI. Grave as usual\n\nCIVIL\n\nMIX" in book.text


def test_a_stray_heading_outside_the_sequence_is_none(tmp_path: Path) -> None:
    text = chapters(["CHAPTER I", "CHAPTER II", "CHAPTER LX", "CHAPTER III", "CHAPTER IV"])
    assert [c.heading for c in read(tmp_path, text).chapters] == ["CHAPTER I", "CHAPTER II", "CHAPTER III", "CHAPTER IV"]


def test_a_misprinted_number_in_the_right_place_still_counts(tmp_path: Path) -> None:
    text = chapters(["CHAPTER I", "CHAPTER II", "CHAPTER XIII", "CHAPTER IV"])
    assert [c.heading for c in read(tmp_path, text).chapters] == ["CHAPTER I", "CHAPTER II", "CHAPTER XIII", "CHAPTER IV"]


def test_a_missing_chapter_is_reported(tmp_path: Path) -> None:
    book = read(tmp_path, chapters(["CHAPTER I", "CHAPTER II", "CHAPTER IV", "CHAPTER V"]))
    assert len(book.chapters) == 4
    assert "chapter 4 follows chapter 2; the source may lack what stood between, or misprint a number" in book.oddities


def test_volumes_and_parts_stand_above_chapters_that_start_again(tmp_path: Path) -> None:
    text = f"VOLUME I\n\n\n{chapters(['CHAPTER I', 'CHAPTER II'])}\n\nEND OF VOLUME I.\n\n\n\nVOLUME II\n\n\n{chapters(['CHAPTER I', 'CHAPTER II'])}"
    book = read(tmp_path, text)
    assert kinds(book) == [
        ("heading", "VOLUME I"), ("chapter", "CHAPTER I"), ("chapter", "CHAPTER II"),
        ("heading", "VOLUME II"), ("chapter", "CHAPTER I"), ("chapter", "CHAPTER II"),
    ]  # fmt: skip
    assert [c.level for c in book.chapters] == [1, 3, 3, 1, 3, 3]
    assert "END OF VOLUME" not in book.text


def test_a_contents_list_is_no_chapters_and_leaves_the_text(tmp_path: Path) -> None:
    listed = "CONTENTS\n\nPREFACE\n\nCHAPTER I\n\nCHAPTER II\n\nCHAPTER III\n\n\n\n"
    text = f"THE MILL\n\nby Nobody\n\n\n{listed}PREFACE\n\n{prose(50, 1)}\n\n\n{chapters(['CHAPTER I', 'CHAPTER II', 'CHAPTER III'])}"
    book = read(tmp_path, text)
    assert kinds(book) == [("front", "PREFACE"), ("chapter", "CHAPTER I"), ("chapter", "CHAPTER II"), ("chapter", "CHAPTER III")]
    assert book.text.count("CHAPTER I\n") == 1
    assert "CONTENTS" not in book.text
    assert (book.title, book.author) == ("The Mill", "Nobody")


@pytest.mark.parametrize(
    "listed",
    [
        "       I.  THE MILL                      3\n      II.  THE BRIDGE                   16\n     III.  THE LAMP                     31",
        "I. THE MILL\n\nII. THE BRIDGE\n\nIII. THE LAMP",
        "Chapter 1: The Mill\nChapter 2: The Bridge\nChapter 3: The Lamp",
    ],
)
def test_contents_in_other_shapes(tmp_path: Path, listed: str) -> None:
    text = f"CONTENTS.\n\n{listed}\n\n\n\n\n{chapters(['I. THE MILL', 'II. THE BRIDGE', 'III. THE LAMP'])}"
    book = read(tmp_path, text)
    assert len(book.chapters) == 3
    assert book.text.startswith("I. THE MILL\n\nNumber 0 began")


def test_prologue_and_epilogue_have_their_own_kind(tmp_path: Path) -> None:
    text = chapters(["PROLOGUE", "CHAPTER I", "CHAPTER II", "EPILOGUE"])
    assert kinds(read(tmp_path, text)) == [("front", "PROLOGUE"), ("chapter", "CHAPTER I"), ("chapter", "CHAPTER II"), ("back", "EPILOGUE")]


def test_letters_before_the_chapters_are_front_matter(tmp_path: Path) -> None:
    text = chapters(["LETTER I", "LETTER II", "CHAPTER I", "CHAPTER II", "CHAPTER III"])
    book = read(tmp_path, text)
    assert [c.kind for c in book.chapters] == ["front", "front", "chapter", "chapter", "chapter"]


def test_section_numbers_inside_chapters_become_scene_breaks(tmp_path: Path) -> None:
    def chapter(n: int) -> str:
        return f"1\n\n{prose(n, 1)}\n\n2\n\n{prose(n + 1, 1)}\n\n3\n\n{prose(n + 2, 1)}"

    text = "\n\n\n".join(f"CHAPTER {n}\n\n{chapter(10 * n)}" for n in ("1", "2", "3") for n in [int(n)])
    book = read(tmp_path, text)
    assert [c.heading for c in book.chapters] == ["CHAPTER 1", "CHAPTER 2", "CHAPTER 3"]
    assert book.text.count("\n\n* * *\n\n") == 6


def test_page_numbers_between_paragraphs_go_and_sentences_close_up(tmp_path: Path) -> None:
    parts = [
        f"CHAPTER {'I' * (p // 10 + 1)}\n\n" * (p % 10 == 1)
        + "She walked on until the very end of the\n\n"
        + f"{p}\n\n"
        + "road and then "
        + paragraph(p)
        for p in range(1, 31)
    ]
    book = read(tmp_path, "\n\n".join(parts))
    assert [c.heading for c in book.chapters] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
    assert "until the very end of the road and then Number 7 began" in book.text
    assert sum(r.rule == "page-number" for r in book.removed) == 30


def test_stanza_numbers_of_a_poem_do_not_cut_a_story(tmp_path: Path) -> None:
    stanza = "In the greenest of our valleys,\nBy good angels tenanted,\nOnce a fair and stately palace--\nReared its head."
    poem = "\n\n".join(f"{n}.\n\n{stanza}" for n in ("I", "II", "III", "IV"))
    book = read(tmp_path, f"{prose(1, 40)}\n\n{poem}\n\n{prose(50, 30)}")
    assert {c.kind for c in book.chapters} == {"piece"}
    assert "I.\n\nIn the greenest of our valleys,\nBy good angels tenanted," in book.text


def test_without_chapters_it_says_so_and_cuts_by_size(tmp_path: Path) -> None:
    book = read(tmp_path, prose(1, 120))
    assert len(book.chapters) == 4
    assert {c.kind for c in book.chapters} == {"piece"}
    assert "no chapters were found; the text was cut by size into 4 pieces" in book.oddities
    assert book.chapters[0].start == 0
    assert book.chapters[-1].end == len(book.text.rstrip())


def test_headings_in_a_text_without_blank_lines(tmp_path: Path) -> None:
    text = (
        "THE MILL\nCHAPTER I--THE MILL\n"
        + prose(1, 6).replace("\n\n", "\n")
        + "\nCHAPTER II--THE BRIDGE\n"
        + prose(11, 6).replace("\n\n", "\n")
        + "\n"
    )
    book = read(tmp_path, text)
    assert [c.heading for c in book.chapters] == ["CHAPTER I—THE MILL", "CHAPTER II—THE BRIDGE"]
    assert book.text.count("\n\n") >= 12


def test_chapters_are_left_out_by_name_and_by_number(tmp_path: Path) -> None:
    text = chapters(["PREFACE", "CHAPTER I", "CHAPTER II", "CHAPTER III"])
    book = read(tmp_path, text, leave_out=("a-book:CHAPTER I", "a-book:3", "other:2"), front_matter="drop")
    assert kinds(book) == [("chapter", "CHAPTER II")]
    assert sorted({r.rule for r in book.removed}) == ["front-matter", "left-out"]


def test_titles_without_numbers_are_chapters_where_the_contents_list_them(tmp_path: Path) -> None:
    titles = ["THE MILL AT DAWN", "THE LAMP", "WHAT THE DOG KNEW"]
    listed = "The Mill at Dawn .... 1\nThe Lamp ........... 20\nWhat the Dog Knew .... 41"
    book = read(tmp_path, f"THE MILL\n\nCONTENTS\n\n{listed}\n\n\n\n{chapters(titles)}")
    assert kinds(book) == [("chapter", title) for title in titles]
    assert "CONTENTS" not in book.text


def test_stories_and_adventures_are_numbered_too(tmp_path: Path) -> None:
    titles = ["ADVENTURE I. A SCANDAL IN THE MILL", "ADVENTURE II. THE RED LAMP", "ADVENTURE III. A DOG"]
    assert kinds(read(tmp_path, chapters(titles))) == [("chapter", title) for title in titles]


@pytest.mark.parametrize(
    "text", ["Hello there.\n", "one two three\n", '"Yes," he said to her at the door.\n\n"No," said she.\n\n"Well."\n', "word " * 5000]
)
def test_a_text_without_chapters_and_long_paragraphs_is_kept_whole(tmp_path: Path, text: str) -> None:
    book = read(tmp_path, text)
    assert book.text.split() == text.split()
    assert book.removed == ()
