"""Person, place, other or no name at all: weighed signs, of a form over all its mentions and of one mention.

The weights are those of a linear (logistic) score fitted to LitBank by benchmarks/fit_kinds.py and rounded; data/kinds.tsv
holds them, one sign a line, so that every decision can be read off.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cache
from importlib import resources

KINDS = ("person", "place", "none")
Scores = tuple[float, float, float]


@cache
def load_weights() -> dict[str, Scores]:
    """Sign -> weights for person, place and none."""
    text = (resources.files("penname.cast") / "data" / "kinds.tsv").read_text(encoding="utf-8")
    rows = (line.split("\t") for line in text.splitlines() if line and not line.startswith("#"))
    return {sign: (float(a), float(b), float(c)) for sign, a, b, c in rows}


def weigh(signs: Mapping[str, float]) -> Scores:
    """The summed weights of the signs, each times its strength."""
    weights = load_weights()
    totals = [0.0, 0.0, 0.0]
    for sign, strength in signs.items():
        row = weights.get(sign)
        if row:
            for k in range(3):
                totals[k] += strength * row[k]
    return totals[0], totals[1], totals[2]


def best_kind(scores: Scores) -> str:
    """The kind with the highest score; the first wins a tie."""
    return KINDS[max(range(3), key=lambda k: (scores[k], -k))]


def surety(scores: Scores) -> float:
    """Probability of the best kind under the fitted score, a third to 1."""
    top = max(scores)
    return 1.0 / sum(math.exp(score - top) for score in scores)
