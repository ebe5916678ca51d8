"""The ways in which texts of Project Gutenberg are set: each made up here, and read as a reader would wish."""

# ruff: noqa: E501  (whole files stand in single strings)
from __future__ import annotations

from pathlib import Path

import pytest
from book_prose import chapters, paragraph, prose

from penname.books import read_book
from penname.core.values import Book

STORY = chapters(["CHAPTER I", "CHAPTER II"], 8)
BOX = (
    "+------------------------------------------------------------+\n"
    "| Transcriber's Note:                                        |\n"
    "|                                                            |\n"
    "| Inconsistent hyphenation in the original document has been |\n"
    "| preserved.                                                 |\n"
    "+------------------------------------------------------------+\n"
)
ADVERTS = (
    'NEW AND POPULAR NOVELS.\n\n\nTHE LADY\'S MILE. By the Author of "The Lamp." 3 vols.\n\n"A most delightful story."--_Morning Post._\n\n'
    'A DOG\'S LIFE. Second Edition. 2 vols. 21s.\n\n"Will be read with pleasure."--_Athenaeum._\n\n\nHURST AND BLACKETT, PUBLISHERS, 13, GREAT MARLBOROUGH STREET.'
)


def read(tmp_path: Path, text: str) -> Book:
    path = tmp_path / "a_book.txt"
    path.write_text(text, encoding="utf-8")
    return read_book(path)


def bare(tmp_path: Path) -> str:
    return read(tmp_path, STORY).text


def kinds(book: Book) -> list[tuple[str, str]]:
    return [(c.kind, c.heading) for c in book.chapters]


@pytest.mark.parametrize(
    "head",
    [
        BOX,
        "Note: Project Gutenberg also has an HTML version of this\n      file which includes the original illustrations.\n      See 12345-h.htm or 12345-h.zip:\n"
        "      (http://www.gutenberg.org/files/12345/12345-h/12345-h.htm)\n\n\n      Images of the original pages are available through\n      Internet Archive. See\n      https://archive.org/details/mill",
        "E-text prepared by Some One, Another One,\nand the Online Distributed Proofreading Team\n(https://www.pgdp.net)\nfrom page images generously made available by\nInternet Archive\n(https://archive.org)",
        "Produced by Some One and Another\n\n(This file was produced from images generously made\navailable by The Internet Archive)",
        "This Etext prepared by Some One <someone@example.com>\nAdditional proof reading by Another One\n\n\n\n\nThe Mill\n\nby Ann Nobody",
        'THE MILL\n\n_A Tale_\n\nBY ANN NOBODY\n\nAUTHOR OF "THE LAMP," "A DOG\'S LIFE," ETC.\n\nIN THREE VOLUMES\nVOL. I.\n\nLONDON\nSMITH, ELDER & CO., 15 WATERLOO PLACE\n1867\n\n[_All rights reserved_]',
        "_By the same Author_\n\nTHE LAMP. 6s.\nA DOG'S LIFE. 3s. 6d.\n\n\n\n\nTHE MILL",
        '[Illustration: "SHE PUT THE LETTER BACK\n\n[_Page 12_]]\n\n\n\nTHE MILL',
    ],
)
def test_what_stands_before_the_story_goes(tmp_path: Path, head: str) -> None:
    assert read(tmp_path, f"{head}\n\n\n\n\n{STORY}").text == bare(tmp_path)


@pytest.mark.parametrize(
    "tail",
    [
        BOX,
        f"THE END.\n\n\n\n\n{ADVERTS}",
        f"THE END.\n\n\n\n\n{ADVERTS}\n\n\n\n\n{BOX}",
        '                   *       *       *       *       *\n\nTranscriber\'s Notes.\n\nPage 7, "teh" changed to "the".\n\nPage 9, "hte" changed to "the".',
        "THE END.\n\n\n\nERRATA.\n\nPage 7, for _teh_ read _the_.",
        f"END OF VOL. III.\n\n\n\n{ADVERTS}",
        "THE END.\n\n\n* * * * *\n\nTranscriber's Notes:\n\nObvious printer errors corrected silently.\n\nInconsistent spelling and hyphenation are as in the original.",
    ],
)
def test_what_stands_behind_the_story_goes(tmp_path: Path, tail: str) -> None:
    assert read(tmp_path, f"{STORY}\n\n\n\n{tail}\n").text == bare(tmp_path)


