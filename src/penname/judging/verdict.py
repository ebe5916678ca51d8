"""The verdict: passed, failed, inconclusive, unregistered or refused, with its reasons and what the design can claim."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import comb, exp, sqrt
from statistics import mean
from typing import Any, Literal

from penname.judging.degeneration import Degeneration
from penname.judging.likelihood import Likelihood

TWO_SEED_FACTOR = 2.5  # the gap between two draws understates the range of more
Kind = Literal["passed", "failed", "inconclusive", "unregistered", "refused"]
BEST_FIRST: tuple[Kind, ...] = ("passed", "inconclusive", "failed")


@dataclass(frozen=True)
class CopyRates:
    """What a group of texts repeats word for word, as shares of its words; names are hidden on both sides."""

    over_8: float  # in spans of more than 8 words that stand in the training text
    over_20: float
    longest: int  # words
    heldout_over_8: float  # the same against held-out text, which training never showed: the carrier may know the book


@dataclass(frozen=True)
class RunScores:
    """One run's samples, measured."""

    run: str
    arm: str
    seed: int
    scores: Sequence[float]  # of blocks
    copied: CopyRates
    original_names: int  # samples that hold a name of the original books
    degeneration: Degeneration
    likelihood: Likelihood


@dataclass(frozen=True)
class Baseline:
    """What the runs are measured against."""

    author: float  # mean block score of held-out chapters
    base: float  # mean block score of the base model's passages
    copied: Mapping[str, CopyRates]  # of texts that cannot have learned the training text by heart
    likelihood: Likelihood

    @property
    def copied_share(self) -> float:
        """The highest rate among texts that were not trained on: stock phrases and period idiom."""
        return max((rates.over_8 for rates in self.copied.values()), default=0.0)

    @property
    def heldout_share(self) -> float:
        """The highest rate against held-out text among texts that are not that text."""
        return max((rates.heldout_over_8 for name, rates in self.copied.items() if not name.startswith("author")), default=0.0)


@dataclass(frozen=True)
class Verdict:
    """``verdict`` with the sentence a person reads, the reasons, the claims, and the figures by arm and run."""

    verdict: Kind
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
    """The range over the seeds of an arm, pooled over arms as a root mean square; None where no arm has two seeds.

    With two seeds their gap is multiplied by 2.5.
    """
    ranges = [(max(v) - min(v)) * (TWO_SEED_FACTOR if len(v) == 2 else 1.0) for v in by_arm.values() if len(v) > 1]
    return sqrt(mean(r * r for r in ranges)) if ranges else None


def claims_for(seeds: int) -> list[str]:
    """What so many seeds an arm can show, worked out."""
    if seeds < 2:
        return ["One seed shows that it can be done once; how much of it is chance cannot be said. Train a second seed."]
    arrangements = comb(2 * seeds, seeds)
    gross = arrangements < 20  # 1/20 is the first that reaches .05
    return [
        f"{seeds} seeds an arm: the smallest one-sided p that {seeds} against {seeds} can reach is 1/{arrangements}"
        + (", so feasibility and gross effects show, and no significance." if gross else f" ({1 / arrangements:.3f})."),
        f"{seeds} paired comparisons can reach a two-sided p of {2 / 2**seeds:.3f} at best"
        + ("; six pairs are the fewest that reach .031." if seeds < 6 else "."),
    ]


def decide(
    controls: Mapping[str, Any],
    registration_fault: str,
    baseline: Baseline,
    runs: Sequence[RunScores],
    thresholds: Mapping[str, float],
    arm_names: Mapping[str, str] | None = None,
) -> Verdict:
    """The verdict of each arm and of all. A failed control refuses; then registration, spread, degeneration, memorisation, style.

    With more than one arm, the verdict of all is that of the best arm, and it says which.
    """
    names = arm_names or {}
    if controls.get("without_others"):
        thresholds = {**thresholds, "odds_min": 0.0}  # the odds would be against the base model alone, which the share already measures
    shares = {run.run: covered_share(mean(run.scores), baseline) if run.scores else 0.0 for run in runs}
    by_arm: dict[str, list[RunScores]] = {}
    for run in runs:
        by_arm.setdefault(run.arm, []).append(run)
    spread = spread_of({arm: [shares[run.run] for run in own] for arm, own in by_arm.items()})
    rows: list[dict[str, Any]] = []
    for arm, own in by_arm.items():
        kind, sentence, reasons = _of_arm(controls, registration_fault, baseline, own, thresholds, shares, spread)
        covered = [round(shares[run.run], 4) for run in own]
        rows.append(
            {
                "arm": arm,
                "name": names.get(arm, arm),
                "share": round(mean(covered), 4),
                "per_seed": covered,
                "spread": None if spread is None else round(spread, 4),
                "style_covered": _style_covered(own, mean(covered), thresholds),
                "verdict": kind,
                "sentence": sentence,
                "reasons": reasons,
            }
        )
    best = min(rows, key=lambda row: (BEST_FIRST.index(row["verdict"]) if row["verdict"] in BEST_FIRST else 0, -row["share"]))
    reasons = list(best["reasons"])
    if len(rows) > 1:
        reasons.insert(0, f"{len(rows)} arms were judged; this is the best of them, {best['name']}, and a best of several flatters")
    if controls.get("anyway"):
        reasons.append("training went on although a control had failed")
    return Verdict(
        best["verdict"],
        best["sentence"],
        reasons,
        _claims(controls, baseline, min(len(own) for own in by_arm.values())),
        rows,
        [_run_row(run, shares[run.run]) for run in runs],
        {**asdict(baseline), "copied_share": baseline.copied_share, "spread": spread},
    )


