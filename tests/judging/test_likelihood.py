"""Perplexity and beat sensitivity, held to one passage at a time on tiny models, and on one that only heeds beats; and what they cost."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch

from penname.carriers import load_model, load_tokenizer
from penname.carriers.prompt import encode_pair
from penname.core.rng import CounterRng
from penname.judging.heldout import HeldOut
from penname.judging.likelihood import COMPARED_TOKENS, MAX_TOKENS, likelihood
from tiny import tiny_carrier

WORDS = ("lamp", "rain", "road", "hat")
PASSAGES = [HeldOut(f"b:1:{i}", "b", 1, f"the {word} again", f"{word} " * (5 + 15 * i)) for i, word in enumerate(WORDS)]


class Repeater(torch.nn.Module):
    """Finds the tokens of the beat likely, and no others."""

    def __init__(self, tokenizer):
        super().__init__()
        self.anchor = torch.nn.Parameter(torch.zeros(1))
        self.config = load_model(tiny_carrier("llama")).config
        self.vocabulary = max(max(tokenizer.encode(passage.beat + passage.text)) for passage in PASSAGES) + 10

    def forward(self, input_ids, attention_mask, position_ids, cache, use_cache, logits_to_keep):
        if logits_to_keep == 1:
            cache.layers[0].update(input_ids[:, None, :, None].float(), input_ids[:, None, :, None].float())
        beats = cache.layers[0].keys[:, 0, :, 0].long()
        logits = torch.zeros(*input_ids.shape, self.vocabulary)
        for row, beat, seen in zip(logits, beats, attention_mask, strict=True):
            row[:, beat[seen[: len(beat)] == 1]] = 3.0
        return SimpleNamespace(logits=logits[:, -logits_to_keep:])


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer(tiny_carrier("llama"))


def alone(model, tokenizer, beat, passage):
    """Minus log likelihood of each of the passage's tokens after the beat, in one row by itself."""
    prefix, ids = encode_pair(tokenizer, beat, passage)
    start = [*tokenizer.start_ids, *prefix]
    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([start + ids])).logits[0]
    return -logits.log_softmax(-1)[len(start) - 1 : -1][range(len(ids)), ids]


@pytest.mark.parametrize("kind", ["llama", "qwen3_5"])
def test_each_is_that_of_one_passage_at_a_time(kind):
    tokenizer, model = load_tokenizer(tiny_carrier(kind)), load_model(tiny_carrier(kind))
    whole, wins = [], 0
    for i, passage in enumerate(PASSAGES):
        whole.append(alone(model, tokenizer, passage.beat, passage.text)[:MAX_TOKENS])
        drawn = CounterRng(1, "shuffled beats", passage.passage_id).shuffled([j for j in range(4) if j != i])
        under = [float(alone(model, tokenizer, PASSAGES[j].beat, passage.text)[:COMPARED_TOKENS].sum()) for j in drawn]
        wins += float(whole[-1][:COMPARED_TOKENS].sum()) < min(under)
    found = likelihood(model, tokenizer, PASSAGES, seed=1)
    assert len(whole[0]) < COMPARED_TOKENS < len(whole[1]) < len(whole[3]) == MAX_TOKENS
    assert found.perplexity == pytest.approx(math.exp(float(torch.cat(whole).mean())), rel=1e-4)
    assert (found.true_beat_wins, found.passages, found.shuffled) == (wins / 4, 4, 3)


def test_a_model_that_heeds_the_beat_wins_and_one_that_does_not_never_does(tokenizer):
    assert likelihood(Repeater(tokenizer), tokenizer, PASSAGES, seed=1).true_beat_wins == 1.0
    same = [HeldOut(one.passage_id, "b", 1, "a beat", one.text) for one in PASSAGES]
    assert likelihood(Repeater(tokenizer), tokenizer, same, seed=1).true_beat_wins == 0.0


def test_one_passage_has_no_other_beat(tokenizer):
    assert likelihood(load_model(tiny_carrier("llama")), tokenizer, PASSAGES[:1], seed=1).true_beat_wins == 0.0


def test_a_beat_is_read_once_and_a_passage_by_its_beginning(tokenizer):
    model = load_model(tiny_carrier("llama"))
    forward, fed = model.forward, []

    def counted(input_ids, **settings):
        fed.append(input_ids.numel())
        return forward(input_ids=input_ids, **settings)

    model.forward = counted
    long = [HeldOut(f"b:1:{i}", "b", 1, "the lamp again", "lamp " * 400) for i in range(16)]
    likelihood(model, tokenizer, long, seed=1)
    beats = sum(len(encode_pair(tokenizer, one.beat, "")[0]) for one in long)
    assert sum(fed) == beats + 16 * 8 * 24 + 16 * (96 - 24)
