"""Whether a GPU is free for a run, by NVML. What cannot be resolved counts as busy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import psutil

from penname.core.errors import BadInput, PennameError

MAX_USED_BYTES = 600_000_000  # a driver and a desktop's compositor hold some; a model holds more
MIN_FREE_SHARE_UNIFIED = 0.5  # of a unified-memory machine's RAM that must be free


@dataclass(frozen=True)
class GpuState:
    """One GPU as NVML describes it; None where it does not say."""

    index: int
    name: str
    used_bytes: int | None
    processes: tuple[int, ...] | None  # pids with a compute context
    unified: bool = False  # shares the machine's memory and reports none of its own


def nvml() -> Any:
    """The NVML binding. PennameError, with what to install, where it is not there."""
    try:
        import pynvml
    except ImportError:
        raise PennameError(
            "whether a GPU is free cannot be seen without NVML; install it with: pip install 'penname[gpu]', "
            "or say that there is none: penname launch --cpu VERB"
        ) from None
    return pynvml


def gpu_states(library: Any) -> list[GpuState]:
    """Every GPU of the machine. PennameError where NVML does not start: then there may be a busy GPU that nobody sees."""
    try:
        library.nvmlInit()
    except library.NVMLError as error:
        raise PennameError(
            f"NVML does not start ({error}), so no GPU can be shown to be free; say that there is none to check: penname launch --cpu VERB"
        ) from None
    try:
        return [_state(library, index) for index in range(library.nvmlDeviceGetCount())]
    finally:
        library.nvmlShutdown()


def _state(library: Any, index: int) -> GpuState:
    handle = library.nvmlDeviceGetHandleByIndex(index)
    name = library.nvmlDeviceGetName(handle)
    unified = False
    try:
        used: int | None = int(library.nvmlDeviceGetMemoryInfo(handle).used)
    except library.NVMLError_NotSupported:
        used, unified = None, True
    except library.NVMLError:
        used = None
    try:
        processes: tuple[int, ...] | None = tuple(process.pid for process in library.nvmlDeviceGetComputeRunningProcesses(handle))
    except library.NVMLError:
        processes = None
    return GpuState(index, name if isinstance(name, str) else name.decode(), used, processes, unified)


def why_busy(state: GpuState, free_share: float | None = None) -> str | None:
    """Why this GPU cannot be taken, or None where it is free. ``free_share`` of the machine's memory decides for unified memory."""
    where = f"GPU {state.index} ({state.name})"
    if state.processes is None:
        return f"{where} does not say which processes use it, which counts as busy"
    if state.processes:
        return f"{where} is in use by pid {', '.join(map(str, state.processes))}"
    if state.unified:
        memory = psutil.virtual_memory()
        share = memory.available / memory.total if free_share is None else free_share
        return None if share >= MIN_FREE_SHARE_UNIFIED else f"{where} shares this machine's memory, of which only {share:.0%} is free"
    if state.used_bytes is None:
        return f"{where} does not say how much memory is used, which counts as busy"
    if state.used_bytes > MAX_USED_BYTES:
        return f"{where} has {state.used_bytes / 1e9:.1f} GB in use by nobody that NVML names"
    return None


def require_clear(library: Any, index: int = 0) -> None:
    """PennameError, saying why, unless the GPU is shown to be free. BadInput where there is no such GPU."""
    otherwise = "choose another with --gpu N, or say that none is wanted: penname launch --cpu VERB"
    states = gpu_states(library)
    if index >= len(states):
        raise BadInput(f"there is no GPU {index} ({len(states)} found); {otherwise}")
    if reason := why_busy(states[index]):
        raise PennameError(f"{reason}; nothing was started. Wait, {otherwise}")
