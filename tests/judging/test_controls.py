"""Each control, shown failing."""

from __future__ import annotations

from dataclasses import replace

import pytest

from judging.prose import write
from penname.core.rng import CounterRng
from penname.core.values import Score
from penname.judging.auc import Separation, auc, separation
from penname.judging.controls import AUTHOR, BASE, OTHERS, Sighted, Traps, cut_text, fit_and_score, judge_controls, lay_traps
from penname.judging.heldout import HeldOut, Material
from penname.judging.pooling import pool, pool_text
from penname.judging.shuffled import shuffled_labels

FLOOR, CEILING = 0.9, 0.7


def scores(middle, n=16, seed=1):
    rng = CounterRng("scores", middle, seed)
    return [middle + rng.random() for _ in range(n)]


NO_TRAP = Traps({AUTHOR: 0.0, "By Another": 0.0}, separation([0, 2], [1, 1], "ab", "ab", 1))


def controls(author, base, others=(-5.0, -6.0, -5.5), traps=NO_TRAP, seed=1):
    groups = {AUTHOR: list(author), BASE: list(base), OTHERS: list(others)}
    clusters = {name: [f"{name}{i}" for i in range(len(values))] for name, values in groups.items()}
    return judge_controls(Sighted(None, groups, clusters, []), traps, FLOOR, CEILING, seed)


def test_a_sighted_instrument_passes():
    found = controls(scores(4), scores(-4))
    assert found["passed"]
    assert found["reasons"] == []
    assert found["positive"]["author against base model"]["auc"] == 1.0


def test_author_like_the_base_fails():
    found = controls(scores(0), scores(0, seed=2))
    assert not found["passed"]
    assert found["reasons"][0].startswith("author against base model: AUC")
    assert "registered floor of 0.9" in found["reasons"][0]


def test_author_like_the_others_fails():
    found = controls(scores(4), scores(-4), others=scores(4, seed=3))
    assert any(reason.startswith("author against other authors") for reason in found["reasons"])


def test_author_unlike_the_author_fails():
    halves = [value + (8 if i % 2 else 0) for i, value in enumerate(scores(4))]
    assert any(reason.startswith("author against author separates") for reason in controls(halves, scores(-20))["reasons"])


def test_base_unlike_the_base_fails():
    halves = [value - (8 if i % 2 else 0) for i, value in enumerate(scores(-4))]
    assert any(reason.startswith("base against base separates") for reason in controls(scores(20), halves)["reasons"])


@pytest.mark.parametrize(
    ("auc_", "p", "fails"),
    [(0.71, 0.009, True), (0.29, 0.009, True), (0.7, 0.009, False), (0.71, 0.01, False), (0.99, 0.02, False)],
)
def test_nothing_against_nothing_fails_only_by_more_than_the_ceiling_and_chance(auc_, p, fails):
    traps = replace(NO_TRAP, shuffled=Separation(auc_, 0.0, 1.0, p, 20, 20))
    assert any(reason.startswith("shuffled labels") for reason in controls(scores(4), scores(-4), traps=traps)["reasons"]) is fails


def test_the_floor_and_what_may_be_repeated_are_reached_exactly():
    groups = {AUTHOR: [4.0, 5.0], BASE: [-4.0, -5.0], OTHERS: []}
    sighted = Sighted(None, groups, {name: ["c"] * len(values) for name, values in groups.items()}, [])
    traps = replace(NO_TRAP, repeated={AUTHOR: 0.05, "By Another": 0.051})
    assert judge_controls(sighted, traps, 1.0, CEILING, 1)["reasons"] == [
        "By Another: 5% of its words stand in the training text in spans of more than 20, so it is no text apart; leave one out"
    ]


def test_scores_that_are_no_numbers_fail():
    assert not controls([float("nan")] * 16, scores(-4))["passed"]


def test_what_is_scored_was_not_fitted(monkeypatch):
    """Every second passage of the base model is an impostor, the others are scored; of another book the end."""
    fitted, scored = [], []

    class Recorder:
        @staticmethod
        def fit(mine, others):
            fitted.append((mine, others))
            return Recorder()

        def score(self, text, hidden):
            scored.append(text)
            return Score(0.0, True, {})

    monkeypatch.setattr("penname.judging.controls.Instrument", Recorder)
    monkeypatch.setattr("penname.judging.controls.shuffled_labels", lambda *asked: asked)
    heldout = tuple(HeldOut(f"b:1:{i}", "b", 1, "", f"held {i}") for i in range(6))
    base = ["base 0", "base 1", "base 2", "base 3", " ", "base 5"]
    other = "\n\n".join(f"other {i}" for i in range(8))
    material = Material(heldout, ("training",), (other,), ("Another",), frozenset())
    fit_and_score(material, heldout, base, 2)
    impostor, unseen = "base 0\n\nbase 2", [*(one.text for one in heldout), "base 1", "base 3", "base 5"]
    assert fitted == [(["training"], [other[: other.index("other 6")].rstrip(), impostor])]
    assert scored == [*unseen, "other 6", "other 7"]
    blind, asked, *_ = lay_traps(material, heldout, base, 2, 1).shuffled
    assert (blind, [text for text, _, _ in asked]) == (["training", impostor], unseen)


