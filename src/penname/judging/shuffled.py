"""Shuffled labels: the instrument fitted once more, with labels that mean nothing, and asked for them on the texts it is scored on.

A label is drawn from a piece's own words. So it means nothing, and yet a piece that stands in the fitted and in the scored text as well
(a story printed twice, held-out text left in the training text) has the same label in both: labels that separate were remembered.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from penname.core.rng import CounterRng
from penname.judging.auc import Separation, separation
from penname.judging.instrument import Instrument
from penname.judging.pooling import pool

_SENTENCE = re.compile(r".+?(?:[.!?][\"'\u2019\u201d]*(?=\s)|\Z)", re.DOTALL)
_LONG_SENTENCE = 20  # words: a piece ends with one, so the same words are cut into the same pieces wherever they stand
_LONGEST_PIECE = 200


def shuffled_labels(fitted: Sequence[str], scored: Sequence[tuple[str, str, str]], block_words: int, seed: int) -> Separation:
    """How well an instrument that was fitted on meaningless labels of ``fitted`` tells those of ``scored``, (text, beat, cluster) rows.

    By its linear view alone: the calibration learns on left-out text that such labels are worth nothing.
    """
    sides: dict[bool, list[str]] = {True: [], False: []}
    for text in fitted:
        halves: dict[bool, list[str]] = {True: [], False: []}
        for piece, label in _pieces(text, seed):
            halves[label].append(piece)
        for label, pieces in halves.items():
            if pieces:
                sides[label].append("\n\n".join(pieces))
    if not sides[True] or not sides[False]:
        return separation([], [], [], [], seed)
    blind = Instrument.fit(sides[True], sides[False])
    rows: dict[bool, list[tuple[str, str, str]]] = {True: [], False: []}
    for text, beat, cluster in scored:
        for piece, label in _pieces(text, seed):
            rows[label].append((piece, beat, cluster))
    high, low = (pool(rows[label], block_words) for label in (True, False))
    values = [[blind.score(block.text, hidden=block.hidden).detail.get("linear", 0.0) for block in side] for side in (high, low)]
    return separation(values[0], values[1], [block.cluster for block in high], [block.cluster for block in low], seed)


def _pieces(text: str, seed: int) -> Iterator[tuple[str, bool]]:
    """Runs of sentences that end with a long one, whose words draw the label."""
    parts: list[str] = []
    count = 0
    for found in _SENTENCE.finditer(text):
        words = found[0].split()
        parts.append(found[0])
        count += len(words)
        if len(words) >= _LONG_SENTENCE or count >= _LONGEST_PIECE:
            yield "".join(parts).strip(), bool(CounterRng(seed, "shuffled labels", *words).below(2))
            parts, count = [], 0
    if count:
        yield "".join(parts).strip(), bool(CounterRng(seed, "shuffled labels", *"".join(parts).split()).below(2))
