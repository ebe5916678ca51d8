"""Every character of the decoded source is in the text, possibly rewritten by a named rule, or in ``removed``."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

import pytest
from book_prose import SENTENCES, chapters
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penname.books import decode_source, read_book
from penname.books.open import read_bytes
from penname.books.read import clean
from penname.core.config import BooksConfig
from penname.core.errors import PennameError
from penname.core.values import Book

RAW = ["1028-0.txt", "1260.txt", "pg1260.txt", "1260-h.htm", "30486-0.txt", "9182.txt", "pandp10.txt", "pg768.epub"]
# What the named rules may change into one another: white space, quotes, dashes, dots, break signs, emphasis marks.
_QUOTES = str.maketrans("“”„‟″❝❞〝〞＂‘’‚‛′❛❜＇", '"' * 10 + "'" * 8)
_REWRITTEN = re.compile(
    r"[\s\u00ad\u200b-\u200f\u061c\u180e\u2028-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\x00-\x1f\x7f-\x9f–—―⸺⸻_*#~=+•·⁂☆★†.…-]+"
)


def folded(text: str) -> str:
    return _REWRITTEN.sub("", unicodedata.normalize("NFC", _REWRITTEN.sub("", text))).translate(_QUOTES)


def assert_accounted(source: str, book: Book) -> None:
    at = 0
    kept = []
    for span in book.removed:
        assert span.start >= at, "removed spans are sorted and apart"
        assert source[span.start : span.end] == span.text != ""
        assert span.rule
        kept.append(source[at : span.start])
        at = span.end
    kept.append(source[at:])
    assert folded("".join(kept)) == folded(book.text)


def assert_offsets(book: Book) -> None:
    assert book.text == book.text.lstrip()
    at = 0
    for chapter in book.chapters:
        assert at <= chapter.start <= chapter.body_start <= chapter.end <= len(book.text)
        at = chapter.end
        shown = book.text[chapter.start : chapter.body_start].strip()
        assert shown in ("", chapter.heading)
        assert book.text[chapter.start : chapter.end].strip() == book.text[chapter.start : chapter.end]
    for row in book.alphabet:
        assert row.after == book.text.count(row.char)
        assert row.first == book.text.find(row.char)
    assert set(book.text) <= {row.char for row in book.alphabet}


@pytest.mark.parametrize("name", RAW)
def test_real_books_are_accounted_for(shared: Path, name: str) -> None:
    path = shared / "books/raw" / name
    book = read_book(path)
    assert_accounted(decode_source(path), book)
    assert_offsets(book)


def test_the_decoded_source_of_a_text_file_is_its_text(tmp_path: Path) -> None:
    path = tmp_path / "mill.txt"
    path.write_bytes(b"\xef\xbb\xbfCHAPTER I\r\n\r\nCaf\xc3\xa9.\r\n")
    assert decode_source(path) == "CHAPTER I\r\n\r\nCafé.\r\n"


LINES = st.lists(
    st.sampled_from(
        [
            "",
            "",
            "",
            "\n",
            "CHAPTER I",
            "CHAPTER II.",
            "CHAPTER III. THE MILL",
            "I.",
            "II",
            "2",
            "12",
            "M. Paul",
            "PREFACE",
            "CONTENTS",
            "THE END",
            "* * *",
            "#",
            "[Illustration: a mill]",
            "[Illustration",
            "[Footnote 1: so it was.]",
            "a mark[1] here",
            "{Endnote 2}",
            "[Pg 7]",
            "Produced by Some One",
            "*** START OF THE PROJECT GUTENBERG EBOOK X ***",
            "*** END OF THE PROJECT GUTENBERG EBOOK X ***",
            "End of Project Gutenberg's X",
            "Transcriber's Note:",
            "_Never_, said he--not _once_",
            "“Yes,” it’s — so…",
            "a con-",
            "gregation of to-",
            "morrow",
            "By the water,",
            "  By the mill,",
            "VOLUME II",
            "TO MY MOTHER",
            "London, 1897",
            "\ufeffodd\u00ad spaces\u00a0here\t.",
            "cafe\u0301",
            "Mr. B---- of ----shire",
            "\x0c",
            *SENTENCES,
        ]
    ),
    min_size=1,
    max_size=40,
)


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(LINES, st.sampled_from(["\n", "\r\n", "\r", "\n\n"]), st.sampled_from(["txt", "md", "html"]))
def test_any_text_is_accounted_for_or_refused(lines: list[str], newline: str, kind: str) -> None:
    data = newline.join(lines).encode()
    house = BooksConfig(max_removed_share=0.99)
    try:
        source = read_bytes(data, f"mill.{kind}", False)
        book = clean(source, id=None, settings=house)
    except PennameError as refusal:
        assert "\n" not in str(refusal)
        return
    assert_accounted(source.text, book)
    assert_offsets(book)


def test_reading_a_clean_text_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "mill.txt"
    path.write_text(chapters(["CHAPTER I. THE MILL", "CHAPTER II. THE LAMP"], 6))
    once = read_book(path)
    path.write_text(once.text)
    twice = read_book(path)
    assert twice.text == once.text
    assert [(c.start, c.end, c.heading) for c in twice.chapters] == [(c.start, c.end, c.heading) for c in once.chapters]


@pytest.mark.parametrize("name", ["1028-0.txt", "9182.txt"])
def test_reading_a_clean_novel_again_changes_nothing(shared: Path, tmp_path: Path, name: str) -> None:
    once = read_book(shared / "books/raw" / name)
    path = tmp_path / "again.txt"
    path.write_text(once.text)
    twice = read_book(path)
    assert twice.text == once.text
    assert [c.heading for c in twice.chapters] == [c.heading for c in once.chapters]
