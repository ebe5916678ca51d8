"""What a call costs, as far as a test may judge it."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable


def cpu_seconds(call: Callable[[], object]) -> float:
    """Seconds of processor time of a call: other work on the machine does not count, nor the walks through what other tests left."""
    gc.collect()
    gc.disable()
    try:
        started = time.process_time()
        call()
        return time.process_time() - started
    finally:
        gc.enable()
