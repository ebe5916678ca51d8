"""The judge on voices by other authors than test_handed's, and with fewer others: what it must say of known texts."""

from __future__ import annotations

import pytest

from penname.judging.controls import cut_text, judge_controls, lay_traps
from penname.judging.heldout import HeldOut, Material
from penname.judging.likelihood import Likelihood
from penname.judging.measure import make_yardstick
from penname.judging.verdict import decide

WORDS, SAMPLES = 250, 40
LIKELY = Likelihood(20.0, 0.9, 16, 7)
THRESHOLDS = {"pass_share": 0.5, "odds_min": 3.0, "copied_share_max": 0.02}
OTHERS = ("ABronte_Agnes", "EBronte_Wuthering", "Trollope_Barchester", "Wcollins_Basil_1852")
STRANGER = "Gaskell_Lovers_1863"


def passages(text, first, count=SAMPLES):
    words = text.split()
    return [" ".join(words[(first + i) * WORDS : (first + i + 1) * WORDS]) for i in range(count)]


def curly(text):
    return text.replace(' "', " \u201c").replace('"', "\u201d").replace("'", "\u2019").replace("--", "\u2014")


@pytest.fixture
def judge(shared):
    """judge(training, others): says how a handed text is judged, as (verdict, share of the way)."""

    def read(name):
        return (shared / f"books/period/{name}.txt").read_text(encoding="utf-8")

    base = (shared / "gold/litbank/original/62_a_princess_of_mars.txt").read_text(encoding="utf-8")

    def made(training, others):
        head, tail = cut_text(read(training), 0.25)
        heldout = tuple(HeldOut(f"b:{i}", "b", i // 8, "", text) for i, text in enumerate(passages(tail, 0, 80)))
        material = Material(heldout, (head,), tuple(map(read, others)), others, frozenset())
        written = passages(base, 10)
        yardstick = make_yardstick(material, heldout[:SAMPLES], written, 1000, frozenset(base + tail))
        controls = judge_controls(yardstick.sighted, lay_traps(material, heldout[:SAMPLES], written, 1000, 1), 0.9, 0.7, 1)
        assert controls["reasons"] == []

        def judged(text, first=50):
            runs = [yardstick.run(f"r{i}", "a", i, passages(text, first + SAMPLES * i), LIKELY) for i in range(2)]
            verdict = decide(controls, "", yardstick.baseline(LIKELY), runs, THRESHOLDS)
            return verdict, verdict.arms[0]["share"]

        return judged, read, head, base

    return made


@pytest.mark.slow
@pytest.mark.parametrize(
    ("training", "next_novel"), [("Austen_Emma", "Austen_Sense"), ("Dickens_David", "Dickens_Hard"), ("Eliot_Adam", "Eliot_Mill")]
)
def test_the_author_passes_and_nobody_else(judge, training, next_novel):
    judged, read, head, base = judge(training, OTHERS)
    own, share = judged(read(next_novel))
    assert share > 0.5
    assert own.verdict == "passed"
    assert abs(judged(curly(read(next_novel)))[1] - share) < 0.02
    learned, share = judged(head)
    assert share > 0.8
    assert learned.verdict == "failed" and "has memorised" in learned.reasons[0]
    assert judged(base, 60)[1] < 0.3
    assert judged(read(STRANGER))[0].verdict != "passed"


@pytest.mark.slow
def test_with_one_other_author_the_next_novel_does_not_fail_and_with_none_it_is_told(judge):
    judged, read, _, base = judge("Austen_Emma", OTHERS[:1])
    own, share = judged(read("Austen_Sense"))
    assert share > 0.5
    assert own.verdict in ("passed", "inconclusive")  # odds from so few others are cautious
    assert judged(base, 60)[1] < 0.4
    judged, _, _, _ = judge("Austen_Emma", ())
    assert any("not the period's" in claim for claim in judged(read("Austen_Sense"))[0].claims)