def test_volumes_with_their_own_title_pages_and_contents(tmp_path: Path) -> None:
    page = "THE MILL.\n\nBY\nANN NOBODY.\n\nIN TWO VOLUMES.\n\nVOL. {}.\n\nLONDON:\nPRINTED FOR T. EGERTON.\n\n1813.\n\n\n\nCONTENTS OF VOL. {}.\n\n\nI. THE MILL\n\nII. THE BRIDGE\n\nIII. THE LAMP\n\n\n\n\n"
    told = chapters(["CHAPTER I.\n\nTHE MILL.", "CHAPTER II.\n\nTHE BRIDGE.", "CHAPTER III.\n\nTHE LAMP."], 6)
    book = read(
        tmp_path,
        f"{page.format('I', 'I')}{told}\n\n\nEND OF VOL. I.\n\n\nPRINTED BY CLOWES.\n\n\n\n\n{page.format('II', 'II')}{told}\n\nTHE END.\n",
    )
    heads = [heading for kind, heading in kinds(book) if kind == "chapter"]
    assert heads == ["CHAPTER I. THE MILL.", "CHAPTER II. THE BRIDGE.", "CHAPTER III. THE LAMP."] * 2
    assert not {"EGERTON", "CLOWES", "CONTENTS", "END OF"} & {
        word for word in ("EGERTON", "CLOWES", "CONTENTS", "END OF") if word in book.text
    }


def test_letters_as_chapters(tmp_path: Path) -> None:
    heads = [f"LETTER {n}.\n\nMISS CLARISSA NOBODY TO MISS HOWE.\n\n_Wednesday Night, March 1._" for n in ("I", "II", "III", "IV")]
    book = read(tmp_path, chapters(heads, 4))
    assert [kind for kind, _ in kinds(book)] == ["chapter"] * 4
    assert book.text.count("Wednesday Night, March 1.") == 4


def test_books_and_chapters_in_words(tmp_path: Path) -> None:
    told = chapters(["CHAPTER THE FIRST. THE MILL", "CHAPTER THE SECOND. THE BRIDGE"], 4)
    book = read(tmp_path, f"BOOK THE FIRST. SOWING\n\n\n{told}\n\n\nBOOK THE SECOND. REAPING\n\n\n{told}")
    assert [kind for kind, _ in kinds(book)] == ["heading", "chapter", "chapter"] * 2


def test_a_play_inside_a_novel_is_no_chapters(tmp_path: Path) -> None:
    play = "ACT I.\n\nSCENE I.--_A mill._\n\n_Enter_ MILLER.\n\nMILLER. Who is there?\n\nDOG. It is I.\n\nSCENE II.--_A bridge._\n\nDOG. I have come home."
    book = read(tmp_path, f"CHAPTER I\n\n{prose(1, 4)}\n\n{play}\n\n{prose(9, 4)}\n\n\nCHAPTER II\n\n{prose(20, 4)}\n")
    assert kinds(book) == [("chapter", "CHAPTER I"), ("chapter", "CHAPTER II")]
    assert "SCENE I.—A mill.\n\nEnter MILLER.\n\nMILLER. Who is there?" in book.text


def test_a_poem_and_its_source_keep_their_lines(tmp_path: Path) -> None:
    poem = '  "Old longings leap,\n    Chafing at the chain;\n  Again from sleep\n    Wakens the strain."\n\n                    --_The Mill: NOBODY._'
    book = read(tmp_path, f"CHAPTER I\n\n{poem}\n\n{prose(1, 4)}\n\n\nCHAPTER II\n\n{prose(9, 4)}\n")
    assert book.text.startswith(
        'CHAPTER I\n\n"Old longings leap,\nChafing at the chain;\nAgain from sleep\nWakens the strain."\n\n—The Mill: NOBODY.\n\nNumber 1'
    )


@pytest.mark.parametrize(
    "mark",
    ["* * *", "*       *       *       *       *", "***", "*****", "* * * * * * *", "-------", "- - -", "~~~", "⁂", "#", "+ + +", "=====", "\\* \\* \\*", "[Decoration]\n\n* * *", "     * * * * *"],
)  # fmt: skip
def test_every_scene_break_has_one_form(tmp_path: Path, mark: str) -> None:
    book = read(tmp_path, f"CHAPTER I\n\n{prose(1, 3)}\n\n{mark}\n\n{prose(7, 3)}\n\n\nCHAPTER II\n\n{prose(20, 3)}\n")
    assert book.text.count("\n\n* * *\n\nNumber 7 began") == 1


def test_notes_gathered_behind_each_chapter_go_with_their_heading(tmp_path: Path) -> None:
    notes = "FOOTNOTES:\n\n[1] A river in the north.\n\n[2] See the first volume,\nwhere this is told.\n\n"
    text = f"CHAPTER I\n\nThe Wear[1] ran by the mill.[2]\n\n{prose(1, 4)}\n\n{notes}\n\nCHAPTER II\n\n{prose(9, 4)}\n"
    book = read(tmp_path, text)
    assert "The Wear ran by the mill.\n\n" in book.text
    assert not any(word in book.text for word in ("FOOTNOTES", "A river", "first volume"))


