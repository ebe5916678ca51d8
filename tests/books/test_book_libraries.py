"""Editions of other libraries than Project Gutenberg, and what converters and writing programs make of a book."""

# ruff: noqa: E501  (whole files stand in single strings)
from __future__ import annotations

import contextlib
import html
from pathlib import Path

import pytest
from book_files import _zip
from book_prose import chapters, paragraph, prose

from cpu import cpu_seconds
from penname.books import read_book
from penname.core.errors import ProofFailed
from penname.core.values import Book

STORY = chapters(["CHAPTER I", "CHAPTER II", "CHAPTER III"], 6)


def read(tmp_path: Path, data: str | bytes, name: str = "a_book.txt") -> Book:
    path = tmp_path / name
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return read_book(path)


def kinds(book: Book) -> list[tuple[str, str]]:
    return [(c.kind, c.heading) for c in book.chapters]


HEADS = {
    "Australia": "Project Gutenberg Australia\n\n\nTitle:      The Mill (1889)\nAuthor:     Ann Nobody\n* A Project Gutenberg of Australia eBook *\nLanguage:   English\n\n"
    "This eBook was produced by: Some One\n\nGo to http://gutenberg.net.au\n\n\n\nTitle:      The Mill (1889)\nAuthor:     Ann Nobody",
    "Canada": "* A Project Gutenberg Canada Ebook *\n\nThis ebook is made available at no cost.\n\nTitle: The Mill\nAuthor: Nobody, Ann (1850-1920)\n"
    "Date of first publication: 1889\n\nThis ebook was produced by:\nSome One\n\n\n\n\nTHE MILL\n\nby\n\nANN NOBODY",
    "Faded Page": "* A Distributed Proofreaders Canada eBook *\n\nMore at https://www.fadedpage.com.\n\n_Title:_ The Mill\n\n_Date of first publication:_ 1889\n\n"
    "_Author:_ Ann Nobody (c. 1850-1934)\n\n_Date first posted:_ May 1, 2016\n\n\n\n\n  THE MILL\n\n  BY\n  ANN NOBODY\n\n  LONDON\n  1889",
}


@pytest.mark.parametrize("library", HEADS)
def test_title_and_author_from_the_heads_of_other_libraries(tmp_path: Path, library: str) -> None:
    book = read(tmp_path, f"{HEADS[library]}\n\n\n\n\n{STORY}")
    assert (book.title, book.author) == ("The Mill", "Ann Nobody")
    assert book.text == read(tmp_path, STORY).text


@pytest.mark.parametrize(
    "tail",
    [
        "This web edition published by:\n\neBooks@Adelaide\nThe University Library\nSouth Australia 5005",
        "www.mill.example\nFood for the mind",
        "This work is in the public domain in the United States because it was published before January 1, 1930.",
    ],
)
def test_notices_at_the_very_end_go_and_a_sentence_of_the_story_before_them_stays(tmp_path: Path, tail: str) -> None:
    book = read(tmp_path, f"{STORY}\n\nShe wrote to www.mill.example.\n\nIt was late.\n\n{tail}\n")
    assert book.text.endswith("She wrote to www.mill.example.\n\nIt was late.\n")


def test_a_division_about_the_edition_goes(tmp_path: Path) -> None:
    about = f"<h2>About this digital edition</h2><p>It comes from a library. {paragraph(1)}</p><ul><li>Some User</li></ul>"
    told = "".join(f"<h2>Chapter {n}</h2><p>{paragraph(n, 40)}</p>" for n in (1, 2, 3))
    book = read(tmp_path, f"<html><body>{told}{about}</body></html>", "a_book.html")
    assert kinds(book) == [("chapter", "Chapter 1"), ("chapter", "Chapter 2"), ("chapter", "Chapter 3")]
    assert "library" not in book.text and "Some User" not in book.text


def test_titles_that_tell_what_happens_belong_to_their_headings(tmp_path: Path) -> None:
    titles = [
        "In which the reader is told of a lamp, and of the person\nwho trims it.",
        "Shows how a dog may wait.",
        "Of the bridge, and other matters.",
    ]
    heads = [f"CHAPTER {n}.\n\n{title}" for n, title in zip(("I", "II", "III"), titles, strict=True)]
    book = read(tmp_path, chapters(heads))
    assert [c.heading for c in book.chapters] == [" ".join(head.split()) for head in heads]


def test_short_first_paragraphs_are_no_titles(tmp_path: Path) -> None:
    heads = [
        f"CHAPTER {n}\n\n{first}"
        for n, first in zip(("I", "II", "III"), ("It rained.", "Nobody came.", "He waited for a day."), strict=True)
    ]
    assert [c.heading for c in read(tmp_path, chapters(heads)).chapters] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]


