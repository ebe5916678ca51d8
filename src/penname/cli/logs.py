"""``penname logs``."""

from __future__ import annotations

import sys
import time
from typing import Annotated

import typer

from penname.cli.options import HERE, Where


def logs(
    job: Annotated[str | None, typer.Argument(help="The job; the newest where not given.")] = None,
    where: Where = HERE,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Go on printing until the job ends.")] = False,
) -> None:
    """Show a job's log.

    Example: penname -C bronte logs -f run-1
    """
    from penname.core.folder import open_voice
    from penname.jobs.record import find_job, read_job

    found = find_job(open_voice(where).path / "jobs", job)
    with found.log.open("rb") as file:
        while True:
            running = read_job(found.folder).state == "running"  # looked at first, so that what it printed last is read after
            while block := file.read(1 << 16):
                sys.stdout.buffer.write(block)
            sys.stdout.buffer.flush()
            if not follow or not running:
                return
            time.sleep(0.3)
