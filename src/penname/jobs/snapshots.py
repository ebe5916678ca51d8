"""Which snapshots may hold space that a purge did not get back, asked of the filesystem's own tool where it is there."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def snapshots_holding(path: Path) -> list[str]:
    """Names of snapshots on the filesystem of ``path`` (btrfs, zfs); empty where it has none, or none can be listed."""
    kind, source = _filesystem(path)
    if kind == "btrfs" and shutil.which("btrfs"):
        return [line.rsplit("path ", 1)[-1] for line in _lines(["btrfs", "subvolume", "list", "-s", str(path)]) if "path " in line]
    if kind == "zfs" and shutil.which("zfs"):
        return _lines(["zfs", "list", "-H", "-t", "snapshot", "-o", "name", "-r", source])
    return []


def _filesystem(path: Path) -> tuple[str, str]:
    real = str(path.resolve())
    best = ("", "", "")
    try:
        lines = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return "", ""
    for line in lines:
        source, point, kind = line.split(" ")[:3]
        if (real == point or real.startswith(point.rstrip("/") + "/")) and len(point) >= len(best[0]):
            best = (point, kind, source)
    return best[1], best[2]


def _lines(command: list[str]) -> list[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip().splitlines() if done.returncode == 0 else []