def test_the_imprint_below_a_volume_is_no_title_of_it(tmp_path: Path) -> None:
    page = "THE MILL.\n\nVOL. {}.\n\nLONDON:\nRICHARD BENTLEY, NEW BURLINGTON STREET.\n1849.\n\n\n\n\n{}"
    book = read(tmp_path, "\n\n\n\n".join(page.format(n, STORY) for n in ("I", "II")))
    assert [heading for kind, heading in kinds(book) if kind == "heading"] == ["VOL. I.", "VOL. II."]
    assert "BENTLEY" not in book.text


def test_heads_of_every_other_page_are_no_sequence_of_chapters(tmp_path: Path) -> None:
    pages = [f"{paragraph(n)}\n\nTHE LETTER {2 * n + 1}\n\n" for n in range(1, 10)]
    text = f"CHAPTER I\n\n{''.join(pages[:3])}CHAPTER II\n\n{''.join(pages[3:6])}CHAPTER III\n\n{''.join(pages[6:])}{paragraph(50)}\n"
    book = read(tmp_path, text)
    assert kinds(book) == [("chapter", "CHAPTER I"), ("chapter", "CHAPTER II"), ("chapter", "CHAPTER III")]
    assert "THE LETTER" not in book.text


def test_a_few_lines_that_nobody_wrapped_do_not_make_paragraphs_of_the_others(tmp_path: Path) -> None:
    long = "\n\n".join(f"{n} May.--{paragraph(n, 2)}" for n in (3, 4, 5))
    book = read(tmp_path, f"CHAPTER I\n\n{prose(1, 12)}\n\n{long}\n\n\nCHAPTER II\n\n{prose(30, 12)}\n")
    assert f"\n\n{paragraph(2)}\n\n" in book.text
    assert f"\n\n3 May.—{paragraph(3, 2)}\n\n" in book.text


@pytest.mark.parametrize("encoding", ["cp437", "cp850", "cp1252", "mac_roman"])
def test_one_accent_tells_the_encoding_by_where_it_stands(tmp_path: Path, encoding: str) -> None:
    text = chapters(["CHAPTER I", "CHAPTER II"], 12).replace("anybody", "the curé")
    assert "nothing of it to the curé in the house" in read(tmp_path, text.encode(encoding)).text


XHTML = '<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body>{}</body></html>'


def epub(parts: list[str], contents: str) -> bytes:
    """An EPUB 3 of one file a part, with the list of a nav document."""
    members = {"META-INF/container.xml": '<container><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>'}
    members |= {f"p{n}.xhtml": XHTML.format(part) for n, part in enumerate(parts)}
    members["nav.xhtml"] = XHTML.format(f'<nav epub:type="toc"><ol>{contents}</ol></nav>')
    items = "".join(f'<item id="p{n}" href="p{n}.xhtml" media-type="application/xhtml+xml"/>' for n in range(len(parts)))
    items += '<item id="nav" href="nav.xhtml" media-type="application/xhtml+xml" properties="nav"/>'
    spine = "".join(f'<itemref idref="p{n}"/>' for n in range(len(parts)))
    members["a.opf"] = f"<package><metadata/><manifest>{items}</manifest><spine>{spine}</spine></package>"
    return _zip(members)


def test_parts_with_chapters_that_only_have_titles(tmp_path: Path) -> None:
    names = ["Part One", "The Letter", "The Lamp", "Part Two", "The Ferry", "The Road"]
    parts = [
        f"<h1>{name}</h1>" if name.startswith("Part") else f"<h2>{name}</h2><p>{paragraph(n)}</p><p>{paragraph(n + 1)}</p>"
        for n, name in enumerate(names)
    ]
    link = "<a href='p{}.xhtml'>{}</a>"
    contents = "".join(
        f"<li>{link.format(n, names[n])}<ol>" + "".join(f"<li>{link.format(k, names[k])}</li>" for k in (n + 1, n + 2)) + "</ol></li>"
        for n in (0, 3)
    )
    told = [("heading" if name.startswith("Part") else "chapter", name) for name in names]
    assert kinds(read(tmp_path, epub(parts, contents), "a_book.epub")) == told
    page = f"<html><body>{''.join(parts)}</body></html>"
    assert kinds(read(tmp_path, page, "a_book.html")) == told


