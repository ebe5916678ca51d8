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
    floor_gb: Annotated[
        float | None, typer.Option("--disk-floor-gb", min=0.0, max=1e6, show_default="2", help="Disk that must stay free while it runs.")
    ] = None,
    log: Annotated[Path | None, typer.Option("--log", help="Where to log; must not exist.")] = None,
    json: Json = False,
) -> None:
    """Start a verb detached: it goes on when the terminal closes. Refused unless GPU, disk, log and voice folder are free.

    Options of launch stand before the verb, the verb's own after it. The disk must hold the checkpoints of the runs and the floor.

    Example: penname -C bronte launch --gpu 1 run --decide auto
    """
    from penname.cli.app import VERBS
    from penname.core.errors import BadInput
    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.jobs.gpu import nvml, require_clear
    from penname.jobs.launch import launch as start
    from penname.voice.price import FLOOR_BYTES, launch_bytes

    voice = open_voice(where)
    if command[0] not in VERBS or command[0] == "launch":
        raise BadInput(f'"{command[0]}" is no verb that can be launched; give one as you would type it, as in: penname launch run')
    check = None if cpu else lambda: require_clear(nvml(), gpu)
    need = launch_bytes(voice.path, command)
    floor = FLOOR_BYTES if floor_gb is None else round(floor_gb * 1e9)
    job = start(voice.path, command, floor_bytes=floor, need_bytes=need, require_gpu=check, log=log)
    if json:
        print(json_text({"id": job.id, "log": str(job.log), "pid": job.worker.pid if job.worker else None}), end="")
    else:
        print(f"{job.id} runs; watch it with: penname jobs, penname logs -f {job.id}")
