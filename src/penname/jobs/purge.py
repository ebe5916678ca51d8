"""``penname purge``: delete checkpoints and merged models, and nothing else, ever.

First a plan: literal paths, each with its device, inode and size, and a reason beside each that is refused. Then, if asked,
path by path: every folder on the way is opened without following links and compared with the plan, so that a link swapped in
between look and deletion finds its target untouched.
"""

from __future__ import annotations

import fnmatch
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from penname.core.errors import PennameError
from penname.core.files import read_json
from penname.core.folder import VoiceFolder
from penname.jobs.inuse import Uses, current_uses, mounted_elsewhere, nobody_else_has_it

MERGED_KINDS = {"merged", "gguf-merged", "nvfp4a16"}


@dataclass(frozen=True)
class Item:
    """One file or folder that the plan names, as it was when looked at."""

    path: Path  # relative to the voice folder
    device: int
    inode: int
    size: int
    folder: bool
    links: int


@dataclass(frozen=True)
class Candidate:
    """A checkpoint or a merged model: its items (files before the folders that hold them), or why it stays."""

    path: Path  # relative to the voice folder
    run: str
    items: tuple[Item, ...] = ()
    refused: str = ""

    @property
    def size(self) -> int:
        """Bytes of its files, each inode once."""
        return sum({(item.device, item.inode): item.size for item in self.items if not item.folder}.values())


@dataclass(frozen=True)
class PurgePlan:
    """What would go, and what stays and why."""

    voice: Path
    candidates: tuple[Candidate, ...]

    @property
    def going(self) -> tuple[Candidate, ...]:
        """Candidates that nothing speaks against."""
        return tuple(candidate for candidate in self.candidates if not candidate.refused)


@dataclass
class PurgeResult:
    """What went, what was found changed on the way, and the space that the filesystem really got back."""

    deleted: list[Path] = field(default_factory=list)
    skipped: list[tuple[Path, str]] = field(default_factory=list)
    planned_bytes: int = 0
    freed_bytes: int = 0


def plan_purge(voice: VoiceFolder, archived: Iterable[str], keep: Sequence[str] = (), uses: Uses | None = None) -> PurgePlan:
    """The plan; nothing is changed. ``archived`` names the runs whose adapter was verified in its second place just now.

    ``keep``: patterns of run names or paths that stay, as ``*-s1`` or ``runs/x/checkpoints/step-000050``.
    """
    verified = set(archived)
    held = uses or current_uses()
    return PurgePlan(voice.path, tuple(_look(voice, path, run, verified, keep, held) for path, run in _candidates(voice)))


def _candidates(voice: VoiceFolder) -> list[tuple[Path, str]]:
    found = []
    for run in sorted(voice.runs.glob("*")):
        folder = run / "checkpoints"
        if folder.is_symlink() or run.is_symlink():
            found.append((folder, run.name))
        elif folder.is_dir():
            found += [(path, run.name) for path in sorted(folder.iterdir())]
    for marker in sorted(voice.path.glob("exports/*/*/export.json")):
        if not marker.parent.is_symlink() and read_json(marker).get("kind") in MERGED_KINDS:
            found.append((marker.parent, str(read_json(marker).get("run", ""))))
    return found


def _look(voice: VoiceFolder, path: Path, run: str, verified: set[str], keep: Sequence[str], uses: Uses) -> Candidate:
    relative = path.relative_to(voice.path)
    if any(fnmatch.fnmatchcase(run, pattern) or fnmatch.fnmatchcase(str(relative), pattern) for pattern in keep):
        return Candidate(relative, run, refused="kept, as asked")
    if path.is_symlink():
        return Candidate(relative, run, refused="it is a link")
    if not path.is_dir():
        return Candidate(relative, run, refused="it is no folder that Penname made")
    if any(parent.is_symlink() for parent in _parents(voice.path, path)):
        return Candidate(relative, run, refused="a folder above it is a link")
    if run not in verified:
        return Candidate(
            relative, run, refused=f"the adapter of {run or 'its run'} is not archived and verified; run: penname archive TARGET"
        )
    if reason := mounted_elsewhere(path):
        return Candidate(relative, run, refused=reason)
    items, reason = _walk(voice.path, path, uses)
    return Candidate(relative, run, tuple(items), reason)


