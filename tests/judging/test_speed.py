"""What a whole judgement costs beside generation, on a voice of real size."""

from __future__ import annotations

import time

import pytest

from penname.books import read_book
from penname.judging.controls import judge_controls, lay_traps
from penname.judging.heldout import HeldOut, Material
from penname.judging.judge import measure_runs
from penname.judging.likelihood import Likelihood
from penname.judging.measure import make_yardstick

SAMPLES, WORDS = 64, 200
THRESHOLDS = {"pass_share": 0.5, "odds_min": 3.0, "copied_share_max": 0.02, "auc_floor": 0.9, "null_ceiling": 0.7}


def passages(text, first, count):
    words = text.split()
    return [" ".join(words[(first + i) * WORDS : (first + i + 1) * WORDS]) for i in range(count)]


@pytest.mark.slow
def test_everything_but_the_model_takes_under_a_minute(shared):
    raw, period = shared / "books/raw", shared / "books/period"
    training = tuple(read_book(raw / name).text for name in ("9182.txt", "30486-0.txt", "1028-0.txt"))
    titles = ("Austen_Emma", "Dickens_Hard", "Eliot_Adam", "Trollope_Barchester")
    others = tuple((period / f"{title}.txt").read_text(encoding="utf-8") for title in titles)
    jane = read_book(raw / "1260.txt").text
    mars = (shared / "gold/litbank/original/62_a_princess_of_mars.txt").read_text(encoding="utf-8")
    assert sum(len(text.split()) for text in training) > 480_000

    heldout = tuple(HeldOut(f"jane:{i}", "jane", i // 8, "", text) for i, text in enumerate(passages(jane, 10, 250)))
    prompts, base = heldout[:SAMPLES], passages(mars, 10, SAMPLES)
    likely = Likelihood(20.0, 0.9, 16, 7)
    written = {f"r{seed}": (passages(jane, 300 + SAMPLES * seed, SAMPLES), likely) for seed in (1, 2)}
    records = [{"run": f"r{seed}", "arm": {"id": "a", "name": "a"}, "seed": seed} for seed in (1, 2)]
    registered = {"thresholds": THRESHOLDS, "block_words": 1000}

    started = time.process_time()
    yardstick = make_yardstick(Material(heldout, training, others, titles, frozenset({"Lucy"})), prompts, base, 1000, frozenset(jane))
    traps = lay_traps(yardstick.material, prompts, base, 1000, 1)
    controls = judge_controls(yardstick.sighted, traps, THRESHOLDS["auc_floor"], THRESHOLDS["null_ceiling"], 1)
    controls["likelihood"] = {"perplexity": 30.0, "true_beat_wins": 0.2, "passages": 16, "shuffled": 7}
    verdict, samples = measure_runs(yardstick, written, controls, registered, "", records)
    seconds = time.process_time() - started  # of CPU, whatever else runs: on one thread it is what two cores take at most
    print(f"{seconds:.1f} s of CPU")
    assert verdict.verdict == "passed", verdict.reasons
    assert len(samples["r2"]) == SAMPLES
    assert seconds < 60
