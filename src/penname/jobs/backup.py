"""``penname backup --check``: prove what a restic backup would take, by asking restic, and compare it with a walk.

An exclude that silently matches nothing, or a source that misses a folder, is found before the day on which it matters.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penname.core.errors import BadInput, PennameError, last_line
from penname.core.files import read_text
from penname.core.folder import VoiceFolder


@dataclass(frozen=True)
class BackupPlan:
    """What restic would be told: sources, excludes (patterns), files of excludes, and the repository."""

    repository: str
    sources: tuple[str, ...]
    excludes: tuple[str, ...] = ()
    exclude_files: tuple[str, ...] = ()
    password_file: str = ""


@dataclass(frozen=True)
class BackupCheck:
    """Restic's own list against the walk; every path is absolute."""

    wanted: tuple[str, ...]
    missing: tuple[str, ...]  # adapter files that would not be backed up
    extra: tuple[str, ...]  # anything else that would
    idle_excludes: tuple[str, ...]  # excludes without which restic would take the same
    links: tuple[str, ...]  # links below the adapter folders: restic keeps the link and not what it points at, and lists neither
    carve_out: str

    @property
    def exact(self) -> bool:
        """Whether the backup holds exactly the adapter folders, and they are whole: no link stands for a file in them."""
        return not (self.missing or self.extra or self.links)


def read_profile(path: Path, name: str = "default") -> BackupPlan:
    """The plan of a profile of a resticprofile TOML file, with what it inherits. BadInput for other formats and missing profiles."""
    if path.suffix != ".toml" and path.is_file():
        raise BadInput(f"{path} is not TOML; give a resticprofile TOML file, or name --repo, --source and --exclude yourself")
    try:
        data = tomllib.loads(read_text(path))
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} is not TOML: {error}") from None
    profiles = data.get("profiles", data)
    if not isinstance(profiles.get(name), dict):
        known = ", ".join(sorted(key for key, value in profiles.items() if isinstance(value, dict))) or "none"
        raise BadInput(f'{path} has no profile "{name}"; it has {known}')
    profile = _inherited(profiles, name, path)
    backup = profile.get("backup", {})
    base = path.parent
    return BackupPlan(
        repository=_from(base, str(profile.get("repository", ""))),
        sources=tuple(_from(base, source) for source in _list(backup.get("source"))),
        excludes=tuple(_list(backup.get("exclude"))),
        exclude_files=tuple(_from(base, file) for file in _list(backup.get("exclude-file"))),
        password_file=_from(base, str(profile.get("password-file", ""))),
    )


def _inherited(profiles: dict[str, Any], name: str, path: Path, seen: tuple[str, ...] = ()) -> dict[str, Any]:
    if name in seen:
        raise BadInput(f"{path}: the profile {name} inherits from itself")
    profile = profiles.get(name, {})
    parent = profile.get("inherit")
    if not parent:
        return dict(profile)
    below = _inherited(profiles, parent, path, (*seen, name))
    return {**below, **profile, "backup": {**below.get("backup", {}), **profile.get("backup", {})}}


def _list(value: Any) -> list[str]:
    return [] if value is None else [str(item) for item in value] if isinstance(value, list) else [str(value)]


def _from(base: Path, path: str) -> str:
    path = path.removeprefix("local:")
    return path if not path or ":" in path else str(base / Path(path).expanduser())


def check_backup(voice: VoiceFolder, plan: BackupPlan) -> BackupCheck:
    """Ask restic what it would take and compare. BadInput where restic is missing, PennameError where it refuses."""
    if shutil.which("restic") is None:
        raise BadInput("restic is not installed; install it, since only restic itself can say what its patterns expand to")
    if not plan.repository or not plan.sources:
        raise BadInput("backup --check wants a repository and at least one source: --repo and --source, or --profile FILE")
    wanted, links = adapter_files(voice)
    if not (wanted or links):
        raise BadInput("there is no adapter in this voice folder yet; run: penname train")
    taken = _would_take(plan)
    idle = []
    for pattern in plan.excludes:
        without = BackupPlan(
            plan.repository, plan.sources, tuple(p for p in plan.excludes if p != pattern), plan.exclude_files, plan.password_file
        )
        if _would_take(without) == taken:
            idle.append(pattern)
    missing, extra = sorted(wanted - taken), sorted(taken - wanted)
    return BackupCheck(
        tuple(sorted(wanted)), tuple(missing), tuple(extra), tuple(idle), tuple(sorted(links)), carve_out(voice, plan.repository)
    )


def adapter_files(voice: VoiceFolder) -> tuple[set[str], set[str]]:
    """(files, links): absolute paths of every file and every link below, or in place of, the adapter folders of this voice."""
    files, links = set(), set()
    for adapter in voice.path.resolve().glob("runs/*/adapter"):
        if adapter.is_symlink():
            links.add(str(adapter))
            continue
        for path in adapter.rglob("*"):
            if path.is_symlink():
                links.add(str(path))
            elif path.is_file():
                files.add(str(path))
    return files, links


def _would_take(plan: BackupPlan) -> set[str]:
    command = ["restic", "--repo", plan.repository, "backup", "--dry-run", "--json", "-vv", "--force"]
    if plan.password_file:
        command[1:1] = ["--password-file", plan.password_file]
    for pattern in plan.excludes:
        command += ["--exclude", pattern]
    for file in plan.exclude_files:
        command += ["--exclude-file", file]
    done = subprocess.run([*command, "--", *plan.sources], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode not in (0, 3):  # 3: some source could not be read; what could be is listed, and the rest shows as missing
        raise PennameError(f"restic refuses: {last_line(done.stderr)}")
    taken = set()
    for line in done.stdout.splitlines():
        row = json.loads(line)
        told = row.get("message_type") == "verbose_status" and row.get("action") in ("new", "changed", "modified", "unchanged")
        if told and not row["item"].endswith("/"):  # folders end in a slash
            taken.add(row["item"])
    return taken


def carve_out(voice: VoiceFolder, repository: str) -> str:
    """What to paste: the adapter folders as the only sources, for restic and for a resticprofile."""
    folders = sorted(str(path) for path in voice.path.resolve().glob("runs/*/adapter"))
    listed = ", ".join(json.dumps(folder, ensure_ascii=False) for folder in folders)
    quoted = " ".join("'" + folder.replace("'", "'\\''") + "'" for folder in folders)
    return f"restic --repo {repository} backup -- {quoted}\n\n[default.backup]\nsource = [{listed}]\n"
