"""Every run of a voice, measured against the base model and the author under the registration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from penname.core.folder import VoiceFolder
from penname.core.store import load_books
from penname.judging.controls import AUTHOR, BASE, OTHERS
from penname.judging.heldout import HeldOut, Material, choose_prompts
from penname.judging.instrument import Instrument
from penname.judging.likelihood import Likelihood, likelihood
from penname.judging.maps import style_map
from penname.judging.measure import Yardstick, make_yardstick
from penname.judging.pooling import Block, pool, pool_text
from penname.judging.sampling import base_writer, with_adapter, without_adapter
from penname.judging.stage import PASSAGES_SHOWN, SENSITIVITY_PASSAGES
from penname.judging.verdict import RunScores, Verdict, decide

DRIVERS_SHOWN = 12
MAP_BLOCKS = 24  # at most so many dots a group


def judge_runs(
    voice: VoiceFolder,
    material: Material,
    prompts: Sequence[HeldOut],
    base_texts: Sequence[str],
    controls: Mapping[str, Any],
    registered: Mapping[str, Any],
    registration_fault: str,
    records: Sequence[Mapping[str, Any]],
) -> tuple[Verdict, dict[str, list[dict[str, Any]]]]:
    """The verdict, and each run's samples as rows."""
    alphabet = frozenset(char for book in load_books(voice.books) for char in book.text)
    yardstick = make_yardstick(material, prompts, base_texts, registered["block_words"], alphabet)
    written = write_all(voice, material, prompts, records)
    return measure_runs(yardstick, written, controls, registered, registration_fault, records)


def measure_runs(
    yardstick: Yardstick,
    written: Mapping[str, tuple[list[str], Likelihood]],
    controls: Mapping[str, Any],
    registered: Mapping[str, Any],
    registration_fault: str,
    records: Sequence[Mapping[str, Any]],
) -> tuple[Verdict, dict[str, list[dict[str, Any]]]]:
    """What was written, judged: the verdict with its plots, and each run's samples as rows. Pure; no model is loaded."""
    prompts, base_texts = yardstick.prompts, yardstick.base_texts
    runs = [yardstick.run(record["run"], record["arm"]["id"], record["seed"], *written[record["run"]]) for record in records]
    names = {record["arm"]["id"]: record["arm"]["name"] for record in records}
    baseline = yardstick.baseline(Likelihood(**controls["likelihood"]))
    verdict = decide(controls, registration_fault, baseline, runs, registered["thresholds"], names)
    samples = {
        run: [{"passage": one.passage_id, "beat": one.beat, "text": text} for one, text in zip(prompts, texts, strict=True)]
        for run, (texts, _) in written.items()
    }
    verdict.plots.update(_plots(yardstick, runs, samples))
    verdict.passages.extend(_side_by_side(prompts, base_texts, samples))
    return verdict, samples


def write_base(voice: VoiceFolder, material: Material, prompts: Sequence[HeldOut]) -> tuple[list[str], Likelihood]:
    """The base model's passages from the prompts, and how likely it finds the held-out ones."""
    base = base_writer(voice.config)
    texts = [sample.text for sample in base.write(prompts, "base model")]
    return texts, likelihood(base.model, base.tokenizer, asked_passages(voice, material), voice.config.voice.seed)


def asked_passages(voice: VoiceFolder, material: Material) -> list[HeldOut]:
    """The held-out passages whose likelihood is measured, the same for every model."""
    return choose_prompts(material.heldout, min(SENSITIVITY_PASSAGES, len(material.heldout)), voice.config.voice.seed)


def write_all(
    voice: VoiceFolder, material: Material, prompts: Sequence[HeldOut], records: Sequence[Mapping[str, Any]]
) -> dict[str, tuple[list[str], Likelihood]]:
    """Each run's passages from the prompts, and how likely it finds the held-out ones. The carrier is loaded once."""
    asked = asked_passages(voice, material)
    base = base_writer(voice.config)
    written = {}
    for record in records:
        adapted = with_adapter(base, voice.runs / record["run"] / "adapter")
        texts = [sample.text for sample in adapted.write(prompts, record["run"])]
        written[record["run"]] = texts, likelihood(adapted.model, base.tokenizer, asked, voice.config.voice.seed)
        base = without_adapter(base, adapted)
    return written


def _plots(yardstick: Yardstick, runs: Sequence[RunScores], samples: Mapping[str, Sequence[Mapping[str, Any]]]) -> dict[str, Any]:
    material, block_words, sighted = yardstick.material, yardstick.block_words, yardstick.sighted
    scores = {name: list(sighted.scores[name]) for name in (AUTHOR, BASE, OTHERS)} | {run.run: list(run.scores) for run in runs}
    written = zip(yardstick.prompts, yardstick.base_texts, strict=True)
    groups = {
        AUTHOR: pool([(one.text, one.beat, one.cluster) for one in material.heldout], block_words),
        "author, training": [b for text in material.train_texts for b in pool_text(text, block_words, "")],
        OTHERS: [b for text in material.other_texts for b in pool_text(text, block_words, "")],
        BASE: pool([(text, one.beat, one.cluster) for one, text in written], block_words),
    }
    for run, rows in samples.items():
        groups[run] = pool([(row["text"], row["beat"], "") for row in rows], block_words)
    dots = [(name, block) for name, blocks in groups.items() for block in blocks[:: max(1, len(blocks) // MAP_BLOCKS)][:MAP_BLOCKS]]
    places = style_map([yardstick.words(block.text) for _, block in dots])
    return {
        "scores": {name: [round(value, 4) for value in values] for name, values in scores.items()},
        "map": [{"group": name, "x": x, "y": y} for (name, _), (x, y) in zip(dots, places, strict=True)],
        "drivers": {run: _drivers(sighted.instrument, groups[run]) for run in samples},
    }


def _drivers(instrument: Instrument, blocks: Sequence[Block]) -> list[dict[str, Any]]:
    """What moves the scores of a run's samples most, towards the author (+) or away."""
    if not blocks:
        return []
    hidden = frozenset().union(*(block.hidden for block in blocks))
    found = instrument.drivers([block.text for block in blocks], DRIVERS_SHOWN, hidden)
    return [{"feature": name, "log_odds": round(value, 3)} for name, value in found]


def _side_by_side(
    prompts: Sequence[HeldOut], base_texts: Sequence[str], samples: Mapping[str, Sequence[Mapping[str, Any]]]
) -> list[dict[str, Any]]:
    rows = []
    for i, one in enumerate(prompts[:PASSAGES_SHOWN]):
        texts = {"author": one.text, "base model": base_texts[i]} | {run: str(rows_[i]["text"]) for run, rows_ in samples.items()}
        rows.append({"beat": one.beat, "passage": one.passage_id, "texts": texts})
    return rows
