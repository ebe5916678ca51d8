"""``report.html``: one self-contained page about a voice. Nothing is fetched, and no text in it can run as script."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from markupsafe import Markup

from penname.core.progress import format_seconds
from penname.pages.gather import Facts, RunFacts
from penname.pages.judged import ControlsView, VerdictView, controls_view, curve_view, driver_tables, style_plots, verdict_view
from penname.pages.markup import TEMPLATES, Table, marked, table_of, templates
from penname.pages.svg import Series, bar_chart, line_chart

PASSAGES_SHOWN = 4
REMOVED_SHOWN = 12


def report_page(facts: Facts, spans: dict[str, list[tuple[int, int]]] | None = None) -> str:
    """The page. ``spans``: sample text -> the copied spans of it (half-open, sorted), marked where the passage is shown."""
    controls: ControlsView | None = controls_view(facts.controls, facts.registration)
    verdict: VerdictView | None = verdict_view(facts.verdict)
    return (
        templates()
        .get_template("report.html")
        .render(
            facts=facts,
            style=Markup((TEMPLATES / "style.css").read_text(encoding="utf-8")),
            runs=facts.runs,
            verdict=verdict,
            controls=controls,
            style_plots=style_plots(facts.verdict),
            drivers=driver_tables(facts.verdict),
            curves=[curve_view(curve) for curve in facts.curves],
            plots=_plots(facts),
            run_table=_run_table(facts.runs),
            passages=_passages(facts, spans or {}),
            beat_rules=_beat_rules(facts),
            book_table=_book_table(facts),
            carrier_table=_carrier_table(facts.runs),
            timing_table=_timing_table(facts),
            provenance=_provenance(facts),
            config=json.dumps(facts.config, indent=2, ensure_ascii=False),
            commands=_commands(facts),
            table_of=table_of,
            missing=_missing,
        )
    )


def _missing(verb: str, what: str) -> Markup:
    return Markup('<p class="missing">{}; run: <code>penname {}</code></p>').format(what, verb)


def _plots(facts: Facts) -> dict[str, Markup]:
    losses = [Series(run.name, run.steps, colour=i) for i, run in enumerate(facts.runs)]
    heldout = [Series(run.name, run.heldout, colour=i) for i, run in enumerate(facts.runs)]
    words = facts.curation["words"]["histogram"] if facts.curation else {}
    removed = Counter[str]()
    for book in facts.books:
        removed.update(book.removed_characters)
    return {
        "loss": line_chart(losses, "step", "loss", "Training loss, mean over learned tokens, by run"),
        "heldout": line_chart(heldout, "step", "loss", "Held-out loss, by run"),
        "beat_words": bar_chart([(f"{n} words", count) for n, count in words.items()], "beats", "Length of the beats"),
        "removed": bar_chart(
            [(rule, float(n)) for rule, n in removed.most_common(REMOVED_SHOWN)], "characters", "Removed from the sources, by rule"
        ),
    }


def _run_table(runs: tuple[RunFacts, ...]) -> Table:
    rows = []
    for run in runs:
        record = run.record
        rows.append(
            (
                run.name,
                record.get("seed"),
                record.get("state"),
                f"{record.get('steps_done', len(run.steps))} of {record.get('steps', '?')}",
                record.get("trained_tokens"),
                run.steps[-1][1] if run.steps else None,
                run.heldout[-1][1] if run.heldout else None,
                _hours(record.get("hours", {}).get("planned")),
                _hours(record.get("hours", {}).get("actual")),
            )
        )
    headings = ("run", "seed", "state", "steps", "learned tokens", "loss", "held-out loss", "planned", "took")
    return Table(headings, rows, frozenset({1, 3, 4, 5, 6, 7, 8}))


def _hours(hours: float | None) -> str | None:
    return None if hours is None else format_seconds(hours * 3600)


def _passages(facts: Facts, spans: dict[str, list[tuple[int, int]]]) -> list[dict[str, Any]]:
    """The same beat by every run, beside the base model's and the author's passage where the judge kept them."""
    by_beat: dict[str, list[dict[str, Any]]] = {}
    for row in (facts.verdict or {}).get("passages", []):
        texts = [{"who": who, "html": marked(text, spans.get(text, []))} for who, text in row["texts"].items()]
        by_beat[row["beat"]] = texts
    if not by_beat:
        for run in facts.runs:
            last = max((row["step"] for row in run.samples), default=None)
            for row in run.samples:
                if row["step"] == last:
                    text = {"who": run.name, "html": marked(row["text"], spans.get(row["text"], []))}
                    by_beat.setdefault(row["beat"], []).append(text)
    return [{"beat": beat, "texts": texts} for beat, texts in list(by_beat.items())[:PASSAGES_SHOWN]]


def _beat_rules(facts: Facts) -> Table | None:
    if not facts.curation or not facts.curation["rejected_by_rule"]:
        return None
    rows = list(facts.curation["rejected_by_rule"].items())
    return Table(("gate rule", "answers refused"), rows, frozenset({1}))


def _book_table(facts: Facts) -> Table:
    rows = [
        (
            b.title,
            b.author,
            b.words,
            b.chapters,
            b.heldout_chapters,
            sum(b.removed_characters.values()),
            b.people,
            b.places,
            b.unresolved,
            b.alphabet,
        )
        for b in facts.books
    ]
    headings = ("title", "author", "words", "chapters", "held out", "removed characters", "people", "places", "undecided", "alphabet")
    return Table(headings, rows, frozenset(range(2, 10)))


def _carrier_table(runs: tuple[RunFacts, ...]) -> Table | None:
    complete = [run.record for run in runs if "carrier" in run.record]
    if not complete:
        return None
    record = complete[-1]
    carrier, lora = record["carrier"], record["lora"]
    rows = [
        ("carrier", f"{carrier['name']} ({carrier['kind']}, {carrier['layout']})"),
        ("device, dtype, threads", f"{record['device']}, {record['dtype']}, {record['threads']}"),
        ("adapter", f"{lora['modules']} modules, {lora['parameters']:,} parameters, {lora['dtype']}"),
        *((f"resolved {key}", value) for key, value in record["resolved"].items()),
        ("libraries", ", ".join(f"{name} {version}" for name, version in record["libraries"].items() if version)),
    ]
    return Table(("what", "value"), rows)


def _timing_table(facts: Facts) -> Table | None:
    if not facts.seconds:
        return None
    total = sum(facts.seconds.values())
    rows = [(stage, format_seconds(seconds), f"{seconds / total:.0%}") for stage, seconds in facts.seconds.items()]
    return Table(("stage", "took", "share"), [*rows, ("all", format_seconds(total), "")], frozenset({1, 2}))


def _provenance(facts: Facts) -> Table:
    rows: list[tuple[object, ...]] = [(name, f"version {m.version}", _hash(m.digest)) for name, m in facts.manifests.items()]
    for run in facts.runs:
        if "adapter_sha256" in run.record:
            rows.append((f"adapter of {run.name}", f"seed {run.record['seed']}", _hash(run.record["adapter_sha256"])))
        for file, digest in run.record.get("carrier", {}).get("files", {}).items():
            row = (f"carrier {file}", run.record["carrier"]["name"], _hash(digest))
            if row not in rows:
                rows.append(row)
    if facts.registration and "hash" in facts.registration:
        rows.append(("registration", _time(facts.registration.get("registered_unix")), _hash(facts.registration["hash"])))
    return Table(("what", "", "sha256"), rows)


def _time(unix: float | None) -> str:
    return "" if unix is None else datetime.fromtimestamp(unix, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _hash(digest: str) -> Markup:
    return Markup('<span class="hash">{}</span>').format(digest)


def _commands(facts: Facts) -> str:
    voice = facts.config.get("voice", {})
    sources = [word for book in voice.get("books", ()) for word in ("--book", book)]
    sources += [word for other in voice.get("others", ()) for word in ("--other", other)]
    lines = [shlex.join(["penname", "new", facts.name, *sources]), "# put the configuration above into its voice.toml"]
    return "\n".join([*lines, shlex.join(["penname", "-C", facts.name, "run"]), shlex.join(["penname", "-C", facts.name, "report"])])
