"""The process that stands between a launch and its command: holds the job's lock, watches the disk, records the end.

``python -m penname.jobs.watcher JOB_FOLDER LOCK``, started by ``launch`` in a session of its own, with the voice folder as its
working directory, the job's log as its output, and the open descriptor of the lock that ``launch`` took.
"""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import FrameType

from penname.core.files import read_json, write_json
from penname.core.progress import format_bytes
from penname.jobs.identity import identity_of, own_identity


def watch(folder: Path, lock: int) -> int:
    """Run the job's command to its end; its exit code. ``lock`` is the descriptor of the job's held lock."""
    record = read_json(folder / "job.json")
    record["watcher"] = own_identity().to_json()
    # The worker inherits the lock: killing this process alone does not make a working job look dead.
    worker = subprocess.Popen([sys.executable, "-m", "penname", *record["command"]], pass_fds=[lock], stdin=subprocess.DEVNULL)

    def forward(_number: int, _frame: FrameType | None) -> None:
        worker.terminate()

    signal.signal(signal.SIGTERM, forward)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    found = identity_of(worker.pid)
    record["worker"] = found.to_json() if found else None
    write_json(folder / "job.json", record)  # last: whoever knows this process may send it a signal
    why = _wait(worker, Path(), int(record["floor_bytes"]), float(record["look_seconds"]))
    stopped = (folder / "stop.json").exists() or bool(why)
    write_json(folder / "exit.json", {"code": worker.returncode, "stopped": stopped, "why": why})
    return worker.returncode


def _wait(worker: subprocess.Popen[bytes], voice: Path, floor_bytes: int, look_seconds: float) -> str:
    why = ""
    looked = time.monotonic()
    while True:
        try:
            worker.wait(timeout=min(0.2, look_seconds))
            return why
        except subprocess.TimeoutExpired:
            pass
        if why or time.monotonic() - looked < look_seconds:
            continue
        looked = time.monotonic()
        free = shutil.disk_usage(voice).free
        if free < floor_bytes:
            why = f"the disk fell to {format_bytes(free)} free, below the floor of {format_bytes(floor_bytes)}; asked to save and stop"
            print(f"penname: {why}", flush=True)
            worker.terminate()


if __name__ == "__main__":
    sys.exit(watch(Path(sys.argv[1]), int(sys.argv[2])))
