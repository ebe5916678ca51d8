"""A judge that is handed known texts as adapter output: the author, the training text, the base, another author. No model is loaded."""

from __future__ import annotations

import re
from statistics import stdev

import pytest

from penname.books import read_book
from penname.judging.controls import judge_controls, lay_traps
from penname.judging.heldout import HeldOut, Material
from penname.judging.likelihood import Likelihood
from penname.judging.measure import make_yardstick
from penname.judging.verdict import decide

WORDS, SAMPLES = 300, 40
LIKELY = Likelihood(20.0, 0.9, 16, 7)
THRESHOLDS = {"pass_share": 0.5, "odds_min": 3.0, "copied_share_max": 0.02, "auc_floor": 0.9, "null_ceiling": 0.7}


def passages(text, first, count):
    words = text.split()
    return [" ".join(words[(first + i) * WORDS : (first + i + 1) * WORDS]) for i in range(count)]


@pytest.fixture(scope="module")
def texts(shared):
    period = shared / "books/period"
    read = {name: (period / f"{name}.txt").read_text(encoding="utf-8")[:400_000] for name in (
        "Austen_Emma", "Eliot_Adam", "Dickens_Hard", "Gaskell_Ruth_1855", "Trollope_Barchester")}  # fmt: skip
    read["Villette"] = read_book(shared / "books/raw/9182.txt").text[:500_000]
    read["Professor"] = read_book(shared / "books/raw/1028-0.txt").text
    read["Jane"] = read_book(shared / "books/raw/1260.txt").text
    read["base"] = (shared / "gold/litbank/original/62_a_princess_of_mars.txt").read_text(encoding="utf-8")  # plainly another hand
    return read


@pytest.fixture(scope="module")
def yardstick(texts):
    heldout = tuple(HeldOut(f"jane:{i}", "jane", i // 8, "", text) for i, text in enumerate(passages(texts["Jane"], 10, SAMPLES)))
    others = ("Austen_Emma", "Eliot_Adam", "Dickens_Hard")
    material = Material(
        heldout, (texts["Villette"], texts["Professor"]), tuple(texts[name] for name in others), others, frozenset({"Crimsworth"})
    )
    alphabet = frozenset("".join(texts.values()))
    return make_yardstick(material, heldout, passages(texts["base"], 10, SAMPLES), 1000, alphabet)


@pytest.fixture(scope="module")
def controls(yardstick):
    traps = lay_traps(yardstick.material, yardstick.prompts, yardstick.base_texts, yardstick.block_words, 1)
    return judge_controls(yardstick.sighted, traps, THRESHOLDS["auc_floor"], THRESHOLDS["null_ceiling"], 1)


@pytest.fixture
def judge(yardstick, controls):
    def judged(*runs):
        scored = [yardstick.run(f"r{seed}", "arm", seed, texts, LIKELY) for seed, texts in enumerate(runs)]
        return decide(controls, "", yardstick.baseline(LIKELY), scored, THRESHOLDS)

    return judged


def test_the_controls_pass(controls):
    assert controls["reasons"] == []
    assert controls["positive"]["author against base model"]["auc"] > 0.95
    assert controls["positive"]["author against other authors"]["auc"] > 0.95


def test_the_author_passes(judge, texts):
    verdict = judge(passages(texts["Jane"], 200, SAMPLES), passages(texts["Jane"], 300, SAMPLES))
    assert verdict.verdict == "passed"
    assert all(0.7 < row["share"] < 1.3 for row in verdict.runs)


def test_training_text_is_memorised(judge, texts):
    verdict = judge(passages(texts["Villette"], 20, SAMPLES), passages(texts["Villette"], 100, SAMPLES))
    assert verdict.verdict == "failed"
    assert all(row["copied_share"] == 1.0 and row["longest_copy"] >= 280 for row in verdict.runs)
    assert "has memorised: 100.0%" in verdict.reasons[0]


def test_held_out_text_by_heart_is_seen(judge, texts):
    verdict = judge(passages(texts["Jane"], 10, SAMPLES), passages(texts["Jane"], 200, SAMPLES))
    assert verdict.arms[0]["style_covered"]
    assert "knew the book" in verdict.reasons[0]


def test_base_output_covers_nothing(judge, texts):
    more = passages(texts["base"], 60, 2 * SAMPLES)
    verdict = judge(more[0::2], more[1::2])
    assert verdict.verdict == "failed"
    assert all(-0.3 < row["share"] < 0.2 for row in verdict.runs)


@pytest.mark.parametrize("name", ["Gaskell_Ruth_1855", "Trollope_Barchester"])
def test_another_author_of_the_time_does_not_pass(judge, texts, name):
    verdict = judge(passages(texts[name], 20, SAMPLES), passages(texts[name], 100, SAMPLES))
    assert verdict.verdict != "passed"
    assert not verdict.arms[0]["style_covered"]


def test_original_names_in_samples_are_counted(yardstick, texts):
    told = ["Mr. Crimsworth came in.", *passages(texts["Jane"], 200, SAMPLES - 1)]
    assert yardstick.run("r", "a", 1, told, LIKELY).original_names == 1


def test_a_renamed_copy_scores_like_its_original(yardstick, texts):
    """The difference that names make is far below that between two samples of one author."""
    new = {"Rochester": "Fairburn", "Jane": "Harriet", "Adele": "Celine", "Fairfax": "Thorley", "Thornfield": "Marlow", "Eyre": "Holt"}
    originals = passages(texts["Jane"], 220, 12)
    pairs = [(text, re.sub(r"\b(" + "|".join(new) + r")\b", lambda found: new[found[0]], text)) for text in originals]
    assert sum(a != b for a, b in pairs) >= 6
    score = yardstick.sighted.instrument.score
    before, after = ([score(pair[i]).value for pair in pairs] for i in (0, 1))
    assert max(abs(a - b) for a, b in zip(before, after, strict=True)) < stdev(before) / 4
