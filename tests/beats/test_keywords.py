"""The offline annotator: deterministic, short, the people present, and words that tell passages apart."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from penname.beats import KeywordAnnotator
from penname.core.beatstyle import count_words


def test_the_lines_of_a_small_town(town) -> None:
    book, _, passages, gate = town
    keywords = KeywordAnnotator([book], passages, {book.id: gate.names})
    lines = [keywords.line(p, book.text[p.start : p.end]) for p in passages]
    assert lines[0].startswith("Jane Reed, John; ") and "bottle" in lines[0] and "pantry" in lines[0]
    assert lines[1].startswith("Mr. Hope, Jane; ") and "lantern" in lines[1]
    assert lines[2].startswith("Old Gilbert Sallow, Gilbert; ") and "coins" in lines[2] and "bag" in lines[2]
    assert all(gate.check(line, p, "keywords") is None for line, p in zip(lines, passages, strict=True))
    assert all(count_words(line) <= 20 for line in lines)


def test_words_stand_in_the_order_of_the_passage(town) -> None:
    book, _, passages, gate = town
    text = book.text[passages[0].start : passages[0].end]
    words = KeywordAnnotator([book], passages, {book.id: gate.names}).line(passages[0], text).split("; ")[1].split(", ")
    at = [re.search(rf"\b{word}\b", text).start() for word in words]
    assert at == sorted(at) and len(at) == 9


def test_another_attempt_is_another_line(town) -> None:
    book, _, passages, gate = town
    keywords = KeywordAnnotator([book], passages, {book.id: gate.names})
    lines = [keywords.line(passages[2], book.text[passages[2].start : passages[2].end], attempt=n) for n in range(3)]
    assert len(set(lines)) == 3


def test_names_in_the_order_of_the_passage_are_no_copied_run_in_the_end() -> None:
    """An introduction ("M. Pelet, Mr. Crimsworth; ...") lists the names as a keyword line does: no choice of words passes the gate."""
    from penname.beats import Gate, cut_passages
    from penname.beats.keywords import KEYWORD_ATTEMPTS
    from penname.core.values import Book, Cast, Chapter, Entity, Mention

    text = '"M. Pelet, Mr. Crimsworth, Mr. Brown," said the porter, and a bow on each side finished the ceremony beside the hearth.'
    book = Book("town", "Town", "Nobody", text, (Chapter("chapter", 1, "", 0, len(text), 0),))
    names = ("M. Pelet", "Mr. Crimsworth", "Mr. Brown")
    at = [text.index(name) for name in names]
    cast = Cast(
        "town",
        tuple(Entity(f"p{k}", "person", "male", (name,)) for k, name in enumerate(names)),
        tuple(Mention(at[k], at[k] + len(name), f"p{k}") for k, name in enumerate(names)),
    )
    (passage,), gate = cut_passages(book), Gate(book, cast)
    keywords = KeywordAnnotator([book], [passage], {"town": gate.names})
    lines = [keywords.line(passage, text, attempt=n) for n in range(KEYWORD_ATTEMPTS)]
    assert lines[0].startswith("M. Pelet, Mr. Crimsworth, Mr. Brown; ")
    passing = [line for line in lines if gate.check(line, passage, "keywords") is None]
    assert passing[0] == "M. Pelet; porter, bow, side, finished, ceremony, hearth"
    assert ";" not in lines[-1]  # no name at all


def test_no_names_and_hardly_any_words_still_give_a_line(town) -> None:
    book, _, passages, gate = town
    keywords = KeywordAnnotator([book], passages, {book.id: gate.names})
    assert keywords.line(passages[0], "wind and rain") != ""


def test_jane_eyre_every_line_passes_the_gate_and_tells_its_passage_from_others(shared) -> None:
    pytest.importorskip("penname.cast.build")
    from penname.beats import Gate, cut_passages
    from penname.books import read_book
    from penname.cast import build_cast

    book = read_book(shared / "books/raw/1260.txt")
    gate = Gate(book, build_cast([book])[0])
    passages = cut_passages(book)
    keywords = KeywordAnnotator([book], passages, {book.id: gate.names})
    texts = [book.text[p.start : p.end] for p in passages]
    lines = [keywords.line(p, text) for p, text in zip(passages, texts, strict=True)]
    refused = [gate.check(line, p, "keywords") for line, p in zip(lines, passages, strict=True)]
    assert sum(r is not None for r in refused) <= 0.02 * len(lines)  # the next choice of words is taken for those
    # A line steers if it is about its own passage: its content words must be found there more than anywhere else.
    words_of = [Counter(re.findall(r"[a-z]+(?:-[a-z]+)*", text)) for text in texts]
    own = 0
    for i, line in enumerate(lines):
        content = line.split("; ")[-1].split(", ")
        scores = [sum(word in words for word in content) for words in words_of]
        own += scores[i] == max(scores) and scores.count(max(scores)) == 1
    assert own >= 0.97 * len(lines)
