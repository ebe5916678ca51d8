"""``penname beat``."""

from __future__ import annotations

from typing import Annotated

import typer

from penname.cli.options import HERE, Json, Set, Where, Yes


def beat(
    line: Annotated[str | None, typer.Argument(metavar="[LINE]", help="The beat, with --edit.")] = None,
    where: Where = HERE,
    show: Annotated[str | None, typer.Option("--show", metavar="PASSAGE", help="Show the beats of a passage, a chapter or a book.")] = None,
    sample: Annotated[
        int | None, typer.Option("--sample", metavar="N", min=1, help="Show N beats side by side with their passages.")
    ] = None,
    edit: Annotated[str | None, typer.Option("--edit", metavar="PASSAGE", help="Write this passage's beat yourself; it wins.")] = None,
    yes: Yes = False,
    overrides: Set = [],
    json: Json = False,
) -> None:
    """Cut passages and write their beat lines; without options, do the stage.

    Example: penname -C bronte beat --set beats.annotator=endpoint --set beats.model=qwen3-8b

    Example: penname -C bronte beat --sample 20

    Example: penname -C bronte beat --edit jane-eyre:0:4 "John strikes Jane; she steps back from his chair."
    """
    import sys

    from penname.beats.show import edit_beat, sample_beats, show_beats
    from penname.beats.stage import run_beats
    from penname.core.errors import BadInput
    from penname.core.files import json_text, read_json
    from penname.core.folder import open_voice
    from penname.core.lock import hold
    from penname.core.progress import say

    voice = open_voice(where, overrides)
    if sum(option is not None for option in (show, sample, edit)) > 1:
        raise BadInput("--show, --sample and --edit are three things to do; give one of them")
    if line is not None and edit is None:
        raise BadInput("a beat is given without its passage; say which: penname beat --edit PASSAGE LINE")
    if show is not None or sample is not None:
        print_shown(show_beats(voice, show) if show is not None else sample_beats(voice, sample or 0), json)
        return
    with hold(voice.path, "beats"):
        if edit is not None:
            if line is None:
                line = typer.prompt(f"beat of {edit}", err=True) if sys.stdin.isatty() else ""
            if advice := edit_beat(voice, edit, line):
                say(f"kept as you wrote it, although {advice}")
        asks = (lambda question: typer.confirm(question, err=True)) if sys.stdin.isatty() else None
        manifest = run_beats(voice, yes, asks)
    report = read_json(voice.beats / "curation.json")
    if json:
        print(json_text(report), end="")
        return
    counts = manifest.counts
    print(f"{counts['beats']} beats ({counts['style']}), {counts['fallbacks']} fell to keywords, {counts['rejected']} answers refused")
    rules = ", ".join(f"{rule} {n}" for rule, n in report["rejected_by_rule"].items())
    say(f"refused by rule: {rules}" if rules else "the gate refused nothing")
    say("look at them with: penname beat --sample 20")


def print_shown(rows: list, json: bool) -> None:
    """Beats beside their passages, as a table or as JSON."""
    from penname.core.files import json_text

    if json:
        print(json_text([row.to_json() for row in rows]), end="")
        return
    from rich.table import Table
    from rich.text import Text

    from penname.cli.tables import console

    table = Table(show_lines=True)
    table.add_column("passage", no_wrap=True)
    table.add_column("beat", ratio=2)
    table.add_column("text", ratio=5)
    for row in rows:
        refused = "".join(f"\n\nrefused ({answer['rule']}): {answer['text']}" for answer in row.rejected)
        table.add_row(f"{row.passage.id}\n{row.beat.source}", Text.assemble(row.beat.text, (refused, "dim")), row.text)
    console().print(table)
