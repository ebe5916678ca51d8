"""``penname stop``."""

from __future__ import annotations

from typing import Annotated

import typer

from penname.cli.options import HERE, Json, Where


def stop(
    job: Annotated[str | None, typer.Argument(help="The job; the newest where not given.")] = None,
    where: Where = HERE,
    timeout: Annotated[float, typer.Option("--timeout", min=0, max=1e9, help="Seconds to wait for it to save.")] = 600.0,
    json: Json = False,
) -> None:
    """Ask a job to save and stop, wait for it, and say what was saved.

    Example: penname -C bronte stop run-1
    """
    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.jobs.launch import stop as stop_job

    ended, checkpoints = stop_job(open_voice(where).path, job, wait_seconds=timeout)
    if json:
        print(json_text({"id": ended.id, "state": ended.state, "checkpoints": checkpoints}), end="")
    else:
        print(f"{ended.id} {ended.state}; complete checkpoints: {', '.join(checkpoints) or 'none'}")
