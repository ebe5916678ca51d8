"""Whether a GPU is free: what cannot be resolved counts as busy."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from penname.core.errors import BadInput, PennameError
from penname.jobs.gpu import GpuState, require_clear, why_busy


class FakeNvml:
    """NVML's calls as the real binding has them, with answers set by the test."""

    class NVMLError(Exception):
        pass

    class NVMLError_NotSupported(NVMLError):
        pass

    def __init__(self, used=0, pids=(), start=True):
        self.used, self.pids, self.start = used, pids, start

    def nvmlInit(self):
        if not self.start:
            raise self.NVMLError("Driver Not Loaded")

    def nvmlShutdown(self):
        pass

    def nvmlDeviceGetCount(self):
        return 1

    def nvmlDeviceGetHandleByIndex(self, index):
        return index

    def nvmlDeviceGetName(self, handle):
        return "Test GPU"

    def nvmlDeviceGetMemoryInfo(self, handle):
        if isinstance(self.used, Exception):
            raise self.used
        return SimpleNamespace(used=self.used)

    def nvmlDeviceGetComputeRunningProcesses(self, handle):
        if isinstance(self.pids, Exception):
            raise self.pids
        return [SimpleNamespace(pid=pid) for pid in self.pids]


def test_an_idle_gpu_is_clear():
    require_clear(FakeNvml(used=300_000_000))


@pytest.mark.parametrize(
    ("nvml", "sentence"),
    [
        (FakeNvml(pids=(41, 42)), "GPU 0 (Test GPU) is in use by pid 41, 42"),
        (FakeNvml(used=9_000_000_000), "has 9.0 GB in use by nobody"),
        (FakeNvml(pids=FakeNvml.NVMLError("no permission")), "does not say which processes use it, which counts as busy"),
        (FakeNvml(used=FakeNvml.NVMLError("lost")), "does not say how much memory is used, which counts as busy"),
        (FakeNvml(start=False), "NVML does not start (Driver Not Loaded)"),
    ],
)
def test_anything_else_is_refused_with_its_reason(nvml, sentence):
    with pytest.raises(PennameError) as caught:
        require_clear(nvml)
    assert sentence in str(caught.value)
    assert "--cpu" in str(caught.value)


def test_a_gpu_that_is_not_there():
    with pytest.raises(BadInput, match="there is no GPU 3 \\(1 found\\)"):
        require_clear(FakeNvml(), 3)


def test_unified_memory_is_judged_by_processes_and_free_memory():
    unified = GpuState(0, "GB10", None, (), unified=True)
    assert why_busy(unified, free_share=0.8) is None
    assert why_busy(unified, free_share=0.3) == "GPU 0 (GB10) shares this machine's memory, of which only 30% is free"
    assert "in use by pid 5" in why_busy(GpuState(0, "GB10", None, (5,), unified=True), free_share=0.9)
    seen = FakeNvml(used=FakeNvml.NVMLError_NotSupported("n/a"))
    try:
        require_clear(seen)  # judged by this machine's memory: clear or refused for memory, never for what NVML cannot say
    except PennameError as error:
        assert "shares this machine's memory" in str(error)
