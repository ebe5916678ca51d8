"""``penname purge``."""

from __future__ import annotations

from typing import Annotated

import typer

from penname.cli.options import HERE, Json, Where


def purge(
    where: Where = HERE,
    go: Annotated[bool, typer.Option("--delete", help="Delete what the dry run lists; without it nothing is changed.")] = False,
    keep: Annotated[list[str], typer.Option("--keep", metavar="PATTERN", help="Run names or paths that stay; may be repeated.")] = [],
    probe: Annotated[str | None, typer.Option("--probe", metavar="URL", help="Ask this server for a completion before and after.")] = None,
    json: Json = False,
) -> None:
    """Delete checkpoints and merged models whose adapter is archived and verified. A dry run unless --delete is given.

    Example: penname -C bronte purge --keep '*-s1'
    """
    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.core.lock import hold
    from penname.core.progress import format_bytes, format_count, say
    from penname.jobs import purging

    voice = open_voice(where)
    with hold(voice.path, "purge"):
        plan = purging.look(voice, keep)
        done = purging.purge(voice, plan, probe) if go else None
    if json:
        rows = [
            {"path": str(c.path), "bytes": c.size, "refused": c.refused, "items": [str(i.path) for i in c.items]} for c in plan.candidates
        ]
        freed = done.result.freed_bytes if done else None
        print(json_text({"deleted": go, "candidates": rows, "freed_bytes": freed}), end="")
        return
    for candidate in plan.candidates:
        for item in candidate.items:
            print(f"{'deleted' if go else 'would delete'}  {_literal(item.path)}  {0 if item.folder else item.size}")
        if candidate.refused:
            say(f"stays: {_literal(candidate.path)}: {candidate.refused}")
    total = sum(candidate.size for candidate in plan.going)
    if done is None:
        would = f"{format_bytes(total)} in {format_count(len(plan.going), 'folder')} would go; delete them with: penname purge --delete"
        say(would if plan.going else "nothing would go")
        return
    for path, reason in done.result.skipped:
        say(f"left: {_literal(path)}: {reason}")
    for path in done.retired:
        say(f"marked RETIRED: {path}")
    say(f"{format_bytes(total)} deleted; the filesystem got back {format_bytes(done.result.freed_bytes)}")
    if done.snapshots:
        say(f"the rest may be held by snapshots: {', '.join(done.snapshots)}")


def _literal(path: object) -> str:
    # One path a line, whatever is in it: a newline or a control character is shown as its escape.
    text = str(path)
    return text if text.isprintable() else ascii(text)
