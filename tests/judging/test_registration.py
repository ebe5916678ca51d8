"""What makes a verdict unregistered."""

from __future__ import annotations

from penname.core.config import Config
from penname.judging.heldout import HeldOut
from penname.judging.registration import registration, registration_fault

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
