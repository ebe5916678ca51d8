"""``penname restore``."""

from __future__ import annotations

from typing import Annotated

import typer

from penname.cli.options import HERE, Json, Where


def restore(
    target: Annotated[str, typer.Argument(help="Where it was archived: a folder, host:path, or rclone:remote:path.")],
    run: Annotated[str, typer.Argument(help="The run.")],
    where: Where = HERE,
    json: Json = False,
) -> None:
    """Bring an archived run back into this voice folder, verified against its receipt.

    Example: penname -C bronte restore /mnt/backup/voices qwen3-1.7b-all-x6-am-s1
    """
    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.jobs.archive import restore_run

    folder = restore_run(open_voice(where), target, run)
    print(json_text({"run": run, "folder": str(folder)}) if json else f"{folder}\n", end="")
