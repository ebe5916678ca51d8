"""Curves over what was varied: corpus words, steps, copies, carriers. Each ends in points, a plot and one sentence.

A curve reads runs that ``penname sweep`` has trained and trains nothing itself. What a difference is worth is measured by the
spread between seeds: one that is not wider is none.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from statistics import mean
from typing import Any, Literal

from penname.core.errors import StaleInput
from penname.core.files import read_json, read_jsonl, write_json, write_text
from penname.core.folder import VoiceFolder
from penname.core.hashing import canonical_json
from penname.core.store import load_books
from penname.judging.controls import AUTHOR, BASE
from penname.judging.curve_plot import line_plot
from penname.judging.heldout import Material, load_material
from penname.judging.instrument import Instrument
from penname.judging.measure import Yardstick, make_yardstick
from penname.judging.pooling import pool
from penname.judging.stage import read_registration, registered_prompts
from penname.judging.verdict import covered_share, spread_of

Which = Literal["words", "steps", "copies", "carriers"]
CURVES: tuple[Which, ...] = ("words", "steps", "copies", "carriers")
_SWEEPS = {"words": "corpus_words = [300000, 1000000]", "copies": "copies = [1, 6]", "carriers": 'carriers = ["A", "B", "C"]'}
_LABELS = {"words": "words trained on", "steps": "step", "copies": "copies", "carriers": "body parameters"}
EQUAL_TOKENS = 0.1  # arms whose trained tokens differ by more than this share are not at equal tokens


def draw_curve(voice: VoiceFolder, which: Which) -> dict[str, Any]:
    """Write ``judging/curve-<which>.json`` and ``.svg``; the curve. StaleInput says what to train where there are fewer than two points."""
    curve = {"words": _words, "steps": _steps, "copies": _copies, "carriers": _carriers}[which](voice)
    curve = {"curve": which, "x_label": _LABELS[which], **curve}
    write_json(voice.judging / f"curve-{which}.json", curve)
    write_text(voice.judging / f"curve-{which}.svg", line_plot(curve))
    return curve


def all_records(voice: VoiceFolder) -> list[dict[str, Any]]:
    """run.json of every complete run, whatever its carrier; an adapter at another strength is no training of its own."""
    records = [read_json(path.parent / "run.json") for path in sorted(voice.runs.glob("*/manifest.json"))]
    return [record for record in records if "scaled" not in record]


def _words(voice: VoiceFolder) -> dict[str, Any]:
    books = sum(book.words() for book in load_books(voice.books))
    points, spread = _points(voice, "corpus_words", lambda words: words or books, "words")
    low, high = points[0], points[-1]
    gain = high["share"] - low["share"]
    told = f"{low['x']:,} words cover {low['share']:.0%} of the way and {high['x']:,} words {high['share']:.0%}"
    sentence = f"{told}: {_words_end(gain, spread, low['x'])}."
    return {"points": points, "spread": spread, "y_label": "share of the way", "y": "share", "sentence": sentence}


def _words_end(gain: float, spread: float | None, floor: int) -> str:
    if spread is None:
        return "one seed an arm, so it cannot be said whether more words help"
    if gain > spread:
        return f"more words help by more than the seeds spread ({spread:.0%}), so {floor:,} is below what this voice needs"
    return f"no more than the seeds spread ({spread:.0%}), so a corpus of {floor:,} words holds as a floor here"


def _copies(voice: VoiceFolder) -> dict[str, Any]:
    points, _ = _points(voice, "copies", int, "copies")
    spread = spread_of({str(point["x"]): point["copied_per_run"] for point in points})
    low, high = points[0], points[-1]
    told = (
        f"of the samples' words {low['copied']:.1%} are learned by heart with copies = {low['x']}, "
        f"{high['copied']:.1%} with copies = {high['x']}"
    )
    tokens = [point["trained_tokens"] for point in points]
    if max(tokens) > (1 + EQUAL_TOKENS) * max(1, min(tokens)):
        end = "the arms saw different numbers of tokens, so this says nothing of renaming; set training.max_steps for both"
    elif spread is None:
        end = "one seed an arm, so it cannot be said whether renaming helps"
    elif low["copied"] - high["copied"] > spread:
        end = "renaming buys less memorisation at equal tokens"
    else:
        end = f"not less by more than the seeds spread ({spread:.1%}): renaming is not shown to buy anything here"
    return {"points": points, "spread": spread, "y_label": "share copied", "y": "copied", "sentence": f"Memorisation: {told}: {end}."}


def comparable(records: Sequence[Mapping[str, Any]], field: str) -> list[Mapping[str, Any]]:
    """The runs whose arms differ in ``field`` alone: of several such groups the one with the most values of it, then the most runs.

    Arms that differ in something else as well would pass for seeds, or for an effect of ``field``.
    """
    groups: dict[str, list[Mapping[str, Any]]] = {}
    for record in records:
        rest = {key: value for key, value in record["arm"].items() if key not in ("id", "name", field)}
        groups.setdefault(canonical_json(rest), []).append(record)
    ranked = sorted(groups.items(), key=lambda item: (-len({record["arm"][field] for record in item[1]}), -len(item[1]), item[0]))
    return ranked[0][1] if ranked else []


def _points(voice: VoiceFolder, field: str, x_of: Callable[[int], int], which: str) -> tuple[list[dict[str, Any]], float | None]:
    """One point a value of x from the verdict's rows; and the spread between seeds."""
    path = voice.judging / "verdict.json"
    if not path.is_file():
        raise StaleInput("the runs are not judged yet; run: penname judge")
    rows = {row["run"]: row for row in read_json(path)["runs"]}
    records = {record["run"]: record for record in comparable([one for one in all_records(voice) if one["run"] in rows], field)}
    by_x: dict[int, list[str]] = {}
    for run, record in records.items():
        by_x.setdefault(x_of(record["arm"][field]), []).append(run)
    _want_two(by_x, which)
    points = []
    for x in sorted(by_x):
        runs = by_x[x]
        points.append(
            {
                "x": x,
                "share": round(mean(rows[run]["share"] for run in runs), 4),
                "per_run": [rows[run]["share"] for run in runs],
                "copied": round(mean(rows[run]["copied_share"] for run in runs), 5),
                "copied_per_run": [rows[run]["copied_share"] for run in runs],
                "trained_tokens": round(mean(records[run]["trained_tokens"] for run in runs)),
                "runs": runs,
            }
        )
    return points, spread_of({str(point["x"]): point["per_run"] for point in points})


