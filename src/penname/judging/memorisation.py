"""What a text repeats word for word: spans shared with reference texts, names hidden on both sides.

A word of a sample is in a span of more than n words exactly where some run of n + 1 words around it stands in a reference. Runs are
compared by 64-bit hashes of word numbers: among a million words and 200 samples a false match has a chance below 1e-8.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from penname.judging.tokens import Lexicon, hide_names, tokenise

HIDDEN_WORD = "_"
LENGTHS = (9, 21)  # spans of more than 8 and of more than 20 words
_BASE = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Copied:
    """Of one sample: its words, those in spans of more than 8 and 20 words, and its longest span in words."""

    words: int
    over_8: int
    over_20: int
    longest: int


class WordsOf:
    """A text's words with names hidden, as the count and the map see them."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._tokens = {text: tokenise(text) for text in texts}  # kept: whole novels, whose words are asked for next
        self._lexicon = Lexicon(self._tokens.values())

    def __call__(self, text: str) -> list[str]:
        """Lower-cased words, hidden ones as "_"."""
        spelled = hide_names(self._tokens.get(text) or tokenise(text), self._lexicon).spelled()
        return [word for word in spelled if word == HIDDEN_WORD or word[0].isalpha()]


class Reference:
    """Texts to compare with, as word lists with names hidden. Building costs one pass a length."""

    def __init__(self, texts: Sequence[Sequence[str]]) -> None:
        self._numbers: dict[str, int] = {}
        self._texts = [self._encode(text, grow=True) for text in texts]
        self._hashes: dict[int, np.ndarray] = {}
        self._places: tuple[np.ndarray, np.ndarray] | None = None

    def copied(self, sample: Sequence[str]) -> Copied:
        """What the sample repeats of any of the texts. A span of hidden words alone counts as none."""
        words = self._encode(sample, grow=False)
        over_8, over_20 = (int(self._covered(words, n).sum()) for n in LENGTHS)
        return Copied(len(words), over_8, over_20, self._longest(words))

    def _encode(self, words: Sequence[str], grow: bool) -> np.ndarray:
        numbers = self._numbers
        if grow:
            out = [numbers.setdefault(word, len(numbers) + 1) for word in words]
        else:
            # A word that no reference has can match nothing, and no two such words are the same.
            out = [numbers.get(word, -1 - i) for i, word in enumerate(words)]
        return np.array(out, dtype=np.int64)

    def _known(self, n: int) -> np.ndarray:
        if n not in self._hashes:
            hashes = [_rolling(text, n) for text in self._texts if len(text) >= n]
            self._hashes[n] = np.sort(np.concatenate(hashes)) if hashes else np.empty(0, np.uint64)
        return self._hashes[n]

    def _matches(self, words: np.ndarray, n: int) -> np.ndarray:
        if len(words) < n:
            return np.empty(0, dtype=bool)
        known = self._known(n)
        if not len(known):
            return np.zeros(len(words) - n + 1, dtype=bool)
        hashes = _rolling(words, n)
        at = np.minimum(np.searchsorted(known, hashes), len(known) - 1)
        hidden = self._numbers.get(HIDDEN_WORD, 0)
        real = np.convolve(words != hidden, np.ones(n, dtype=np.int64), "valid") > 0
        return (known[at] == hashes) & real

    def _covered(self, words: np.ndarray, n: int) -> np.ndarray:
        covered = np.zeros(len(words) + 1, dtype=np.int64)
        for start in np.flatnonzero(self._matches(words, n)):
            covered[start] += 1
            covered[start + n] -= 1
        return np.cumsum(covered)[:-1] > 0

    def _longest(self, words: np.ndarray) -> int:
        seed = LENGTHS[0]
        long = self._longest_chain(words, seed)
        if long:
            return long
        low, high = 0, min(len(words), seed - 1)  # a run of n words that stands in a reference has runs of n - 1 that do: bisect
        while low < high:
            middle = (low + high + 1) // 2
            if self._matches(words, middle).any():
                low = middle
            else:
                high = middle - 1
        return low

    def _longest_chain(self, words: np.ndarray, n: int) -> int:
        """The longest run of at least ``n`` words: matches of n words whose starts go on together in sample and reference."""
        if len(words) < n:
            return 0
        if self._places is None:
            by_text = [_rolling(text, n) if len(text) >= n else np.empty(0, np.uint64) for text in self._texts]
            # A gap between texts in the numbering of places keeps a chain from running on from one text into the next.
            starts = np.cumsum([0, *(len(text) + n for text in self._texts)])
            numbered = [start + np.arange(len(one)) for start, one in zip(starts[:-1], by_text, strict=True)]
            joined = np.concatenate([np.empty(0, np.uint64), *by_text])
            order = np.argsort(joined, kind="stable")
            self._places = joined[order], np.concatenate([np.empty(0, np.int64), *numbered])[order]
        known, places = self._places
        hashes = _rolling(words, n)
        left, right = np.searchsorted(known, hashes, "left"), np.searchsorted(known, hashes, "right")
        found = [(int(place) - at, at) for at in np.flatnonzero(right > left).tolist() for place in places[left[at] : right[at]]]
        found.sort()
        hidden = self._numbers.get(HIDDEN_WORD, 0)
        best, begun = 0, 0
        for i, (diagonal, at) in enumerate(found):
            if i == 0 or found[i - 1] != (diagonal, at - 1):
                begun = at
            length = at - begun + n
            if length > best and (words[begun : begun + length] != hidden).any():
                best = length
        return best


def _rolling(words: np.ndarray, n: int) -> np.ndarray:
    """Hashes of every run of ``n`` words: (len - n + 1,) uint64, by doubling, so a long run costs no more passes than its bits."""
    with np.errstate(over="ignore"):
        mixed = (words.astype(np.uint64) + np.uint64(1)) * np.uint64(0xD6E8FEB86659FD93)
        mixed ^= mixed >> np.uint64(32)
        size, result, done, power = 1, np.zeros(len(words) - n + 1, np.uint64), 0, _BASE
        block = mixed
        while True:
            if n & size:
                piece = block[done : done + len(result)]
                result = result * power + piece
                done += size
            if done >= n:
                return result
            block = block[: len(block) - size] * power + block[size:]
            power = power * power
            size *= 2
