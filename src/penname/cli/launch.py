"""``penname launch``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penname.cli.options import HERE, Json, Where

CONTEXT_SETTINGS = {"ignore_unknown_options": True, "allow_interspersed_args": False}


def launch(
    command: Annotated[list[str], typer.Argument(metavar="VERB [OPTIONS]...", help="What to run, as you would type it after 'penname'.")],
    where: Where = HERE,
    cpu: Annotated[bool, typer.Option("--cpu", help="There is no GPU to check.")] = False,
    gpu: Annotated[int, typer.Option("--gpu", help="The GPU that must be free.")] = 0,
    floor_gb: Annotated[float, typer.Option("--disk-floor-gb", help="Least free disk, now and while it runs.")] = 2.0,
    log: Annotated[Path | None, typer.Option("--log", help="Where to log; must not exist.")] = None,
    json: Json = False,
) -> None:
    """Start a verb detached: it goes on when the terminal closes. Refused unless GPU, disk, log and voice folder are free.

    Example: penname -C bronte launch run --decide auto
    """
    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.jobs.gpu import nvml, require_clear
    from penname.jobs.launch import launch as start

    voice = open_voice(where)
    check = None if cpu else lambda: require_clear(nvml(), gpu)
    job = start(voice.path, command, floor_bytes=int(floor_gb * 1e9), require_gpu=check, log=log)
    if json:
        print(json_text({"id": job.id, "log": str(job.log), "pid": job.worker.pid if job.worker else None}), end="")
    else:
        print(f"{job.id} runs; watch it with: penname jobs, penname logs -f {job.id}")
