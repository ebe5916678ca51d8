"""Every entry of every list of rules has a text in which it fires, and the entry beside it does not."""

# ruff: noqa: E501  (whole files stand in single strings)
from __future__ import annotations

from pathlib import Path

import pytest
from book_prose import chapters, paragraph, prose

from penname.books import read_book
from penname.books.blocks import cut_blocks
from penname.books.boilerplate import gutenberg_frame
from penname.books.notes import find_notes
from penname.books.report import find_oddities
from penname.books.typography import normalise
from penname.core.config import BooksConfig
from penname.core.values import Book

STORY = chapters(["CHAPTER I", "CHAPTER II"], 8)
LONG = "and others who gave their evenings to it, " * 8 + "so that nothing of the book is lost to those who come after us here."


def read(tmp_path: Path, text: str, name: str = "a_book.txt", **settings: object) -> Book:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_book(path, settings=BooksConfig(**settings))  # type: ignore[arg-type]


def rules(book: Book) -> set[str]:
    return {r.rule for r in book.removed}


CREDITS = [
    "E-text prepared by", "This etext was first produced by", "This eBook was created by", "This e-book was scanned by", "HTML by", "HTML version transcribed by",
    "Text file typed by", "HTML file converted by", "The text file was proofed"[4:], "Produced by", "Transcribed and typed by", "Scanned by", "Digitized by",
    "Digitised from", "Proofread by", "Proof-read by", "Prepared from", "Typed by", "Converted by", "Proofed by", "Special thanks go to", "Many thanks to",
    "Online Distributed workers", "Distributed Proofing by", "(This file was produced from scans)", "Note: Project Gutenberg and", "This web edition by",
    "This work is in the Canadian public domain", "To the best of our knowledge, the text of this work is in the “Public Domain”,",
    "This ebook is in the public domain,", "This e-text was lovingly scanned", "This ebook was once prepared",
]  # fmt: skip
NETS = ["http://mill.example", "www.mill.example", "pgdp", "Gutenberg", "some.one@mill.example", "archive.org", "distributed proofreaders",
        "the proofreading team", "eBooks@Adelaide"]  # fmt: skip


@pytest.mark.parametrize("lines", [[f"{start} Some One {LONG}" for start in CREDITS], [f"It came by way of {net} {LONG}" for net in NETS]])
def test_long_credits_before_the_story_are_known_by_their_words(tmp_path: Path, lines: list[str]) -> None:
    book = read(tmp_path, "\n\n".join(lines) + f"\n\nHe was produced by nobody {LONG}\n\n\n\n{STORY}", max_removed_share=0.9)
    assert [line for line in lines if line[:40] in book.text] == []
    assert book.text.startswith("He was produced by nobody")
    assert rules(book) == {"credit"}


@pytest.mark.parametrize(
    "heading",
    ["Transcriber's Note", "TRANSCRIBER NOTES", "Transcribers’ Note:", "The Transcriber’s Notes", "TRANSCRIBER'S ENDNOTE", "Transcription Notes", "Notes by the Transcriber", "Note of the transcriber:", "Notes from the Transcriber"],
)  # fmt: skip
def test_every_heading_of_a_transcriber_s_note(tmp_path: Path, heading: str) -> None:
    book = read(tmp_path, f"{STORY}\n\n\n\n{heading}\n\nA comma was put in on the seventh page.\n")
    assert book.text == read(tmp_path, STORY).text
    assert rules(book) == {"transcriber-note"}


@pytest.mark.parametrize(
    "mark",
    ["THE END", "END", "_Finis._", "FIN", "The End of the Mill and the Miller", "End of the first volume", "END OF VOL. I.", "END OF BOOK I", "End of Part One", "End of the story", "End of the Novel"],
)  # fmt: skip
def test_every_end_mark(tmp_path: Path, mark: str) -> None:
    book = read(tmp_path, f"{STORY}\n\n\n{mark}\n")
    assert book.text == read(tmp_path, STORY).text
    assert rules(book) == {"end-mark"}


