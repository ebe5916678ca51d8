"""Whether any process has a file open or mapped, or a container has it mounted. What cannot be resolved counts as in use.

Files are compared by device and inode, so a second name, a hard link or a path in another namespace makes no difference.
Where a process's files cannot be listed, the kernel is asked for a write lease on the file: it grants one only where nobody
else has the file open or mapped (fcntl(2), F_SETLEASE); where it grants none, the file counts as in use.
"""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from penname.jobs.mounts import PROC, mount_of, mounts

FileKey = tuple[int, int]  # (st_dev, st_ino)


@dataclass(frozen=True)
class Uses:
    """What all processes hold, taken at one moment."""

    files: dict[FileKey, int]  # file -> pid of a process that has it open or mapped
    unreadable: tuple[int, ...]  # pids whose open files could not be listed

    def holder(self, path: Path) -> str | None:
        """Why ``path`` counts as in use, or None."""
        info = path.lstat()
        pid = self.files.get((info.st_dev, info.st_ino))
        if pid is not None:
            return f"pid {pid} has it open"
        # A folder holds no data, so for those the processes that can be read decide.
        if self.unreadable and stat.S_ISREG(info.st_mode) and not nobody_else_has_it(path):
            return f"the open files of pid {self.unreadable[0]} cannot be read, so it counts as in use; run as root to see them"
        return None


def nobody_else_has_it(path: Path) -> bool:
    """Whether the kernel grants a write lease: proof that no process, readable or not, has the file open or mapped."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_WRLCK)
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    except OSError:
        return False  # somebody has it, or the filesystem gives no leases
    finally:
        os.close(handle)
    return True


def current_uses() -> Uses:
    """Every open or mapped file of every process. Costs a stat a descriptor and mapping."""
    files: dict[FileKey, int] = {}
    unreadable = []
    for entry in PROC.iterdir():
        if not entry.name.isdigit():
            continue
        pid = int(entry.name)
        try:
            for key in _open_files(entry):
                files.setdefault(key, pid)
        except PermissionError:
            unreadable.append(pid)
        except (FileNotFoundError, ProcessLookupError):
            continue  # it has ended
    return Uses(files, tuple(unreadable))


def _open_files(entry: Path) -> Iterable[FileKey]:
    for folder in ("fd", "map_files"):
        for link in os.scandir(entry / folder):
            try:
                info = Path(link.path).stat()
            except (FileNotFoundError, ProcessLookupError):
                continue
            yield info.st_dev, info.st_ino
    for name in ("cwd", "root", "exe"):
        try:
            info = (entry / name).stat()
        except (FileNotFoundError, ProcessLookupError):
            continue  # a kernel thread has no exe
        yield info.st_dev, info.st_ino


def mounted_elsewhere(path: Path) -> str | None:
    """Why ``path`` counts as mounted: it holds a mount point, a bind mount shows it elsewhere, or a container has it or a folder above it.

    A mount of a whole filesystem (root "/") in another namespace says nothing: services have those too.
    """
    real = str(path.resolve())
    own = mounts()
    for mount in own:
        if mount.point == real or mount.point.startswith(real + "/"):
            return f"{mount.point} is a mount point"
    home = mount_of(real, own)
    if home is None:
        return "what is mounted here cannot be read, so it counts as mounted elsewhere"
    inside = (home.root.rstrip("/") + "/" + os.path.relpath(real, home.point)).replace("//", "/")
    for mount in own:
        if mount != home and mount.device == home.device and (mount.root == inside or mount.root.startswith(inside + "/")):
            return f"a bind mount shows it at {mount.point}"
    own_space = _namespace(PROC / "self")
    seen = {own_space}
    for entry in PROC.iterdir():
        if not entry.name.isdigit():
            continue
        space = _namespace(entry)
        if space is None or space in seen:
            continue
        seen.add(space)
        for mount in mounts(entry):
            covers = mount.root != "/" and (inside == mount.root or inside.startswith(mount.root.rstrip("/") + "/"))
            within = mount.root == inside or mount.root.startswith(inside + "/")
            if mount.device == home.device and (covers or within) and mount != home:
                return f"a container (pid {entry.name}) has it mounted at {mount.point}"
    return None


def _namespace(entry: Path) -> int | None:
    try:
        return (entry / "ns/mnt").stat().st_ino
    except OSError:
        return None
