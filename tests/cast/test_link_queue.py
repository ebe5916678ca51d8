"""What a person is asked about a Bronte novel: few questions, the most frequent name first."""

from __future__ import annotations

import pytest

from penname.books import read_book
from penname.cast import build_cast


@pytest.mark.parametrize(("file", "asked"), [("9182.txt", "Dr. John"), ("30486-0.txt", "Mr. Moore"), ("1028-0.txt", "Mr. Crimsworth")])
def test_the_queue_is_short_and_asks_what_the_book_leaves_open(shared, file, asked):
    queue = build_cast([read_book(shared / "books/raw" / file)])[0].unresolved
    assert 0 < len(queue) <= 40
    assert [q.count for q in queue] == sorted((q.count for q in queue), reverse=True)
    assert asked in {q.form for q in queue}
    assert all(q.options and len(q.snippets) >= 1 for q in queue)