def test_parts_that_are_all_there_is_are_the_chapters(tmp_path: Path) -> None:
    told = "".join(
        f"<h1>Part {n}</h1><h2>The {name}</h2><p>{paragraph(len(name), 20)}</p>" for n, name in (("One", "Mill"), ("Two", "Bridge"))
    )
    assert kinds(read(tmp_path, f"<html><body>{told}</body></html>", "a_book.html")) == [
        ("chapter", "Part One The Mill"),
        ("chapter", "Part Two The Bridge"),
    ]


def test_raised_numbers_that_link_go_with_their_notes_whatever_their_class(tmp_path: Path) -> None:
    page = (
        f"<html><body><h2>Chapter 1</h2><p id='top'>{paragraph(1)}</p><p>The mill<sup><a href='#n1' id='r1'>1</a></sup> stood<a href='#n2'><sup>*</sup></a>. "
        f"E = mc<sup>2</sup>, and <a href='#top'>5</a> too.</p><p>{paragraph(2)}</p><p id='n1'><a href='#r1'>1</a> A mill of wood.</p><p><a id='n2'></a>* And so on.</p></body></html>"
    )
    book = read(tmp_path, page, "a_book.html")
    assert "The mill stood. E = mc2, and 5 too." in book.text
    assert book.text.endswith(f"{paragraph(2)}\n")
    assert book.text.startswith(f"Chapter 1\n\n{paragraph(1)}\n\n")


def test_a_drop_capital_in_a_frame_of_its_own_begins_the_paragraph_behind_it(tmp_path: Path) -> None:
    frame = "<div class='figleft'><img src='t.png' alt='T'/></div>"
    told = "".join(f"<h2>CHAPTER {n}</h2>{frame}<p>he mill stood. {paragraph(n)}</p>" for n in (1, 2))
    book = read(tmp_path, f"<html><body>{told}</body></html>", "a_book.html")
    assert [c.heading for c in book.chapters] == ["CHAPTER 1", "CHAPTER 2"]
    assert book.text.count(f"\n\nThe mill stood. {paragraph(1)}\n\n") == 1


def test_a_picture_of_a_number_is_a_heading(tmp_path: Path) -> None:
    told = "".join(f"<h2><img src='{n}.png' alt='{n}'/></h2><p>{paragraph(len(n))}</p>" for n in ("I", "II", "III"))
    assert read(tmp_path, f"<html><body>{told}</body></html>", "a_book.html").chapters[0].heading == "I"


def test_notes_of_markdown_go_with_their_marks(tmp_path: Path) -> None:
    text = f"# One\n\nThe mill[^a] stood.[^2] He wrote [^x].\n\n[^a]: A mill of wood,\n    with a wheel.\n\n    And a door.\n[^2]: Or not.\n\n{paragraph(1)}\n"
    assert read(tmp_path, text, "a_book.md").text == f"One\n\nThe mill stood. He wrote [^x].\n\n{paragraph(1)}\n"


W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'


def docx(paragraphs: list[tuple[str, str]]) -> bytes:
    """A DOCX without styles: (properties of the paragraph and its run, text)."""
    body = "".join(
        f"<w:p><w:pPr>{'' if '<w:b' in own else own}</w:pPr><w:r><w:rPr>{own if '<w:b' in own else ''}</w:rPr><w:t>{html.escape(text)}</w:t></w:r></w:p>"
        for own, text in paragraphs
    )
    return _zip({"word/document.xml": f"<w:document {W}><w:body>{body}</w:body></w:document>"})


def test_lines_in_bold_are_the_headings_of_a_manuscript_without_styles(tmp_path: Path) -> None:
    parts = [("<w:b/>", "The Letter"), ("", paragraph(1)), ("<w:b/>", "Stop!"), ("", paragraph(2)), ('<w:b w:val="0"/>', "Not bold"), ("", paragraph(3)), ("<w:b/>", "The Lamp"), ("", paragraph(4)), ("<w:b/>", paragraph(5))]  # fmt: skip
    assert kinds(read(tmp_path, docx(parts), "a_book.docx")) == [("chapter", "The Letter"), ("chapter", "Stop!"), ("chapter", "The Lamp")]
    styled = [('<w:pStyle w:val="Heading1"/>', "One"), *parts, ('<w:pStyle w:val="Heading1"/>', "Two"), ("", paragraph(6))]
    assert kinds(read(tmp_path, docx(styled), "a_book.docx")) == [("chapter", "One"), ("chapter", "Two")]


