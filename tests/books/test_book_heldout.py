"""The held-out split: whole chapters, by the seed, about a tenth of the words, over all books."""

from __future__ import annotations

from penname.books import split_heldout
from penname.core.values import Book, Chapter


def book(name: str, sizes: list[int], kinds: list[str] | None = None) -> Book:
    text = ""
    chapters = []
    for n, size in enumerate(sizes):
        start = len(text)
        text += "word " * size
        kind = kinds[n] if kinds else "chapter"
        chapters.append(Chapter(kind, 3, f"Chapter {n + 1}", start, len(text), start))  # type: ignore[arg-type]
    return Book(name, name, "", text, tuple(chapters))


def held(books: list[Book]) -> dict[str, list[str]]:
    return {b.id: [c.heading for c in b.chapters if c.split == "heldout"] for b in books}


def share(books: list[Book]) -> float:
    sizes = [(len(b.text[c.start : c.end].split()), c.split) for b in books for c in b.chapters if c.kind in ("chapter", "piece")]
    return sum(n for n, split in sizes if split == "heldout") / sum(n for n, _ in sizes)


def test_about_a_tenth_in_whole_chapters() -> None:
    books = split_heldout([book("mill", [2000 + 150 * (n % 7) for n in range(38)])], 1, 0.1, 2)
    assert 0.08 <= share(books) <= 0.12
    assert len(held(books)["mill"]) == 4


def test_the_seed_decides_and_nothing_else() -> None:
    one = [book("mill", [2000] * 30), book("lamp", [2000] * 30)]
    assert (
        held(split_heldout(one, 1, 0.1, 2))
        == held(split_heldout(one, 1, 0.1, 2))
        == {"mill": ["Chapter 5", "Chapter 8", "Chapter 12"], "lamp": ["Chapter 7", "Chapter 12", "Chapter 27"]}
    )
    assert held(split_heldout(one, 2, 0.1, 2)) != held(split_heldout(one, 1, 0.1, 2))


def test_it_is_spread_over_the_books() -> None:
    books = split_heldout([book("mill", [2000] * 20), book("lamp", [2000] * 40), book("dog", [2000] * 20)], 3, 0.1, 2)
    assert {name: len(chapters) for name, chapters in held(books).items()} == {"mill": 2, "lamp": 4, "dog": 2}


def test_at_least_two_chapters_even_where_they_are_long() -> None:
    books = split_heldout([book("mill", [9000] * 4)], 1, 0.1, 2)
    assert len(held(books)["mill"]) == 2


def test_only_chapters_and_pieces_are_held_out_and_one_always_stays() -> None:
    books = split_heldout([book("mill", [900, 5000, 5000, 900], ["front", "chapter", "chapter", "back"])], 1, 0.4, 5)
    assert [c.split for c in books[0].chapters].count("heldout") == 1
    assert {c.kind for c in books[0].chapters if c.split == "heldout"} == {"chapter"}
    pieces = split_heldout([book("mill", [3000] * 10, ["piece"] * 10)], 1, 0.1, 2)
    assert len(held(pieces)["mill"]) == 2


def test_a_share_of_zero_holds_nothing_out_and_one_chapter_is_never_taken() -> None:
    assert held(split_heldout([book("mill", [2000] * 9)], 1, 0.0, 2)) == {"mill": []}
    assert held(split_heldout([book("mill", [2000])], 1, 0.1, 2)) == {"mill": []}
