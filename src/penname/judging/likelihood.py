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
MAX_TOKENS = 512  # of a passage; longer ones are judged by their beginning


@dataclass(frozen=True)
class Likelihood:
    """Over held-out passages. Chance level of ``true_beat_wins`` is 1 / (1 + shuffled)."""

    perplexity: float
    true_beat_wins: float
    passages: int
    shuffled: int


def likelihood(model: Any, tokenizer: CarrierTokenizer, passages: Sequence[HeldOut], seed: int, batch: int = 8) -> Likelihood:
    """Perplexity by token of the passages after their own beats, and the share that their own beat makes likelier than every other.

    The other beats are drawn from the other passages, at most seven each, the same for every model.
    """
    rows: list[tuple[int, list[int], list[int]]] = []  # (passage, prefix ids, passage ids); the true beat comes first
    shuffled = min(SHUFFLED_BEATS, len(passages) - 1)
    for i, passage in enumerate(passages):
        others = [j for j in range(len(passages)) if j != i]
        drawn = CounterRng(seed, "shuffled beats", passage.passage_id).shuffled(others)[:shuffled]
        for beat in (passage.beat, *(passages[j].beat for j in drawn)):
            prefix, ids = encode_pair(tokenizer, beat, passage.text)
            rows.append((i, [*tokenizer.start_ids, *prefix], ids[:MAX_TOKENS]))
    nll = _nll(model, tokenizer, rows, batch)
    per = shuffled + 1
    true = [nll[i * per] for i in range(len(passages))]
    wins = [all(nll[i * per] < other for other in nll[i * per + 1 : (i + 1) * per]) for i in range(len(passages))]
    tokens = [len(rows[i * per][2]) for i in range(len(passages))]
    return Likelihood(math.exp(sum(true) / sum(tokens)), sum(wins) / len(wins) if shuffled else 0.0, len(passages), shuffled)


def _nll(model: Any, tokenizer: CarrierTokenizer, rows: list[tuple[int, list[int], list[int]]], batch: int) -> list[float]:
    import torch  # here, so that a verdict on given texts needs no torch

    out = [0.0] * len(rows)
    order = sorted(range(len(rows)), key=lambda i: (len(rows[i][1]) + len(rows[i][2]), i))  # rows of like length need little padding
    device = next(model.parameters()).device
    with torch.inference_mode(), progress("likelihoods", len(rows)) as bar:
        for start in range(0, len(order), batch):
            picked = order[start : start + batch]
            longest = max(len(rows[i][1]) + len(rows[i][2]) for i in picked)
            input_ids = torch.full((len(picked), longest), tokenizer.pad_id)  # (B, T), padded on the right
            mask = torch.zeros((len(picked), longest), dtype=torch.long)
            for at, i in enumerate(picked):
                ids = rows[i][1] + rows[i][2]
                input_ids[at, : len(ids)] = torch.tensor(ids)
                mask[at, : len(ids)] = 1
            logits = model(input_ids=input_ids.to(device), attention_mask=mask.to(device), use_cache=False).logits  # (B, T, V)
            for at, i in enumerate(picked):
                first, length = len(rows[i][1]), len(rows[i][2])
                chosen = torch.tensor(rows[i][2], device=device)
                logprobs = logits[at, first - 1 : first - 1 + length].float().log_softmax(-1)  # position t predicts token t + 1
                out[i] = float(-logprobs.gather(1, chosen[:, None]).sum())
            bar.advance(len(picked))
    return out