def test_a_line_that_begins_like_an_end_mark_is_none(tmp_path: Path) -> None:
    assert read(tmp_path, f"{STORY}\n\n\nEndings are hard\n").text.endswith("Endings are hard\n")


@pytest.mark.parametrize(
    "line",
    ["TO", "TO ANN", "To my mother", "To all who wait", "To those at sea", "To the memory of a dog", "To Ann Nobody", "Dedicated by leave", "Inscribed with love", "Affectionately offered", "Respectfully offered", "This work is hers", "This book is hers", "This volume is hers", "This story is hers", "This novel is hers"],
)  # fmt: skip
def test_every_way_to_dedicate(tmp_path: Path, line: str) -> None:
    text = f"THE MILL\n\n\n\n{line}\n\n\n\n\n{STORY}"
    assert rules(read(tmp_path, text)) >= {"dedication"}
    assert read(tmp_path, text, dedication="keep").text.startswith(f"{line}\n\nCHAPTER I")


def test_every_word_of_an_imprint(tmp_path: Path) -> None:
    lines = ["Copyright by the author", "All rights reserved", "Published quarterly", "The Publisher's thanks", "Printed in haste", "The printers were two", "The Mill Press", "Second edition",
             "London", "New York", "Boston", "Edinburgh", "Philadelphia", "Smith, Elder & Co.", "Chapman and Co.", "1867", "Illustrated throughout", "With a frontispiece", "Reprinted twice"]  # fmt: skip
    for line in lines:
        assert rules(read(tmp_path, f"{line}\n\n\n\n\n{STORY}")) == {"imprint"}, line
    for line in ("A Tale of the Mill", "By Abostone Company", "No. 18671"):
        assert rules(read(tmp_path, f"{line}\n\n\n\n\n{STORY}")) == {"title-page"}, line


def test_every_heading_of_an_editor(tmp_path: Path) -> None:
    names = ["Editor's Introduction", "The Editor’s Introductory", "An Editor's Preface", "Editor's Foreword", "General Editor's Note", "Translator's Notice", "Translators' Note", "A Biographical Sketch",
             "Bibliographical Note", "Critical Remarks", "A Critical Introduction", "The Critical Editor's Note"]  # fmt: skip
    front = "".join(f"<h2>{name}</h2><p>Gone {n}. {paragraph(n)} {paragraph(n + 1)}</p>" for n, name in enumerate(names))
    told = "".join(f"<h2>Chapter {n}</h2><p>{paragraph(10 * n, 40)}</p><p>{paragraph(10 * n + 1, 40)}</p>" for n in range(1, 6))
    kept = f"<h2>Author's Preface</h2><p>Kept. {paragraph(99)} {paragraph(98)}</p>"
    book = read(tmp_path, f"<html><body>{front}{kept}{told}</body></html>", "a_book.html", max_removed_share=0.9)
    assert [name for n, name in enumerate(names) if f"Gone {n}." in book.text] == []
    assert book.text.startswith("Author's Preface\n\nKept.")


@pytest.mark.parametrize("heading", ["PROLOGUE", "PRELUDE", "PROEM", "EXORDIUM", "BEFORE THE CURTAIN", "LETTER OF DEDICATION"])
def test_every_opening_of_a_story_that_may_name_its_author(tmp_path: Path, heading: str) -> None:
    told = f"{heading}\n\nMr. Grey's dog came. Grey rain fell on Grey, and Mr. Grey went in. {paragraph(60)}\n\n\n"
    book = read(tmp_path, f"DESERT RAIN\n\nby Zane Grey\n\n\n\n{told}{STORY}")
    assert (book.chapters[0].kind, book.chapters[0].heading) == ("front", heading)
    assert "editor" in rules(read(tmp_path, f"DESERT RAIN\n\nby Zane Grey\n\n\n\n{told.replace(heading, 'FOREWORD')}{STORY}"))


