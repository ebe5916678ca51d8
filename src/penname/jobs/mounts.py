"""What is mounted where, as a process sees it: ``/proc/<pid>/mountinfo`` (proc(5)), whose fields escape blanks as octal codes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")


@dataclass(frozen=True)
class Mount:
    """One mount: what of which filesystem is shown at which point."""

    device: str  # "8:1"
    root: str  # the part of the filesystem that is mounted
    point: str
    kind: str  # "ext4", "btrfs", "zfs"
    source: str  # "/dev/sda1", "pool/home"


def mounts(process: Path = PROC / "self") -> list[Mount]:
    """The mounts in the namespace of a process, in their order; empty where they cannot be read."""
    try:
        lines = (process / "mountinfo").read_text(errors="surrogateescape").splitlines()
    except OSError:
        return []
    found = []
    for line in lines:
        fields, _, filesystem = line.partition(" - ")
        device, root, point = fields.split(" ")[2:5]
        kind, source = filesystem.split(" ")[:2]
        found.append(Mount(device, _unescape(root), _unescape(point), kind, _unescape(source)))
    return found


def mount_of(real: str, among: list[Mount]) -> Mount | None:
    """The mount that shows the resolved path ``real``: the one with the longest point, the last of several at one point."""
    holding = [mount for mount in among if real == mount.point or real.startswith(mount.point.rstrip("/") + "/")]
    return max(reversed(holding), key=lambda mount: len(mount.point), default=None)


def _unescape(text: str) -> str:
    for code, char in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, char)
    return text
