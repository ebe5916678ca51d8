"""Three ways to see whether a block is the author's: a linear classifier, a Cosine Delta profile, and impostors.

All work on the same vectors, standardised over the fitted texts, with the directions removed along which one and the same text
varies most (dialogue against narration, dialect, first person against third): nuisance attribute projection, from speaker
verification (Solomonoff, Campbell & Boardman 2005). That is what makes a score carry over to another novel of the author.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.utils.extmath import randomized_svd

from penname.judging.features import CountedText, FeatureSpace

TRAIN_WORDS = (500, 1000)
_CLIP = 3.0
_NUISANCE = 60  # directions removed, at most; one for every so many blocks below that
_BLOCKS_PER_DIRECTION = 10
_IMPOSTOR_ROUNDS = 25
_IMPOSTORS = 40  # at most; of more texts, neighbours in the list are taken together
_DELTA_WORDS = 500  # most frequent words of Cosine Delta (Smith & Aldridge 2011; Evert et al. 2017)
_TRAIN_BLOCKS = 100  # of a text, at each length, evenly spaced: more cost time and add nothing
# What a group counts for beside the words. Letters follow topic more than the others do, so they count for less.
_GROUP_WEIGHTS = {"words": 1.0, "pairs": 1.0, "ngrams": 0.5, "sentences": 0.3}
VIEWS = ("linear", "delta", "impostors")


class Views:
    """Fitted on counted texts of the author and of others. ``read`` gives one number a view for each block."""

    def __init__(self, space: FeatureSpace, mine: Sequence[CountedText], others: Sequence[CountedText]) -> None:
        self.space = space
        texts = [*mine, *others]
        blocks = [text.blocks(words, _TRAIN_BLOCKS) for words in TRAIN_WORDS for text in texts]
        text = np.repeat(np.tile(np.arange(len(texts)), len(TRAIN_WORDS)), [len(block) for block in blocks])
        x = space.vectors(np.vstack(blocks))
        y = text < len(mine)
        weight = 1 / np.bincount(text)[text] / np.where(y, len(mine), len(others))
        weight /= weight.sum()
        self._mean = weight @ x
        self._spread = np.sqrt(weight @ (x - self._mean) ** 2) + 1e-6
        self._scale = np.concatenate(
            [np.full(s.stop - s.start, _GROUP_WEIGHTS[name] / np.sqrt(max(1, s.stop - s.start))) for name, s in space.groups.items()]
        )
        z = self._standardise(x)
        self._nuisance = _nuisance(z, text)
        z = self._project(z)
        classifier = LogisticRegression(C=10.0, max_iter=200, tol=1e-3).fit(z, y, sample_weight=weight * len(y))
        self.weights, self.offset = classifier.coef_[0], float(classifier.intercept_[0])
        centre = np.array([z[text == i].mean(axis=0) for i in range(len(texts))])
        impostors = [group.mean(axis=0) for group in np.array_split(centre[len(mine) :], min(len(others), _IMPOSTORS))]
        self._set_impostors(np.vstack([centre[: len(mine)].mean(axis=0), *impostors]))
        self._delta = slice(0, min(_DELTA_WORDS, len(space.words)))
        raw = self._raw(x[:, self._delta], self._delta)
        self._delta_profile = np.mean([raw[text == i].mean(axis=0) for i in range(len(mine))], axis=0, keepdims=True)

    def _set_impostors(self, profiles: np.ndarray) -> None:
        """Directions of every profile (the author's first) on random halves of the features: (rounds * profiles, features)."""
        halves = np.random.Generator(np.random.Philox(key=20)).random((_IMPOSTOR_ROUNDS, profiles.shape[1])) < 0.5
        parts = halves[:, None, :] * profiles[None]
        parts /= np.maximum(np.linalg.norm(parts, axis=2, keepdims=True), 1e-12)
        self._impostors = parts.reshape(-1, profiles.shape[1]).astype(np.float32)

    def _raw(self, x: np.ndarray, where: slice = slice(None)) -> np.ndarray:
        return (x - self._mean[where]) / self._spread[where]

    def _standardise(self, x: np.ndarray) -> np.ndarray:
        return (np.clip(self._raw(x), -_CLIP, _CLIP) * self._scale).astype(np.float32)

    def _project(self, z: np.ndarray) -> np.ndarray:
        return z - (z @ self._nuisance.T) @ self._nuisance

    def read(self, counts: np.ndarray) -> np.ndarray:
        """(N, features) counts -> (N, 3): linear log odds, Cosine Delta similarity, share of rounds in which the author is nearest."""
        x = self.space.vectors(counts)
        z = self._project(self._standardise(x))
        linear = z @ self.weights + self.offset
        delta = _cosine(self._raw(x[:, self._delta], self._delta), self._delta_profile)[:, 0]
        return np.column_stack([linear, delta, self._impostor_share(z)])

    def _impostor_share(self, z: np.ndarray) -> np.ndarray:
        """The general impostors method (Koppel & Winter 2014): in how many rounds is the author's profile nearer than any other?"""
        # The norm of z on a round's half is the same for all profiles of the round, so it does not decide which is nearest.
        near = (z @ self._impostors.T).reshape(len(z), _IMPOSTOR_ROUNDS, -1)
        return (near[:, :, 0] > near[:, :, 1:].max(axis=2)).mean(axis=1)

    def drivers(self, counts: np.ndarray, n: int) -> list[tuple[str, float]]:
        """The ``n`` features that move the linear score of one block most, with their signed share of it in log odds."""
        z = self._standardise(self.space.vectors(counts))[0]
        effective = self.weights - (self.weights @ self._nuisance.T) @ self._nuisance
        parts = z * effective
        return [(self.space.names[i], float(parts[i])) for i in np.argsort(-np.abs(parts), kind="stable")[:n].tolist()]


def _nuisance(z: np.ndarray, text: np.ndarray) -> np.ndarray:
    """Orthonormal directions of the largest spread inside texts, every text with the same weight. (r, features)."""
    inner = np.vstack([(z[text == i] - z[text == i].mean(axis=0)) / np.sqrt((text == i).sum()) for i in np.unique(text)])
    n = min(_NUISANCE, len(z) // _BLOCKS_PER_DIRECTION)
    if n < 1:
        return np.zeros((0, z.shape[1]), dtype=np.float32)
    return randomized_svd(inner, n, n_iter=2, random_state=0)[2].astype(np.float32)


def _cosine(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    norms = np.linalg.norm(a, axis=1)[:, None] * np.linalg.norm(b, axis=1)[None]
    return (a @ b.T) / np.maximum(norms, 1e-12)
