"""From raw readings to log odds: out-of-fold readings at many lengths, one small logistic model, length-matched nulls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from sklearn.linear_model import LogisticRegression

from penname.judging.features import CountedText, FeatureSpace
from penname.judging.views import VIEWS, Views

LENGTHS = (250, 500, 1000, 2000, 5000)
_FOLDS = 4
_BLOCKS = 60  # of a text at each length
# A single text cannot show how far the author's other texts lie from it: parts of it that were left out read too well. Other novels of an
# author read nearer to others' by about this share of the gap (measured on Austen, Dickens, Eliot and Anne Bronte).
_ONE_TEXT_DROP = 0.25


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


def _as_from_another_text(readings: Readings) -> Readings:
    """The author's readings moved towards the others' of the same length, as far as another text of his would lie."""
    view = readings.view.copy()
    for words in np.unique(readings.words):
        at = readings.words == words
        mine, others = at & readings.author, at & ~readings.author
        if mine.any() and others.any():
            view[mine] -= _ONE_TEXT_DROP * (view[mine].mean(axis=0) - view[others].mean(axis=0))
    return replace(readings, view=view)


class Calibration:
    """Log odds at even prior odds from the views and the length; and where a reading stands among others' texts of that length."""

    def __init__(self, readings: Readings, one_text: bool) -> None:
        if one_text:
            readings = _as_from_another_text(readings)
        self._centre = readings.view.mean(axis=0)
        self._spread = readings.view.std(axis=0) + 1e-9
        sides = [readings.weight[readings.author == side].sum() for side in (False, True)]
        weight = readings.weight / np.array(sides)[readings.author.astype(int)]  # even prior odds
        x = self._features(readings.view, readings.words)
        self._model = LogisticRegression(C=10.0, max_iter=500).fit(x, readings.author, sample_weight=weight / weight.mean())
        value = self.log_odds(readings.view, readings.words)
        self._null = {int(n): np.sort(value[(readings.words == n) & ~readings.author]) for n in np.unique(readings.words)}
        self._null = {n: values for n, values in self._null.items() if len(values)}

    def _features(self, view: np.ndarray, words: np.ndarray) -> np.ndarray:
        z = (view - self._centre) / self._spread
        length = np.log(np.clip(words, 100, 10_000) / 1000)[:, None] / 2
        return np.hstack([z, z[:, :1] * length, length])

    def log_odds(self, view: np.ndarray, words: np.ndarray) -> np.ndarray:
        """(N, 3) readings and (N,) words -> (N,)."""
        return self._model.decision_function(self._features(view, words))

    def null_share(self, value: float, words: int) -> float:
        """Share of others' blocks, of the nearest length that was calibrated, that score at least ``value``."""
        if not self._null:
            return 1.0
        null = self._null[min(self._null, key=lambda n: abs(np.log(n / max(words, 1))))]
        return float((len(null) - np.searchsorted(null, value)) / len(null))

    @property
    def view_weights(self) -> dict[str, float]:
        """How much each view moves the log odds at 1,000 words, per standard deviation."""
        return {name: float(w) for name, w in zip(VIEWS, self._model.coef_[0], strict=False)}
