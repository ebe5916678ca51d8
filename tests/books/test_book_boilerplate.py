"""Every style in which Project Gutenberg has framed its texts, and what else is printed around a story."""

# ruff: noqa: E501  (whole files stand in single strings)
from __future__ import annotations

from pathlib import Path

import pytest
from book_prose import chapters, prose

from penname.books import read_book
from penname.books.boilerplate import metadata
from penname.core.config import BooksConfig
from penname.core.errors import ProofFailed
from penname.core.values import Book

STORY = chapters(["CHAPTER I", "CHAPTER II"], 8)
LICENCE = "\n\n".join(
    [
        "This file should be named mill10.txt or mill10.zip",
        "Updated editions will replace the previous one--the old editions will be renamed.",
        "THE FULL PROJECT GUTENBERG LICENSE\nPLEASE READ THIS BEFORE YOU DISTRIBUTE OR USE THIS WORK",
        "Section 1.  General Terms of Use and Redistributing Project Gutenberg-tm electronic works",
        *[
            f"1.{letter}.  By reading or using any part of this Project Gutenberg-tm electronic work, you agree to abide by it."
            for letter in "ABCDEF"
        ],
    ]
)
USE = (
    "This eBook is for the use of anyone anywhere at no cost and with\nalmost no restrictions whatsoever.  You may copy it, give it away or\n"
    "re-use it under the terms of the Project Gutenberg License included\nwith this eBook or online at www.gutenberg.org"
)
META = "Title: The Mill\n\nAuthor: Ann Nobody\n\nRelease Date: May 1, 2007  [eBook #99999]\n\nLanguage: English\n\nCharacter set encoding: ASCII"
FRAMES = {
    "2007": f"The Project Gutenberg eBook, The Mill, by Ann Nobody\n\n\n{USE}\n\n\n{META}\n\n\n***START OF THE PROJECT GUTENBERG EBOOK THE MILL***\n\n\n"
    f"Transcribed from the 1897 Service & Paton edition by David Somebody, email\nsomebody@example.org\n\n\n@@\n\n\n***END OF THE PROJECT GUTENBERG EBOOK THE MILL***\n\n\n{LICENCE}",
    "this": f"The Project Gutenberg EBook of The Mill, by Ann Nobody\n\n{USE}\n\n{META}\n\n*** START OF THIS PROJECT GUTENBERG EBOOK THE MILL ***\n\n\n\n\n"
    f"Produced by Some One and the Online\nDistributed Proofreading Team at https://www.pgdp.net\n\n\n\n@@\n\n\n\nEnd of the Project Gutenberg EBook of The Mill, by Ann Nobody\n\n"
    f"*** END OF THIS PROJECT GUTENBERG EBOOK THE MILL ***\n\n***** {LICENCE}",
    "small print": "Project Gutenberg's Etext of The Mill, by Ann Nobody\n#1 in our series\n\nCopyright laws are changing all over the world, be sure to check\nthe laws.\n\n"
    '**Welcome To The World of Free Plain Vanilla Electronic Texts**\n\n***START**THE SMALL PRINT!**FOR PUBLIC DOMAIN ETEXTS**START***\nWhy is this "Small Print!" statement here?'
    "\n\n*END*THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.04.29.93*END*\n\n\nThis etext was prepared by Some One, from the 1880 edition.\n\n\n@@\n\n\n"
    "End of Project Gutenberg's Etext of The Mill, by Ann Nobody\n",
    "small print 2002": "The Project Gutenberg Etext of The Mill, by Ann Nobody\n\nPlease take a look at the important information in this header.\n\n"
    "*END THE SMALL PRINT! FOR PUBLIC DOMAIN ETEXTS*Ver.10/04/01*END*\n\n\n\nE-text prepared by Some One\n\n\n@@\n\n\nEnd of The Project Gutenberg Etext of The Mill\n",
    "2023": f"\ufeffThe Project Gutenberg eBook of The Mill\n    \n{USE}\n\nTitle: The Mill\n\nAuthor: Ann Nobody\n\nRelease date: March 1, 1998 [eBook #99999]\n"
    f"                Most recently updated: May 2, 2023\n\nLanguage: English\n\nCredits: Some One\n\n\n*** START OF THE PROJECT GUTENBERG EBOOK THE MILL ***\n\n\n@@\n\n\n"
    f"*** END OF THE PROJECT GUTENBERG EBOOK THE MILL ***\n\n\n    \n\n{LICENCE}",
    "only an end": f"The Project Gutenberg eBook of The Mill\n\n{USE}\n\nTitle: The Mill\n\nAuthor: Ann Nobody\n\nLanguage: English\n\nCredits: Some One\n\n\n\n@@\n\n\n"
    f"*** END OF THE PROJECT GUTENBERG EBOOK THE MILL ***\n\n{LICENCE}",
    "over two lines": f"The Project Gutenberg EBook of The Mill\n\n{USE}\n\n{META}\n\n*** START OF THE PROJECT GUTENBERG EBOOK THE MILL, OR, HOW THE MILLER\nCAME HOME ***\n\n\n@@\n\n\n"
    f"*** END OF THE PROJECT\nGUTENBERG EBOOK THE MILL, OR, HOW THE MILLER CAME HOME ***\n\n{LICENCE}",
    "two parts": f"{USE}\n\n{META}\n\n*** START OF THE PROJECT GUTENBERG EBOOK THE MILL ***\n\n*** START OF THE PROJECT GUTENBERG EBOOK THE MILL ***\n\nProduced by Some One\n\n\n@@\n\n\n"
    f"End of Project Gutenberg's The Mill, by Ann Nobody\n\n*** END OF THE PROJECT GUTENBERG EBOOK THE MILL ***\n\n{LICENCE}",
}