def _want_two(by_x: Mapping[Any, Sequence[Any]], which: str) -> None:
    if len(by_x) < 2:
        raise StaleInput(
            f"a curve over {which} needs judged runs of at least two values, and there is {len(by_x)}; put [sweep] {_SWEEPS[which]} into "
            "a file, train it with: penname sweep FILE, then run: penname judge"
        )


def _steps(voice: VoiceFolder) -> dict[str, Any]:
    """Style of the samples that training wrote on its way, and held-out loss, by step. Nothing is generated."""
    yardstick = _yardstick(voice)
    scores = yardstick.sighted.scores
    author, base = (mean(scores[name]) if scores[name] else 0.0 for name in (AUTHOR, BASE))
    by_step: dict[int, list[float]] = {}
    losses: dict[int, list[float]] = {}
    for record in all_records(voice):
        folder = voice.runs / record["run"]
        for step, texts in _samples_by_step(folder / "samples.jsonl").items():
            by_step.setdefault(step, []).append(_pooled_score(yardstick.sighted.instrument, texts))
        for row in record.get("heldout", ()):
            losses.setdefault(int(row["step"]), []).append(float(row["loss"]))
    if len(by_step) < 2:
        raise StaleInput("a curve over steps needs samples from at least two steps; set training.sample_steps and run: penname train")
    way = author - base
    points = []
    for step in sorted(by_step):
        point = {"x": step, "share": round((mean(by_step[step]) - base) / way, 4) if way else 0.0, "runs": len(by_step[step])}
        points.append(point | ({"heldout_loss": round(mean(losses[step]), 4)} if step in losses else {}))
    best = max(points, key=lambda point: point["share"])
    first, last = points[0], points[-1]
    sentence = (
        f"Style covers {first['share']:.0%} of the way at step {first['x']} and {last['share']:.0%} at step {last['x']}; "
        f"the most, {best['share']:.0%}, at step {best['x']}{_loss_end(losses)}."
    )
    return {"points": points, "spread": None, "y_label": "share of the way", "y": "share", "sentence": sentence}


