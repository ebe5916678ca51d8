"""What a group of samples is measured against, and its measurement: style, copying, names, degeneration. Pure; no model is loaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import mean

from penname.judging.controls import AUTHOR, BASE, OTHERS, Sighted, fit_and_score, score_block
from penname.judging.degeneration import degeneration
from penname.judging.heldout import HeldOut, Material
from penname.judging.likelihood import Likelihood
from penname.judging.memorisation import Copied, Reference, WordsOf
from penname.judging.pooling import pool
from penname.judging.verdict import Baseline, CopyRates, RunScores

OTHERS_COMPARED = 200  # blocks of other authors that the copying baseline looks at, at most


@dataclass(frozen=True)
class Yardstick:
    """The instrument with its scores of author, base model and others; the texts copying is counted against; the author's characters."""

    sighted: Sighted
    material: Material
    prompts: Sequence[HeldOut]
    base_texts: Sequence[str]
    block_words: int
    words: WordsOf
    training: Reference
    heldout: Reference
    alphabet: frozenset[str]

    def run(self, run: str, arm: str, seed: int, texts: Sequence[str], likelihood: Likelihood) -> RunScores:
        """One run's samples, one a prompt."""
        rows = [(text, one.beat, one.cluster) for one, text in zip(self.prompts, texts, strict=True)]
        scores = [score_block(self.sighted.instrument, block).value for block in pool(rows, self.block_words)]
        names = self.material.original_names
        return RunScores(
            run,
            arm,
            seed,
            scores,
            self.copied(texts),
            sum(holds_name(text, names) for text in texts),
            degeneration(texts, self.alphabet),
            likelihood,
        )

    def copied(self, texts: Sequence[str]) -> CopyRates:
        """What the texts repeat of the training text, and of the held-out text, which only the carrier can have read."""
        split = [self.words(text) for text in texts]
        trained = [self.training.copied(words) for words in split]
        held = [self.heldout.copied(words) for words in split]
        return CopyRates(
            _share(trained, "over_8"), _share(trained, "over_20"), max((one.longest for one in trained), default=0), _share(held, "over_8")
        )

    def baseline(self, likelihood: Likelihood) -> Baseline:
        """Author and base model on the instrument; and how much texts repeat of the training text that cannot have learned it."""
        held = [one.text for one in self.material.heldout]
        others = [block.text for block in self.sighted.other_blocks[:OTHERS_COMPARED]]
        rates = {AUTHOR: self.copied(held), BASE: self.copied(self.base_texts)} | ({OTHERS: self.copied(others)} if others else {})
        scores = self.sighted.scores
        return Baseline(_mean(scores[AUTHOR]), _mean(scores[BASE]), rates, likelihood)


def make_yardstick(
    material: Material, prompts: Sequence[HeldOut], base_texts: Sequence[str], block_words: int, alphabet: frozenset[str]
) -> Yardstick:
    """Fit the instrument and index the author's texts."""
    sighted = fit_and_score(material, prompts, base_texts, block_words)
    words = WordsOf([*material.train_texts, *material.other_texts])
    training = Reference([words(text) for text in material.train_texts])
    heldout = Reference([words(one.text) for one in material.heldout])
    return Yardstick(sighted, material, prompts, base_texts, block_words, words, training, heldout, alphabet)


def holds_name(text: str, names: frozenset[str]) -> bool:
    """Whether any single word of the text is one of the names."""
    return any(word.strip(".,;:!?\"'") in names for word in text.split())


def _mean(values: Sequence[float]) -> float:
    return mean(values) if values else 0.0


def _share(copied: Sequence[Copied], which: str) -> float:
    return sum(getattr(one, which) for one in copied) / max(1, sum(one.words for one in copied))