FRONT = ["PREFACE", "PREFATORY", "INTRODUCTION", "INTRODUCTORY", "FOREWORD", "PROLOGUE", "PROEM", "PRELUDE", "ADVERTISEMENT", "DEDICATION", "LETTER OF DEDICATION", "DEDICATORY",
         "TO THE READER", "EXORDIUM", "NOTE", "NOTICE", "APOLOGY", "ARGUMENT", "PREAMBLE", "BEFORE THE CURTAIN", "ETYMOLOGY", "EXTRACTS", "PREFACE TO THE SECOND EDITION", "PREFACE BY A FRIEND",
         "NOTE OF THANKS", "NOTE FROM THE MILLER", "A NOTE ON THE TEXT", "PREFACE II", "INTRODUCTORY LETTER", "PREFATORY NOTE", "INTRODUCTORY CHAPTER", "PREFATORY REMARKS", "DEDICATORY EPISTLE",
         "AUTHOR'S NOTE", "EDITOR'S NOTE", "TRANSLATOR’S NOTE", "EXPLANATORY NOTE", "A GENERAL NOTICE", "CRITICAL PREFACE", "BIOGRAPHICAL NOTICE", "BIBLIOGRAPHICAL NOTE"]  # fmt: skip
BACK = ["EPILOGUE", "AFTERWORD", "CONCLUSION", "POSTSCRIPT", "FINALE", "L'ENVOI", "ENVOI", "APPENDIX", "APPENDICES", "GLOSSARY", "NOTES", "ENDNOTES", "CODA", "NOTE"]  # fmt: skip


def test_every_name_before_and_behind_the_chapters(tmp_path: Path) -> None:
    book = read(tmp_path, chapters([*FRONT, "CHAPTER I", "CHAPTER II", *BACK]), front_matter="all")
    told = [("front", name) for name in FRONT] + [("chapter", "CHAPTER I"), ("chapter", "CHAPTER II")] + [("back", name) for name in BACK]
    assert [(c.kind, c.heading) for c in book.chapters] == [(kind, normalise(name)) for kind, name in told]


@pytest.mark.parametrize("key", ["CHAPTER", "CHAP.", "CHAPER", "CHAPITRE", "STAVE", "LETTER", "EPISODE", "CANTO", "NARRATIVE", "LECTURE", "ADVENTURE", "TALE", "STORY", "SECTION", "SCENE"])  # fmt: skip
def test_every_word_for_a_chapter(tmp_path: Path, key: str) -> None:
    heads = [f"{key} I", f"{key} II", f"{key} III"]
    assert [(c.kind, c.heading) for c in read(tmp_path, chapters(heads)).chapters] == [("chapter", head) for head in heads]


@pytest.mark.parametrize(("key", "level"), [("VOLUME", 1), ("VOL.", 1), ("TOME", 1), ("PART", 2), ("BOOK", 2), ("PHASE", 2), ("EPOCH", 2), ("PERIOD", 2), ("DIVISION", 2)])  # fmt: skip
def test_every_word_for_what_stands_above_chapters(tmp_path: Path, key: str, level: int) -> None:
    book = read(tmp_path, "\n\n\n".join(f"{key} {n}\n\n\n{chapters(['CHAPTER I', 'CHAPTER II'])}" for n in ("I", "II")))
    assert [(c.kind, c.level) for c in book.chapters] == [("heading", level), ("chapter", 3), ("chapter", 3)] * 2


@pytest.mark.parametrize("heads", [["CHAPTER NO. 1", "CHAPTER NO. 2"], ["CHAPTER NUMBER ONE", "CHAPTER NUMBER TWO"], ["1ST CHAPTER", "2ND CHAPTER", "3RD CHAPTER", "4TH CHAPTER"], ["1. -- THE MILL", "2. -- THE LAMP"], ["I -- THE MILL", "II -- THE LAMP"]])  # fmt: skip
def test_more_ways_of_numbering(tmp_path: Path, heads: list[str]) -> None:
    assert [c.kind for c in read(tmp_path, chapters(heads)).chapters] == ["chapter"] * len(heads)


