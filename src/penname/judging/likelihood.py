"""How likely the model finds held-out passages: perplexity under the true beat, and whether the true beat beats shuffled ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from penname.carriers.prompt import encode_pair
from penname.carriers.tokenizer import CarrierTokenizer
from penname.core.progress import progress
from penname.core.rng import CounterRng
from penname.judging.heldout import HeldOut

SHUFFLED_BEATS = 7
MAX_TOKENS = 96  # of a passage, for its perplexity
COMPARED_TOKENS = 24  # of a passage under each beat: a beat tells most about how its passage begins
BEATS_AT_ONCE = 4  # with the passages after them some 32 rows


@dataclass(frozen=True)
class Likelihood:
    """Over held-out passages. Chance level of ``true_beat_wins`` is 1 / (1 + shuffled)."""

    perplexity: float
    true_beat_wins: float
    passages: int
    shuffled: int


def likelihood(model: Any, tokenizer: CarrierTokenizer, passages: Sequence[HeldOut], seed: int) -> Likelihood:
    """Perplexity by token of the passages after their own beats, and the share whose beginning is likeliest after its own beat.

    The other beats are drawn from the other passages, at most seven each, the same for every model.
    """
    from penname.judging.reader import Reader  # here, so that a verdict on given texts needs no torch

    pairs = [encode_pair(tokenizer, one.beat, one.text) for one in passages]
    shuffled = min(SHUFFLED_BEATS, len(passages) - 1)
    after = [[i] for i in range(len(passages))]  # of each beat, the passages that are read after it; its own comes first
    for i, passage in enumerate(passages):
        others = [j for j in range(len(passages)) if j != i]
        for beat in CounterRng(seed, "shuffled beats", passage.passage_id).shuffled(others)[:shuffled]:
            after[beat].append(i)
    whole, own, least = 0.0, [math.inf] * len(passages), [math.inf] * len(passages)
    order = sorted(range(len(pairs)), key=lambda i: (len(pairs[i][0]), i))  # beats of like length need little padding
    reader = Reader(model, tokenizer.pad_id)
    with progress("likelihoods", len(passages)) as bar:
        for start in range(0, len(order), BEATS_AT_ONCE):
            beats = order[start : start + BEATS_AT_ONCE]
            starts = [[*tokenizer.start_ids, *pairs[beat][0]] for beat in beats]
            found = reader.read(starts, [[pairs[i][1] for i in after[beat]] for beat in beats], COMPARED_TOKENS, MAX_TOKENS)
            for beat, (true, beginnings) in zip(beats, found, strict=True):
                whole += true
                own[beat] = beginnings[0]
                for i, beginning in zip(after[beat][1:], beginnings[1:], strict=True):
                    least[i] = min(least[i], beginning)
            bar.advance(len(beats))
    tokens = sum(min(len(ids), MAX_TOKENS) for _, ids in pairs)
    wins = sum(mine < others for mine, others in zip(own, least, strict=True)) if shuffled else 0
    return Likelihood(math.exp(whole / tokens), wins / len(passages), len(passages), shuffled)