def _parents(top: Path, path: Path) -> Iterable[Path]:
    while path != top:
        path = path.parent
        if path != top:
            yield path


def _walk(top: Path, folder: Path, uses: Uses) -> tuple[list[Item], str]:
    items: list[Item] = []
    for base, folders, files in os.walk(folder, topdown=False, followlinks=False):
        for name in sorted(files) + sorted(folders):
            path = Path(base) / name
            info = path.lstat()
            if stat.S_ISLNK(info.st_mode):
                return [], f"{path.relative_to(top)} in it is a link"
            if not (stat.S_ISREG(info.st_mode) or stat.S_ISDIR(info.st_mode)):
                return [], f"{path.relative_to(top)} in it is no plain file"
            if info.st_dev != folder.lstat().st_dev:
                return [], f"{path.relative_to(top)} in it is on another filesystem"
            if holder := uses.holder(path):
                return [], f"{path.relative_to(top)}: {holder}"
            if stat.S_ISREG(info.st_mode):
                items.append(_item(top, path, info))
        info = Path(base).lstat()
        if holder := uses.holder(Path(base)):
            return [], f"{Path(base).relative_to(top)}: {holder}"
        items.append(_item(top, Path(base), info))
    return items, ""


def _item(top: Path, path: Path, info: os.stat_result) -> Item:
    return Item(path.relative_to(top), info.st_dev, info.st_ino, info.st_size, stat.S_ISDIR(info.st_mode), info.st_nlink)


def delete(plan: PurgePlan) -> PurgeResult:
    """Delete what the plan says goes, path by path. What changed since the plan is skipped and named, never followed."""
    result = PurgeResult(planned_bytes=sum(candidate.size for candidate in plan.going))
    before = _free_bytes(plan.voice)
    top = os.open(plan.voice, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for candidate in plan.going:
            uses = current_uses()
            for item in candidate.items:
                reason = _delete_one(top, plan.voice, item, uses)
                if reason:
                    result.skipped.append((item.path, reason))
                else:
                    result.deleted.append(item.path)
        os.sync()
    finally:
        os.close(top)
    result.freed_bytes = max(0, _free_bytes(plan.voice) - before)
    return result


def _delete_one(top: int, voice: Path, item: Item, uses: Uses) -> str:
    """ "" where it went; otherwise why it was left."""
    handles = [os.dup(top)]
    try:
        for part in item.path.parent.parts:
            try:
                handles.append(os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=handles[-1]))
            except OSError:
                return f"{part} on the way to it is no longer the folder it was"
        name, parent = item.path.name, handles[-1]
        try:
            info = os.stat(name, dir_fd=parent, follow_symlinks=False)
        except FileNotFoundError:
            return "it is gone already"
        if (info.st_dev, info.st_ino) != (item.device, item.inode):
            return "it is no longer what was looked at"
        if pid := uses.files.get((info.st_dev, info.st_ino)):
            return f"pid {pid} has opened it since"
        if uses.unreadable and not item.folder and not nobody_else_has_it(voice / item.path):
            return "a process has opened it since, or may have"
        try:
            # unlink and rmdir act on the name itself: were a link swapped in after the check, the link would go, not its target.
            os.rmdir(name, dir_fd=parent) if item.folder else os.unlink(name, dir_fd=parent)
        except OSError as error:
            return os.strerror(error.errno or 0).lower()
        return ""
    finally:
        for handle in handles:
            os.close(handle)


def _free_bytes(path: Path) -> int:
    info = os.statvfs(path)
    return info.f_bfree * info.f_frsize


def require_something(plan: PurgePlan) -> None:
    """PennameError, with the reasons, where nothing may go."""
    if not plan.going:
        reasons = "; ".join(f"{c.path}: {c.refused}" for c in plan.candidates[:5])
        raise PennameError(f"nothing can be purged{': ' + reasons if reasons else ': there are no checkpoints or merged models here'}")
