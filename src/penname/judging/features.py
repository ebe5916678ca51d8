"""Style features: counts per unit of a text, then one vector a block, on scales that do not depend on length.

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

from penname.judging.tokens import PARAGRAPH, Tokens

UNIT_WORDS = 250
_PAIR_WORDS = 150  # function words and marks; neighbours beyond these are topic
_NGRAM_WORDS = 5000  # words whose character n-grams are counted; rarer ones are topic
_SENTENCE_ENDS = (".", "!", "?")
_SENTENCE_BINS = 12


@dataclass(frozen=True)
class Sizes:
    """How many features each group has, the most frequent first."""

    words: int = 1000
    pairs: int = 1000
    ngrams: int = 1000


@dataclass(frozen=True)
class CountedText:
    """(units, features) counts of consecutive units of UNIT_WORDS words; blocks of any length are sums of units."""

    counts: np.ndarray

    @property
    def words(self) -> int:
        """Words in whole units."""
        return UNIT_WORDS * len(self.counts)

    def blocks(self, words: int, most: int = 1 << 30) -> np.ndarray:
        """Counts of consecutive blocks of ``words`` words, at most ``most`` of them, evenly spaced. (N, features).

        The whole text is one block where it is shorter.
        """
        per = max(1, round(words / UNIT_WORDS))
        n = len(self.counts) // per
        if n == 0:
            return self.counts.sum(axis=0, keepdims=True)
        chosen = np.unique(np.linspace(0, n - 1, min(n, most)).astype(int))
        return self.counts[: n * per].reshape(n, per, -1)[chosen].sum(axis=1)

    def part(self, i: int, parts: int) -> CountedText:
        """The ``i``-th of ``parts`` runs of units."""
        bounds = np.linspace(0, len(self.counts), parts + 1).astype(int)
        return CountedText(self.counts[bounds[i] : bounds[i + 1]])


class FeatureSpace:
    """Which words, pairs and n-grams are counted. Fitted on texts with hidden names; every text weighs the same."""

    def __init__(self, texts: Sequence[Tokens], sizes: Sizes = Sizes()) -> None:
        share: dict[str, float] = {}
        for text in texts:
            counts = np.bincount(text.ids[text.ids >= 0], minlength=len(text.types)).tolist()
            total = sum(counts) or 1
            for word, n in zip(text.types, counts, strict=True):
                share[word] = share.get(word, 0.0) + n / total
        share.pop(PARAGRAPH, None)
        ranked = [word for word, _ in sorted(share.items(), key=lambda item: (-item[1], item[0]))][:_NGRAM_WORDS]
        self.words = ranked[: sizes.words]
        self._index = {word: i for i, word in enumerate(ranked)}
        self._ends = np.array([self._index[mark] for mark in _SENTENCE_ENDS if mark in self._index], dtype=np.int64)
        self.ngrams, self._word_ngrams = _word_ngrams(ranked, share, sizes.ngrams)
        self.pairs = self._frequent_pairs(texts, sizes.pairs)
        self._pair_column = np.full(_PAIR_WORDS * _PAIR_WORDS, -1)
        self._pair_column[self.pairs] = np.arange(len(self.pairs))

    @cached_property
    def names(self) -> list[str]:
        """One readable name a feature, in the order of the vectors."""
        pairs = [f"pair {self.words[key // _PAIR_WORDS]} {self.words[key % _PAIR_WORDS]}" for key in self.pairs.tolist()]
        lengths = [f"sentences of {2 ** (i / 2) - 1:.0f} or more words" for i in range(_SENTENCE_BINS)]
        return [f"word {word}" for word in self.words] + pairs + [f"letters {gram}" for gram in self.ngrams] + lengths

    @cached_property
    def groups(self) -> dict[str, slice]:
        """Where each group stands in a vector."""
        sizes = {"words": len(self.words), "pairs": len(self.pairs), "ngrams": len(self.ngrams), "sentences": _SENTENCE_BINS}
        ends = np.cumsum(list(sizes.values())).tolist()
        return {name: slice(end - n, end) for (name, n), end in zip(sizes.items(), ends, strict=True)}

    def count(self, tokens: Tokens, unit_words: int = UNIT_WORDS) -> CountedText:
        """The counts of a text's units; a rest shorter than a unit is left out, unless it is all there is."""
        ids, unit, n = self._units(tokens, unit_words)
        known = ids >= 0
        words = _table(unit[known], ids[known], n, len(self._index))
        ngrams = (words @ self._word_ngrams).toarray()
        column = np.where(unit[:-1] == unit[1:], self._pair_column[self._pair_keys(ids)], -1)
        pairs = _table(unit[:-1][column >= 0], column[column >= 0], n, len(self.pairs)).toarray()
        parts = (words[:, : len(self.words)].toarray(), pairs, ngrams, self._sentence_lengths(ids, unit, n))
        return CountedText(np.hstack(parts).astype(np.float32))

    def _ids(self, tokens: Tokens) -> np.ndarray:
        """Index of each token, -1 out of the space, -2 hidden."""
        of_type = np.array([self._index.get(token, -1) for token in tokens.types] + [-2], dtype=np.int64)
        return of_type[tokens.ids]

    def _units(self, tokens: Tokens, unit_words: int) -> tuple[np.ndarray, np.ndarray, int]:
        breaks = np.array([token == PARAGRAPH for token in tokens.types] + [False])
        kept = ~breaks[tokens.ids]
        is_word = tokens.is_word()[kept]
        before = np.cumsum(is_word) - is_word
        unit = before // unit_words
        n = max(1, int(is_word.sum()) // unit_words)
        inside = unit < n
        return self._ids(tokens)[kept][inside], unit[inside], n

    def _pair_keys(self, ids: np.ndarray) -> np.ndarray:
        """Keys of neighbours; where one is no common word the key is 0 (the commonest mark twice, which says nothing)."""
        common = (ids >= 0) & (ids < _PAIR_WORDS)
        return np.where(common[:-1] & common[1:], ids[:-1] * _PAIR_WORDS + ids[1:], 0)

    def _frequent_pairs(self, texts: Sequence[Tokens], n: int) -> np.ndarray:
        share = np.zeros(_PAIR_WORDS * _PAIR_WORDS)
        for tokens in texts:
            share += np.bincount(self._pair_keys(self._ids(tokens)), minlength=len(share)) / max(1, len(tokens.ids))
        share[0] = 0
        order = np.argsort(-share, kind="stable")[:n]
        return np.sort(order[share[order] > 0])

    def _sentence_lengths(self, ids: np.ndarray, unit: np.ndarray, n: int) -> np.ndarray:
        ends = np.flatnonzero(np.isin(ids, self._ends))
        lengths = np.diff(ends, prepend=-1) - 1
        ends, lengths = ends[lengths > 0], lengths[lengths > 0]
        bins = np.minimum((2 * np.log2(lengths + 1)).astype(np.int64), _SENTENCE_BINS - 1)
        return _table(unit[ends], bins, n, _SENTENCE_BINS).toarray()

    def vectors(self, counts: np.ndarray) -> np.ndarray:
        """Square roots of each group's shares (Hellinger scale, which steadies the variance of counts). (N, features)."""
        out = np.empty(counts.shape, dtype=np.float32)
        for where in self.groups.values():
            part = counts[:, where]
            out[:, where] = np.sqrt(part / np.maximum(part.sum(axis=1, keepdims=True), 1))
        return out


def _table(rows: np.ndarray, columns: np.ndarray, n_rows: int, n_columns: int) -> sparse.csr_array:
    """How often each (row, column) occurs."""
    ones = np.ones(len(rows), dtype=np.float32)
    return sparse.coo_array((ones, (rows, columns)), shape=(n_rows, n_columns)).tocsr()


def _word_ngrams(words: Sequence[str], share: dict[str, float], n: int) -> tuple[list[str], sparse.csr_array]:
    """The n commonest 2- to 4-grams and how often each stands in each word. Counting words once makes n-grams nearly free."""
    per_word = [Counter(_grams(f"_{word}_")) if word[0].isalpha() else Counter() for word in words]
    total: dict[str, float] = {}
    for word, grams in zip(words, per_word, strict=True):
        for gram, k in grams.items():
            total[gram] = total.get(gram, 0.0) + k * share[word]
    kept = [gram for gram, _ in sorted(total.items(), key=lambda item: (-item[1], item[0]))[:n]]
    at = {gram: i for i, gram in enumerate(kept)}
    cells = [(i, at[gram], k) for i, grams in enumerate(per_word) for gram, k in grams.items() if gram in at]
    rows, columns, counts = np.array(cells, dtype=np.int64).reshape(-1, 3).T
    table = sparse.coo_array((counts.astype(np.float32), (rows, columns)), shape=(len(words), len(kept)))
    return kept, table.tocsr()


def _grams(word: str) -> list[str]:
    return [word[i : i + size] for size in (2, 3, 4) for i in range(len(word) - size + 1)]
