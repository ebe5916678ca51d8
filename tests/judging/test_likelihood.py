"""Perplexity and beat sensitivity, held to one passage at a time on a tiny model, and on one that only heeds beats."""

from __future__ import annotations

import math
from types import SimpleNamespace

import pytest
import torch

from penname.carriers import load_model, load_tokenizer
from penname.carriers.prompt import encode_pair
from penname.judging.heldout import HeldOut
from penname.judging.likelihood import COMPARED_TOKENS, likelihood
from tiny import tiny_carrier

WORDS = ("lamp", "rain", "road", "hat")
PASSAGES = [HeldOut(f"b:1:{i}", "b", 1, f"the {word} again", f"{word} " * (20 + 9 * i)) for i, word in enumerate(WORDS)]


class Repeater(torch.nn.Module):
    """Finds the tokens of the beat likely, and no others."""

    def __init__(self, vocabulary):
        super().__init__()
        self.anchor = torch.nn.Parameter(torch.zeros(1))
        self.vocabulary = vocabulary

    def forward(self, input_ids, attention_mask, use_cache):
        logits = torch.zeros(*input_ids.shape, self.vocabulary)
        for row, ids in enumerate(input_ids):
            logits[row, :, ids[:6]] = 3.0
        return SimpleNamespace(logits=logits)


@pytest.fixture(scope="module")
def tokenizer():
    return load_tokenizer(tiny_carrier("llama"))


def test_perplexity_is_that_of_one_passage_at_a_time(tokenizer):
    model = load_model(tiny_carrier("llama"))
    total, tokens = 0.0, 0
    for passage in PASSAGES:
        prefix, ids = encode_pair(tokenizer, passage.beat, passage.text)
        start = [*tokenizer.start_ids, *prefix]
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([start + ids])).logits[0]
        total -= float(logits.log_softmax(-1)[len(start) - 1 : -1][range(len(ids)), ids].sum())
        tokens += len(ids)
    found = likelihood(model, tokenizer, PASSAGES, seed=1, batch=3)
    assert tokens > 2 * COMPARED_TOKENS
    assert found.perplexity == pytest.approx(math.exp(total / tokens), rel=1e-4)
    assert (found.passages, found.shuffled) == (4, 3)


def test_a_model_that_heeds_the_beat_wins_and_one_that_does_not_never_does(tokenizer):
    size = max(max(tokenizer.encode(passage.beat + passage.text)) for passage in PASSAGES) + 10
    assert likelihood(Repeater(size), tokenizer, PASSAGES, seed=1).true_beat_wins == 1.0
    same = [HeldOut(one.passage_id, "b", 1, "a beat", one.text) for one in PASSAGES]
    assert likelihood(Repeater(size), tokenizer, same, seed=1).true_beat_wins == 0.0


def test_one_passage_has_no_other_beat(tokenizer):
    assert likelihood(load_model(tiny_carrier("llama")), tokenizer, PASSAGES[:1], seed=1).true_beat_wins == 0.0
