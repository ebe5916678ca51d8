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
    groups = [_members(high_clusters), _members(low_clusters)]
    draws = [auc(a[_resample(groups[0], rng)], b[_resample(groups[1], rng)]) for _ in range(RESAMPLES)]
    tail = (1 - INTERVAL) / 2 * 100
    lower, upper = np.percentile(draws, [tail, 100 - tail])
    return Separation(found, float(lower), float(upper), _permutation_p(a, b, found, rng), len(a), len(b))


def _members(clusters: Sequence[object]) -> list[np.ndarray]:
    names = list(dict.fromkeys(clusters))
    return [np.flatnonzero([cluster == name for cluster in clusters]) for name in names]


def _resample(groups: list[np.ndarray], rng: np.random.Generator) -> np.ndarray:
    return np.concatenate([groups[i] for i in rng.integers(len(groups), size=len(groups))])


def _permutation_p(a: np.ndarray, b: np.ndarray, found: float, rng: np.random.Generator) -> float:
    both = np.concatenate([a, b])
    far = 0
    for _ in range(RESAMPLES):
        mixed = rng.permutation(both)
        far += abs(auc(mixed[: len(a)], mixed[len(a) :]) - 0.5) >= abs(found - 0.5) - 1e-12
    return (far + 1) / (RESAMPLES + 1)