@pytest.mark.parametrize(
    "heading",
    ["ADVERTISEMENTS", "Advertisement.", "By the same author", "BOOKS BY THE SAME AUTHOR.", "Works by the same author", "Novels by the same Author", "Stories by the same author", "Other books by the same author", "Other novels", "NEW WORKS", "Popular books", "RECENT PUBLICATIONS", "List of new fiction", "Catalogue of cheap, good novels", "Novels by Ann Nobody", "Works by Ann Nobody", "Books by Ann Nobody", "Stories by Ann Nobody"],
)  # fmt: skip
def test_every_heading_of_advertisements(tmp_path: Path, heading: str) -> None:
    book = read(tmp_path, f"{STORY}\n\n\n\n{heading}\n\n\nTHE LAMP. 3s.\n\nA DOG. 6s.\n")
    assert book.text == read(tmp_path, STORY).text
    assert rules(book) == {"back-matter"}


@pytest.mark.parametrize(
    "word", ["3s.", "$1", "Cloth", "8vo", "12mo", "Crown", "vols.", "vol.", "Edition", "Illustrated", "Published", "Price"]
)
def test_every_word_of_a_price_list(tmp_path: Path, word: str) -> None:
    lists = f"{STORY}\n\n\n\nADVERTISEMENTS.\n\n\nTHE LAMP. {word} of it.\n\nA DOG. {word} of it.\n"
    assert read(tmp_path, lists).text == read(tmp_path, STORY).text
    assert "ADVERTISEMENTS." in read(tmp_path, lists.replace(word, "x" + word.replace("$", "d") + "x")).text


@pytest.mark.parametrize(
    "line",
    ["*** START OF THE PROJECT GUTENBERG EBOOK X ***", "***START OF THIS PROJECT GUTENBERG EBOOK X***", "** START OF PROJECT GUTENBERG EBOOK X **", "*END*THE SMALL PRINT! FOR PUBLIC DOMAIN*END*", "*END THE SMALL PRINT!*", "*** START OF THE PROJECT\nGUTENBERG EBOOK X ***", "*** START OF THIS\nPROJECT GUTENBERG EBOOK X ***", "*** START OF\nPROJECT GUTENBERG EBOOK X ***"],
)  # fmt: skip
def test_every_marker_of_a_beginning(line: str) -> None:
    text = f"A head of Project Gutenberg.\n\n{line}\n\nThe mill stood.\n"
    assert gutenberg_frame(text) == [(0, text.index("\n\nThe mill"), "", "gutenberg-header")]


@pytest.mark.parametrize(
    "line",
    ["*** END OF THE PROJECT GUTENBERG EBOOK X ***", "***END OF THIS PROJECT GUTENBERG EBOOK X***", "** END OF PROJECT GUTENBERG EBOOK X **", "End of the Project Gutenberg EBook of X", "End of this Project Gutenberg Etext", "End of Project Gutenberg's X", "*** This is the End of Project Gutenberg Etext X", "*** END OF THE PROJECT\nGUTENBERG EBOOK X ***", "*** END OF THIS\nPROJECT GUTENBERG EBOOK X ***"],
)  # fmt: skip
def test_every_marker_of_an_end(line: str) -> None:
    text = f"*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\nThe mill stood.\n\n{line}\n\nA licence.\n"
    assert gutenberg_frame(text)[1:] == [(text.index(line), len(text), "", "gutenberg-licence")]


@pytest.mark.parametrize(
    "line",
    [
        "He wrote START OF THE PROJECT GUTENBERG EBOOK on it.",
        "* START OF THE PROJECT GUTENBERG EBOOK",
        "At the end of the Project Gutenberg press",
    ],
)
def test_no_marker(line: str) -> None:
    assert gutenberg_frame(f"The mill stood.\n\n{line}\n\nIt fell.\n") == []


@pytest.mark.parametrize("name", ["Title", "Author", "Editor", "Translator", "Illustrator", "Contributor", "Release Date", "Posting Date", "First Posted", "Last Updated", "[Last updated", "Language", "Credits", "Character set encoding", "Original publication", "Most recently updated", "Other information"])  # fmt: skip
@pytest.mark.parametrize("first", ["Project Gutenberg's The Mill", "The Project Gutenberg Etext of The Mill"])
def test_every_line_of_a_header_without_a_marker(first: str, name: str) -> None:
    head = f"{first}\n\n{name}: something"
    assert gutenberg_frame(f"{head}\n\nThe mill stood.\n") == [(0, len(head), "", "gutenberg-header")]


