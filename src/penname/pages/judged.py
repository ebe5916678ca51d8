"""controls.json and verdict.json as the report shows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from penname.pages.gather import RunFacts
from penname.pages.markup import Table
from penname.pages.svg import Dot, scatter, strip_chart


@dataclass(frozen=True)
class ControlsView:
    """The controls in a sentence, tables and plots."""

    passed: bool
    sentence: str
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
    if registration:
        thresholds = registration["thresholds"]
        facts = [(name.replace("_", " "), value) for name, value in thresholds.items()]
        facts += [("samples", registration["samples"]), ("words a block", registration["block_words"])]
        tables.append(Table(("registered before training", "value"), facts, frozenset({1})))
    plot = strip_chart(controls["scores"], "score, higher is more like the author", "What the controls rest on: block scores by group")
    return ControlsView(bool(controls["passed"]), sentence, tables, [plot] if plot else [])


def verdict_view(verdict: dict[str, Any] | None) -> VerdictView | None:
    """None where nothing was judged."""
    if verdict is None:
        return None
    rows = [
        (
            row["run"],
            f"{row['share']:.0%}",
            f"{row['copied_share']:.1%}",
            row["longest_copy"],
            row["original_names"],
            f"{row['degeneration']['repeated_mean']:.1%}",
            row["perplexity"],
            f"{row['true_beat_wins']:.0%}",
        )
        for row in verdict["runs"]
    ]
    base = verdict["baseline"]
    like = base["likelihood"]
    rows.append(
        ("base model", "0%", f"{base['copied_share']:.1%}", "", "", "", round(like["perplexity"], 3), f"{like['true_beat_wins']:.0%}")
    )
    headings = ("who", "way to the author", "copied", "longest copy", "own names", "repetition", "perplexity", "true beat wins")
    table = Table(headings, rows, frozenset(range(1, 8)))
    return VerdictView(verdict["verdict"], verdict["sentence"], verdict["reasons"], verdict["claims"], [table])


def style_plots(verdict: dict[str, Any] | None, runs: tuple[RunFacts, ...]) -> list[Markup]:
    """Scores by group and the map of texts; empty where nothing was judged."""
    if not verdict or not verdict.get("plots"):
        return []
    plots = verdict["plots"]
    dots = [Dot(row["x"], row["y"], row["group"], row.get("label", row["group"])) for row in plots.get("map", [])]
    found = [
        strip_chart(plots.get("scores", {}), "score, higher is more like the author", "Block scores by group; the bar is the median"),
        scatter(dots, "A map of texts by style: nearness means likeness, the axes have no unit"),
    ]
    return [plot for plot in found if plot]
