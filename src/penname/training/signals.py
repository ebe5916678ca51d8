"""SIGTERM and Ctrl-C ask the loop to stop after the step under way; a second one stops at once."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any

from penname.core.progress import say


class StopFlag:
    """Within the block, true once this process was asked to stop. Handlers are put back afterwards."""

    def __init__(self) -> None:
        self._asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> StopFlag:
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGTERM, signal.SIGINT):
                self._before[number] = signal.signal(number, self._handle)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def __call__(self) -> bool:
        """Whether this process was asked to stop."""
        return self._asked

    def _handle(self, number: int, _: FrameType | None) -> None:
        if self._asked:
            raise KeyboardInterrupt
        self._asked = True
        say("stopping after this step, with a checkpoint; once more stops at once")
