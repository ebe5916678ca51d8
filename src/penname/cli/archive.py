"""``penname archive``."""

from __future__ import annotations

from typing import Annotated

import typer

from penname.cli.options import HERE, Json, Where


def archive(
    target: Annotated[str | None, typer.Argument(help="A folder, host:path (ssh), or rclone:remote:path.")] = None,
    where: Where = HERE,
    run: Annotated[list[str], typer.Option("--run", help="A run; all finished ones where not given.")] = [],
    verify: Annotated[bool, typer.Option("--verify", help="Re-hash what was archived, in its place.")] = False,
    with_text: Annotated[bool, typer.Option("--with-text", help="Archive the author's clean text as well.")] = False,
    json: Json = False,
) -> None:
    """Copy adapters and what proves them to a second place, each verified by reading it back. Never overwrites another.

    Example: penname -C bronte archive /mnt/backup/voices
    """
    from penname.core.errors import BadInput
    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.core.progress import format_bytes
    from penname.jobs.archive import archive_runs, verify_archives

    voice = open_voice(where)
    if verify:
        done = verify_archives(voice, run)
    elif target is None:
        raise BadInput("archive wants a place (a folder, host:path, or rclone:remote:path), as in: penname archive /mnt/backup/voices")
    else:
        done = archive_runs(voice, target, run, with_text=with_text)
    if json:
        rows = [{"run": a.run, "place": a.place, "files": len(a.files), "bytes": a.total_bytes} for a in done]
        print(json_text(rows), end="")
        return
    for archived in done:
        what = "verified" if verify else "was there already, verified" if archived.already_there else "archived and verified"
        print(f"{archived.run}: {what}, {len(archived.files)} files, {format_bytes(archived.total_bytes)}, {archived.place}")
