"""The instrument: how likely is it that the author wrote this text, judged by style with the names hidden."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from threadpoolctl import ThreadpoolController

from penname.core.errors import BadInput
from penname.core.values import Score
from penname.judging.calibration import Calibration, read_out_of_fold
from penname.judging.features import FeatureSpace, Sizes
from penname.judging.tokens import Lexicon, Tokens, hide_names, tokenise
from penname.judging.views import VIEWS, Views

MIN_WORDS = 150
"""Texts with fewer words are marked unanswered."""
COMMON_WORDS = 200
"""So many of the commonest words and marks are never hidden as carried by a beat."""
_THIN = 0.4  # log odds nearer to zero than this (probability .40 to .60) are marked unanswered
_SATURATED = 30.0
_SIZES = Sizes()
# The products are small: more threads take twice the time, and change the last digits from machine to machine.
_one_thread = ThreadpoolController().wrap(limits=1, user_api="blas")


class Instrument:
    """Fitted on an author's texts against others'; ``score`` reads a text. Deterministic."""

    @classmethod
    def fit(cls, author_texts: Sequence[str], other_texts: Sequence[str], *, sizes: Sizes = _SIZES) -> Instrument:
        """An instrument for the author. Raises BadInput where a side has no words.

        other_texts: one string a text; the more authors, the more a high score means.
        """
        tokens = [tokenise(text) for text in (*author_texts, *other_texts)]
        lexicon = Lexicon(tokens)
        texts = [hide_names(text, lexicon) for text in tokens]
        mine = [text for text in texts[: len(author_texts)] if text.words()]
        others = [text for text in texts[len(author_texts) :] if text.words()]
        if not mine or not others:
            side = "the author" if not mine else "others"
            raise BadInput(f"the instrument has no words by {side} to learn from; give it at least one text of a few thousand words")
        return cls(lexicon, mine, others, sizes)

    @_one_thread
    def __init__(self, lexicon: Lexicon, mine: list[Tokens], others: list[Tokens], sizes: Sizes) -> None:
        self._lexicon = lexicon
        self.space = FeatureSpace([*mine, *others], sizes)
        counted_mine, counted_others = ([self.space.count(text) for text in side] for side in (mine, others))
        self.views = Views(self.space, counted_mine, counted_others)
        self.calibration = Calibration(read_out_of_fold(self.space, counted_mine, counted_others), len(mine), len(others))

    def score(self, text: str, hidden: Collection[str] = ()) -> Score:
        """The log odds, at even prior odds, that the author wrote ``text``; 0 and unanswered for an empty one.

        hidden: lower-case words to leave out wherever they stand (beat-carried words); the commonest words stay.
        """
        return self.score_block([text], hidden)

    @_one_thread
    def score_block(self, texts: Sequence[str], hidden: Collection[str] = ()) -> Score:
        """One score for passages pooled to a block."""
        tokens, counts = self._count(texts, hidden)
        words = sum(text.words() for text in tokens)
        if not words:
            return Score(0.0, False, {"words": 0.0})
        view = self.views.read(counts)
        value = float(np.clip(self.calibration.log_odds(view, np.array([words]))[0], -_SATURATED, _SATURATED))
        detail = {
            "words": float(words),
            "probability": float(1 / (1 + np.exp(-value))),
            "null_share": self.calibration.null_share(value, words),
        }
        detail |= {name: float(reading) for name, reading in zip(VIEWS, view[0], strict=True)}
        return Score(value, words >= MIN_WORDS and abs(value) >= _THIN, detail)

    def drivers(self, texts: Sequence[str], n: int = 10, hidden: Collection[str] = ()) -> list[tuple[str, float]]:
        """The features that move the score of the pooled texts most, with their part of the linear view's log odds."""
        return self.views.drivers(self._count(texts, hidden)[1], n)

    def _count(self, texts: Sequence[str], hidden: Collection[str]) -> tuple[list[Tokens], np.ndarray]:
        # A beat in sentences holds function words as well, and without those nothing of the style would be left.
        carried = set(hidden).difference(self.space.words[:COMMON_WORDS])
        tokens = [hide_names(tokenise(text), self._lexicon, carried) for text in texts]
        counts = [self.space.count(text, unit_words=max(1, text.words())).counts for text in tokens if text.words()]
        width = len(self.space.names)
        return tokens, np.sum(counts, axis=0) if counts else np.zeros((1, width), dtype=np.float32)
