"""How good a verifier is: calibration error, c@1 and F0.5u, each at even odds of the two answers whatever the numbers of texts."""

from __future__ import annotations

import numpy as np


def even_weights(author: np.ndarray) -> np.ndarray:
    """Weights under which texts by the author and by others count for half each. Needs both kinds."""
    return np.where(author, 0.5 / author.sum(), 0.5 / (~author).sum())


def calibration_error(probability: np.ndarray, author: np.ndarray, bins: int = 10) -> float:
    """Expected calibration error: the mean gap between probability and outcome over equal bins (Naeini et al. 2015), at even odds."""
    weight = even_weights(author)
    bin_of = np.minimum((probability * bins).astype(int), bins - 1)
    gaps = np.bincount(bin_of, weights=weight * (probability - author), minlength=bins)
    return float(np.abs(gaps).sum())


def c_at_1(probability: np.ndarray, author: np.ndarray, answered: np.ndarray) -> float:
    """Accuracy that pays for leaving hard texts unanswered: nc + nu * nc (Penas & Rodrigo 2011), at even odds."""
    weight = even_weights(author)
    correct = weight[answered & ((probability > 0.5) == author)].sum()
    return float(correct + weight[~answered].sum() * correct)


def f_05_u(probability: np.ndarray, author: np.ndarray, answered: np.ndarray) -> float:
    """F0.5 for which an unanswered text counts as a missed one (Bevendorff et al. 2019), at even odds."""
    weight = even_weights(author)
    says_author = answered & (probability > 0.5)
    true_positive = weight[says_author & author].sum()
    false_positive = weight[says_author & ~author].sum()
    missed = weight[author & answered & ~says_author].sum() + weight[~answered].sum()
    return float(1.25 * true_positive / (1.25 * true_positive + 0.25 * missed + false_positive))
