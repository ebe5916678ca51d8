"""Separation of two groups of scores: AUC, its bootstrap interval over chapters, and a permutation test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata

RESAMPLES = 2000
INTERVAL = 0.95


@dataclass(frozen=True)
class Separation:
    """AUC of ``high`` over ``low``, with a percentile interval over resampled clusters and a two-sided permutation p."""

    auc: float
    low: float
    high: float
    p: float
    n_high: int
    n_low: int

    def to_json(self) -> dict[str, Any]:
        """For controls.json."""
        return {key: round(value, 4) if isinstance(value, float) else value for key, value in asdict(self).items()}


def auc(high: Sequence[float] | np.ndarray, low: Sequence[float] | np.ndarray) -> float:
    """Chance that a score of ``high`` is above one of ``low``, ties half (Mann and Whitney 1947). 0.5 where a side is empty."""
    n, m = len(high), len(low)
    if not n or not m:
        return 0.5
    ranks = rankdata(np.concatenate([high, low]))
    return float((ranks[:n].sum() - n * (n + 1) / 2) / (n * m))


def separation(
    high: Sequence[float], low: Sequence[float], high_clusters: Sequence[object], low_clusters: Sequence[object], seed: int
) -> Separation:
    """AUC with an interval that resamples clusters (chapters), since blocks of one chapter are no independent draws.

    Each side resamples its own clusters. With one cluster on a side the interval is that of the other side alone.
    """
    rng = np.random.default_rng(seed)
    a, b = np.asarray(high, float), np.asarray(low, float)
    found = auc(a, b)
    if not len(a) or not len(b):
        return Separation(found, 0.0, 1.0, 1.0, len(a), len(b))
    both = np.concatenate([a, b])
    above = (both[:, None] > both[None]) + 0.5 * (both[:, None] == both[None])  # (N, N): every AUC here is a sum over parts of it
    weight_high, weight_low = _resamples(high_clusters, rng), _resamples(low_clusters, rng)  # (RESAMPLES, n)
    wins = ((weight_high @ above[: len(a), len(a) :]) * weight_low).sum(axis=1)
    draws = wins / (weight_high.sum(axis=1) * weight_low.sum(axis=1))
    tail = (1 - INTERVAL) / 2 * 100
    lower, upper = np.percentile(draws, [tail, 100 - tail])
    return Separation(found, float(lower), float(upper), _permutation_p(above, len(a), found, rng), len(a), len(b))


def _resamples(clusters: Sequence[object], rng: np.random.Generator) -> np.ndarray:
    """How often each score is drawn when its clusters are drawn with replacement: (RESAMPLES, n)."""
    number = {cluster: i for i, cluster in enumerate(dict.fromkeys(clusters))}
    drawn = rng.multinomial(len(number), np.full(len(number), 1 / len(number)), size=RESAMPLES)
    return drawn[:, [number[cluster] for cluster in clusters]].astype(float)


def _permutation_p(above: np.ndarray, n: int, found: float, rng: np.random.Generator) -> float:
    order = rng.permuted(np.tile(np.arange(len(above)), (RESAMPLES, 1)), axis=1)
    is_high = (order < n).astype(float)  # (RESAMPLES, N)
    mixed = ((is_high @ above) * (1 - is_high)).sum(axis=1) / (n * (len(above) - n))
    far = (np.abs(mixed - 0.5) >= abs(found - 0.5) - 1e-12).sum()
    return float((far + 1) / (RESAMPLES + 1))
