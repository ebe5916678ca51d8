"""``penname report``."""

from __future__ import annotations

from typing import Annotated

import typer

from penname.cli.options import HERE, Json, Set, Where


def report(
    where: Where = HERE,
    overrides: Set = [],
    pdf: Annotated[bool, typer.Option("--pdf", help="Also print it to report.pdf, through Chromium.")] = False,
    json: Json = False,
) -> None:
    """Write report.html, one self-contained page. Stages that are missing show as missing.

    Example: penname -C bronte report
    """
    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.core.lock import hold
    from penname.pages.pdf import print_pdf
    from penname.pages.stage import run_report

    voice = open_voice(where, overrides)
    with hold(voice.path, "report"):
        run_report(voice)
    made = {"report": str(voice.report.resolve())}
    if pdf:
        made["pdf"] = str(print_pdf(voice.report).resolve())
    print(json_text(made) if json else "\n".join(made.values()) + "\n", end="")
