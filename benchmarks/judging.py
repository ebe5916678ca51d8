"""The instrument beside faststylometry and a Cosine Delta profile, in one run, on novels by known authors.

    python benchmarks/judging.py [--unseen] [--per-text 5] [--folds N]

For every author with two novels or more, each novel is left out in turn: fit on the rest of the author's novels and on other authors'
novels, then score samples of the left-out novel and of novels by others that the fit has not seen. ``--unseen``: the authors of those
are unseen as well, which is harder. Names are hidden for all methods alike. Prints a table and writes results/judging.json.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np
from faststylometry import Corpus, calculate_burrows_delta, tokenise_remove_pronouns_en

import penname.judging.instrument
from penname.books import read_book
from penname.judging.auc import auc
from penname.judging.instrument import Instrument
from penname.judging.metrics import c_at_1, calibration_error, f_05_u
from penname.judging.tokens import Lexicon, hide_names
from penname.judging.tokens import tokenise as tokenise_anew

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
BRONTE = {"Jane": "1260.txt", "Villette": "9182.txt", "Shirley": "30486-0.txt", "Professor": "1028-0.txt"}
LENGTHS = (500, 1000, 2000, 5000)
# Novels come up in many folds, samples for every method: a text is cut into tokens once.
tokenise = penname.judging.instrument.tokenise = lru_cache(maxsize=3000)(tokenise_anew)
TARGETS = {500: 0.95, 1000: 0.97, 2000: 0.985, 5000: 0.995}


@dataclass(frozen=True)
class Novel:
    author: str
    title: str
    text: str

    @cached_property
    def starts(self) -> list[int]:
        """Where each word starts."""
        return [found.start() for found in re.finditer(r"\S+", self.text)]

    def samples(self, words: int, most: int) -> list[str]:
        """Evenly spaced runs of ``words`` words, with the text's own line breaks."""
        starts = self.starts
        n = len(starts) // words
        chosen = np.unique(np.linspace(0, n - 1, min(n, most)).astype(int)) if n else []
        return [self.text[starts[i * words] : starts[min(len(starts) - 1, (i + 1) * words)]] for i in chosen]


@dataclass(frozen=True)
class Fold:
    author: str
    left_out: Novel
    mine: list[Novel]
    others: list[Novel]
    strangers: list[Novel]  # by others, not in the fit


def load_novels() -> list[Novel]:
    novels = []
    for path in sorted((SHARED / "books/period").glob("*.txt")):
        novels.append(Novel(path.stem.split("_")[0], path.stem, path.read_text(encoding="utf-8")))
    for title, file in BRONTE.items():
        novels.append(Novel("CBronte", title, read_book(SHARED / "books/raw" / file).text))
    return novels


def make_folds(novels: list[Novel], unseen: bool) -> list[Fold]:
    """One fold a left-out novel. Of every other author some novels are fitted on and the rest are strangers."""
    authors = sorted({novel.author for novel in novels})
    folds = []
    for author in authors:
        mine = [novel for novel in novels if novel.author == author]
        rest = [name for name in authors if name != author]
        for turn, left_out in enumerate(mine if len(mine) > 1 else []):
            fitted, strangers = [], []
            for i, name in enumerate(rest):
                theirs = [novel for novel in novels if novel.author == name]
                if unseen or len(theirs) == 1:
                    (strangers if (i + turn) % 2 else fitted).extend(theirs)
                else:
                    fitted += theirs[turn % 2 :: 2]
                    strangers += theirs[1 - turn % 2 :: 2]
            folds.append((turn, Fold(author, left_out, [novel for novel in mine if novel is not left_out], fitted, strangers)))
    return [fold for _, fold in sorted(folds, key=lambda pair: pair[0])]  # every author once before any comes up again


Scorer = Callable[[str], float]


def penname_scores(fold: Fold, samples: list[str]) -> tuple[np.ndarray, np.ndarray]:
    instrument = Instrument.fit([novel.text for novel in fold.mine], [novel.text for novel in fold.others])
    scores = [instrument.score(text) for text in samples]
    return np.array([score.value for score in scores]), np.array([score.answered for score in scores])


def hidden_text(fold: Fold) -> Callable[[str], str]:
    """Names hidden as the instrument hides them, so that no method is helped or hurt by names."""
    lexicon = Lexicon(tokenise(novel.text) for novel in (*fold.mine, *fold.others))

    def hide(text: str) -> str:
        return " ".join(word for word in hide_names(tokenise(text), lexicon).spelled() if word[0].isalpha())

    return hide


def cosine_delta_scores(train: dict[str, list[str]], author: str, samples: list[str], words: int = 500) -> np.ndarray:
    """Z scores of the 500 most frequent words over 5,000-word segments, cosine to the author's mean (Smith & Aldridge 2011)."""
    split = [(name, text.split()) for name, texts in train.items() for text in texts]
    segments = [(name, tokens[i : i + 5000]) for name, tokens in split for i in range(0, len(tokens), 5000)]
    counts: dict[str, int] = {}
    for _, segment in segments:
        for word in segment:
            counts[word] = counts.get(word, 0) + 1
    index = {word: i for i, word in enumerate(sorted(counts, key=lambda word: -counts[word])[:words])}

    def shares(tokens: list[str]) -> np.ndarray:
        return np.bincount([index[word] for word in tokens if word in index], minlength=words) / max(1, len(tokens))

    x = np.array([shares(segment) for _, segment in segments])
    mean, spread = x.mean(axis=0), x.std(axis=0) + 1e-12
    profile = ((x - mean) / spread)[[name == author for name, _ in segments]].mean(axis=0)
    z = (np.array([shares(text.split()) for text in samples]) - mean) / spread
    return z @ profile / np.linalg.norm(z, axis=1) / np.linalg.norm(profile)


