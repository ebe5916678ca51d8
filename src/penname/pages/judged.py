"""controls.json and verdict.json as the report shows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from penname.pages.markup import Table
from penname.pages.svg import Dot, Series, line_chart, scatter, strip_chart

BASE = "base model"
DRIVERS_SHOWN = 8
RUNS_OF = {"share": "per_run", "copied": "copied_per_run"}  # where a point keeps the values of its runs


@dataclass(frozen=True)
class ControlsView:
    """The controls in a sentence, tables and plots."""

    passed: bool
    sentence: str
    registered: str
    tables: list[Table]
    plots: list[Markup] = field(default_factory=list)


@dataclass(frozen=True)
class VerdictView:
    """The verdict in a sentence with its reasons, claims and tables."""

    kind: str
    sentence: str
    reasons: list[str]
    claims: list[str]
    tables: list[Table]


@dataclass(frozen=True)
class CurveView:
    """A curve in a sentence and a plot."""

    sentence: str
    plot: Markup


def controls_view(controls: dict[str, Any] | None, registration: dict[str, Any] | None) -> ControlsView | None:
    """None where no control has run."""
    if controls is None:
        return None
    rows = [
        (name, kind, row["auc"], f"{row['low']:.2f} to {row['high']:.2f}", row["p"], f"{row['n_high']} and {row['n_low']}")
        for kind in ("positive", "negative")
        for name, row in controls[kind].items()
    ]
    tables = [Table(("control", "kind", "AUC", "interval", "p", "blocks"), rows, frozenset({2, 3, 4, 5}))]
    if controls["passed"]:
        sentence = "Every control holds: the instrument tells the author from the base model, and nothing from nothing."
    else:
        sentence = "The instrument cannot see this voice: " + "; ".join(controls["reasons"]) + "."
    registered = ""
    if registration:
        facts = [f"{name.replace('_', ' ').replace('auc', 'AUC')} {value:g}" for name, value in registration["thresholds"].items()]
        registered = ", ".join([*facts, f"{registration['samples']} samples", f"blocks of {registration['block_words']} words"])
    plot = strip_chart(controls["scores"], "score, higher is more like the author", "What the controls rest on: block scores by group")
    return ControlsView(bool(controls["passed"]), sentence, registered, tables, [plot] if plot else [])


def verdict_view(verdict: dict[str, Any] | None) -> VerdictView | None:
    """None where nothing was judged."""
    if verdict is None:
        return None
    base = verdict["baseline"]
    rows: list[tuple[object, ...]] = [_run_row(row) for row in verdict["runs"]]
    for group, rates in base["copied"].items():
        like = base["likelihood"] if group == BASE else {}
        rows.append(
            (
                group,
                "0%" if group == BASE else "100%" if group.startswith("author") else "",
                f"{rates['over_8']:.1%}",
                rates["longest"],
                "",
                "",
                like.get("perplexity"),
                f"{like['true_beat_wins']:.0%}" if like else "",
            )
        )
    headings = (
        "who",
        "way to the author",
        "copied",
        "longest copy",
        "samples with original names",
        "repetition",
        "perplexity",
        "true beat wins",
    )
    tables = [Table(headings, rows, frozenset(range(1, 8)))]
    if len(verdict["arms"]) > 1:
        arms = [(arm["name"], arm["verdict"], f"{arm['share']:.0%}", _percents(arm["per_seed"])) for arm in verdict["arms"]]
        tables.insert(0, Table(("arm", "verdict", "way to the author", "by seed"), arms, frozenset({2, 3})))
    return VerdictView(verdict["verdict"], verdict["sentence"], verdict["reasons"], verdict["claims"], tables)


def _run_row(row: dict[str, Any]) -> tuple[object, ...]:
    repeated = row["degeneration"]["repeated_mean"]
    figures = (row["longest_copy"], row["original_names"], f"{repeated:.1%}", row["perplexity"], f"{row['true_beat_wins']:.0%}")
    return (row["run"], f"{row['share']:.0%}", f"{row['copied_share']:.1%}", *figures)


def _percents(shares: list[float]) -> str:
    return ", ".join(f"{share:.0%}" for share in shares)


def style_plots(verdict: dict[str, Any] | None) -> list[Markup]:
    """Scores by group and the map of texts; empty where nothing was judged."""
    plots = (verdict or {}).get("plots", {})
    dots = [Dot(row["x"], row["y"], row["group"], row.get("label", row["group"])) for row in plots.get("map", [])]
    found = [
        strip_chart(plots.get("scores", {}), "score, higher is more like the author", "Block scores by group; the bar is the median"),
        scatter(dots, "A map of texts by style: nearness means likeness, the axes have no unit"),
    ]
    return [plot for plot in found if plot]


def driver_tables(verdict: dict[str, Any] | None) -> list[Table]:
    """What moves each run's score most, in features a person can read."""
    drivers = (verdict or {}).get("plots", {}).get("drivers", {})
    return [
        Table(
            ("feature", "log odds"),
            [(row["feature"], row["log_odds"]) for row in rows[:DRIVERS_SHOWN]],
            frozenset({1}),
            f"What moves the score of {run}; above zero is like the author",
        )
        for run, rows in drivers.items()
    ]


def curve_view(curve: dict[str, Any]) -> CurveView:
    """A curve over words, steps, copies or carriers: its sentence and a plot with a dot for each run."""
    y = curve["y"]
    means = Series("mean", [(point["x"], point[y]) for point in curve["points"]])
    runs = [(point["x"], value) for point in curve["points"] for value in point.get(RUNS_OF.get(y, ""), ())]
    plot = line_chart([means], curve["x_label"], curve["y_label"], f"Curve over {curve['curve']}", runs)
    return CurveView(curve["sentence"], plot)
