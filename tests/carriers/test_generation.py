"""Sampling: the same passage whatever stands beside it, the right distribution, one stop id, and a cache that changes nothing."""

from __future__ import annotations

import pytest
import torch

from penname.carriers import encode_prefix, generate, load_model, load_tokenizer
from penname.carriers.cache import GrowingCache
from penname.carriers.generation import choose
from penname.core.config import SamplingConfig
from penname.core.errors import BadInput, ProofFailed
from tiny import tiny_carrier

BEATS = ["A letter", "The lamp burns low and nobody will speak of it", "x", "He goes out into the rain, laughing"]


@pytest.fixture(scope="module", params=["qwen3", "qwen3_5", "llama"])
def carrier(request):
    folder = tiny_carrier(request.param)
    model = load_model(folder)
    with torch.no_grad():
        # Random carriers are nearly uniform; louder logits give samples that differ for a reason.
        model.get_output_embeddings().weight.mul_(3)
    return model, load_tokenizer(folder)


def settings(**changes):
    return SamplingConfig(**{"temperature": 0.8, "top_p": 0.95, "max_tokens": 24, "batch_size": 4, **changes})


def prefixes(tokenizer):
    return [encode_prefix(tokenizer, beat) for beat in BEATS]


def test_a_sample_does_not_depend_on_its_batch(carrier):
    model, tokenizer = carrier
    together = generate(model, tokenizer, prefixes(tokenizer), settings(), 7)
    for batch_size in (1, 3):
        assert generate(model, tokenizer, prefixes(tokenizer), settings(batch_size=batch_size), 7) == together
    alone = generate(model, tokenizer, prefixes(tokenizer)[2:3], settings(), 7, first_index=2)
    assert alone[0].token_ids == together[2].token_ids


def test_another_seed_gives_other_samples_and_the_same_seed_the_same(carrier):
    model, tokenizer = carrier
    first = generate(model, tokenizer, prefixes(tokenizer), settings(), 1)
    assert generate(model, tokenizer, prefixes(tokenizer), settings(), 1) == first
    assert [s.token_ids for s in generate(model, tokenizer, prefixes(tokenizer), settings(), 2)] != [s.token_ids for s in first]


def test_the_cache_gives_what_a_whole_forward_gives(carrier):
    model, tokenizer = carrier
    prefix = prefixes(tokenizer)[1]
    sample = generate(model, tokenizer, [prefix], settings(temperature=0, max_tokens=12), 1)[0]
    ids = list(prefix)
    with torch.inference_mode():
        for token in sample.token_ids:
            assert int(model(input_ids=torch.tensor([ids]), use_cache=False).logits[0, -1].argmax()) == token
            ids.append(token)
    assert len(sample.token_ids) == 12 or sample.finish == "stop"


def test_rows_that_leave_the_cache_do_not_disturb_the_others(carrier):
    model, _ = carrier
    draw = torch.Generator().manual_seed(3)
    ids = torch.randint(5, 400, (3, 9), generator=draw)
    step = torch.randint(5, 400, (3, 1), generator=draw)
    with torch.inference_mode():
        whole = GrowingCache(model.config, 16)
        model(input_ids=ids, cache=whole, use_cache=True)
        expected = model(input_ids=step, cache=whole, use_cache=True).logits[[0, 2]]
        fewer = GrowingCache(model.config, 16)
        model(input_ids=ids, cache=fewer, use_cache=True)
        fewer.keep_rows(torch.tensor([0, 2]))
        found = model(input_ids=step[[0, 2]], cache=fewer, use_cache=True).logits
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_it_stops_on_the_stop_id_and_only_on_it():
    folder = tiny_carrier()
    model, tokenizer = load_model(folder), load_tokenizer(folder)
    bias = torch.full((512,), -50.0)
    script = {0: 40, 1: 40, 2: 0}  # tokens 40, 40, then the stop id
    calls = []

    def scripted(module, args, output):
        token = script[len(calls)]
        calls.append(token)
        output.logits = bias.clone().expand(output.logits.shape[0], 1, -1).clone()
        output.logits[..., token] = 50.0
        return output

    handle = model.register_forward_hook(scripted)
    sample = generate(model, tokenizer, [[5, 6]], settings(max_tokens=9), 1)[0]
    handle.remove()
    assert (sample.token_ids, sample.finish) == ((40, 40), "stop")
    assert sample.text == tokenizer.decode([40, 40]).strip()


