"""Fits what novels add to the calibration that the texts at hand cannot show, and says how well it holds for authors it was not fitted on.

    python benchmarks/calibration.py

The folds are those of benchmarks/judging.py, with the other authors' novels seen (counted four times) and unseen, and some with one or two
novels by others. Prints the constants of penname.judging.calibration.MEASURED, and the calibration error at each length with every
author's folds scored under constants that were fitted without them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import astuple, dataclass

import numpy as np
from scipy.optimize import minimize

from judging import LENGTHS, SHARED, Fold, load_novels, make_folds
from penname.judging.calibration import MEASURED, Calibration, NextNovel
from penname.judging.instrument import Instrument
from penname.judging.metrics import calibration_error

PER_TEXT = 8


@dataclass(frozen=True)
class Read:
    """A fold's out-of-fold readings, and those of samples of novels that it was not fitted on."""

    group: str
    author: str
    calibration: Calibration
    view: np.ndarray
    words: np.ndarray
    length: np.ndarray
    mine: np.ndarray

    def log_odds(self, beyond: NextNovel) -> np.ndarray:
        return self.calibration.log_odds(self.view, self.words, beyond)


def read_fold(group: str, fold: Fold) -> Read:
    fitted = Instrument.fit([novel.text for novel in fold.mine], [novel.text for novel in fold.others])
    rows = []
    for novel in (fold.left_out, *fold.strangers):
        most = PER_TEXT * (len(fold.strangers) if novel is fold.left_out else 1)
        for length in LENGTHS:
            for text in novel.samples(length, most):
                detail = fitted.score(text).detail
                view = [detail[name] for name in ("linear", "delta", "impostors")]
                rows.append((view, detail["words"], length, novel is fold.left_out))
    view, words, length, mine = (np.array(column) for column in zip(*rows, strict=True))
    return Read(group, fold.author, fitted.calibration, view, words, length, mine)


def loss(reads: Sequence[Read], beyond: NextNovel) -> float:
    """Mean log loss, folds, lengths and sides with the same weight; folds with seen others count four times: a voice knows its others."""
    total, count = 0.0, 0
    for read in reads:
        value = read.log_odds(beyond)
        cost = np.logaddexp(0, np.where(read.mine, -value, value))
        cells = [cost[(read.length == length) & (read.mine == side)] for length in LENGTHS for side in (True, False)]
        times = 4 if read.group == "seen" else 1
        total += times * float(np.mean([cell.mean() for cell in cells if len(cell)]))
        count += times
    return total / count


def fit(reads: Sequence[Read]) -> NextNovel:
    """The constants with the smallest loss, from those in use."""

    def badness(values: np.ndarray) -> float:
        found = NextNovel(*map(float, values))
        return loss(reads, found) if min(found.spread, found.inside, found.few_others_spread) >= 0 else np.inf

    first = np.array(astuple(MEASURED))
    simplex = np.vstack([first, *(first + 0.1 * row for row in np.eye(len(first)))])
    options = {"initial_simplex": simplex, "xatol": 0.003, "fatol": 1e-5, "maxiter": 300}
    return NextNovel(*map(float, minimize(badness, first, method="Nelder-Mead", options=options).x))


def report(group: str, reads: Sequence[Read], values: Sequence[np.ndarray]) -> None:
    cells = []
    for length in LENGTHS:
        value = np.concatenate([v[read.length == length] for read, v in zip(reads, values, strict=True)])
        mine = np.concatenate([read.mine[read.length == length] for read in reads])
        cells.append(f"{length}: {calibration_error(1 / (1 + np.exp(-value)), mine):.3f}")
    value, mine = np.concatenate(values), np.concatenate([read.mine for read in reads])
    cost = float(np.logaddexp(0, np.where(mine, -value, value)).mean())
    print(f"{group:12} calibration error, author left out: {', '.join(cells)}; log loss {cost:.3f} of {len(mine)} samples")


def main() -> None:
    if not SHARED.is_dir():
        print(f"calibration: left out, {SHARED} is not here")
        return
    novels = load_novels()
    folds = [("seen", fold) for fold in make_folds(novels, False)] + [("unseen", fold) for fold in make_folds(novels, True)]
    for i, fold in enumerate(make_folds(novels, False)[::2]):
        few = 1 + i % 2
        folds.append(("few others", Fold(fold.author, fold.left_out, fold.mine, fold.others[i % 4 :][:few], fold.strangers)))
    reads = []
    for i, (group, fold) in enumerate(folds):
        reads.append(read_fold(group, fold))
        print(f"{i + 1}/{len(folds)} {group} {fold.left_out.title}", file=sys.stderr, flush=True)
    print(fit(reads))
    without = {author: fit([read for read in reads if read.author != author]) for author in sorted({read.author for read in reads})}
    for group in ("seen", "unseen", "few others"):
        own = [read for read in reads if read.group == group]
        report(group, own, [read.log_odds(without[read.author]) for read in own])


if __name__ == "__main__":
    main()