def test_the_outline_level_of_body_text_makes_no_heading(tmp_path: Path) -> None:
    level = '<w:outlineLvl w:val="{}"/>'
    parts = [
        (level.format(0), "One"),
        (level.format(9), paragraph(1)),
        ("", paragraph(2)),
        (level.format(0), "Two"),
        ("", paragraph(3)),
        (level.format(9), paragraph(4)),
    ]
    book = read(tmp_path, docx(parts), "a_book.docx")
    assert kinds(book) == [("chapter", "One"), ("chapter", "Two")]


def test_what_stands_in_a_frame_of_an_odt_is_no_text(tmp_path: Path) -> None:
    names = 'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
    frame = "<draw:frame><draw:text-box><text:p>A caption</text:p></draw:text-box></draw:frame>"
    body = f'<text:h text:outline-level="1">One</text:h><text:p>The mill{frame} stood.</text:p><text:p>{paragraph(1)}</text:p>'
    book = read(tmp_path, _zip({"content.xml": f"<d {names}>{body}</d>"}), "a_book.odt")
    assert book.text == f"One\n\nThe mill stood.\n\n{paragraph(1)}\n"


def test_titles_in_capitals_and_quotes_are_titles_where_the_others_are(tmp_path: Path) -> None:
    names = ["THE MILL", '"IT IS FOUND!"', "THE LAMP", "THE DOG"]
    book = read(tmp_path, chapters([f"CHAPTER {n}\n\n{name}" for n, name in enumerate(names, 1)]))
    assert [c.heading for c in book.chapters] == [f"CHAPTER {n} {name}" for n, name in enumerate(names, 1)]


@pytest.mark.parametrize("line", ["=========", "---------", "* * *", "~~~"])
def test_a_line_drawn_below_a_heading_is_no_scene_break(tmp_path: Path, line: str) -> None:
    book = read(tmp_path, chapters([f"CHAPTER I\n{line}", f"CHAPTER II\n\n{line}", "CHAPTER III"]))
    assert "* * *" not in book.text
    assert [c.heading for c in book.chapters] == ["CHAPTER I", "CHAPTER II", "CHAPTER III"]


@pytest.mark.parametrize(
    "line",
    [
        "PRINTED IN GREAT BRITAIN BY R. CLARK LTD., EDINBURGH",
        "Made and printed in England",
        "Printed and bound at the Mill Press",
        "_Printed by Some One_",
    ],
)
def test_a_printer_s_line_behind_a_story_without_an_end_mark_goes(tmp_path: Path, line: str) -> None:
    book = read(tmp_path, f"{STORY}\n\n\n\n{line}\n")
    assert book.text == read(tmp_path, STORY).text
    assert {r.rule for r in book.removed} == {"imprint"}


def test_a_preface_in_numbered_parts(tmp_path: Path) -> None:
    preface = f"PREFACE\n\nI\n\n{paragraph(70)}\n\nII\n\n{paragraph(71)}\n\n\n"
    book = read(tmp_path, f"THE MILL\n\nby Ann Nobody\n\n\n\n{preface}{STORY}")
    assert kinds(book)[:2] == [("front", "PREFACE"), ("chapter", "CHAPTER I")]
    assert book.text.startswith(f"PREFACE\n\n{paragraph(70)}\n\n* * *\n\n{paragraph(71)}\n\nCHAPTER I")


def test_speeches_in_a_text_before_the_first_heading_stay(tmp_path: Path) -> None:
    told = f'{paragraph(70)}\n\n"Is it late?" she asked.\n\nIt was.\n\nCopyright by the author.\n\n{paragraph(71)}'
    book = read(tmp_path, f"THE MILL\n\nby Ann Nobody\n\n\n\n{told}\n\n\n{STORY}")
    assert book.text.startswith(f'{paragraph(70)}\n\n"Is it late?" she asked.\n\n{paragraph(71)}\n\nCHAPTER I')


def test_bare_numbers_right_behind_a_named_heading_are_the_chapters_where_there_are_no_others(tmp_path: Path) -> None:
    book = read(tmp_path, f"THE MILL\n\nby Ann Nobody\n\n\n\nINTRODUCTION\n\n{chapters(['I', 'II', 'III', 'IV'])}")
    assert [heading for kind, heading in kinds(book) if kind == "chapter"] == ["I", "II", "III", "IV"]


def test_many_numbered_prefaces_take_time_in_proportion(tmp_path: Path) -> None:
    def cost(count: int) -> float:
        def attempt() -> None:
            with contextlib.suppress(ProofFailed):  # so much would be taken that it is refused
                read(tmp_path, "PREFACE\n\n1\n\n" * count + STORY)

        return cpu_seconds(attempt)

    assert cost(8000) < 8 * max(cost(2000), 0.05)
