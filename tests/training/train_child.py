"""Trains the voice of argv[1], for tests that stop or kill it.

SLOW=seconds sleeps inside every write of a checkpoint. With ``--serve`` it imports all once and then, for each line on stdin, forks a
process that trains; it prints that process's id, and its exit code once it has ended.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from penname.core.errors import PennameError
from penname.core.folder import open_voice
from penname.training import checkpoint
from penname.training.run import train_run


def train_voice(folder: Path) -> int:
    try:
        train_run(open_voice(folder), 1, yes=True)
    except PennameError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    return 0


def write_slowly(seconds: float) -> None:
    kept = checkpoint._write_synced

    def slowly(path: Path, data: bytes) -> Any:
        kept(path, data[: len(data) // 2])
        time.sleep(seconds)
        kept(path, data)

    checkpoint._write_synced = slowly


def serve(folder: Path) -> None:
    for _ in sys.stdin:
        pid = os.fork()
        if pid == 0:
            os._exit(train_voice(folder))
        print(pid, flush=True)
        print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), flush=True)


if __name__ == "__main__":
    if seconds := float(os.environ.get("SLOW", "0")):
        write_slowly(seconds)
    if "--serve" in sys.argv:
        serve(Path(sys.argv[1]))
    else:
        sys.exit(train_voice(Path(sys.argv[1])))
