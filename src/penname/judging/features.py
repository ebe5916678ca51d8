"""Style features of blocks of text: counts per block, then one vector a block, on scales that do not depend on length.

Groups: words (the most frequent of the fitted texts, punctuation among them), pairs (neighbours among the commonest words and
marks: rhythm and syntax), ngrams (2 to 4 characters inside words, edges marked) and sentences (a histogram of their lengths).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from penname.judging.tokens import HIDDEN, PARAGRAPH

_PAIR_WORDS = 150  # function words and marks; neighbours beyond these are topic
_NGRAM_WORDS = 5000  # words whose character n-grams are counted; rarer ones are topic
_SENTENCE_ENDS = frozenset(".!?")
_SENTENCE_BINS = 12


@dataclass(frozen=True)
class Sizes:
    """How many features each group has, the most frequent first."""

    words: int = 1000
    pairs: int = 1000
    ngrams: int = 2000


class FeatureSpace:
    """Which words, pairs and n-grams are counted. Fitted on token lists (names hidden), one a text; every text weighs the same."""

    def __init__(self, texts: Sequence[list[str]], sizes: Sizes = Sizes()) -> None:
        share: Counter[str] = Counter()
        for tokens in texts:
            counts = Counter(tokens)
            counts.pop(HIDDEN, None)
            counts.pop(PARAGRAPH, None)
            total = sum(counts.values()) or 1
            for word, n in counts.items():
                share[word] += n / total
        ranked = [word for word, _ in sorted(share.items(), key=lambda item: (-item[1], item[0]))]
        self.words = ranked[: sizes.words]
        self._index = {word: i for i, word in enumerate(ranked[:_NGRAM_WORDS])}
        self._ends = np.array([self._index[mark] for mark in sorted(_SENTENCE_ENDS) if mark in self._index], dtype=np.int64)
        self.ngrams, self._word_ngrams = _word_ngrams(ranked[:_NGRAM_WORDS], share, sizes.ngrams)
        self.pairs = self._frequent_pairs(texts, sizes.pairs)

    @cached_property
    def names(self) -> list[str]:
        """One readable name a feature, in the order of the vectors."""
        spelled = ranked_pairs(self.pairs, self.words)
        return [
            *(f"word {word}" for word in self.words),
            *(f"pair {pair}" for pair in spelled),
            *(f"letters {gram}" for gram in self.ngrams),
            *(f"sentences of {2 ** (i / 2) - 1:.0f}+ words" for i in range(_SENTENCE_BINS)),
        ]

    @cached_property
    def groups(self) -> dict[str, slice]:
        """Where each group stands in a vector."""
        ends = np.cumsum([len(self.words), len(self.pairs), len(self.ngrams), _SENTENCE_BINS])
        return {
            name: slice(int(end - n), int(end))
            for name, end, n in zip(("words", "pairs", "ngrams", "sentences"), ends, np.diff([0, *ends]), strict=True)
        }

    def ids(self, tokens: list[str]) -> np.ndarray:
        """Word ids, -1 for words out of the space, -2 for hidden ones; paragraph breaks are left out."""
        index = self._index
        return np.array([-2 if token == HIDDEN else index.get(token, -1) for token in tokens if token != PARAGRAPH], dtype=np.int64)

    def counts(self, ids: np.ndarray) -> np.ndarray:
        """Counts of one block of ids as one vector in the order of ``names`` (float32)."""
        known = np.bincount(ids[ids >= 0], minlength=len(self._index))
        parts = (known[: len(self.words)], self._count_pairs(ids), known @ self._word_ngrams, self._sentence_lengths(ids))
        return np.concatenate(parts).astype(np.float32)

    def _pair_keys(self, ids: np.ndarray) -> np.ndarray:
        small = np.where((ids >= 0) & (ids < _PAIR_WORDS), ids, -1)
        first, second = small[:-1], small[1:]
        both = (first >= 0) & (second >= 0)
        return first[both] * _PAIR_WORDS + second[both]

    def _frequent_pairs(self, texts: Sequence[list[str]], n: int) -> np.ndarray:
        share = np.zeros(_PAIR_WORDS * _PAIR_WORDS)
        for tokens in texts:
            keys = self._pair_keys(self.ids(tokens))
            share += np.bincount(keys, minlength=len(share)) / max(1, len(keys))
        order = np.argsort(-share, kind="stable")[:n]
        return np.sort(order[share[order] > 0])

    def _count_pairs(self, ids: np.ndarray) -> np.ndarray:
        return np.bincount(self._pair_keys(ids), minlength=_PAIR_WORDS * _PAIR_WORDS)[self.pairs]

    def _sentence_lengths(self, ids: np.ndarray) -> np.ndarray:
        ends = np.flatnonzero(np.isin(ids, self._ends))
        lengths = np.diff(ends, prepend=-1) - 1
        bins = np.minimum((2 * np.log2(lengths[lengths > 0] + 1)).astype(np.int64), _SENTENCE_BINS - 1)
        return np.bincount(bins, minlength=_SENTENCE_BINS)

    def vectors(self, counts: np.ndarray) -> np.ndarray:
        """Square roots of each group's shares (Hellinger scale, which steadies the variance of counts). (N, features)."""
        out = np.empty_like(counts)
        for where in self.groups.values():
            part = counts[:, where]
            out[:, where] = np.sqrt(part / np.maximum(part.sum(axis=1, keepdims=True), 1))
        return out


def ranked_pairs(pairs: np.ndarray, words: Sequence[str]) -> list[str]:
    """Pairs spelled out."""
    return [f"{words[key // _PAIR_WORDS]} {words[key % _PAIR_WORDS]}" for key in pairs.tolist()]


def _word_ngrams(words: Sequence[str], share: Counter[str], n: int) -> tuple[list[str], sparse.csr_array]:
    """The n commonest 2- to 4-grams and how often each stands in each word. Counting words once makes n-grams nearly free."""
    per_word = [Counter(_grams(f"_{word}_")) if word[0].isalpha() else Counter() for word in words]
    total: Counter[str] = Counter()
    for word, grams in zip(words, per_word, strict=True):
        for gram, k in grams.items():
            total[gram] += k * share[word]
    kept = [gram for gram, _ in sorted(total.items(), key=lambda item: (-item[1], item[0]))[:n]]
    at = {gram: i for i, gram in enumerate(kept)}
    rows = [[(at[gram], k) for gram, k in grams.items() if gram in at] for grams in per_word]
    flat = [(i, j, k) for i, row in enumerate(rows) for j, k in row]
    i, j, k = (np.array(column) for column in zip(*flat, strict=True)) if flat else (np.empty(0, int),) * 3
    return kept, sparse.csr_array((k, (i, j)), shape=(len(words), len(kept)))


def _grams(word: str) -> list[str]:
    return [word[i : i + size] for size in (2, 3, 4) for i in range(len(word) - size + 1)]


def unit_starts(tokens: list[str], words: int) -> list[tuple[int, int]]:
    """Spans of consecutive units of ``words`` words in a token list; a shorter rest is left out, unless it is all there is."""
    spans, start, n = [], 0, 0
    for at, token in enumerate(tokens):
        n += token == HIDDEN or token[0].isalpha()
        if n == words:
            spans.append((start, at + 1))
            start, n = at + 1, 0
    return spans or ([(0, len(tokens))] if n else [])
