"""A sweep's runs as Ray tasks (extra ``sweep``). The voice folder must be on a filesystem that every node sees.

Each task launches the same subprocess a person would; Ray only says where. A task that dies with its node is started again
elsewhere: the run's own checkpoint says where it goes on, and its own marker that it is done.
"""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from penname.core.errors import BadInput, first_line
from penname.jobs.sweep import Outcome, Sweep, Task, run_task

RETRIES = 5


def on_ray(voice: Path, tasks: Sequence[Task], sweep: Sweep) -> Iterator[Outcome]:
    """Outcomes as they come. BadInput where Ray is not installed."""
    try:
        import ray
        from ray.exceptions import RayError
    except ImportError:
        raise BadInput(
            "a sweep on Ray needs the extra sweep: pip install 'penname[sweep]'; without --ray it runs here, one by one"
        ) from None
    if not ray.is_initialized():
        ray.init(address="auto", log_to_driver=False)
    threads = sweep.threads or 1
    remote = ray.remote(num_cpus=threads, num_gpus=sweep.gpus, max_retries=RETRIES, retry_exceptions=False)(_run_on_node)
    pending = {remote.remote(str(voice.resolve()), task, threads): task for task in tasks}
    while pending:
        (done,), _ = ray.wait(list(pending), num_returns=1)
        task = pending.pop(done)
        try:
            yield ray.get(done)
        except RayError as error:
            yield Outcome(task, 1, first_line(error))


def _run_on_node(voice: str, task: Task, threads: int) -> Outcome:
    # Runs on a node. When the node's worker is killed, the trainer must not go on beside the run's next start: the
    # kernel ends it with its parent, and the run's lock would keep a second one out in any case.
    return replace(run_task(Path(voice), task, threads, _die_with_parent), where=socket.gethostname())


def _die_with_parent() -> None:
    import ctypes
    import signal

    with contextlib.suppress(OSError, AttributeError):
        libc: Any = ctypes.CDLL(None)
        libc.prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