@pytest.mark.parametrize("inside", ["Project Gutenberg Literary Archive Foundation", "This file should be named mill.txt", "THE FULL PROJECT GUTENBERG LICENSE", "Updated editions will replace the previous one", "START: FULL LICENSE", "THE SMALL PRINT"])  # fmt: skip
def test_every_sign_of_a_licence_behind_an_end_marker(inside: str) -> None:
    start, end = "*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\nThe mill stood.\n\n", "*** END OF THE PROJECT GUTENBERG EBOOK X ***\n\n"
    long = "A word of it.\n\n" * 3000
    assert gutenberg_frame(f"{start}{end}{inside}\n\n{long}")[1][3] == "gutenberg-licence"
    assert gutenberg_frame(f"{start}{end}Chapter II\n\n{long}")[1][3] == "gutenberg-marker"


BRACKETS = ["Illustration: a mill", "Illustrations: two mills", "Frontispiece", "Picture: a mill", "Plate III", "Map: the mill", "Decoration", "Music: a song", "Sheet music", "Cover: a mill", "Handwriting: Ann",
            "Advertisement: soap", "Footnote 1: so", "Endnote 1: so", "Sidenote: so", "Transcriber's note: so", "Transcribers’ Endnotes: so", "TN: so", "Transcription note: so", "Note by the transcriber: so",
            "Note by transcriber: so", "Published under the name of Bell", "Blank Page", "Pg 12", "Page xii", "p. 12"]  # fmt: skip


def test_every_bracket_that_is_no_text() -> None:
    for inside in BRACKETS:
        text = f"The mill\n\n[{inside}]\n\nstood."
        assert [text[start:end] for start, end, _, _ in find_notes(text)] == [f"[{inside}]"], inside
    for inside in ("Mapping it", "Pages of it", "page boy", "Covered", "Plateau", "Musical", "he said", "p. 12 of it", "Tnt"):
        assert find_notes(f"The mill\n\n[{inside}]\n\nstood.") == [], inside


def test_every_sign_of_a_note() -> None:
    for mark in ("[1]", "[123]", "[A]", "[*]", "[**]", "[†]", "{3}", "{1234}", "{3a}", "{Footnote 3}", "{Endnote 3}", "{note 3}"):
        assert [rule for _, _, _, rule in find_notes(f"The mill{mark} stood.")] == ["footnote-mark"], mark
    for mark in ("[1]", "[A]", "[*]", "[‡]", "{3}", "{1234}", "{3a}"):
        text = f"The mill{mark} stood.\n\n  {mark} A note of it.\n\nIt fell."
        assert [text[start:end] for start, end, _, _ in find_notes(text)] == [mark, f"  {mark} A note of it."], mark
    for mark in ("[1234]", "[AB]", "{12345}", "{3ab}"):
        assert find_notes(f"The mill{mark} stood.") == [], mark
    assert len(find_notes("The mill[1] stood.\n\n[1] A note.\n\n[2] Another.\n\nIt fell.\n\n[3] No note.")) == 3
    for heading, mark in (("FOOTNOTES:", "[1]"), ("Endnotes", "[A]"), ("NOTE.", "[*]")):
        text = f"The mill{mark} stood.\n\n{heading}\n\n{mark} A note of it."
        assert len(find_notes(text)) == 3, heading
    assert find_notes("The mill stood.\n\nNOTES\n\nIt fell.[1]")[0][3] == "footnote-mark"


def test_names_of_picture_files_go() -> None:
    for file in ("{page 7.jpg}", "{mill.JPEG}", "{mill.png}", "{mill.gif}"):
        assert [rule for *_, rule in find_notes(f"The mill\n\n{file}\n\nstood.")] == ["illustration"], file
    assert find_notes("The mill\n\n{mill.doc}\n\nstood.") == []


