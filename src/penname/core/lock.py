"""One writer a voice folder. The lock is the kernel's, so it is gone when its holder is, however that ended."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from penname.core.errors import PennameError
from penname.core.files import disk_error

try:
    import fcntl
except ImportError:  # Windows: no advisory locks of this kind, so two writers are not kept apart there
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"


@contextmanager
def hold(folder: Path, doing: str) -> Iterator[None]:
    """Hold the folder's lock for the block. PennameError where another process holds it, with its pid and what it does.

    Re-entrant within a process: a stage that `run` starts finds the lock its own.
    """
    key = str(folder.resolve())
    if fcntl is None or key in _held:
        yield
        return
    try:
        file = (folder / LOCK).open("a+", encoding="utf-8")
    except OSError as error:
        raise disk_error(error, folder.resolve() / LOCK) from error
    try:
        while not _try_lock(file):
            other = holder(folder)
            if other is None:
                continue  # somebody who only looked who holds it was in the way, for that moment
            raise PennameError(
                f"another penname works in {folder.resolve()} (pid {other.get('pid', '?')}, {other.get('doing', 'unknown')}); "
                "wait for it, or end it: with penname stop where it was launched, else with Ctrl-C in its terminal"
            )
        file.seek(0)
        file.truncate()
        json.dump({"pid": os.getpid(), "doing": doing}, file)
        file.flush()
        _held.add(key)
        try:
            yield
        finally:
            _held.discard(key)
            file.seek(0)
            file.truncate()
    finally:
        file.close()


def holder(folder: Path) -> dict[str, Any] | None:
    """Who holds the lock ({"pid", "doing"}), or None where nobody does."""
    path = folder / LOCK
    if fcntl is None or not path.exists():
        return None
    with path.open(encoding="utf-8") as file:  # only read, and shared: whoever may look at a folder need not be able to write in it
        if _try_lock(file, shared=True):
            return None
        try:
            return dict(json.loads(file.read()))
        except ValueError:
            return {}


def _try_lock(file: IO[str], shared: bool = False) -> bool:
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


_held: set[str] = set()
