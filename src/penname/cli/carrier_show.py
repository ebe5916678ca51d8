"""How ``penname carrier`` prints: tables and a bar on a terminal, or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from penname.cli.tables import console, new_table
from penname.core.files import json_text

_BAR_CELLS = 60
_COLOURS = {
    "MLP": "blue",
    "experts": "dark_blue",
    "embeddings": "cyan",
    "full attention": "green",
    "linear attention": "yellow",
    "norms": "white",
    "other": "bright_black",
    "vision tower": "red",
    "MTP head": "magenta",
}


def show_list(json: bool) -> None:
    """The carriers that are staged, then those that are known."""
    from penname.carriers import carrier_facts, staged_carriers
    from penname.carriers.known import REPOS
    from penname.carriers.smollm import NAME, REQUIREMENT
    from penname.carriers.store import carrier_folder
    from penname.core.errors import PennameError

    staged, damaged = [], {}
    for name in staged_carriers():
        try:
            staged.append(carrier_facts(carrier_folder(name)))
        except PennameError as error:
            damaged[name] = str(error)
    names = {facts.name for facts in staged} | set(damaged)
    known = {name: source for name, source in {NAME: REQUIREMENT, **REPOS}.items() if name not in names}
    if json:
        print(json_text({"staged": [asdict(facts) for facts in staged], "damaged": damaged, "known": known}), end="")
        return
    table = new_table("carrier", "kind", "layout", "from", "")
    for facts in staged:
        table.add_row(facts.name, facts.kind, facts.layout, facts.source, "staged")
    for name, source in known.items():
        table.add_row(name, "", "", source, "")
    console().print(table)
    for facts in staged:
        if facts.warning:
            print(facts.warning)
    for name, sentence in damaged.items():
        print(f"{name} is damaged: {sentence}")


def show_survey(org: str, json: bool) -> None:
    """What ``org`` publishes, and what was left out and why."""
    from penname.carriers.survey import survey

    rows, left_out = survey(org)
    if json:
        dropped = [{"repo": repo, "reason": reason} for repo, reason in left_out]
        print(json_text({"carriers": [asdict(row) for row in rows], "left_out": dropped}), end="")
        return
    table = new_table("repository", "kind", "layout", "parameters", "changed", "origin")
    for row in rows:
        size = f"{row.parameters / 1e9:.2f} B" if row.parameters else ""
        table.add_row(row.repo, row.kind, row.layout, size, row.date, row.origin + (", gated" if row.gated else ""))
    console().print(table)
    reasons: dict[str, int] = {}
    for _, reason in left_out:
        reasons[reason.split(" (")[0]] = reasons.get(reason.split(" (")[0], 0) + 1
    print(f"left out: {', '.join(f'{count} {reason}' for reason, count in reasons.items()) or 'nothing'} (--json names them)")


def show_probe(probe: Any, targets: Any, findings: Sequence[str], paths: bool, json: bool) -> None:
    """The probe as a bar, a table and sentences."""
    if json:
        print(json_text(probe_json(probe, targets, findings)), end="")
        return
    from rich.text import Text

    out = console()
    kinds = {kind: probe.layer_types.count(kind) for kind in dict.fromkeys(probe.layer_types)}
    layers = " + ".join(f"{count} {kind.replace('_', ' ')}" for kind, count in kinds.items())
    out.print(f"{probe.name}: {probe.parameters / 1e9:.4f} B parameters ({probe.model_type}), body {probe.body / 1e9:.4f} B, ", end="")
    out.print(f"embeddings {'tied' if probe.tied else 'not tied'}; {layers} layers; {', '.join(probe.dtypes)}")
    everything = sum(part.parameters for part in probe.parts.values())
    bar = Text()
    for region, part in probe.parts.items():
        bar.append("█" * round(_BAR_CELLS * part.parameters / everything), style=_COLOURS[region])
    out.print(bar)
    table = new_table("region", "parameters", "of the text model", "tensors", "Linear", right=(1, 2, 3, 4))
    for region, part in probe.parts.items():
        share = "outside" if region in ("vision tower", "MTP head") else f"{probe.share(region):.1%}"
        name = Text("█ ", style=_COLOURS[region]) + Text(region, style="default")
        table.add_row(name, f"{part.parameters:,}", share, str(part.tensors), str(part.linear_leaves))
    out.print(table)
    total = probe.parameters + targets.lora_parameters
    out.print(
        f"LoRA r={targets.lora_rank} on {targets.setting}: {len(targets.leaves)} modules, {targets.lora_parameters / 1e6:.2f} M parameters "
        f"({total / 1e9:.4f} B together), reaching {targets.share:.0%} of the text model"
    )
    for sentence in findings:
        out.print(f"- {sentence}")
    if paths:
        listed = new_table("region", "causal class", "full class")
        for leaf in probe.leaves:
            listed.add_row(leaf.region, leaf.causal_path or "(not there)", leaf.full_path or "(not there)")
        out.print(listed)


def probe_json(probe: Any, targets: Any, findings: Sequence[str]) -> dict[str, Any]:
    """The probe for ``--json``."""
    value = asdict(probe)
    value["parts"] = {region: {**asdict(part), "share": round(probe.share(region), 6)} for region, part in probe.parts.items()}
    value["targets"] = {
        "setting": targets.setting,
        "lora_rank": targets.lora_rank,
        "modules": [leaf.causal_path for leaf in targets.leaves],
        "share": round(targets.share, 6),
        "lora_parameters": targets.lora_parameters,
    }
    value["findings"] = list(findings)
    return value


def show_plan(plan: Any, actual: Sequence[Any], limit_hours: float | None, json: bool) -> None:
    """The plan as a table and sentences."""
    if json:
        print(json_text({**asdict(plan), "projection": True, "actual": [asdict(run) for run in actual]}), end="")
        return
    corpus = plan.corpus
    print(
        f"{corpus.tokens:,} tokens x {corpus.copies} copies x {corpus.epochs:g} epochs = {corpus.trained_tokens / 1e6:.1f} M tokens a run"
    )
    table = new_table("carrier", "hours a voice", "range", "memory", "", right=(1, 2, 3))
    for row in plan.carriers:
        memory = f"{row.bytes_needed / 1e9:.1f} GB" if row.bytes_needed is not None else ""
        notes = ["does not fit the memory"] * (row.fits_memory is False) + ["above the limit"] * (row.fits_hours is False)
        table.add_row(row.carrier, f"{row.hours:.1f}", f"{row.hours_low:.1f} to {row.hours_high:.1f}", memory, ", ".join(notes))
    console().print(table)
    print(plan.sentence)
    if limit_hours is not None:
        print(f"cheapest within {limit_hours:g} h a run: {plan.cheapest or 'none'}")
    for run in actual:
        print(run.sentence)
