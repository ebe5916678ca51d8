"""``penname report``."""

from __future__ import annotations

from typing import Annotated

import typer

from penname.cli.options import HERE, Set, Where


def report(
    where: Where = HERE,
    overrides: Set = [],
    pdf: Annotated[bool, typer.Option("--pdf", help="Also print it to report.pdf, through Chromium.")] = False,
) -> None:
    """Write report.html, one self-contained page. Stages that are missing show as missing.

    Example: penname -C bronte report
    """
    from penname.core.folder import open_voice
    from penname.core.lock import hold
    from penname.pages.pdf import print_pdf
    from penname.pages.stage import run_report

    voice = open_voice(where, overrides)
    with hold(voice.path, "report"):
        run_report(voice)
    print(voice.report.resolve())
    if pdf:
        print(print_pdf(voice.report))
