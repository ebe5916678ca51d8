"""What one whole judgement costs by part, generation left out: controls and verdict of a voice with two seeds and 64 samples an arm.

    python benchmarks/judgement.py [--carrier smollm2-135m] [--threads 1]

Three Bronte novels are the voice's training text, a fourth is held out, four novels by others are the impostors; the base model's samples
are a novel of another time, a run's the held-out author's own pages. Adapters are drawn at random, of the default rank: what they cost does
not depend on what they learned. Prints seconds of CPU and tokens by part, and writes results/judgement.json.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from penname.books import read_book
from penname.carriers.store import resolve_carrier
from penname.core.config import CarrierConfig, Config, TrainingConfig, VoiceConfig
from penname.core.errors import PennameError
from penname.judging.controls import fit_and_score, judge_controls, lay_traps
from penname.judging.heldout import HeldOut, Material, choose_prompts
from penname.judging.judge import measure_runs
from penname.judging.likelihood import likelihood
from penname.judging.measure import make_yardstick
from penname.judging.stage import SENSITIVITY_PASSAGES

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
SAMPLES, WORDS, BLOCK_WORDS = 64, 200, 1000
OTHERS = ("Austen_Emma", "Dickens_Hard", "Eliot_Adam", "Trollope_Barchester")
THRESHOLDS = {"pass_share": 0.5, "odds_min": 3.0, "copied_share_max": 0.02, "auc_floor": 0.9, "null_ceiling": 0.7}


class Parts:
    """Seconds of CPU (all threads) and tokens through the model by part."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, float]] = {}
        self.fed = 0

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        cpu, wall, fed = time.process_time(), time.monotonic(), self.fed
        yield
        seconds, passed = time.process_time() - cpu, time.monotonic() - wall
        self.rows[name] = {"cpu_seconds": round(seconds, 2), "wall_seconds": round(passed, 2), "tokens": self.fed - fed}
        print(f"{name:34}{seconds:>8.1f} s of CPU{passed:>8.1f} s passed{self.fed - fed:>10,} tokens", flush=True)

    def count(self, _: Any, __: Any, settings: dict[str, Any]) -> None:
        """Before every forward pass of the model."""
        self.fed += settings["input_ids"].numel()


def passages(text: str, first: int, count: int) -> list[str]:
    words = text.split()
    return [" ".join(words[(first + i) * WORDS : (first + i + 1) * WORDS]) for i in range(count)]


def keyword_beat(text: str) -> str:
    """Of a keyword beat's length; what it says costs nothing."""
    return ", ".join(word.strip(".,;:!?\"'").lower() for word in text.split()[::20])


def voice_material() -> tuple[Material, list[str], dict[str, list[str]], str]:
    """The voice, the base model's samples, each run's, and the held-out novel."""
    raw, period = SHARED / "books/raw", SHARED / "books/period"
    training = tuple(read_book(raw / name).text for name in ("9182.txt", "30486-0.txt", "1028-0.txt"))
    others = tuple((period / f"{title}.txt").read_text(encoding="utf-8") for title in OTHERS)
    jane = read_book(raw / "1260.txt").text
    mars = (SHARED / "gold/litbank/original/62_a_princess_of_mars.txt").read_text(encoding="utf-8")
    heldout = tuple(HeldOut(f"jane:{i}", "jane", i // 8, keyword_beat(text), text) for i, text in enumerate(passages(jane, 10, 250)))
    written = {f"run {seed}": passages(jane, 300 + SAMPLES * seed, SAMPLES) for seed in (1, 2)}
    return Material(heldout, training, others, OTHERS, frozenset({"Lucy"})), passages(mars, 10, SAMPLES), written, jane


def judge(parts: Parts, config: Config, adapters: dict[str, Path]) -> str:
    """The same calls in the same order as the stages ``control`` and ``judge``, which are processes of their own."""
    material, base_texts, written, jane = voice_material()
    prompts, asked = material.heldout[:SAMPLES], choose_prompts(material.heldout, SENSITIVITY_PASSAGES, 1)
    registered = {"thresholds": THRESHOLDS, "block_words": BLOCK_WORDS}
    with parts.part("control: load the carrier"):
        from penname.judging.sampling import base_writer, with_adapter, without_adapter

        base = base_writer(config)
    base.model.register_forward_pre_hook(parts.count, with_kwargs=True)
    with parts.part("control: likelihoods of the base"):
        base_likelihood = likelihood(base.model, base.tokenizer, asked, 1)
    with parts.part("control: fit and score"):
        sighted = fit_and_score(material, prompts, base_texts, BLOCK_WORDS)
    with parts.part("control: traps"):
        traps = lay_traps(material, prompts, base_texts, BLOCK_WORDS, 1)
    with parts.part("control: controls"):
        controls = judge_controls(sighted, traps, THRESHOLDS["auc_floor"], THRESHOLDS["null_ceiling"], 1)
    controls["likelihood"] = asdict(base_likelihood)
    with parts.part("judge: fit and index"):
        yardstick = make_yardstick(material, prompts, base_texts, BLOCK_WORDS, frozenset(jane))
    with parts.part("judge: load the carrier"):
        base = base_writer(config)
    base.model.register_forward_pre_hook(parts.count, with_kwargs=True)
    found = {}
    for run, texts in written.items():
        with parts.part(f"judge: likelihoods of {run}"):
            adapted = with_adapter(base, adapters[run])
            found[run] = texts, likelihood(adapted.model, base.tokenizer, asked, 1)
            base = without_adapter(base, adapted)
    records = [{"run": run, "arm": {"id": "a", "name": "a"}, "seed": seed} for seed, run in enumerate(written, 1)]
    with parts.part("judge: measure and plot"):
        verdict, _ = measure_runs(yardstick, found, controls, registered, "", records)
    return verdict.verdict


def random_adapters(config: Config, folder: Path, runs: tuple[str, ...]) -> dict[str, Path]:
    from penname.carriers.loading import load_model
    from penname.training.lora import attach_lora

    carrier = resolve_carrier(config.carrier.name)
    for seed, run in enumerate(runs, 1):
        attach_lora(load_model(carrier), TrainingConfig(), seed).save_pretrained(folder / run)
    return {run: folder / run for run in runs}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--carrier", default="smollm2-135m")
    parser.add_argument("--threads", type=int, default=1, help="of torch; 0 for all cores")
    args = parser.parse_args()
    if not SHARED.is_dir():
        print(f"judgement: left out, {SHARED} is not here")
        return
    try:
        resolve_carrier(args.carrier)
    except PennameError as error:
        print(f"judgement: left out, {error}")
        return
    config = Config(voice=VoiceConfig(seed=1), carrier=CarrierConfig(name=args.carrier, threads=args.threads))
    parts = Parts()
    with tempfile.TemporaryDirectory() as folder:
        adapters = random_adapters(config, Path(folder), ("run 1", "run 2"))
        verdict = judge(parts, config, adapters)
    total = {"cpu_seconds": round(sum(row["cpu_seconds"] for row in parts.rows.values()), 1), "tokens": parts.fed}
    print(f"{'all':34}{total['cpu_seconds']:>8.1f} s of CPU, on {args.threads or 'all'} threads; the verdict is {verdict}")
    results = ROOT / "benchmarks/results/judgement.json"
    results.write_text(json.dumps({"carrier": args.carrier, "threads": args.threads, "parts": parts.rows, **total}, indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())
