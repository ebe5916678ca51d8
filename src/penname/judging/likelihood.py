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
COMPARED_TOKENS = 96  # of a passage under each beat: eight whole passages a beat would cost more than all other measuring


@dataclass(frozen=True)
class Likelihood:
    """Over held-out passages. Chance level of ``true_beat_wins`` is 1 / (1 + shuffled)."""

    perplexity: float
    true_beat_wins: float
    passages: int
    shuffled: int


def likelihood(model: Any, tokenizer: CarrierTokenizer, passages: Sequence[HeldOut], seed: int, batch: int = 8) -> Likelihood:
    """Perplexity by token of the passages after their own beats, and the share whose beginning is likeliest after its own beat.

    The other beats are drawn from the other passages, at most seven each, the same for every model.
    """
    rows: list[tuple[list[int], list[int]]] = []  # (prefix ids, passage ids); of each passage's rows the true beat comes first
    shuffled = min(SHUFFLED_BEATS, len(passages) - 1)
    for i, passage in enumerate(passages):
        others = [j for j in range(len(passages)) if j != i]
        drawn = CounterRng(seed, "shuffled beats", passage.passage_id).shuffled(others)[:shuffled]
        for at, beat in enumerate((passage.beat, *(passages[j].beat for j in drawn))):
            prefix, ids = encode_pair(tokenizer, beat, passage.text)
            rows.append(([*tokenizer.start_ids, *prefix], ids[: COMPARED_TOKENS if at else MAX_TOKENS]))
    whole, beginning = _nll(model, tokenizer, rows, batch)
    per = shuffled + 1
    wins = [beginning[i] < min(beginning[i + 1 : i + per], default=math.inf) for i in range(0, len(rows), per)]
    tokens = sum(len(ids) for _, ids in rows[::per])
    return Likelihood(math.exp(sum(whole[::per]) / tokens), sum(wins) / len(wins) if shuffled else 0.0, len(passages), shuffled)


def _nll(model: Any, tokenizer: CarrierTokenizer, rows: list[tuple[list[int], list[int]]], batch: int) -> tuple[list[float], list[float]]:
    """Minus log likelihood of each row's passage after its prefix: of all its tokens, and of the first COMPARED_TOKENS."""
    import torch  # here, so that a verdict on given texts needs no torch

    whole, beginning = [0.0] * len(rows), [0.0] * len(rows)
    order = sorted(range(len(rows)), key=lambda i: (len(rows[i][0]) + len(rows[i][1]), i))  # rows of like length need little padding
    device = next(model.parameters()).device
    with torch.inference_mode(), progress("likelihoods", len(rows)) as bar:
        for start in range(0, len(order), batch):
            picked = order[start : start + batch]
            longest = max(len(rows[i][0]) + len(rows[i][1]) for i in picked)
            input_ids = torch.full((len(picked), longest), tokenizer.pad_id)  # (B, T), padded on the right
            mask = torch.zeros((len(picked), longest), dtype=torch.long)
            for at, i in enumerate(picked):
                ids = rows[i][0] + rows[i][1]
                input_ids[at, : len(ids)] = torch.tensor(ids)
                mask[at, : len(ids)] = 1
            logits = model(input_ids=input_ids.to(device), attention_mask=mask.to(device), use_cache=False).logits  # (B, T, V)
            for at, i in enumerate(picked):
                first, length = len(rows[i][0]), len(rows[i][1])
                chosen = torch.tensor(rows[i][1], device=device)
                own = logits[at, first - 1 : first - 1 + length].float()  # position t predicts token t + 1
                nll = own.logsumexp(-1) - own.gather(1, chosen[:, None])[:, 0]
                whole[i], beginning[i] = float(nll.sum()), float(nll[:COMPARED_TOKENS].sum())
            bar.advance(len(picked))
    return whole, beginning
