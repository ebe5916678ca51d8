"""Which snapshots may hold space that a purge did not get back, asked of the filesystem's own tool where it is there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from penname.jobs.mounts import mount_of, mounts


def snapshots_holding(path: Path) -> list[str]:
    """Names of snapshots on the filesystem of ``path`` (btrfs, zfs); empty where it has none, or none can be listed."""
    mount = mount_of(str(path.resolve()), mounts())
    if mount is None:
        return []
    if mount.kind == "btrfs" and shutil.which("btrfs"):
        return [line.rsplit("path ", 1)[-1] for line in _lines(["btrfs", "subvolume", "list", "-s", str(path)]) if "path " in line]
    if mount.kind == "zfs" and shutil.which("zfs"):
        return _lines(["zfs", "list", "-H", "-t", "snapshot", "-o", "name", "-r", mount.source])
    return []


def _lines(command: list[str]) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip().splitlines() if done.returncode == 0 else []
