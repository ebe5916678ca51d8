"""Randomness from a counter: the same on every Python and platform, and independent of the order of calls.

A draw is a function of (seed, purpose, index) through SHA-256; nothing is stored between draws.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class CounterRng:
    """A stream of draws for one purpose: ``CounterRng(7, "split", book_id).below(10)``."""

    def __init__(self, *key: object) -> None:
        self._key = "\x1f".join(str(part) for part in key).encode()
        self._index = 0

    def bits64(self, index: int | None = None) -> int:
        """64 random bits; the next of the stream, or the one at ``index``."""
        if index is None:
            index = self._index
            self._index += 1
        digest = hashlib.sha256(self._key + b"\x1e" + str(index).encode()).digest()
        return int.from_bytes(digest[:8], "big")

    def random(self) -> float:
        """A float in [0, 1) with 53 random bits."""
        return (self.bits64() >> 11) * 2.0**-53

    def below(self, n: int) -> int:
        """An integer in [0, n). The bias is below n / 2**64."""
        if n <= 0:
            raise ValueError(f"below({n}): n must be positive")
        return self.bits64() * n >> 64

    def choice(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """The items in a random order (Fisher-Yates); the input is left as it is."""
        out = list(items)
        for i in range(len(out) - 1, 0, -1):
            j = self.below(i + 1)
            out[i], out[j] = out[j], out[i]
        return out