def read(tmp_path: Path, text: str, **settings: object) -> Book:
    path = tmp_path / "a_book.txt"
    path.write_text(text, encoding="utf-8", newline="")
    return read_book(path, settings=BooksConfig(**settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("style", FRAMES)
def test_every_frame_leaves_the_story_and_nothing_else(tmp_path: Path, style: str, newline: str) -> None:
    bare = read(tmp_path, STORY)
    framed = read(tmp_path, FRAMES[style].replace("@@", STORY).replace("\n", newline))
    assert framed.text == bare.text
    assert [c.heading for c in framed.chapters] == ["CHAPTER I", "CHAPTER II"]
    assert framed.title == "The Mill"
    assert framed.author == "Ann Nobody" or style == "small print 2002"


def test_a_marker_repeated_inside_the_text_takes_only_itself(tmp_path: Path) -> None:
    long_story = chapters(["CHAPTER I", "CHAPTER II", "CHAPTER III"], 60)
    at = long_story.index("CHAPTER II\n")
    inside = f"{long_story[:at]}*** END OF THE PROJECT GUTENBERG EBOOK THE MILL ***\n\n\n{long_story[at:]}"
    book = read(tmp_path, FRAMES["2023"].replace("@@", inside))
    assert len(book.chapters) == 3
    assert "GUTENBERG" not in book.text
    assert [r.text.strip() for r in book.removed if r.rule == "gutenberg-marker"] == ["*** END OF THE PROJECT GUTENBERG EBOOK THE MILL ***"]


def test_the_word_gutenberg_in_a_story_is_no_marker(tmp_path: Path) -> None:
    text = f"CHAPTER I\n\nHe spoke of Gutenberg and of the end of Project Gutenberg's dull sermon, as if it were news.\n\n{prose(2, 9)}\n"
    assert "He spoke of Gutenberg" in read(tmp_path, text).text


@pytest.mark.parametrize(
    ("head", "rule"),
    [
        ("Produced by Some One, and the people at the press", "credit"),
        ("Transcribed from the 1910 John Murray edition by Some One", "credit"),
        ("This etext was prepared from the 1880 edition by Some One", "credit"),
        ("HTML version by Some One", "credit"),
        ("Special thanks to Some One for the loan of the book", "credit"),
        ("[Published under the name of Currer Bell]", "credit"),
        ("[Transcriber's Note: Old spellings are kept.\n\nSo are old hyphens.]", "transcriber-note"),
        (
            "Transcriber's Note\n\nOld spellings are kept.\n\nSo are old hyphens, and the accents on every one of the many foreign words that stand in this book, which were checked.",
            "transcriber-note",
        ),
        ("London\nSERVICE & PATON\n5 HENRIETTA STREET\n1897", "imprint"),
        ("THE MILL\n\nA Tale\n\nby Ann Nobody", "title-page"),
        ("TO\n\nMY MOTHER\n\nTHIS BOOK IS DEDICATED", "dedication"),
        ("LIST OF ILLUSTRATIONS\n\nThe mill at dusk ... 12\n\nThe bridge ... 40", "contents"),
        ("[Illustration: The mill at dusk]", "illustration"),
    ],
)
def test_what_is_printed_before_a_story_goes_by_its_rule(tmp_path: Path, head: str, rule: str) -> None:
    book = read(tmp_path, f"{head}\n\n\n\n\n{STORY}")
    assert book.text == read(tmp_path, STORY).text
    assert {r.rule for r in book.removed} >= {rule}


def test_a_dedication_stays_where_it_is_wanted(tmp_path: Path) -> None:
    text = f"THE MILL\n\n\n\nTO\nMY MOTHER\n\n\n\n\n{STORY}"
    assert read(tmp_path, text, dedication="keep").text.startswith("TO\nMY MOTHER\n\nCHAPTER I")
    assert read(tmp_path, text).text.startswith("CHAPTER I")


@pytest.mark.parametrize(
    ("tail", "rules"),
    [
        ("THE END", {"end-mark"}),
        ("Finis.", {"end-mark"}),
        ("THE END.\n\n\n\nPRINTED BY WILLIAM CLOWES AND SONS, LIMITED,\nLONDON AND BECCLES.", {"end-mark", "back-matter"}),
        ('Transcriber\'s Notes:\n\nPage 12: "teh" changed to "the".\n\nPage 30: comma added.', {"transcriber-note"}),
        ("THE END\n\n\n\n\n[Transcriber's Note: errors were mended.]", {"end-mark", "transcriber-note"}),
        ("Footnotes:\n\n[1] A footnote that nobody marked.", set()),
    ],
)
def test_what_is_printed_behind_a_story(tmp_path: Path, tail: str, rules: set[str]) -> None:
    book = read(tmp_path, f"{STORY}\n\n\n\n{tail}\n")
    assert {r.rule for r in book.removed} == rules
    if rules:
        assert book.text == read(tmp_path, STORY).text


def test_a_named_part_behind_the_end_mark_stays(tmp_path: Path) -> None:
    book = read(tmp_path, f"{STORY}\n\n\nTHE END\n\n\n\nAFTERWORD\n\n{prose(77, 2)}\n")
    assert [c.kind for c in book.chapters] == ["chapter", "chapter", "back"]
    assert "Number 77 began" in book.text
    assert "THE END" not in book.text


def test_notes_and_pictures_inside_the_text_go_and_the_sentence_closes(tmp_path: Path) -> None:
    text = (
        f"CHAPTER I\n\n{prose(1, 6)}\n\nThe engagement[1] was known to the\n\n[Illustration: The garden\nat dusk]\n\nwhole town by noon {{Endnote 3}}, and "
        f"nobody[A] said so. [Pg 12] It was late.\n\n[Footnote 1: It may be said\n\nthat nobody liked it.]\n\n    [A] Find me a better word.\n\n{prose(11, 6)}\n"
    )
    book = read(tmp_path, text)
    assert "\n\nThe engagement was known to the whole town by noon, and nobody said so. It was late.\n\nNumber 11 began" in book.text
    rules = [r.rule for r in book.removed]
    assert rules.count("footnote-mark") == 3
    assert rules.count("footnote") == 2
    assert {"illustration", "page-number"} <= set(rules)


def test_a_bracket_of_the_story_stays(tmp_path: Path) -> None:
    text = f"CHAPTER I\n\nHe [the miller] wrote [sic] and [illegible] and [he never finished\n\n{prose(1, 6)}\n"
    assert "He [the miller] wrote [sic] and [illegible] and [he never finished" in read(tmp_path, text).text


def test_running_heads_go(tmp_path: Path) -> None:
    pages = "\n\n".join(f"{prose(n, 1)}\n\n{n + 1}   THE MILL" for n in range(12))
    book = read(tmp_path, f"CHAPTER I\n\n{pages}\n\nCHAPTER II\n\n{prose(40, 3)}")
    assert "THE MILL" not in book.text
    assert sum(r.rule == "running-head" for r in book.removed) == 12


def test_a_strip_that_takes_too_much_stops_and_shows_what(tmp_path: Path) -> None:
    listed = "\n\n".join(f"{n}. The Story of the Number {n} and Nothing Else At All" for n in range(1, 120))
    with pytest.raises(
        ProofFailed, match=r"a_book\.txt: cleaning would remove \d+% of the text, above books\.max_removed_share = 0\.25.*CONTENTS"
    ):
        read(tmp_path, f"CONTENTS\n\n{listed}\n\nCHAPTER I\n\n{prose(1, 9)}\n")
    assert read(tmp_path, f"CONTENTS\n\n{listed}\n\nCHAPTER I\n\n{prose(1, 9)}\n", max_removed_share=0.9).chapters[0].heading == "CHAPTER I"


def test_metadata_reads_subtitles_and_wrapped_titles() -> None:
    head = "Project Gutenberg's Jane Eyre\n\nTitle: Jane Eyre\n       an Autobiography\n\nAuthor: Charlotte Bronte\n\nLanguage: English\n"
    assert metadata(head) == {"title": "Jane Eyre: an Autobiography", "author": "Charlotte Bronte", "language": "English"}
    wrapped = "The Project Gutenberg eBook\n\nTitle: The Life and Strange Surprising Adventures of a Sailor\n       of York\n"
    assert metadata(wrapped)["title"] == "The Life and Strange Surprising Adventures of a Sailor of York"
