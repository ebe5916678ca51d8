"""Real books: true chapter counts, no line of printers or transcribers left, nothing of a story cut."""

# ruff: noqa: E501  (whole files stand in single strings)
from __future__ import annotations

import itertools
import re
from functools import cache
from pathlib import Path

import pytest
from book_ends import STORIES
from book_files import parts_of, to_docx, to_epub, to_markdown

from penname.books import decode_source, read_book
from penname.books.blocks import cut_blocks, find_layout
from penname.books.doubles import long_paragraphs, shared_share
from penname.core.values import Book

COUNTS = {
    "1260.txt": 38, "pg1260.txt": 38, "1260-h.htm": 38, "9182.txt": 42, "30486-0.txt": 37, "1028-0.txt": 25, "pg768.epub": 34, "pandp10.txt": 61,
}  # fmt: skip
TITLES = {
    "1260.txt": ("jane-eyre", "Charlotte Bronte"),
    "pg768.epub": ("wuthering-heights", "Emily Brontë"),
    "pandp10.txt": ("pride-and-prejudice", "Jane Austen"),
}
PERIOD = {
    "ABronte_Agnes": 25, "ABronte_Tenant": 53, "Austen_Emma": 55, "Austen_Sense": 50, "Dickens_David": 64, "Dickens_Hard": 37, "EBronte_Wuthering": 34,
    "Eliot_Adam": 55, "Eliot_Mill": 58, "Gaskell_Lovers_1863": 45, "Gaskell_Ruth_1855": 36, "Thackeray_Barry": 19, "Trollope_Barchester": 53,
    "Wcollins_Basil_1852": 27,
}  # fmt: skip
# What must be in no text: boilerplate, credits, imprints, contents lists, transcribers.
FOREIGN = re.compile(
    r"project gutenberg|gutenberg-tm|gutenberg\.org|pgdp|\be-?text (?:prepared|by)|\bebook|distributed proofread|produced by .{0,60}(?:volunteer|widger|proofread)|"
    r"transcriber['’]?s|transcribed from the \d|small print!|public domain|^\W*(?:table of )?contents\W*$|list of illustrations|\[illustration|\[footnote|"
    r"\.jpg|service & paton|henrietta street|t\. nelson|thomas nelson|printers and publishers|nelson classics|all rights reserved|"
    r"^\W*end of (?:the )?(?:(?:first|second|third) (?:volume|book)|vol.*)\W*$|^\W*the end\W*$|^\W*finis\W*$(?<!XLII\. FINIS\.)|in three volumes|is respectfully inscribed|"
    r"w\. m\. thackeray, esq|illustrated by f\. h|are the copyright of|this file should be named|updated editions will replace|http|www\.",
    re.IGNORECASE | re.MULTILINE,
)


@cache
def read(path: Path) -> Book:
    return read_book(path)


def chapters(book: Book) -> list[str]:
    return [c.heading for c in book.chapters if c.kind == "chapter"]


@pytest.mark.parametrize("name", COUNTS)
def test_chapters_of_the_raw_books(shared: Path, name: str) -> None:
    book = read(shared / "books/raw" / name)
    assert len(chapters(book)) == COUNTS[name]
    if name in TITLES:
        assert (book.id, book.author) == TITLES[name]


@pytest.mark.parametrize("name", COUNTS)
def test_no_foreign_line_in_the_raw_books(shared: Path, name: str) -> None:
    text = read(shared / "books/raw" / name).text
    assert [m[0] for m in FOREIGN.finditer(text)] == []
    assert not re.search(r"[_{}\x00-\x09\x0b-\x1f\u00a0\u00ad“”‘’–…]|--|  | \n|\n \n|\n{3}", text)


def test_editions_of_jane_eyre_differ_only_as_editions_do(shared: Path) -> None:
    plain, newer, page = (read(shared / "books/raw" / name) for name in ("1260.txt", "pg1260.txt", "1260-h.htm"))
    assert chapters(plain) == chapters(newer) == chapters(page)
    assert [c.kind for c in plain.chapters] == [c.kind for c in newer.chapters] == [c.kind for c in page.chapters]
    assert plain.text.count("\n\n") == page.text.count("\n\n")
    assert _differing_share(plain.text, page.text) < 0.002
    assert _differing_share(plain.text, newer.text) < 0.005


