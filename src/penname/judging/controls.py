"""Before hours are spent on training: can the instrument tell the author from the base model and from others, and nothing from nothing?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb
from typing import Any

from penname.core.values import Score
from penname.judging.auc import Separation, separation
from penname.judging.heldout import HeldOut, Material
from penname.judging.instrument import Instrument
from penname.judging.memorisation import Reference, WordsOf
from penname.judging.pooling import Block, pool, pool_text
from penname.judging.shuffled import shuffled_labels

SIGNIFICANT = 0.01  # of a negative control: three of them at .05 would refuse one sound voice in seven
OTHER_TEST_SHARE = 0.25  # the end of each other book, which the instrument is not fitted on
REPEATED_MAX = 0.05  # share of a text that may stand in the training text in spans of more than 20 words: mottoes and songs do


@dataclass(frozen=True)
class Sighted:
    """An instrument fitted for one voice, with the scores of the texts it was not fitted on."""

    instrument: Instrument
    scores: dict[str, list[float]]  # "author, held out", "base model", "other authors" -> block scores
    clusters: dict[str, list[str]]
    other_blocks: list[Block]


@dataclass(frozen=True)
class Traps:
    """What only the controls look at: text that is not what it is taken for, and labels that mean nothing."""

    repeated: dict[str, float]  # held-out text and each book by others -> share of it that stands in the training text
    shuffled: Separation


AUTHOR, BASE, OTHERS = "author, held out", "base model", "other authors"


def fit_and_score(material: Material, prompts: Sequence[HeldOut], base_texts: Sequence[str], block_words: int) -> Sighted:
    """Fit on the author's training chapters against others and half of the base model's passages; score the rest.

    The base model's own output is an impostor: without it the instrument would only learn the period. Even passages fit,
    odd ones are scored.
    """
    split = [cut_text(text, OTHER_TEST_SHARE) for text in material.other_texts]
    instrument = Instrument.fit(list(material.train_texts), [*(head for head, _ in split), _impostor(base_texts)])
    rows = [(one.text, one.beat, one.cluster) for one in material.heldout]
    blocks = {
        AUTHOR: pool(rows, block_words),
        BASE: pool([(text, one.beat, one.cluster) for one, text in list(zip(prompts, base_texts, strict=True))[1::2]], block_words),
        OTHERS: [b for (_, tail), title in zip(split, material.other_titles, strict=True) for b in pool_text(tail, block_words, title)],
    }
    return Sighted(
        instrument,
        {name: [score_block(instrument, block).value for block in group] for name, group in blocks.items()},
        {name: [block.cluster for block in group] for name, group in blocks.items()},
        blocks[OTHERS],
    )


def lay_traps(material: Material, prompts: Sequence[HeldOut], base_texts: Sequence[str], block_words: int, seed: int) -> Traps:
    """Count what held-out text and others repeat of the training text; fit and score again with labels that mean nothing."""
    words = WordsOf([*material.train_texts, *material.other_texts])
    training = Reference([words(text) for text in material.train_texts])

    def repeated(texts: Sequence[str]) -> float:
        found = [training.copied(words(text)) for text in texts]
        return sum(one.over_20 for one in found) / max(1, sum(one.words for one in found))

    shares = {AUTHOR: repeated([one.text for one in material.heldout])}
    for title, text in zip(material.other_titles, material.other_texts, strict=True):
        shares[title] = repeated([text])
    written = list(zip(prompts, base_texts, strict=True))
    scored = [(one.text, one.beat, one.cluster) for one in material.heldout]
    scored += [(text, one.beat, one.cluster) for one, text in written[1::2]]
    return Traps(shares, shuffled_labels([*material.train_texts, _impostor(base_texts)], scored, block_words, seed))


def _impostor(base_texts: Sequence[str]) -> str:
    return "\n\n".join(text for text in base_texts[0::2] if text.strip())


def cut_text(text: str, tail_share: float) -> tuple[str, str]:
    """(head, tail) of a text, cut at the end of a paragraph, or of a line where it has no paragraphs."""
    at = int(len(text) * (1 - tail_share))
    for mark in ("\n\n", "\n", " "):
        found = text.find(mark, at)
        if 0 <= found < at + (len(text) - at) // 2:
            return text[:found], text[found + len(mark) :]
    return text, ""


def score_block(instrument: Instrument, block: Block) -> Score:
    """A block's score with the words of its beats hidden: a generated passage got those given."""
    return instrument.score(block.text, hidden=block.hidden)


def judge_controls(sighted: Sighted, traps: Traps, floor: float, ceiling: float, seed: int) -> dict[str, Any]:
    """The controls with what each rests on, as JSON. ``passed`` is False where any fails, and ``reasons`` says which and why.

    ``powerless`` names the negative controls that could not have failed, since their groups are too small for any p to count.
    """
    positive = {f"author against {name}": _between(sighted, AUTHOR, name, seed) for name in (BASE, OTHERS) if sighted.scores[name]}
    negative = {
        "author against author": _halves(sighted, AUTHOR, seed),
        "base against base": _halves(sighted, BASE, seed),
        "shuffled labels": traps.shuffled,
    }
    reasons = [
        f"{name}: AUC {found.auc:.2f}, interval {found.low:.2f} to {found.high:.2f}, is not above the registered floor of {floor:g}"
        for name, found in positive.items()
        if not found.low >= floor
    ]
    few = [name for name in (AUTHOR, BASE) if len(sighted.scores[name]) < 2]
    reasons += [
        f"{name}: {len(sighted.scores[name])} block(s) of the registered length, and nothing can be shown with fewer than two"
        for name in few
    ]
    reasons += [
        f"{name} separates (AUC {found.auc:.2f}, p {found.p:.3f}), above the ceiling of {ceiling:g}: the instrument sees what is not there"
        for name, found in negative.items()
        if max(found.auc, 1 - found.auc) > ceiling and found.p < SIGNIFICANT
    ]
    reasons += [
        f"{name}: {share:.0%} of its words stand in the training text in spans of more than 20, so it is no text apart; leave one out"
        for name, share in traps.repeated.items()
        if share > REPEATED_MAX
    ]
    return {
        "passed": not reasons,
        "reasons": reasons,
        "positive": {name: found.to_json() for name, found in positive.items()},
        "negative": {name: found.to_json() for name, found in negative.items()},
        "repeated": {name: round(share, 5) for name, share in traps.repeated.items()},
        "scores": {name: [round(value, 5) for value in values] for name, values in sighted.scores.items()},
        "without_others": not sighted.scores[OTHERS],
        "powerless": [name for name, found in negative.items() if _least_p(found) >= SIGNIFICANT],
    }


def _least_p(found: Separation) -> float:
    """The smallest two-sided p that groups of these sizes can reach: the two most extreme of all orders."""
    return min(1.0, 2 / comb(found.n_high + found.n_low, found.n_high))


def _between(sighted: Sighted, high: str, low: str, seed: int) -> Separation:
    return separation(sighted.scores[high], sighted.scores[low], sighted.clusters[high], sighted.clusters[low], seed)


def _halves(sighted: Sighted, group: str, seed: int) -> Separation:
    values, clusters = sighted.scores[group], sighted.clusters[group]
    return separation(values[0::2], values[1::2], clusters[0::2], clusters[1::2], seed)
