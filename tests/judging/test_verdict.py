"""The verdict's rules, one by one, on plain numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penname.judging.degeneration import Degeneration, degeneration, repeated_share
from penname.judging.likelihood import Likelihood
from penname.judging.verdict import Baseline, CopyRates, RunScores, claims_for, covered_share, decide, spread_of

CLEAN = CopyRates(0.001, 0.0, 9, 0.0)
FINE = Degeneration(200.0, 0.0, 0.01, 0.0, 0.0, False)
LIKELY = Likelihood(20.0, 0.9, 16, 7)
BASELINE = Baseline(4.0, -4.0, {"author, held out": CopyRates(0.002, 0.0, 10, 1.0), "base model": CLEAN}, LIKELY)
THRESHOLDS = {"pass_share": 0.5, "odds_min": 3.0, "copied_share_max": 0.02}
SEES = {"passed": True, "reasons": []}


def run(seed, score, arm="a", **changes):
    return replace(RunScores(f"r{arm}{seed}", arm, seed, [score, score], CLEAN, 0, FINE, LIKELY), **changes)


def kind(runs, controls=SEES, fault=""):
    return decide(controls, fault, BASELINE, runs, THRESHOLDS).verdict


def test_the_share_of_the_way():
    assert covered_share(3.0, replace(BASELINE, author=-4.0)) == 0.0  # there is no way
    assert covered_share(0.0, BASELINE) == 0.5
    assert covered_share(-4.0, BASELINE) == 0.0
    assert covered_share(4.0, BASELINE) == 1.0


def test_passed_and_failed():
    passed = decide(SEES, "", BASELINE, [run(1, 2.0), run(2, 2.4)], THRESHOLDS)
    assert passed.verdict == "passed"
    assert "cover 78% of the way" in passed.sentence
    assert [row["share"] for row in passed.runs] == [0.75, 0.8]
    failed = decide(SEES, "", BASELINE, [run(1, -3.0), run(2, -2.8)], THRESHOLDS)
    assert (failed.verdict, failed.sentence) == ("failed", "Failed: the samples cover 14% of the way from the base model to the author.")
    assert failed.reasons == ["50% was registered, and the spread between seeds is 6%"]


def test_what_is_reached_exactly_counts():
    even = {**THRESHOLDS, "odds_min": 1.0}  # at 0.0, half the way between 4 and -4, the odds are even
    verdict = decide(SEES, "", BASELINE, [run(1, 0.0), run(2, 0.0)], even)
    assert (verdict.verdict, verdict.arms[0]["style_covered"]) == ("passed", True)
    assert decide(SEES, "", BASELINE, [run(1, 0.0), run(2, 0.0)], {**even, "pass_share": 0.51}).arms[0]["style_covered"] is False
    wide = [run(1, 2.0), run(2, 4.0)]  # .25 apart, times 2.5
    assert decide(SEES, "", BASELINE, wide, {**THRESHOLDS, "pass_share": 0.625}).verdict == "passed"
    assert decide(SEES, "", BASELINE, wide, {**THRESHOLDS, "pass_share": 0.62}).verdict == "inconclusive"


def test_half_the_way_from_a_far_base_is_not_enough():
    far = replace(BASELINE, base=-12.0)
    verdict = decide(SEES, "", far, [run(1, 0.5), run(2, 0.7)], THRESHOLDS)
    assert verdict.runs[0]["share"] > 0.75
    assert verdict.verdict == "inconclusive"
    assert not verdict.arms[0]["style_covered"]
    assert decide(SEES, "", far, [run(1, -1.5), run(2, -1.3)], THRESHOLDS).verdict == "failed"
    assert decide({**SEES, "without_others": True}, "", far, [run(1, 0.5), run(2, 0.7)], THRESHOLDS).verdict == "passed"
    assert verdict.reasons == ["the instrument gives 1.8 to 1 that the author wrote them, and 3 to 1 was registered"]


def test_a_spread_wider_than_the_threshold_is_inconclusive():
    assert kind([run(1, 4.0), run(2, 2.0)]) == "inconclusive"  # a gap of .25, times 2.5
    assert kind([run(1, 4.0), run(2, 2.0), run(3, 3.0)]) == "passed"  # a range of .25 over three


def test_one_seed_is_inconclusive():
    alone = decide(SEES, "", BASELINE, [run(1, 4.0)], THRESHOLDS)
    assert (alone.verdict, alone.reasons) == ("inconclusive", ["one seed shows no spread; train a second one"])
    assert alone.baseline["spread"] is None and alone.arms[0]["spread"] is None
    beside = decide(SEES, "", BASELINE, [run(1, 3.0), run(2, 3.0), run(1, 4.0, "b")], THRESHOLDS)  # another arm's spread is not its own
    assert [row["verdict"] for row in beside.arms] == ["passed", "inconclusive"]
    assert beside.claims[0].startswith("One seed shows that it can be done once")


def test_spread_is_pooled_over_arms():
    assert spread_of({"a": [0.5, 0.6], "b": [0.5, 0.5]}) == pytest.approx(0.25 / 2**0.5)
    assert spread_of({"a": [0.1, 0.4, 0.2]}) == pytest.approx(0.3)
    assert spread_of({"a": [0.5]}) is None


def test_more_than_any_text_repeats_that_cannot_have_learned_it():
    seen = replace(BASELINE, copied={"base model": CopyRates(0.25, 0.0, 9, 0.125), "other authors": CopyRates(0.0, 0.0, 0, 0.0)})
    allowed = {**THRESHOLDS, "copied_share_max": 0.25}
    for copied, memorised in (((0.5, 0.0), False), ((0.51, 0.0), True), ((0.0, 0.375), False), ((0.0, 0.376), True)):
        repeats = run(2, 4.0, copied=CopyRates(copied[0], 0.0, 30, copied[1]))
        assert (decide(SEES, "", seen, [run(1, 4.0), repeats], allowed).verdict == "failed") is memorised, copied


def test_memorised_fails_however_good_the_style():
    learned = run(2, 4.0, copied=CopyRates(0.4, 0.3, 60, 0.0))
    verdict = decide(SEES, "", BASELINE, [run(1, 4.0), learned], THRESHOLDS)
    assert verdict.verdict == "failed"
    assert "ra2 has memorised: 40.0%" in verdict.reasons[0]


def test_held_out_text_by_heart_fails():
    known = run(2, 4.0, copied=CopyRates(0.001, 0.0, 9, 0.5))
    assert "knew the book" in decide(SEES, "", BASELINE, [run(1, 4.0), known], THRESHOLDS).reasons[0]


def test_broken_samples_fail():
    assert kind([run(1, 4.0), run(2, 4.0, degeneration=replace(FINE, repeating_share=0.5, broken=True))]) == "failed"


def test_too_little_text_to_score_is_inconclusive():
    verdict = decide(SEES, "", BASELINE, [run(1, 4.0), run(2, 4.0, scores=[])], THRESHOLDS)
    assert (verdict.verdict, verdict.sentence) == ("inconclusive", "Inconclusive: there is too little text to score.")
    assert verdict.reasons[0].startswith("ra2: fewer words than one block")


def test_a_failed_control_refuses_and_a_registration_fault_unregisters():
    blind = {"passed": False, "reasons": ["author against base model: AUC .6"]}
    assert kind([run(1, 4.0), run(2, 4.0)], controls=blind) == "refused"
    assert kind([run(1, 4.0), run(2, 4.0)], fault="thresholds changed after registration") == "unregistered"


def test_the_best_of_several_arms_says_that_it_is():
    verdict = decide(SEES, "", BASELINE, [run(1, -3.0), run(2, -3.0), run(1, 3.0, "b"), run(2, 3.0, "b")], THRESHOLDS, {"b": "all-x6-am"})
    assert [row["verdict"] for row in verdict.arms] == ["failed", "passed"]
    assert verdict.verdict == "passed"
    assert "best of them, all-x6-am" in verdict.reasons[0]
    both = decide(SEES, "", BASELINE, [run(1, -3.0), run(2, -3.0), run(1, -2.0, "b"), run(2, -2.0, "b")], THRESHOLDS)
    assert (both.verdict, both.sentence[:28]) == ("failed", "Failed: the samples cover 25")  # of two alike the one that covers more


def test_going_on_anyway_is_told():
    assert "control had failed" in decide({**SEES, "anyway": True}, "", BASELINE, [run(1, 4.0), run(2, 4.0)], THRESHOLDS).reasons[-1]


def test_without_others_says_what_cannot_be_claimed():
    claims = decide({**SEES, "without_others": True}, "", BASELINE, [run(1, 4.0), run(2, 4.0)], THRESHOLDS).claims
    assert any("not the period's" in claim for claim in claims)
    with_others = decide(SEES, "", BASELINE, [run(1, 4.0), run(2, 4.0)], THRESHOLDS).claims
    assert not any("not the period's" in claim for claim in with_others)
    assert with_others[-1] == "The style score sees words, marks and rhythm. It does not see whether a passage makes sense: read some."


def test_controls_that_could_not_have_failed_are_told():
    claims = decide({**SEES, "powerless": ["base against base"]}, "", BASELINE, [run(1, 4.0), run(2, 4.0)], THRESHOLDS).claims
    assert "With so few blocks these controls could not have failed, so that they hold says nothing: base against base." in claims
    assert not any("so few blocks" in claim for claim in decide(SEES, "", BASELINE, [run(1, 4.0), run(2, 4.0)], THRESHOLDS).claims)


def test_claims_say_how_many_passages_the_likelihoods_rest_on():
    claims = decide(SEES, "", BASELINE, [run(1, 4.0), run(2, 4.0)], THRESHOLDS).claims
    assert any("the beginnings of 16 held-out passages: such a share may be off by 24%, and chance gives 12%" in claim for claim in claims)


def test_claims_are_worked_out_for_the_seeds():
    assert "1/6" in claims_for(2)[0] and "no significance" in claims_for(2)[0]
    assert "1/20" in claims_for(3)[0] and "no significance" not in claims_for(3)[0]
    assert claims_for(5)[1].endswith("0.062 at best; six pairs are the fewest that reach .031.")
    assert claims_for(6)[1].endswith("0.031 at best.")
    assert "Train a second seed" in claims_for(1)[0]


def test_degeneration_sees_repetition_shortness_and_odd_characters():
    letters = frozenset("abcdefghijklmnopqrstuvwxyz .")
    good = " ".join(f"{a}{b}" for a in "abcdef" for b in "ghijkl")
    assert repeated_share("a b c d " * 10) > 0.8
    assert repeated_share(good) == 0
    assert not degeneration([good] * 4, letters).broken
    assert degeneration(["no no no no " * 20] * 4, letters).repeating_share == 1
    assert degeneration(["no"] * 4, letters).broken
    assert degeneration([good + "\ufffd" * 20] * 4, letters).broken
    assert degeneration([], letters).broken


def test_what_is_broken_and_what_may_still_be_prose():
    letters = frozenset("abcdefghijklmnopqrstuvwxyz ")
    words = [f"{a}{b}" for a in "abcdef" for b in "ghijkl"]
    long, short, again = " ".join(words[:33]), " ".join(words[:19]), "a b c d " * 10  # 98 characters; 19 words; 40 words
    assert repeated_share("a b c d a b c d") == pytest.approx(0.2)
    assert degeneration(["a b c d e a b c d"], letters).repeating_share == 0  # one run of six
    for samples, broken in (
        ([long + "\ufffd" * 2], False),  # 2 of 100 characters
        ([long + "\ufffd" * 3], True),
        ([long] * 4 + [short], False),  # one of five
        ([long] * 3 + [short] * 2, True),
        ([" ".join(words[:20])], False),
        ([long] * 4 + [again], False),
        ([long] * 3 + [again] * 2, True),
    ):
        assert degeneration(samples, letters).broken is broken, samples
