"""The verdict: passed, failed, inconclusive, unregistered or refused, with its reasons and what the design can claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import comb
from statistics import mean
from typing import Any

from penname.judging.degeneration import Degeneration
from penname.judging.likelihood import Likelihood

TWO_SEED_FACTOR = 2.5  # the gap between two draws understates the range of more


@dataclass(frozen=True)
class RunScores:
    """One run's samples, measured."""

    run: str
    arm: str
    seed: int
    scores: Sequence[float]  # of blocks
    copied_share: float  # of sample words in verbatim spans of more than 8 words
    copied_share_20: float
    longest_copy: int
    original_names: int
    degeneration: Degeneration
    likelihood: Likelihood


@dataclass(frozen=True)
class Baseline:
    """What the runs are measured against."""

    author: float  # mean block score of held-out chapters
    base: float  # mean block score of the base model's passages
    copied_share: float  # the higher of base model and held-out author
    likelihood: Likelihood


@dataclass(frozen=True)
class Verdict:
    """``verdict`` with the sentence a person reads, the reasons, the claims, and the figures by arm and run."""

    verdict: str
    sentence: str
    reasons: list[str]
    claims: list[str]
    arms: list[dict[str, Any]]
    runs: list[dict[str, Any]]
    baseline: dict[str, Any]
    plots: dict[str, Any] = field(default_factory=dict)
    passages: list[dict[str, Any]] = field(default_factory=list)


def covered_share(score: float, baseline: Baseline) -> float:
    """The share of the way from base model to author."""
    way = baseline.author - baseline.base
    return (score - baseline.base) / way if way else 0.0


def spread_of(by_arm: Mapping[str, Sequence[float]]) -> float | None:
    """The widest range over the seeds of an arm; with two seeds 2.5 times their gap. None where no arm has two seeds."""
    ranges = [(max(v) - min(v)) * (TWO_SEED_FACTOR if len(v) == 2 else 1.0) for v in by_arm.values() if len(v) > 1]
    return max(ranges) if ranges else None


def claims_for(seeds: int) -> list[str]:
    """What so many seeds an arm can show, worked out."""
    if seeds < 2:
        return ["One seed shows that it can be done once; how much of it is chance cannot be said. Train a second seed."]
    arrangements = comb(2 * seeds, seeds)
    claims = [
        f"{seeds} seeds an arm: the smallest one-sided p that {seeds} against {seeds} can reach is 1/{arrangements}"
        + (", so gross effects and feasibility show, and no significance." if arrangements < 20 else "."),
        f"{seeds} paired comparisons can reach a two-sided p of {2 / 2**seeds:.3f} at best; six pairs are the fewest that reach .031.",
    ]
    return claims


def decide(
    controls: Mapping[str, Any], registration_fault: str, baseline: Baseline, runs: Sequence[RunScores], thresholds: Mapping[str, float]
) -> Verdict:
    """The verdict. A failed control refuses; then registration, spread, degeneration, memorisation and style, in that order."""
    shares = {run.run: covered_share(mean(run.scores), baseline) if run.scores else 0.0 for run in runs}
    by_arm: dict[str, list[float]] = {}
    for run in runs:
        by_arm.setdefault(run.arm, []).append(shares[run.run])
    spread = spread_of(by_arm)
    arms = [{"arm": arm, "share": round(mean(v), 4), "per_seed": [round(x, 4) for x in v]} for arm, v in by_arm.items()]
    kind, sentence, reasons = _kind(controls, registration_fault, baseline, runs, thresholds, shares, spread)
    claims = claims_for(min(len(v) for v in by_arm.values()))
    if controls.get("without_others"):
        claims.append("With no books by other authors it cannot be said that this is the author's style and not the period's.")
    if controls.get("anyway"):
        reasons.append("training went on although a control had failed")
    return Verdict(
        kind,
        sentence,
        reasons,
        claims,
        [{**arm, "spread": None if spread is None else round(spread, 4)} for arm in arms],
        [_run_row(run, shares[run.run]) for run in runs],
        {**asdict(baseline), "spread": spread},
    )


def _kind(
    controls: Mapping[str, Any],
    registration_fault: str,
    baseline: Baseline,
    runs: Sequence[RunScores],
    thresholds: Mapping[str, float],
    shares: Mapping[str, float],
    spread: float | None,
) -> tuple[str, str, list[str]]:
    covered, needed = mean(shares.values()), thresholds["pass_share"]
    told = f"the samples cover {covered:.0%} of the way from the base model to the author"
    if not controls["passed"]:
        return "refused", f"No verdict: the instrument cannot see this voice. For what it is worth, {told}.", list(controls["reasons"])
    if registration_fault:
        return "unregistered", f"Unregistered: {told}, under thresholds that do not count.", [registration_fault]
    if spread is None:
        return "inconclusive", f"Inconclusive: {told}, by one seed.", ["one seed shows no spread; train a second one"]
    if spread > needed:
        why = f"the spread between seeds, {spread:.0%}, is wider than the threshold of {needed:.0%}"
        return "inconclusive", f"Inconclusive: {told}, and chance alone could make that.", [why]
    faults = [f"{run.run}: its samples are broken ({_broken(run.degeneration)})" for run in runs if run.degeneration.broken]
    limit = baseline.copied_share + thresholds["copied_share_max"]
    faults += [
        f"{run.run} is memorised: {run.copied_share:.1%} of its words stand in verbatim spans of more than 8, "
        f"against {baseline.copied_share:.1%} for texts that cannot have copied"
        for run in runs
        if run.copied_share > limit
    ]
    if covered < needed:
        faults.append(f"{told}, and {needed:.0%} was registered")
    if faults:
        return "failed", f"Failed: {told}.", faults
    return "passed", f"Passed: {told}.", [f"{needed:.0%} was registered, and the spread between seeds is {spread:.0%}"]


def _broken(found: Degeneration) -> str:
    return f"{found.short_share:.0%} very short, {found.repeating_share:.0%} repeating themselves, {found.odd_share:.1%} odd characters"


def _run_row(run: RunScores, share: float) -> dict[str, Any]:
    return {
        "run": run.run,
        "arm": run.arm,
        "seed": run.seed,
        "share": round(share, 4),
        "blocks": len(run.scores),
        "copied_share": round(run.copied_share, 5),
        "copied_share_20": round(run.copied_share_20, 5),
        "longest_copy": run.longest_copy,
        "original_names": run.original_names,
        "degeneration": run.degeneration.to_json(),
        "perplexity": round(run.likelihood.perplexity, 3),
        "true_beat_wins": round(run.likelihood.true_beat_wins, 4),
    }
