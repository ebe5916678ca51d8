"""What is known of a job: ``jobs/<id>/`` holds job.json (what was started), lock (held while it works), log.txt and exit.json.

The lock is inherited by the job's processes, so the kernel frees it with the last of them. State is read, never stored:
a record whose processes are gone and that has no exit.json died.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from penname.core.errors import BadInput
from penname.core.files import disk_error, read_json
from penname.jobs.identity import Identity, is_alive

JobState = Literal["running", "done", "failed", "stopped", "died"]


@dataclass(frozen=True)
class Job:
    """One launched command and what became of it."""

    id: str
    folder: Path
    command: tuple[str, ...]
    started: str  # UTC, ISO 8601
    watcher: Identity | None  # the process that started the command and waits for it
    worker: Identity | None  # the command itself
    exit: dict[str, Any] | None

    @property
    def log(self) -> Path:
        """What the command printed."""
        return self.folder / "log.txt"

    @property
    def state(self) -> JobState:
        """running, done, failed, stopped (asked to) or died (gone without a word: killed, or the machine went down)."""
        if self.exit is not None:
            if self.exit.get("stopped"):
                return "stopped"
            return "done" if self.exit["code"] == 0 else "failed"
        return "running" if self.alive else "died"

    @property
    def alive(self) -> bool:
        """Whether a process of this job works: its lock is held, in this boot, by one of the two that the record names."""
        if not lock_is_held(self.folder / "lock"):
            return False
        known = [identity for identity in (self.worker, self.watcher) if identity]
        if not known:
            return True  # the lock is taken before the record is complete
        return any(is_alive(identity) for identity in known)


def read_job(folder: Path) -> Job:
    """The job in ``folder``. BadInput where its record is not readable."""
    ended = folder / "exit.json"
    try:
        data = read_json(folder / "job.json")
        return Job(
            folder.name,
            folder,
            tuple(data["command"]),
            data["started"],
            _identity(data.get("watcher")),
            _identity(data.get("worker")),
            read_json(ended) if ended.exists() else None,
        )
    except (BadInput, TypeError):
        raise BadInput(f"the record of the job in {folder} is damaged; delete that folder if nothing of it runs") from None


def all_jobs(jobs_folder: Path) -> list[Job]:
    """Every job of a voice, oldest first."""
    found = [read_job(path.parent) for path in jobs_folder.glob("*/job.json")]
    return sorted(found, key=lambda job: (job.started, job.id))


def find_job(jobs_folder: Path, job_id: str | None) -> Job:
    """The job of that id, or the newest. BadInput where there is none."""
    jobs = all_jobs(jobs_folder)
    if not jobs:
        raise BadInput("no job was launched in this voice folder; start one with: penname launch run")
    if job_id is None:
        return jobs[-1]
    for job in jobs:
        if job.id == job_id:
            return job
    raise BadInput(f'there is no job "{job_id}"; the jobs are {", ".join(job.id for job in jobs)}')


def _identity(data: dict[str, Any] | None) -> Identity | None:
    return Identity(data["pid"], data["start_ticks"], data["boot_id"]) if data else None


def lock_is_held(path: Path) -> bool:
    """Whether some process holds the lock file."""
    try:
        handle = os.open(path, os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


@contextmanager
def exclusively(path: Path, busy: str) -> Iterator[int]:
    """Hold a lock file for the block and give its descriptor. BadInput with ``busy`` where another holds it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise disk_error(error, path.resolve()) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise BadInput(busy) from None
    try:
        yield handle
    finally:
        os.close(handle)