def test_the_length_limit_ends_a_passage():
    folder = tiny_carrier()
    model, tokenizer = load_model(folder), load_tokenizer(folder)
    with torch.no_grad():
        model.get_output_embeddings().weight[0] = 0
    samples = generate(model, tokenizer, [[5, 6]], settings(max_tokens=3, temperature=0), 1)
    assert [(len(s.token_ids), s.finish) for s in samples] == [(3, "length")]


def test_the_model_is_left_as_it_was():
    folder = tiny_carrier()
    model, tokenizer = load_model(folder), load_tokenizer(folder)
    model.train()
    generate(model, tokenizer, [[5]], settings(max_tokens=2), 1)
    assert model.training


def test_the_nucleus_holds_the_fewest_tokens_that_reach_top_p():
    logits = torch.log(torch.tensor([[0.5, 0.3, 0.15, 0.05]]))
    draws = [int(choose(logits, torch.tensor([u], dtype=torch.float64), 1.0, 0.79)) for u in (0.0, 0.62, 0.63, 0.999999)]
    assert draws == [0, 0, 1, 1]  # 0.5 and 0.3, renormalised to 0.625 and 0.375
    assert int(choose(logits, torch.tensor([0.9999], dtype=torch.float64), 1.0, 1.0)) == 3
    assert int(choose(logits, torch.tensor([0.9999], dtype=torch.float64), 0.0, 1.0)) == 0


def test_draws_follow_the_tempered_distribution():
    logits = torch.tensor([2.0, 1.0, 0.0, -1.0])
    n = 4000
    uniform = (torch.arange(n, dtype=torch.float64) + 0.5) / n  # an even grid: frequencies are exact to 1/n
    drawn = choose(logits.expand(n, -1), uniform, 0.5, 1.0)
    expected = torch.softmax(logits.double() / 0.5, -1)
    torch.testing.assert_close(torch.bincount(drawn, minlength=4).double() / n, expected, rtol=0, atol=1.5 / n)


def test_a_nucleus_wider_than_the_first_sort_is_still_whole():
    n, vocab = 2000, 3000
    uniform = (torch.arange(n, dtype=torch.float64) + 0.5) / n
    flat = torch.zeros(n, vocab)
    assert len(set(choose(flat, uniform, 1.0, 1.0).tolist())) == n  # every draw another token: none of 3000 is cut off
    peaked = torch.zeros(n, vocab)
    peaked[0::2, 7] = 30.0  # every other row needs one token only, and must not be touched by its neighbours
    assert choose(peaked, uniform, 1.0, 0.9)[0::2].unique().tolist() == [7]


def test_what_cannot_be_sampled_is_refused():
    folder = tiny_carrier()
    model, tokenizer = load_model(folder), load_tokenizer(folder)
    with pytest.raises(BadInput, match="empty prefix"):
        generate(model, tokenizer, [[]], settings(), 1)
    with torch.no_grad():
        model.get_output_embeddings().weight[9] = float("nan")
    for temperature in (0.0, 0.8):
        with pytest.raises(ProofFailed, match="not finite"):
            generate(model, tokenizer, [[5]], settings(temperature=temperature), 1)


def test_progress_counts_steps_so_that_the_time_left_is_true(carrier, monkeypatch, capsys):
    model, tokenizer = carrier
    monkeypatch.setattr("penname.core.progress._LINE_SECONDS", 0.0)
    generate(model, tokenizer, prefixes(tokenizer), settings(batch_size=2), 7, label="base model")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("base model: 1/48, ")
    assert lines[-1].startswith("base model: 48/48, 0 s left, 4 of 4 passages, ")
