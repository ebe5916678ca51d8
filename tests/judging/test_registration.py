"""What makes a verdict unregistered."""

from __future__ import annotations

import pytest

from penname.core.config import Config
from penname.judging.heldout import HeldOut
from penname.judging.registration import registration, registration_fault, too_little_text

HELDOUT = tuple(HeldOut(f"b:1:{i}", "b", 1, f"beat {i}", "text") for i in range(5))


def registered(now=1000, **judging):
    return registration(Config.model_validate({"judging": judging}), HELDOUT, now)


def test_it_holds_for_runs_that_started_later():
    assert registration_fault(registered(1000), registered(5000), [1000, 2000]) == ""


def test_the_time_is_not_in_the_hash():
    assert registered(1)["hash"] == registered(2)["hash"]


def test_a_run_that_started_before():
    assert "run had started before" in registration_fault(registered(1000), registered(5000), [2000, 999])


def test_a_threshold_changed_later():
    assert registration_fault(registered(), registered(pass_share=0.3), []) == "thresholds changed after registration"


def test_more_samples_later():
    assert registration_fault(registered(), registered(samples=8), []) == "passages, samples changed after registration"


def test_an_edited_file():
    edited = registered()
    edited["thresholds"]["pass_share"] = 0.1
    assert "edited" in registration_fault(edited, registered(pass_share=0.1), [])


def test_too_few_passages_are_used_again_in_turn():
    passages = registered(samples=12)["passages"]
    assert len(passages) == 12
    assert passages[:5] == passages[5:10]
    assert set(passages) == {one.passage_id for one in HELDOUT}


def shortfall(samples, tokens, block_words, words=4000):
    config = Config.model_validate({"judging": {"samples": samples, "block_words": block_words}, "sampling": {"max_tokens": tokens}})
    return too_little_text(config, tuple(HeldOut(f"b:1:{i}", "b", 1, "", "word " * 100) for i in range(words // 100)))


def test_the_defaults_give_enough_text():
    assert shortfall(64, 450, 1000) == ([], [])


@pytest.mark.parametrize("samples", [1, 6, 15])
def test_passages_that_can_never_make_two_blocks(samples):
    (sentence,), may_not = shortfall(samples, 450, 2000)
    assert may_not == []
    assert sentence == (
        f"judging.samples = {samples} passages of at most sampling.max_tokens = 450 cannot give the controls 2 blocks of "
        "judging.block_words = 2,000 by the base model: raise judging.samples to 32 or sampling.max_tokens, or lower judging.block_words"
    )


def test_passages_that_may_not_make_two_blocks_are_only_told():
    cannot, (sentence,) = shortfall(24, 450, 2000)
    assert cannot == []
    assert "may not give the controls 2 blocks" in sentence and "judging.samples to 32" in sentence
    assert shortfall(32, 450, 2000) == ([], [])


def test_held_out_text_that_makes_one_block():
    (sentence,), _ = shortfall(64, 450, 1000, words=1900)
    assert sentence.startswith("the held-out passages have 1,900 words, which make 1 block of judging.block_words = 1,000")
    assert "raise books.heldout_share" in sentence
