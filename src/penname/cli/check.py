"""``penname check``."""

from __future__ import annotations

from penname.cli.options import HERE, Json, Set, Where


def check(where: Where = HERE, overrides: Set = [], json: Json = False) -> None:
    """Check sources, corpus size, finished stages (re-hashed), carrier and disk. Exit 1 where there is a problem.

    Example: penname -C bronte check
    """
    from dataclasses import asdict

    import typer

    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.voice.check import check_voice

    findings = check_voice(open_voice(where, overrides))
    if json:
        print(json_text([asdict(finding) for finding in findings]), end="")
    else:
        from rich.text import Text

        from penname.cli.tables import console

        marks = {"ok": ("ok      ", "green"), "warn": ("warning ", "yellow"), "problem": ("problem ", "red")}
        out = console()
        for finding in findings:
            mark, colour = marks[finding.level]
            out.print(Text.assemble((mark, colour), finding.what))
    if any(finding.level == "problem" for finding in findings):
        raise typer.Exit(1)