def _claims(controls: Mapping[str, Any], baseline: Baseline, seeds: int) -> list[str]:
    claims = claims_for(seeds)
    if controls.get("without_others"):
        claims.append("With no books by other authors it cannot be said that this is the author's style and not the period's.")
    if controls.get("powerless"):
        held = " and ".join(controls["powerless"])
        claims.append(f"With so few blocks these controls could not have failed, so that they hold says nothing: {held}.")
    claims.append(_likelihood_claim(baseline.likelihood))
    claims.append("The style score sees words, marks and rhythm. It does not see whether a passage makes sense: read some.")
    return claims


def _likelihood_claim(found: Likelihood) -> str:
    margin = 1.96 * (0.25 / found.passages) ** 0.5  # of a share of one half, where it is widest
    return (
        f"Perplexity and how often the true beat wins rest on the beginnings of {found.passages} held-out passages: such a share may be "
        f"off by {margin:.0%}, and chance gives {1 / (1 + found.shuffled):.0%}."
    )


def _of_arm(
    controls: Mapping[str, Any],
    registration_fault: str,
    baseline: Baseline,
    runs: Sequence[RunScores],
    thresholds: Mapping[str, float],
    shares: Mapping[str, float],
    spread: float | None,
) -> tuple[Kind, str, list[str]]:
    covered, needed = mean(shares[run.run] for run in runs), thresholds["pass_share"]
    told = f"the samples cover {covered:.0%} of the way from the base model to the author"
    if not controls["passed"]:
        return "refused", f"No verdict: the instrument cannot see this voice. For what it is worth, {told}.", list(controls["reasons"])
    if registration_fault:
        return "unregistered", f"Unregistered: {told}, under thresholds that do not count.", [registration_fault]
    unscored = [run.run for run in runs if not run.scores]
    if unscored:
        why = f"{', '.join(unscored)}: fewer words than one block of the registered length; raise judging.samples or sampling.max_tokens"
        return "inconclusive", "Inconclusive: there is too little text to score.", [why]
    faults = _faults(baseline, runs, thresholds)
    if faults:
        return "failed", f"Failed: {told}, but not cleanly.", faults
    if spread is None or len(runs) < 2:
        return "inconclusive", f"Inconclusive: {told}, by one seed.", ["one seed shows no spread; train a second one"]
    if spread > needed:
        why = f"the spread between seeds, {spread:.0%}, is wider than the threshold of {needed:.0%}"
        return "inconclusive", f"Inconclusive: {told}, and chance alone could make that.", [why]
    registered = [f"{needed:.0%} was registered, and the spread between seeds is {spread:.0%}"]
    if covered < needed:
        return "failed", f"Failed: {told}.", registered
    if not _style_covered(runs, covered, thresholds):
        why = f"the instrument gives {_odds(runs):.1f} to 1 that the author wrote them, and {thresholds['odds_min']:g} to 1 was registered"
        if _odds(runs) * thresholds["odds_min"] < 1:
            return "failed", f"Failed: {told}, and no nearer than another author may.", [why]
        return "inconclusive", f"Inconclusive: {told}, and another author may stand as near.", [why]
    return "passed", f"Passed: {told}.", registered


def _style_covered(runs: Sequence[RunScores], covered: float, thresholds: Mapping[str, float]) -> bool:
    """Both thresholds of style. A base model may lie so far away that another author of the time covers half the way as well."""
    return covered >= thresholds["pass_share"] and _odds(runs) >= thresholds["odds_min"]


def _odds(runs: Sequence[RunScores]) -> float:
    """How many times likelier it is, by the instrument, that the author wrote a block of the samples than that another did."""
    scored = [mean(run.scores) for run in runs if run.scores]
    return exp(mean(scored)) if scored else 0.0


def _faults(baseline: Baseline, runs: Sequence[RunScores], thresholds: Mapping[str, float]) -> list[str]:
    """What fails a run however well it covers the way: broken samples, text learned by heart."""
    faults = [f"{run.run}: its samples are broken ({_broken(run.degeneration)})" for run in runs if run.degeneration.broken]
    for run in runs:
        if run.copied.over_8 > baseline.copied_share + thresholds["copied_share_max"]:
            faults.append(
                f"{run.run} has memorised: {run.copied.over_8:.1%} of its words stand in verbatim spans of more than 8 of the "
                f"training text, against {baseline.copied_share:.1%} for texts that cannot have learned it"
            )
        if run.copied.heldout_over_8 > baseline.heldout_share + thresholds["copied_share_max"]:
            faults.append(
                f"{run.run} repeats held-out text: {run.copied.heldout_over_8:.1%} of its words stand in it in spans of more than 8, so "
                f"it knew the book, and its score shows memory and not style"
            )
    return faults


def _broken(found: Degeneration) -> str:
    return f"{found.short_share:.0%} very short, {found.repeating_share:.0%} repeating themselves, {found.odd_share:.1%} odd characters"


def _run_row(run: RunScores, share: float) -> dict[str, Any]:
    return {
        "run": run.run,
        "arm": run.arm,
        "seed": run.seed,
        "share": round(share, 4),
        "blocks": len(run.scores),
        "copied_share": round(run.copied.over_8, 5),
        "copied_share_20": round(run.copied.over_20, 5),
        "longest_copy": run.copied.longest,
        "copied_heldout": round(run.copied.heldout_over_8, 5),
        "original_names": run.original_names,
        "degeneration": run.degeneration.to_json(),
        "perplexity": round(run.likelihood.perplexity, 3),
        "true_beat_wins": round(run.likelihood.true_beat_wins, 4),
    }