def passages(text, words=150, cluster="c"):
    split = text.split()
    return [(" ".join(split[i : i + words]), "", f"{cluster}{i}") for i in range(0, len(split), words)]


@pytest.fixture(scope="module")
def shuffled():
    """The separation of labels that mean nothing, on other text and on text that the fit has seen as well."""
    fitted = [write("ornate", 12_000, 1), write("plain", 6000, 2)]
    fresh = passages(write("ornate", 6000, 3)) + passages(write("plain", 6000, 4))
    seen = passages(fitted[0]) + passages(fitted[1])
    return shuffled_labels(fitted, fresh, 500, 1), shuffled_labels(fitted, seen, 500, 1)


@pytest.mark.parametrize(("blocks", "powerless"), [(9, True), (10, False)])  # 2 / C(9, 4) is .016, 2 / C(10, 5) is .008
def test_a_control_too_small_to_fail_is_named(blocks, powerless):
    assert ("author against author" in controls(scores(4, n=blocks), scores(-4))["powerless"]) is powerless


def test_shuffled_labels_of_other_text_do_not_separate(shuffled):
    found = controls(scores(4), scores(-4), traps=replace(NO_TRAP, shuffled=shuffled[0]))
    assert found["passed"]
    assert found["negative"]["shuffled labels"]["n_high"] >= 5


def test_shuffled_labels_that_separate_fail(shuffled):
    found = controls(scores(4), scores(-4), traps=replace(NO_TRAP, shuffled=shuffled[1]))
    assert shuffled[1].auc > 0.9
    assert found["reasons"][0].startswith("shuffled labels separates")
    assert not found["passed"]


def test_held_out_text_that_stands_in_the_training_text_fails():
    training, other = write("ornate", 3000, 1), write("plain", 3000, 2)
    heldout = tuple(HeldOut(f"b:1:{i}", "b", 1, "", text) for i, (text, _, _) in enumerate(passages(training)[4:10]))
    material = Material(heldout, (training,), (other, other + " " + training), ("Another", "Both"), frozenset())
    traps = lay_traps(material, heldout, [other] * 6, 300, 1)
    assert traps.repeated == {AUTHOR: 1.0, "Another": 0.0, "Both": pytest.approx(0.5, abs=0.01)}
    reasons = controls(scores(4), scores(-4), traps=traps)["reasons"]
    assert reasons[-2].startswith("author, held out: 100% of its words stand in the training text")
    assert reasons[-1].startswith("Both: 50%")


def test_one_block_shows_nothing():
    found = controls([4.0], scores(-4))
    assert any("fewer than two" in reason for reason in found["reasons"])
    assert not any("fewer than two" in reason for reason in controls(scores(4, n=2), scores(-4, n=2))["reasons"])


def test_without_others_it_is_told():
    found = controls(scores(4), scores(-4), others=())
    assert (found["without_others"], found["passed"], list(found["positive"])) == (True, True, ["author against base model"])
    assert controls(scores(4), scores(-4))["without_others"] is False


def test_auc_by_hand():
    assert auc([3, 4], [1, 2]) == 1.0
    assert auc([1, 4], [2, 3]) == 0.5
    assert auc([2], [2]) == 0.5
    assert auc([], [1]) == auc([1], []) == 0.5
    assert separation([], [1], "", "a", 1) == Separation(0.5, 0.0, 1.0, 1.0, 0, 1)
    assert separation([1, 1], [1, 1], "ab", "cd", 1) == Separation(0.5, 0.5, 0.5, 1.0, 2, 2)
    assert separation([3, 4], [1, 2], "ab", "cd", 1).p == pytest.approx(1 / 3, abs=0.05)  # two of the six orders are as far apart


def test_the_interval_resamples_chapters_and_not_blocks():
    high, low = [5.0] * 8 + [0.0] * 8, [1.0] * 16
    by_chapter = separation(high, low, ["a"] * 8 + ["b"] * 8, ["c"] * 16, 1)
    by_block = separation(high, low, list(range(16)), list(range(16)), 1)
    assert by_chapter.auc == by_block.auc == 0.5
    assert (by_chapter.low, by_chapter.high) == (0.0, 1.0)
    assert by_block.low > 0.2


def test_blocks_have_at_least_the_registered_words():
    rows = [("one two three", "beat", "c1"), ("four five", "other", "c2"), ("six seven eight nine", "", "c1"), ("ten", "", "c2")]
    blocks = pool(rows, 5)
    assert [block.text.split()[0] for block in blocks] == ["one"]
    assert blocks[0].words == 10
    assert blocks[0].hidden == {"beat", "other"}
    assert pool([("one two", "", "c")], 5) == []


@pytest.mark.parametrize("text", ["word " * 1000, "line of words\n" * 300, ("paragraph of words " * 10 + "\n\n") * 30])
def test_any_text_can_be_cut_and_pooled(text):
    head, tail = cut_text(text, 0.25)
    assert 0.2 < len(tail.split()) / len(text.split()) < 0.3
    assert len(head.split()) + len(tail.split()) == len(text.split())
    assert all(100 <= block.words < 400 for block in pool_text(text, 100, ""))