def test_a_starred_note_below_its_paragraph_goes(tmp_path: Path) -> None:
    text = f"CHAPTER I\n\nThe Wear* ran by the mill.\n\n* A river in the north.\n\n{prose(1, 4)}\n\n\nCHAPTER II\n\n{prose(9, 4)}\n"
    assert "The Wear ran by the mill.\n\nNumber 1" in read(tmp_path, text).text


def test_a_note_in_a_starred_bracket_goes_with_its_sign(tmp_path: Path) -> None:
    text = f"CHAPTER I\n\nThe yarraman* stood by the 'bujeri* mill,' they said.\n\n[*Yarraman--a horse.]\n\n[*Bujeri--good.]\n\n{prose(1, 4)}\n"
    assert read(tmp_path, text).text.startswith("CHAPTER I\n\nThe yarraman stood by the 'bujeri mill,' they said.\n\nNumber 1")


@pytest.mark.parametrize(
    "word", ["Picture: The mill", "Plate III", "Map of the mill", "Page 12", "Blank Page", "Music", "Illustration (2)"]
)
def test_a_bracket_for_what_is_not_text_goes(tmp_path: Path, word: str) -> None:
    text = f"CHAPTER I\n\n{prose(1, 4)}\n\n[{word}]\n\n{prose(7, 4)}\n"
    assert "[" not in read(tmp_path, text).text


def test_titles_in_capitals_without_numbers_or_contents(tmp_path: Path) -> None:
    titles = ["THE MILL AT DAWN", "THE LAMP", "WHAT THE DOG KNEW", "THE BRIDGE"]
    assert kinds(read(tmp_path, chapters(titles, 8))) == [("chapter", title) for title in titles]


def test_an_inscription_in_capitals_is_no_chapter(tmp_path: Path) -> None:
    sign = "\n\n\nNO ROAD THIS WAY\n\n\n"
    book = read(tmp_path, f"{prose(1, 60)}{sign}{prose(70, 60)}")
    assert {c.kind for c in book.chapters} == {"piece"}


def test_a_chapter_named_in_the_story_is_none(tmp_path: Path) -> None:
    inside = (
        "Chapter II. of his great work was still unwritten when the rain began, and she told him so.\n\nChapter III. it was called.\n\n"
    )
    book = read(
        tmp_path,
        f"CHAPTER I\n\n{prose(1, 4)}\n\n{inside}{prose(7, 3)}\n\n\nCHAPTER II\n\n{prose(20, 4)}\n\n\nCHAPTER III\n\n{prose(30, 4)}\n",
    )
    assert [heading for _, heading in kinds(book)] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]
    assert "Chapter II. of his great work was still unwritten" in book.text


def test_a_list_of_books_inside_a_chapter_is_no_part(tmp_path: Path) -> None:
    def kind(name: str, n: int) -> str:
        return f"BOOK {name}. (Folio), CHAPTER I. (Sperm Whale).--This whale is the first of all.\n\n{prose(n, 6)}"

    text = f"CHAPTER I\n\n{prose(1, 3)}\n\n{kind('I', 10)}\n\n{kind('II', 20)}\n\n{kind('III', 30)}\n\n\nCHAPTER II\n\n{prose(60, 6)}\n"
    assert kinds(read(tmp_path, text)) == [("chapter", "CHAPTER I"), ("chapter", "CHAPTER II")]


def test_a_title_that_is_a_sentence_is_one_where_the_others_are(tmp_path: Path) -> None:
    names = ["The Mill", "The Bridge", "A Lamp", "The Dog", "The Boats", "If love were all!"]
    book = read(tmp_path, "\n\n\n".join(f"CHAPTER {n}\n\n{name}\n\n\n{prose(10 * n, 3)}" for n, name in enumerate(names, 1)))
    assert book.chapters[-1].heading == "CHAPTER 6 If love were all!"


def test_a_bar_for_a_drop_capital_goes(tmp_path: Path) -> None:
    told = "\n\n\n".join(f"CHAPTER {n}\n\n|MRS. Nobody came home.\n\n{prose(10 * n, 3)}" for n in range(1, 5))
    assert read(tmp_path, told).text.count("\n\nMRS. Nobody came home.") == 4