def test_editions_are_one_work_twice_and_two_novels_are_not(shared: Path) -> None:
    long = {name: long_paragraphs(read(shared / "books/raw" / name).text) for name in COUNTS}
    for a, b in itertools.combinations(COUNTS, 2):
        share = shared_share(long[a], long[b])
        print(f"{a} {b}: {share:.3f}")
        assert share > 0.9 if "1260" in a and "1260" in b else share < 0.001


def _differing_share(a: str, b: str) -> float:
    """Share of word pairs (shingles) of one text that the other lacks, accents aside; cheap and order-aware enough."""
    import unicodedata

    def shingles(text: str) -> set[tuple[str, ...]]:
        bare = "".join(c for c in unicodedata.normalize("NFD", text) if not unicodedata.combining(c)).lower()
        words = re.findall(r"[a-z]+", bare)
        return set(itertools.pairwise(words))

    left, right = shingles(a), shingles(b)
    return max(len(left - right) / len(left), len(right - left) / len(right))


@pytest.mark.parametrize("kind", ["md", "docx", "epub"])
def test_an_export_of_jane_eyre_is_the_same_book(shared: Path, tmp_path: Path, kind: str) -> None:
    book = read(shared / "books/raw/1260.txt")
    parts = parts_of(book.text, [(c.heading, c.body_start, c.end) for c in book.chapters])
    data = {
        "md": lambda: to_markdown("Jane Eyre", parts).encode(),
        "docx": lambda: to_docx("Jane Eyre", parts),
        "epub": lambda: to_epub("Jane Eyre", parts, files=9),
    }[kind]()
    path = tmp_path / f"jane.{kind}"
    path.write_bytes(data)
    again = read_book(path)
    assert [(c.kind, c.heading) for c in again.chapters] == [(c.kind, c.heading) for c in book.chapters]
    assert again.text.replace("struck out", "") == book.text


@pytest.mark.slow
@pytest.mark.parametrize("name", PERIOD)
def test_period_books(shared: Path, name: str) -> None:
    book = read_book(shared / f"books/period/{name}.txt")
    assert len(chapters(book)) == PERIOD[name]
    assert [m[0] for m in FOREIGN.finditer(book.text)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", STORIES)
def test_nothing_of_a_story_is_cut(shared: Path, name: str) -> None:
    path = shared / f"gold/litbank/original/{name}.txt"
    if not path.exists():
        path = shared / f"gold/pdnc/data/{name}/novel_text.txt"
    book = read_book(path)
    first, last = STORIES[name]
    words = book.text.find(first)
    assert words >= 0
    before = [c for c in book.chapters if c.start <= words]
    assert book.text[:words].count("\n\n") <= 4 or before[-1].kind == "chapter"
    assert book.text.rfind(last) > 0.96 * len(book.text) or name in ("2489_moby_dick", "711_allan_quatermain")
    assert last in book.text
    assert [m[0] for m in FOREIGN.finditer(book.text)] == []
    source = path.read_text(encoding="utf-8")
    story = [r for r in book.removed if len(r.text) > 400 and r.rule not in ("footnote", "transcriber-note", "contents", "epigraph")]
    assert story == []
    assert len(book.text.split()) > 0.985 * len(source.replace("--", " -- ").split()) - source.count("--") * 2


@pytest.mark.slow
def test_paragraphs_are_found_without_their_blank_lines(shared: Path) -> None:
    right = true = found = 0
    for path in sorted((shared / "gold/litbank/original").glob("*.txt")):
        text = decode_source(path).replace("\r\n", "\n")
        if find_layout(text).kind != "blank":
            continue
        starts = {block.start for block in cut_blocks(text, kept=False)}
        bare, truth, at, size = [], set(), 0, 0
        for line in text.split("\n"):
            if body := line.strip(" "):
                if at + line.index(body[0]) in starts:
                    truth.add(size)
                bare.append(body)
                size += len(body) + 1
            at += len(line) + 1
        told = {block.start for block in cut_blocks("\n".join(bare), kept=False)}
        right, true, found = right + len(told & truth), true + len(truth), found + len(told)
    print(f"of {true} paragraphs' starts {right / true:.3f} are found; of what is found {right / found:.3f} are starts")
    assert right / true > 0.95
    assert right / found > 0.96
