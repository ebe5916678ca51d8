"""Second places for archives: a folder, a host through rsync and ssh, or any remote through rclone. One interface, three of them.

A place holds items (``run-<name>``), each a tree of files. ``put`` writes aside and renames, so an item is whole or absent.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from penname.core.errors import BadInput, PennameError, last_line
from penname.core.files import disk_error, sync_file, sync_folder
from penname.core.hashing import sha256_file

_REMOTE = re.compile(r"^(?P<head>[\w.@-]{2,}):(?P<path>.*)$")  # two characters at least: "c:" is a drive


@dataclass(frozen=True)
class FileFact:
    """One file of an item."""

    sha256: str
    size: int


class Place(Protocol):
    """Where archives go."""

    name: str

    def holds(self, item: str) -> bool:
        """Whether the item is there."""

    def put(self, source: Path, item: str) -> None:
        """Copy a local tree there as ``item``, which must not be there yet."""

    def facts(self, item: str) -> dict[str, FileFact]:
        """Hash and size of every file of the item, read from the place itself."""

    def get(self, item: str, target: Path) -> None:
        """Copy the item into the local folder ``target``, which must not be there yet."""


def open_place(target: str) -> Place:
    """``/a/folder``; ``user@host:path`` or ``host:path`` (ssh); ``rclone:remote:path``. BadInput where the tool for it is missing."""
    if target.startswith("rclone:"):
        return RclonePlace(target.removeprefix("rclone:").rstrip("/"))
    if (found := _REMOTE.match(target)) and not Path(target).exists():
        return SshPlace(found["head"], found["path"].rstrip("/") or ".")
    return FolderPlace(Path(target))


def tree_facts(folder: Path) -> dict[str, FileFact]:
    """Hash and size of every file below a local folder. BadInput for a link: an archive holds files of its own."""
    facts = {}
    for path in sorted(folder.rglob("*")):
        if path.is_symlink():
            raise BadInput(f"{path} is a link; an archive holds real files only")
        if path.is_file():
            facts[path.relative_to(folder).as_posix()] = FileFact(sha256_file(path), path.stat().st_size)
    return facts


def copy_tree(source: Path, target: Path) -> None:
    """Copy the files of ``tree_facts``; a link raises BadInput. Unlike shutil.copytree, the first OSError is raised as it is.

    All is synced, since a purge may follow: what is read back at once comes from memory and proves nothing of the disk.
    """
    copied = [target / relative for relative in tree_facts(source)]
    for path in copied:
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source / path.relative_to(target), path)
        sync_file(path)
    for folder in sorted({path.parent for path in copied}):
        sync_folder(folder)


class FolderPlace:
    """A folder of this machine: another disk, or a mounted share."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.name = str(folder)

    def holds(self, item: str) -> bool:
        """Whether the item is there."""
        return (self.folder / item).exists()

    def put(self, source: Path, item: str) -> None:
        """Copy aside, then rename."""
        aside = self.folder / f".incoming-{item}"
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            shutil.rmtree(aside, ignore_errors=True)
            copy_tree(source, aside)
            aside.rename(self.folder / item)
            sync_folder(self.folder)
        except OSError as error:
            shutil.rmtree(aside, ignore_errors=True)
            raise disk_error(error, self.folder / item) from error

    def facts(self, item: str) -> dict[str, FileFact]:
        """Re-hashed from the disk."""
        return tree_facts(self.folder / item)

    def get(self, item: str, target: Path) -> None:
        """Copy back."""
        copy_tree(self.folder / item, target)