GONE = {
    "page-number": ["pagenum", "page-num", "pagenumber", "pageno", "pb", "folio", "newpage"],
    "gutenberg-frame": ["pg-boilerplate", "pgheader", "pg-footer", "boilerplate"],
    "transcriber-note": ["transnote", "trans-note", "transcribers-notes", "tnote", "tnotes"],
    "footnote": ["footnote", "footnotes", "endnote", "endnotes", "fn"],
    "footnote-mark": ["fnanchor", "noteref", "footnote-ref", "citation"],
    "illustration": ["caption", "figcaption", "figcenter", "illus", "illustration"],
}
STAYS = ["mypagenum", "spb", "pg-headerless", "subtnote", "fnord", "afn", "noterefs", "captioned"]


def test_every_class_of_markup_that_is_no_text(tmp_path: Path) -> None:
    names = [(rule, name) for rule, of in GONE.items() for name in of]
    gone = "".join(f"<div class='{name}'><p>Gone by {name}.</p></div>" for _, name in names)
    stays = "".join(f"<div class='{name}'><p>Kept by {name}.</p></div>" for name in STAYS)
    book = read(
        tmp_path,
        f"<html><body><h2>Chapter 1</h2><p>{paragraph(1, 60)}</p>{gone}{stays}<p>{paragraph(2, 60)}</p></body></html>",
        "a_book.html",
    )
    assert [name for _, name in names if f"Gone by {name}." in book.text] == []
    assert [name for name in STAYS if f"Kept by {name}." not in book.text] == []
    for rule, name in names:
        assert any(r.rule == rule and f"Gone by {name}." in r.text for r in book.removed), (rule, name)


@pytest.mark.parametrize("name", ["stanza", "linegroup", "verse", "poem", "poetry", "lg"])
def test_every_class_of_verse(tmp_path: Path, name: str) -> None:
    lines = "<p class='line'>By the water,</p><p class='i2'>By the mill,</p><p class='verse'>By the road.</p>"
    page = f"<html><body><h2>Chapter 1</h2><div class='{name}'>{lines}</div><p>{paragraph(1)}</p></body></html>"
    assert "\n\nBy the water,\nBy the mill,\nBy the road.\n\n" in read(tmp_path, page, "a_book.html").text
    assert "By the water,\n\nBy the mill,\n\nBy" in read(tmp_path, page.replace(f"'{name}'", f"'x{name}x'"), "a_book.html").text


def test_words_with_digits_that_are_no_noise() -> None:
    good = "1st 2nd 3rd 4th 2d 5s 5l 12mo 8vo 4to 6a 7am 7pm 6p 3lb 3lbs 2cwt 6ft 6in 3x 5oz 1stly 2ndly 3rdly 4thly 2dly"
    text = f"The miller said that it was so and that he had it of her. {good}"
    assert find_oddities(text, (), []) == []
    assert find_oddities(text + " w1th m0ther th3", (), []) == ['3 words that mix letters and digits: "w1th", "m0ther", "th3"']


@pytest.mark.parametrize("wrong", ["cafÃ©", "donâ€™t", "Â£5"])
def test_every_sign_of_a_wrong_encoding_is_told(wrong: str) -> None:
    told = find_oddities(f"The miller said that it was so and that he had it of her, {wrong}.", (), [])
    assert len(told) == 1 and told[0].startswith("1 signs of a wrongly decoded file")


def test_lost_apostrophes_are_told() -> None:
    lost = "the miller s dog didn t bark and they ll say that we ll hear it and you ve been there and they re sure that she d gone "
    told = find_oddities("The miller said that it was so. " + lost * 4, (), [])
    assert told == ['24 words that seem to have lost their apostrophe: "miller s", "didn t", "they ll"']


@pytest.mark.parametrize(
    "word",
    ["tis", "twas", "twere", "twill", "twould", "em", "ere", "cause", "till", "neath", "gainst", "pon", "bout", "tother", "specially"],
)
def test_every_elision_takes_an_apostrophe_and_no_opening_quote(word: str) -> None:
    curly = BooksConfig(typography="curly")
    assert normalise(f"He said '{word} it.", curly) == f"He said ’{word} it."
    assert normalise(f"He said '{word}x it.' So.", curly) == f"He said ‘{word}x it.’ So."


