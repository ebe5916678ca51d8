"""Independent pieces of work in as many processes as there are cores, with their results in order."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")
_function: Callable[[Any], Any] | None = None


def core_count() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextmanager
def in_processes(function: Callable[[T], R], items: Sequence[T], workers: int = 0) -> Iterator[Iterator[R]]:
    """Yield an iterator over ``function(item)`` for each item, in their order.

    The processes are forked, so ``function`` may be a closure and nothing that it has read is copied; items and results are. Where a
    fork is not safe or not allowed (another thread runs, the system is not Linux, this is itself a pool's process), or there is one
    item or one core, all is done in this process.
    """
    global _function
    workers = min(workers or core_count(), len(items))
    alone = sys.platform != "linux" or threading.active_count() > 1 or multiprocessing.current_process().daemon
    if workers < 2 or alone:
        yield map(function, items)
        return
    _function = function  # forked processes inherit it
    try:
        with multiprocessing.get_context("fork").Pool(workers, signal.signal, (signal.SIGINT, signal.SIG_IGN)) as pool:
            yield pool.imap(_call, items)
    finally:
        _function = None


def _call(item: Any) -> Any:
    assert _function is not None
    return _function(item)