def faststylometry_scores(train: dict[str, list[str]], author: str, samples: list[str]) -> dict[int, np.ndarray]:
    """Minus Burrows' Delta to the author, by size of the vocabulary: the default of 50, and 500."""
    fitted, read = Corpus(), Corpus()
    for name, texts in train.items():
        for i, text in enumerate(texts):
            fitted.add_book(name, str(i), text)
    for i, text in enumerate(samples):
        read.add_book("sample", f"{i:06d}", text)
    for corpus in (fitted, read):
        corpus.tokenise(tokenise_remove_pronouns_en)
    columns = [f"sample - {i:06d}" for i in range(len(samples))]
    found = {}
    for size in (50, 500):
        delta = calculate_burrows_delta(fitted, read, vocab_size=size)
        found[size] = -delta.loc[author, columns].to_numpy(dtype=float)
    return found


METHODS = ("penname", "Cosine Delta, 500 words", "faststylometry, 50 words", "faststylometry, 500 words")


def run_fold(fold: Fold, per_text: int, rows: list[dict]) -> None:
    labels, samples = [], []
    for novel in (fold.left_out, *fold.strangers):
        most = per_text * (len(fold.strangers) if novel is fold.left_out else 1)
        for length in LENGTHS:
            for text in novel.samples(length, most):
                labels.append((length, novel is fold.left_out))
                samples.append(text)
    value, answered = penname_scores(fold, samples)
    hide = hidden_text(fold)
    train: dict[str, list[str]] = {}
    for novel in (*fold.mine, *fold.others):
        train.setdefault(novel.author, []).append(hide(novel.text))
    hidden = [hide(text) for text in samples]
    fast = faststylometry_scores(train, fold.author, hidden)
    delta = cosine_delta_scores(train, fold.author, hidden)
    found = dict(zip(METHODS, (value, delta, fast[50], fast[500]), strict=True))
    for i, (length, mine) in enumerate(labels):
        row = {"author": fold.author, "words": length, "mine": mine, "answered": bool(answered[i])}
        rows.append(row | {name: float(scores[i]) for name, scores in found.items()})


def summarise(rows: list[dict]) -> dict:
    table: dict = {}
    for method in METHODS:
        table[method] = {}
        for length in LENGTHS:
            at = [row for row in rows if row["words"] == length]

            def of(keep: list[dict], method: str = method) -> float:
                return auc([row[method] for row in keep if row["mine"]], [row[method] for row in keep if not row["mine"]])

            authors = sorted({row["author"] for row in at})
            by_author = {author: of([row for row in at if row["author"] == author]) for author in authors}
            worst = min(by_author, key=lambda author: by_author[author])
            mean = float(np.mean(list(by_author.values())))
            table[method][length] = {"auc": of(at), "mean_over_authors": mean, "worst": worst, "worst_auc": by_author[worst]}
    for length in (*LENGTHS, "all"):
        at = [row for row in rows if length in (row["words"], "all")]
        mine = np.array([row["mine"] for row in at])
        answered = np.array([row["answered"] for row in at])
        probability = 1 / (1 + np.exp(-np.array([row["penname"] for row in at])))
        table.setdefault("calibration", {})[length] = {
            "ece": calibration_error(probability, mine),
            "c_at_1": c_at_1(probability, mine, answered),
            "f_05_u": f_05_u(probability, mine, answered),
            "unanswered": float((~answered).mean()),
            "samples": len(at),
        }
    return table


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--unseen", action="store_true")
    parser.add_argument("--per-text", type=int, default=5)
    parser.add_argument("--folds", type=int, default=None, help="only the first so many")
    args = parser.parse_args()
    novels = load_novels()
    rows: list[dict] = []
    started = time.process_time()
    folds = make_folds(novels, args.unseen)
    out = ROOT / "benchmarks/results" / ("judging-unseen.json" if args.unseen else "judging.json")
    for i, fold in enumerate(folds[: args.folds]):
        run_fold(fold, args.per_text, rows)
        seconds = round(time.process_time() - started)
        print(f"{i + 1}/{len(folds)} {fold.author}: {fold.left_out.title}, {seconds} s of CPU so far", file=sys.stderr, flush=True)
        facts = {"protocol": "unseen authors" if args.unseen else "unseen novels", "folds": i + 1, "of": len(folds), "cpu_seconds": seconds}
        table = summarise(rows)  # written after every fold, so that a run that is cut short still says what it saw
        out.write_text(json.dumps({**facts, "targets": TARGETS, "table": table}, indent=1) + "\n")
    for method in METHODS:
        cells = " ".join(f"{length}: {c['auc']:.4f} (worst {c['worst']} {c['worst_auc']:.3f})" for length, c in table[method].items())
        print(f"{method:26} {cells}")
    for length, c in table["calibration"].items():
        told = f"ECE {c['ece']:.3f}, c@1 {c['c_at_1']:.3f}, F0.5u {c['f_05_u']:.3f}"
        print(f"{length!s:>5} words: {told}, unanswered {c['unanswered']:.1%} of {c['samples']}")


if __name__ == "__main__":
    main()
