"""``penname launch``: the command a person would type, detached, once the machine is shown to be free."""

from __future__ import annotations

import datetime
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from penname.core.errors import BadInput, PennameError
from penname.core.files import write_json
from penname.core.progress import format_bytes
from penname.jobs.identity import Identity, is_alive
from penname.jobs.record import Job, all_jobs, exclusively, find_job, read_job

LOOK_SECONDS = 5.0  # between two looks at the free disk while a job runs
START_SECONDS = 60.0  # how long the watcher may take to say what it has started


def launch(
    voice: Path,
    command: Sequence[str],
    *,
    floor_bytes: int,
    need_bytes: int = 0,
    require_gpu: Callable[[], None] | None = None,
    log: Path | None = None,
    look_seconds: float = LOOK_SECONDS,
) -> Job:
    """Start ``penname COMMAND...`` in the voice folder, in a session of its own, and give its record once it runs.

    Refused, with nothing started: another job of this voice runs, a launch is under way, the disk has not ``need_bytes`` (what
    the command will write) above the floor, the log exists, or ``require_gpu`` raises. The floor is watched while the job runs:
    below it the job is asked to save and stop.
    """
    if not command:
        raise BadInput("launch wants the verb to start, as in: penname launch run")
    jobs = voice / "jobs"
    with exclusively(jobs / ".launching", "another penname launch is starting a job in this folder; see: penname jobs"):
        for job in all_jobs(jobs):
            if job.state == "running":  # a watcher that has written its job's end may hold the lock for a moment more
                raise PennameError(
                    f"the job {job.id} of this voice runs (penname {' '.join(job.command)}); wait for it, or: penname stop {job.id}"
                )
        free = shutil.disk_usage(voice).free
        if free < floor_bytes + need_bytes:
            writes = f"{format_bytes(need_bytes)} for its checkpoints and " if need_bytes else ""
            raise PennameError(
                f"{format_bytes(free)} free on the disk of {voice.resolve()}, and this run wants {writes}{format_bytes(floor_bytes)} "
                "left over; nothing was started. Free some space, see: penname purge; or move the floor with --disk-floor-gb"
            )
        if require_gpu:
            require_gpu()
        folder = _new_folder(jobs, command[0])
        return _start(voice, folder, {"command": list(command), "floor_bytes": floor_bytes, "look_seconds": look_seconds}, log)


def _new_folder(jobs: Path, verb: str) -> Path:
    number = 1
    while True:
        folder = jobs / f"{verb}-{number}"
        try:
            folder.mkdir()
        except FileExistsError:
            number += 1
        else:
            return folder


def _start(voice: Path, folder: Path, record: dict[str, Any], log: Path | None) -> Job:
    target = folder / "log.txt"
    try:
        handle = os.open(log or target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)  # never overwrites
    except FileExistsError:
        folder.rmdir()
        raise BadInput(f"the log {log or target} exists, and a log is never overwritten; name another with --log") from None
    except OSError as error:
        folder.rmdir()
        raise BadInput(f"the log {log or target} cannot be made ({error.strerror}); nothing was started") from None
    if log:
        target.symlink_to(log.resolve())
    started = datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")
    # The watcher inherits the lock, so the job runs from the moment that its record stands and whoever looks meanwhile is not in the way.
    with os.fdopen(handle, "wb") as output, exclusively(folder / "lock", f"{folder.name} runs already") as lock:
        write_json(folder / "job.json", {**record, "started": started})
        process = subprocess.Popen(
            [sys.executable, "-m", "penname.jobs.watcher", str(folder.resolve()), str(lock)],
            cwd=voice,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            pass_fds=[lock],
            start_new_session=True,  # a closed terminal does not take it along
        )
    deadline = time.monotonic() + START_SECONDS
    while True:
        ended = process.poll() is not None  # looked at first, so that what it wrote last is read after
        job = read_job(folder)
        if job.worker or job.exit:
            return job
        if ended:
            break
        if time.monotonic() > deadline:
            os.killpg(process.pid, signal.SIGKILL)  # else the job could start after all, when this has said that it did not
            process.wait()
            break
        time.sleep(0.05)
    raise PennameError(f"the job did not start; its log says why: {target}")


def stop(voice: Path, job_id: str | None = None, *, wait_seconds: float = 600.0) -> tuple[Job, list[str]]:
    """Ask a job to save and stop, wait for it, and give its record and the checkpoints that stand afterwards.

    SIGTERM goes to the very process of the record and to no other. PennameError where it has not ended in time.
    """
    job = find_job(voice / "jobs", job_id)
    if job.state != "running":
        raise BadInput(f"the job {job.id} does not run (it is {job.state}); there is nothing to stop")
    write_json(job.folder / "stop.json", {"asked": True})  # the watcher then records "stopped" and not "failed"
    asked = False
    deadline = time.monotonic() + wait_seconds
    while True:
        if not asked and (target := job.worker or job.watcher):  # a job that is only starting has no names yet
            _terminate(target)
            asked = True
        job = read_job(job.folder)
        if job.state != "running":
            return job, complete_checkpoints(voice)
        if time.monotonic() > deadline:
            raise PennameError(f"the job {job.id} has not stopped after {wait_seconds:.0f} s; it may be in a long step. Its log: {job.log}")
        time.sleep(0.1)


def _terminate(target: Identity) -> None:
    try:
        handle = os.pidfd_open(target.pid)
    except OSError:
        return  # it has just ended
    try:
        # The descriptor pins the process: what is checked now is what gets the signal, even if the pid is recycled between.
        if is_alive(target):
            signal.pidfd_send_signal(handle, signal.SIGTERM)
    except ProcessLookupError:
        pass
    finally:
        os.close(handle)


def complete_checkpoints(voice: Path) -> list[str]:
    """Paths, relative to the voice folder, of the checkpoints whose marker stands."""
    return sorted(str(path.parent.relative_to(voice)) for path in voice.glob("runs/*/checkpoints/*/complete.json"))
