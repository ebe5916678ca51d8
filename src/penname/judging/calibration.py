"""From raw readings to log odds: out-of-fold readings at many lengths, what other novels were seen to add to them, length-matched nulls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from penname.judging.features import CountedText, FeatureSpace
from penname.judging.views import Views

LENGTHS = (250, 500, 1000, 2000, 5000)
_FOLDS = 4
_BLOCKS = 60  # of a text at each length


@dataclass(frozen=True)
class NextNovel:
    """How an author's next novel lies to those at hand, in shares of the way from others to author at 1,000 words."""

    spread: float  # standard deviation of a novel's mean reading, on either side
    inside: float  # share of the variance of blocks that is theirs; the rest is that of novels, which ``spread`` counts
    one_text_shift: float  # parts of the only text by the author read too well, the more so the shorter they are
    exponent: float  # of the length, in thousands of words, for that shift
    few_others_shift: float  # and so do others' parts, where there are one or two of them; for one
    few_others_exponent: float  # of the length, for that shift
    few_others_spread: float  # what one other adds to the variance of novels, in shares of it: one says little of where others lie


# As benchmarks/calibration.py finds them on novels by six authors, rounded.
MEASURED = NextNovel(0.28, 0.4, 0.14, -0.65, 0.32, -0.12, 0.6)
_FEW_OTHERS = 2
# Of Cosine Delta and impostors beside the linear view, in its standard deviations. More was measured to lose.
_VIEW_WEIGHTS = np.array([1.0, 0.05, 0.05])
_LEAST_SPREAD = 0.02  # of a view: one that is the same for all blocks must not decide
_NO_GAP = 0.05  # standard deviations; author and others nearer than this, or the wrong way round, give log odds near zero


@dataclass(frozen=True)
class Readings:
    """Out-of-fold readings. view: (N, 3); words, author and weight: (N,)."""

    view: np.ndarray
    words: np.ndarray
    author: np.ndarray
    weight: np.ndarray


def read_out_of_fold(space: FeatureSpace, mine: Sequence[CountedText], others: Sequence[CountedText]) -> Readings:
    """Each text read by an instrument that was fitted without it; where a side has one text, without that part of it."""
    my_folds, other_folds = _folds(mine), _folds(others)
    views, words, author, weight = [], [], [], []
    for fold in range(_FOLDS):
        my_out, my_in = my_folds[fold % len(my_folds)]
        other_out, other_in = other_folds[fold % len(other_folds)]
        fitted = Views(space, my_in, other_in)
        for is_author, texts in ((True, my_out), (False, other_out)):
            for text in texts:
                for length in LENGTHS:
                    if length > LENGTHS[0] and length > text.words:
                        continue
                    counts = text.blocks(length, _BLOCKS)
                    views.append(fitted.read(counts))
                    words.append(np.full(len(counts), min(length, text.words)))
                    author.append(np.full(len(counts), is_author))
                    weight.append(np.full(len(counts), 1 / len(counts) / len(texts)))
    return Readings(np.vstack(views), np.concatenate(words), np.concatenate(author), np.concatenate(weight))


def _folds(texts: Sequence[CountedText]) -> list[tuple[list[CountedText], list[CountedText]]]:
    """(left out, fitted) pairs."""
    if len(texts) == 1:
        parts = [texts[0].part(i, _FOLDS) for i in range(_FOLDS)]
        parts = [part for part in parts if len(part.counts)]
        if len(parts) < 2:
            return [(list(texts), list(texts))]
        return [([part], [other for other in parts if other is not part]) for part in parts]
    n = min(_FOLDS, len(texts))
    return [([t for i, t in enumerate(texts) if i % n == fold], [t for i, t in enumerate(texts) if i % n != fold]) for fold in range(n)]


@dataclass(frozen=True)
class _Lengths:
    """Where the joined reading lies at each length. All (lengths,)."""

    log_words: np.ndarray
    author: np.ndarray
    others: np.ndarray
    variance: np.ndarray  # inside texts, the mean of both sides

    def at(self, words: np.ndarray, which: str) -> np.ndarray:
        return np.interp(np.log(np.maximum(words, 1)), self.log_words, getattr(self, which))


class Calibration:
    """Log odds at even prior odds from the views and the length; and where a reading stands among others' texts of that length.

    Two normal distributions with one variance: that of blocks inside a text, and of a next text around those at hand.
    """

    def __init__(self, readings: Readings, my_texts: int, other_texts: int) -> None:
        lengths = _both_sides(readings)
        spread = np.sqrt(np.mean([_moments(readings.view, readings, n)[2] for n in lengths], axis=0))
        self._join = _VIEW_WEIGHTS / np.maximum(spread, _LEAST_SPREAD)  # (3,)
        joined = readings.view @ self._join
        self._lengths = _Lengths(np.log(lengths), *np.array([_moments(joined, readings, n) for n in lengths]).T)
        self._one_text = my_texts == 1
        self._few = 1 / other_texts if other_texts <= _FEW_OTHERS else 0.0
        value = self.log_odds(readings.view, readings.words)
        self._null = {int(n): np.sort(value[(readings.words == n) & ~readings.author]) for n in np.unique(readings.words)}
        self._null = {n: values for n, values in self._null.items() if len(values)}

    def log_odds(self, view: np.ndarray, words: np.ndarray, beyond: NextNovel = MEASURED) -> np.ndarray:
        """(N, 3) readings and (N,) words -> (N,)."""
        author, others, variance = (self._lengths.at(words, which) for which in ("author", "others", "variance"))
        at_1000 = self._lengths.at(np.array([1000]), "author") - self._lengths.at(np.array([1000]), "others")
        distance = np.maximum(at_1000, 0.0)
        thousands = np.clip(words, LENGTHS[0], LENGTHS[-1]) / 1000
        shift = self._one_text * beyond.one_text_shift * thousands**beyond.exponent
        shift -= self._few * beyond.few_others_shift * thousands**beyond.few_others_exponent
        spread = (beyond.spread * distance) ** 2 * (1 + self._few * beyond.few_others_spread)
        gap = np.maximum(author - others, _NO_GAP * np.sqrt(variance))
        reading = view @ self._join - (author + others) / 2 + shift * distance
        return reading * gap / (beyond.inside * variance + spread + 1e-9)

    def null_share(self, value: float, words: int) -> float:
        """Share of others' blocks, of the nearest length that was calibrated, that score at least ``value``."""
        if not self._null:
            return 1.0
        null = self._null[min(self._null, key=lambda n: abs(np.log(n / max(words, 1))))]
        return float((len(null) - np.searchsorted(null, value)) / len(null))


def _both_sides(readings: Readings) -> np.ndarray:
    """The lengths at which there are blocks by the author and by others; the shortest always is one."""
    return np.array([n for n in np.unique(readings.words) if len(set(readings.author[readings.words == n].tolist())) == 2])


def _moments(values: np.ndarray, readings: Readings, words: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(author's mean, others' mean, mean of both variances) of (N,) or (N, 3) values at a length, texts weighing the same."""
    means, variances = [], []
    for side in (True, False):
        at = (readings.words == words) & (readings.author == side)
        weight = readings.weight[at] / readings.weight[at].sum()
        means.append(weight @ values[at])
        variances.append(weight @ (values[at] - means[-1]) ** 2)
    return means[0], means[1], (variances[0] + variances[1]) / 2