def test_an_index_behind_the_story_goes(tmp_path: Path) -> None:
    entries = "\n".join(
        f"{name}, {n}, {n + 7}" for n, name in enumerate(("Boats", "Bridge", "Dog", "Lamp", "Letter", "Mill", "Rain", "Road"), 3)
    )
    assert read(tmp_path, f"{STORY}\n\n\n\n\nINDEX\n\n\n{entries}\n").text == bare(tmp_path)


@pytest.mark.parametrize(
    ("page", "title", "author"),
    [
        ("Ann Nobody\nHard Rain\n", "Hard Rain", "Ann Nobody"),
        ("HARD RAIN\nANN NOBODY\n", "Hard Rain", "Ann Nobody"),
        ("The Mill on the Hill\nAnn Nobody\n", "The Mill on the Hill", "Ann Nobody"),
        ("Sally Miller\n", "Sally Miller", ""),
        ("HARD RAIN\nFROM THE WORKS OF\nANN NOBODY\n", "Hard Rain", "Ann Nobody"),
        ("HARD RAIN\n\nBY\n\nANN NOBODY\n", "Hard Rain", "Ann Nobody"),
    ],
)
def test_title_and_author_from_a_title_page(tmp_path: Path, page: str, title: str, author: str) -> None:
    told = STORY.replace("She put the letter", "Sally Miller put the letter").replace("an honest answer", "a hard answer")
    book = read(tmp_path, f"{page}\n\n\n{told}")
    assert (book.title, book.author) == (title, author)


def test_a_preface_by_an_editor_goes_and_the_author_s_own_stays(tmp_path: Path) -> None:
    head = "THE MILL\n\nby Ann Nobody\n\n\n\n"
    note = f"A BIOGRAPHICAL NOTE\n\n{paragraph(50)}\n\n"
    about = (
        f"INTRODUCTION\n\nMiss Nobody wrote little. Yet Nobody's mill stands. Who knew Ann Nobody knew why. {paragraph(60)}\n\nW. J.\n\n\n"
    )
    own = f"PREFACE\n\n{paragraph(70)}\n\nANN NOBODY.\n\n\n"
    book = read(tmp_path, f"{head}{note}{about}{own}{STORY}")
    assert kinds(book)[:2] == [("front", "PREFACE"), ("chapter", "CHAPTER I")]
    assert sum(len(r.text) for r in book.removed if r.rule == "editor") > 800


def test_a_prologue_that_has_the_author_s_name_as_a_word_stays(tmp_path: Path) -> None:
    told = f"PROLOGUE\n\nThe grey dog came. Grey rain fell. Grey was the road, and Grey's Inn far. {paragraph(60)}\n\n\n"
    book = read(tmp_path, f"DESERT RAIN\n\nby Zane Grey\n\n\n\n{told}{STORY}")
    assert (book.author, kinds(book)[0]) == ("Zane Grey", ("front", "PROLOGUE"))


def test_an_advertisement_inside_the_last_chapter_is_the_story_s(tmp_path: Path) -> None:
    inside = f"ADVERTISEMENT.\n\n\nLost, a dog. The price of him is a crown, and no edition of it illustrated.\n\n{prose(90, 9)}"
    book = read(tmp_path, f"{chapters(['CHAPTER I', 'CHAPTER II'], 40)}\n\n\n{inside}\n\n1847\n")
    assert "ADVERTISEMENT.\n\nLost, a dog." in book.text
    assert book.text.endswith("\n\n1847\n")


def test_a_title_behind_its_chapter_in_a_text_without_blank_lines(tmp_path: Path) -> None:
    def chapter(n: int, title: str) -> str:
        return f"CHAPTER {n}\n{title}\n" + prose(10 * n, 6).replace("\n\n", "\n") + "\n"

    book = read(
        tmp_path,
        chapter(1, "THE MILLER COMES HOME BY THE LONGER OF THE TWO ROADS AND FINDS\nTHE LAMP") + chapter(2, "The Bridge Is Crossed"),
    )
    assert [c.heading for c in book.chapters] == [
        "CHAPTER 1 THE MILLER COMES HOME BY THE LONGER OF THE TWO ROADS AND FINDS THE LAMP",
        "CHAPTER 2 The Bridge Is Crossed",
    ]
    assert book.text[book.chapters[1].body_start :].startswith("Number 20 began")


def test_speakers_part_paragraphs_that_carry_no_blank_line(tmp_path: Path) -> None:
    full = "She asked him about the mill, the boats, the bridge, and the two dogs."
    lines = [f'"{full[:68]}."', f'"{full[4:70]}"', f'"{full[:68]}."', full, *prose(1, 8).replace("\n\n", "\n").split("\n")]
    book = read(tmp_path, "\n".join(lines))
    assert book.text.split("\n\n")[:3] == lines[:3]
    assert book.text.split("\n\n")[3].startswith(full)
