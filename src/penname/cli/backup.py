"""``penname backup``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from penname.cli.options import HERE, Json, Where


def backup(
    where: Where = HERE,
    check: Annotated[
        bool, typer.Option("--check", help="Ask restic what it would take, and compare. The only thing this verb does.")
    ] = True,
    repo: Annotated[str, typer.Option("--repo", help="The restic repository; its password comes from restic's own environment.")] = "",
    source: Annotated[list[str], typer.Option("--source", help="A source, as given to restic; may be repeated.")] = [],
    exclude: Annotated[list[str], typer.Option("--exclude", help="An exclude pattern; may be repeated.")] = [],
    exclude_file: Annotated[list[str], typer.Option("--exclude-file", help="A file of exclude patterns; may be repeated.")] = [],
    profile: Annotated[Path | None, typer.Option("--profile", help="A resticprofile TOML file instead.")] = None,
    name: Annotated[str, typer.Option("--name", help="Which profile of it.")] = "default",
    json: Json = False,
) -> None:
    """Prove that a restic backup takes exactly this voice's adapter folders. Exit 1 where it takes less or more.

    Example: penname -C bronte backup --check --profile profiles.toml
    """
    from dataclasses import asdict

    from penname.core.files import json_text
    from penname.core.folder import open_voice
    from penname.core.progress import say
    from penname.jobs.backup import BackupPlan, check_backup, read_profile

    voice = open_voice(where)
    plan = read_profile(profile, name) if profile else BackupPlan(repo, tuple(source), tuple(exclude), tuple(exclude_file))
    found = check_backup(voice, plan)
    if json:
        print(json_text({**asdict(found), "exact": found.exact}), end="")
    else:
        print(f"{len(found.wanted)} adapter files; {len(found.missing)} would be missing, {len(found.extra)} others would be taken")
        for path in found.missing[:20]:
            print(f"missing  {path}")
        for path in found.extra[:20]:
            print(f"extra    {path}")
        for path in found.links:
            print(f"link     {path}")
        for pattern in found.idle_excludes:
            say(f'the exclude "{pattern}" matches nothing that is not excluded anyway')
        if not found.exact:
            say(f"to back up exactly the adapters, paste:\n\n{found.carve_out}")
    if not found.exact:
        raise typer.Exit(1)
