from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading

import pytest

from penname.core.errors import ProofFailed
from penname.core.workers import in_processes

FROM_SEVERAL_PROCESSES = """
import os
from penname.core import workers

workers.core_count = lambda: 2  # wherever this runs
offset = 100
with workers.in_processes(lambda n: (n + offset, os.getpid()), range(20)) as results:
    rows = list(results)
assert [value for value, _ in rows] == list(range(100, 120)), rows
assert os.getpid() not in {pid for _, pid in rows}, "all was done in the process that asked"
"""


def test_results_come_in_the_order_of_the_items_from_several_processes():
    # In an interpreter of its own: what other tests leave running here (a server's idle thread) rightly forbids a fork.
    done = subprocess.run([sys.executable, "-c", FROM_SEVERAL_PROCESSES], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_an_error_of_the_family_comes_through():
    def refuse(_):
        raise ProofFailed("copy 1 of jane-eyre is refused")

    with pytest.raises(ProofFailed, match="jane-eyre"), in_processes(refuse, range(2), workers=2) as results:
        list(results)


@pytest.mark.parametrize(("items", "workers"), [(1, 2), (3, 1)])
def test_one_item_or_one_worker_stays_in_this_process(items, workers):
    with in_processes(lambda _: os.getpid(), range(items), workers=workers) as results:
        assert set(results) == {os.getpid()}


def test_nothing_is_forked_beside_another_thread():
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        with in_processes(lambda _: os.getpid(), range(4), workers=2) as results:
            assert set(results) == {os.getpid()}
    finally:
        stop.set()
        thread.join()


def pids_in_a_worker(_):
    with in_processes(lambda _: os.getpid(), range(4), workers=2) as results:
        return os.getpid(), set(results)


def test_a_process_of_a_pool_forks_no_more():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        own, seen = pool.map(pids_in_a_worker, [0])[0]
    assert seen == {own}
