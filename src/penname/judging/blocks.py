"""Texts as counts per unit of 250 words; blocks of any length are sums of consecutive units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from penname.judging.features import FeatureSpace, unit_starts

UNIT_WORDS = 250


@dataclass(frozen=True)
class CountedText:
    """One fitted text: (units, features) counts and words per unit."""

    counts: np.ndarray
    unit_words: int

    def blocks(self, words: int) -> np.ndarray:
        """Counts of consecutive blocks of ``words`` words (whole units); the whole text where it is shorter. (N, features)."""
        per = max(1, round(words / self.unit_words))
        n = len(self.counts) // per
        if n == 0:
            return self.counts.sum(axis=0, keepdims=True)
        return self.counts[: n * per].reshape(n, per, -1).sum(axis=1)

    def part(self, i: int, parts: int) -> CountedText:
        """The ``i``-th of ``parts`` runs of units."""
        bounds = np.linspace(0, len(self.counts), parts + 1).astype(int)
        return CountedText(self.counts[bounds[i] : bounds[i + 1]], self.unit_words)


def count_text(space: FeatureSpace, tokens: list[str], unit_words: int = UNIT_WORDS) -> CountedText:
    """The counts of a text's units."""
    spans = unit_starts(tokens, unit_words)
    rows = [space.counts(space.ids(tokens[start:end])) for start, end in spans]
    width = len(space.names)
    return CountedText(np.array(rows, dtype=np.float32).reshape(len(rows), width), unit_words)


def stack(texts: Sequence[CountedText], words: int) -> tuple[np.ndarray, np.ndarray]:
    """Blocks of all texts and the number of the text each is from."""
    blocks = [text.blocks(words) for text in texts]
    return np.vstack(blocks), np.repeat(np.arange(len(texts)), [len(block) for block in blocks])