def _loss_end(losses: Mapping[int, Sequence[float]]) -> str:
    if not losses:
        return ""
    lowest = min(losses, key=lambda step: mean(losses[step]))
    late = "; after that the adapter learns its text by heart" if lowest < max(losses) else ", so it was still learning when it stopped"
    return f", and the held-out loss is lowest at step {lowest}{late}"


def _samples_by_step(path: Path) -> dict[int, list[tuple[str, str, str]]]:
    found: dict[int, list[tuple[str, str, str]]] = {}
    for row in read_jsonl(path) if path.is_file() else ():
        found.setdefault(int(row["step"]), []).append((row["text"], row["beat"], ""))
    return found


def _pooled_score(instrument: Instrument, rows: Sequence[tuple[str, str, str]]) -> float:
    block = pool(rows, max(1, sum(len(text.split()) for text, _, _ in rows)))[0]  # all of a step in one block, whatever its length
    return instrument.score(block.text, hidden=block.hidden).value


def _yardstick(voice: VoiceFolder) -> Yardstick:
    registered, material = read_registration(voice), load_material(voice)
    path = voice.judging / "base.jsonl"
    if not path.is_file():
        raise StaleInput("the base model has not written yet; run: penname control")
    base = [row["text"] for row in read_jsonl(path)]
    return make_yardstick(material, registered_prompts(voice, material), base, registered["block_words"], _alphabet(voice))


def _alphabet(voice: VoiceFolder) -> frozenset[str]:
    return frozenset().union(*(book.text for book in load_books(voice.books)))


def _carriers(voice: VoiceFolder) -> dict[str, Any]:
    """Every carrier that has finished runs writes again, base and adapters, and is measured against its own base."""
    by_carrier: dict[str, list[Mapping[str, Any]]] = {}
    for record in comparable(all_records(voice), "carrier"):
        by_carrier.setdefault(record["settings"]["carrier"]["name"], []).append(record)
    _want_two(by_carrier, "carriers")
    material, alphabet = load_material(voice), _alphabet(voice)
    points = sorted((_carrier_point(voice, material, alphabet, *carrier) for carrier in by_carrier.items()), key=lambda point: point["x"])
    spread = spread_of({point["carrier"]: point["per_run"] for point in points})
    told = ", ".join(f"{point['carrier']} ({point['x'] / 1e6:,.1f} M) {point['share']:.0%}" for point in points)
    sentence = f"Of the way from base to author, {told}: {flattening([point['share'] for point in points], spread)}."
    return {"points": points, "spread": spread, "y_label": "share of the way", "y": "share", "sentence": sentence}


def flattening(shares: Sequence[float], spread: float | None) -> str:
    """Whether a curve over growing carriers has flattened: its last gain against the spread between seeds, and an earlier one."""
    if spread is None or len(shares) < 3:
        return "cannot tell whether the curve has flattened" + (" by one seed" if spread is None else " from two sizes")
    gains = [after - before for before, after in pairwise(shares)]
    if gains[-1] > spread:
        return f"not flattened, the last step up gains {gains[-1]:.0%}"
    if max(gains[:-1]) > spread:
        return f"flattened, the last step up gains no more than the seeds spread ({spread:.0%})"
    return f"cannot tell, no step gains more than the seeds spread ({spread:.0%})"


def _carrier_point(
    voice: VoiceFolder, material: Material, alphabet: frozenset[str], name: str, records: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    from penname.carriers.probe import probe_folder
    from penname.carriers.store import resolve_carrier
    from penname.judging.judge import write_all, write_base

    own = replace(voice, config=voice.config.model_copy(update={"carrier": voice.config.carrier.model_copy(update={"name": name})}))
    prompts = registered_prompts(voice, material)
    base_texts, base_likelihood = write_base(own, material, prompts)
    yardstick = make_yardstick(material, prompts, base_texts, read_registration(voice)["block_words"], alphabet)
    baseline = yardstick.baseline(base_likelihood)
    written = write_all(own, material, prompts, records)
    scored = [yardstick.run(r["run"], r["arm"]["id"], r["seed"], *written[r["run"]]) for r in records]
    shares = [round(covered_share(mean(run.scores), baseline), 4) if run.scores else 0.0 for run in scored]
    return {
        "x": probe_folder(resolve_carrier(name)).body,
        "carrier": Path(name).name,
        "share": round(mean(shares), 4),
        "per_run": shares,
        "runs": [run.run for run in scored],
    }
