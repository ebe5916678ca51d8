"""Packing: nothing lost, nothing too long, rows nearly full."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cpu import cpu_seconds
from penname.core.rng import CounterRng
from penname.shards.packing import pack


def test_best_fit_by_hand() -> None:
    # 6 opens a row (2 free), 5 another (3 free), 3 fits the second exactly, 2 the first exactly.
    assert pack([3, 6, 2, 5], 8) == [[1, 2], [0, 3]]


@given(st.lists(st.integers(1, 64), max_size=200))
def test_every_document_is_in_one_row_that_holds_it(lengths: list[int]) -> None:
    rows = pack(lengths, 64)
    assert sorted(d for row in rows for d in row) == list(range(len(lengths)))
    assert all(sum(lengths[d] for d in row) <= 64 for row in rows)


def test_a_document_longer_than_a_row_is_a_mistake() -> None:
    with pytest.raises(ValueError, match="document 1 has 9 tokens; a row takes 1 to 8"):
        pack([3, 9], 8)


def test_mixed_lengths_fill_rows() -> None:
    rng = CounterRng(1, "lengths")
    lengths = [1 + rng.below(2048) for _ in range(5000)]
    rows = pack(lengths, 2048)
    assert sum(lengths) / (len(rows) * 2048) > 0.95


def test_time_is_linear() -> None:
    def seconds(documents: int) -> float:
        lengths = [1 + (i * 7919) % 2048 for i in range(documents)]
        return cpu_seconds(lambda: pack(lengths, 2048))

    assert seconds(64_000) < 8 * max(seconds(16_000) for _ in range(3))  # four times as many; by the square it would be sixteen times