class SshPlace:
    """A folder on another host: rsync over ssh brings the files, ``sha256sum`` there reads them back."""

    def __init__(self, host: str, folder: str) -> None:
        _require("rsync", "ssh")
        self.host, self.folder = host, folder
        self.name = f"{host}:{folder}"

    def _ssh(self, script: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        return _call(["ssh", "-o", "BatchMode=yes", self.host, script], check=check)

    def _at(self, item: str) -> str:
        return f"{self.folder}/{item}"

    def holds(self, item: str) -> bool:
        """Whether the item is there."""
        done = self._ssh(f"test -e {shlex.quote(self._at(item))}", check=False)
        if done.returncode not in (0, 1):
            raise PennameError(f"{self.host} does not answer: {last_line(done.stderr)}")
        return done.returncode == 0

    def put(self, source: Path, item: str) -> None:
        """Bring the files aside, then rename there."""
        aside = self._at(f".incoming-{item}")
        self._ssh(f"mkdir -p {shlex.quote(aside)}")
        _call(["rsync", "-a", "--checksum", "--delete", "-e", "ssh -o BatchMode=yes", f"{source}/", f"{self.host}:{aside}/"])
        self._ssh(f"mv -T {shlex.quote(aside)} {shlex.quote(self._at(item))} && sync")

    def facts(self, item: str) -> dict[str, FileFact]:
        """Hashed on the other host."""
        there = shlex.quote(self._at(item))
        hashes = self._ssh(f"cd {there} && find . -type f -print0 | sort -z | xargs -0 -r sha256sum -z | tr '\\0' '\\n'").stdout
        sizes = self._ssh(f"cd {there} && find . -type f -printf '%s %p\\n'").stdout
        size_of = {path: int(size) for size, path in (line.split(" ", 1) for line in sizes.splitlines())}
        rows = [(line[:64], line[66:]) for line in hashes.splitlines()]
        return {path.removeprefix("./"): FileFact(digest, size_of[path]) for digest, path in rows}

    def get(self, item: str, target: Path) -> None:
        """Bring the files back."""
        target.mkdir(parents=True)
        _call(["rsync", "-a", "--checksum", "-e", "ssh -o BatchMode=yes", f"{self.host}:{self._at(item)}/", f"{target}/"])


class RclonePlace:
    """Any remote that rclone knows: S3, a drive, a local path."""

    def __init__(self, remote: str) -> None:
        _require("rclone")
        self.remote = remote
        self.name = f"rclone:{remote}"

    def _at(self, item: str) -> str:
        return f"{self.remote}/{item}" if not self.remote.endswith(":") else f"{self.remote}{item}"

    def _list(self, item: str) -> list[dict[str, object]]:
        done = _call(["rclone", "lsjson", "-R", "--files-only", self._at(item)], check=False)
        if done.returncode == 3:  # rclone's "directory not found"
            return []
        if done.returncode:
            raise PennameError(f"rclone cannot read {self._at(item)}: {last_line(done.stderr)}")
        return list(json.loads(done.stdout))

    def holds(self, item: str) -> bool:
        """Whether any file of the item is there (object stores have no folders)."""
        return bool(self._list(item))

    def put(self, source: Path, item: str) -> None:
        """Copy; ``--immutable`` refuses to change a file that is there. What a broken copy left behind does not count: it
        fails the comparison that follows every put."""
        _call(["rclone", "copy", "--immutable", "--checksum", str(source), self._at(item)])

    def facts(self, item: str) -> dict[str, FileFact]:
        """Every byte read back from the remote and hashed."""
        facts = {}
        for row in self._list(item):
            path = str(row["Path"])
            digest, size = hashlib.sha256(), 0
            command = ["rclone", "cat", f"{self._at(item)}/{path}"]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as done:
                assert done.stdout is not None
                while block := done.stdout.read(1 << 20):
                    digest.update(block)
                    size += len(block)
            if done.returncode:
                raise PennameError(f"rclone cannot read {self._at(item)}/{path} back")
            facts[path] = FileFact(digest.hexdigest(), size)
        return facts

    def get(self, item: str, target: Path) -> None:
        """Copy back."""
        _call(["rclone", "copy", "--checksum", self._at(item), str(target)])


def _require(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool) is None:
            raise BadInput(f"this place needs {tool}, and it is not installed; install it, or archive to a folder")


def _call(command: Sequence[str], check: bool = True) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if check and done.returncode:
        raise PennameError(f"{command[0]} failed: {last_line(done.stderr, f'exit {done.returncode}')}")
    return done
