"""The instrument: how likely is it that the author wrote this text, judged by style with the names hidden."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from sklearn.linear_model import LogisticRegression

from penname.core.errors import BadInput
from penname.core.values import Score
from penname.judging.blocks import CountedText, count_text, stack
from penname.judging.features import FeatureSpace
from penname.judging.tokens import HIDDEN, Lexicon, hide_names, tokenise

MIN_WORDS = 150
_TRAIN_WORDS = 1000
_CLIP = 3.0


class Instrument:
    """Fitted on an author's texts against others'; ``score`` reads a text. Deterministic."""

    @classmethod
    def fit(cls, author_texts: Sequence[str], other_texts: Sequence[str]) -> Instrument:
        """An instrument for the author. Raises BadInput where a side has no words."""
        tokens = [tokenise(text) for text in [*author_texts, *other_texts]]
        lexicon = Lexicon(tokens)
        texts = [hide_names(text, lexicon) for text in tokens]
        mine = [text for text in texts[: len(author_texts)] if text]
        others = [text for text in texts[len(author_texts) :] if text]
        if not mine or not others:
            raise BadInput("an instrument needs text by the author and text by others; one side is empty")
        space = FeatureSpace([*mine, *others])
        return cls(lexicon, space, [count_text(space, text) for text in mine], [count_text(space, text) for text in others])

    def __init__(self, lexicon: Lexicon, space: FeatureSpace, mine: list[CountedText], others: list[CountedText]) -> None:
        self.lexicon, self.space = lexicon, space
        self._model = _Linear(space, mine, others)

    def score(self, text: str, hidden: Collection[str] = ()) -> Score:
        """The log odds, at even prior odds, that the author wrote ``text``."""
        tokens = hide_names(tokenise(text), self.lexicon, hidden)
        words = sum(token == HIDDEN or token[0].isalpha() for token in tokens)
        counts = self.space.counts(self.space.ids(tokens))[None]
        value = float(self._model.decision(counts)[0]) if words else 0.0
        return Score(value, words >= MIN_WORDS, {"words": float(words)})


class _Linear:
    def __init__(self, space: FeatureSpace, mine: list[CountedText], others: list[CountedText]) -> None:
        self.space = space
        counts, text = stack([*mine, *others], _TRAIN_WORDS)
        y = (text < len(mine)).astype(int)
        per_text = np.bincount(text)
        weight = 1 / per_text[text] / np.where(y, len(mine), len(others))
        x = space.vectors(counts)
        share = weight / weight.sum()
        self.mean = share @ x
        self.spread = np.sqrt(share @ (x - self.mean) ** 2) + 1e-6
        self.scale = np.zeros(x.shape[1], dtype=np.float32)
        for where in space.groups.values():
            self.scale[where] = 1 / np.sqrt(max(1, where.stop - where.start))
        self.classifier = LogisticRegression(C=1.0, max_iter=300).fit(self._z(x), y, sample_weight=weight / weight.mean())

    def _z(self, x: np.ndarray) -> np.ndarray:
        return np.clip((x - self.mean) / self.spread, -_CLIP, _CLIP) * self.scale

    def decision(self, counts: np.ndarray) -> np.ndarray:
        return self.classifier.decision_function(self._z(self.space.vectors(counts)))