@pytest.mark.parametrize(
    "key", ["VOLUME", "VOL.", "PART", "BOOK", "CHAPTER", "CHAP.", "LETTER", "STAVE", "CANTO", "PHASE", "EPOCH", "EPISODE", "SECTION"]
)
@pytest.mark.parametrize("number", ["I", "12", "TWO"])
def test_every_heading_parts_paragraphs_that_carry_no_blank_line(key: str, number: str) -> None:
    lines = prose(1, 8).split("\n\n")
    text = "\n".join([*lines[:4], f"{key} {number}", *lines[4:]])
    assert f"{key} {number}" in [text[block.start : block.end] for block in cut_blocks(text, False)]


@pytest.mark.parametrize("turned", ["THE FIRST VOLUME", "FIRST PART", "SECOND BOOK", "THIRD CHAPTER", "THE FOURTH LETTER", "CONTENTS", "THE TABLE OF CONTENTS", "A LIST OF ILLUSTRATIONS", "LIST OF PLATES", "AUTHOR'S PREFACE", "THE PREFACE", "PROLOGUE", "EPILOGUE", "CONCLUSION", "THE END", "FINIS"])  # fmt: skip
def test_every_named_heading_parts_paragraphs_too(turned: str) -> None:
    lines = prose(1, 8).split("\n\n")
    text = "\n".join([*lines[:4], turned, *lines[4:]])
    assert turned in [text[block.start : block.end] for block in cut_blocks(text, False)]


@pytest.mark.parametrize("entry", ["{}. {}", "{}: {}", "{}) {}", "Chapter {}. {}"])
@pytest.mark.parametrize("numbers", ["I II III", "1 2 3"])
def test_listed_titles_are_known_whatever_number_the_list_gives_them(tmp_path: Path, entry: str, numbers: str) -> None:
    titles = ["THE MILL AT DAWN", "THE LAMP", "WHAT THE DOG KNEW"]
    listed = "\n".join(entry.format(n, title.title()) for n, title in zip(numbers.split(), titles, strict=True))
    book = read(tmp_path, f"THE MILL\n\nCONTENTS\n\n{listed}\n\n\n\n{chapters(titles)}")
    assert [(c.kind, c.heading) for c in book.chapters] == [("chapter", title) for title in titles]


@pytest.mark.parametrize("line", ["Written by Henri Nobody", "Compiled by Henri Nobody", "Henri de Nobody", "Henri du Nobody", "Hans van Nobody", "Hans von Nobody"])  # fmt: skip
def test_more_title_pages(tmp_path: Path, line: str) -> None:
    book = read(tmp_path, f"The Lamp at the Mill\n\n{line}\n\n\n\n{STORY}")
    assert (book.title, book.author) == ("The Lamp at the Mill", line.split(" by ")[-1])


@pytest.mark.parametrize("head", ["<html>", "<!DOCTYPE html>\n<html>", '<?xml version="1.0"?>\n<html xmlns="http://www.w3.org/1999/xhtml">', "<!-- saved -->\n<html>"])  # fmt: skip
def test_a_page_is_one_whatever_its_file_is_called(tmp_path: Path, head: str) -> None:
    page = f"{head}<body><h2>Chapter 1</h2><p>{paragraph(1)}</p></body></html>"
    assert read(tmp_path, page).text == f"Chapter 1\n\n{paragraph(1)}\n"


@pytest.mark.parametrize("end", ["---", "..."])
@pytest.mark.parametrize("key", ["lang", "language"])
def test_the_head_of_a_manuscript_in_markdown(tmp_path: Path, end: str, key: str) -> None:
    book = read(tmp_path, f"---\ntitle: 'The Mill'\nauthor: Ann Nobody\n{key}: fr\n{end}\n\n# One\n\n{paragraph(1)}\n", "a_book.md")
    assert (book.title, book.author, book.language) == ("The Mill", "Ann Nobody", "fr")
    assert book.text.startswith("One\n\n")
