"""The optional C kernels: compiled once into the user's cache where the machine has a C compiler, and loaded with ctypes.

A newcomer may have no compiler; then, or with ``PENNAME_KERNELS=torch``, ``kernels()`` is None and torch does the same work.
"""

from __future__ import annotations

import ctypes
import os
import platform
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import torch

from penname.carriers.store import cache_folder
from penname.core.errors import PennameError
from penname.core.files import write_bytes
from penname.core.hashing import sha256_value

_SOURCES = [Path(__file__).with_name(name) for name in ("fused_kernels.c", "fused_attention.c", "fused_numbers.h")]
# Not -ffast-math: linking with it would switch denormals off in the whole process.
_FLAGS = ("-O3", "-march=native", "-fopenmp", "-fPIC", "-shared", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast")
_TIMEOUT_SECONDS = 120
NAMES = {torch.float32: "f32", torch.bfloat16: "bf16"}
_P, _I, _F = ctypes.c_void_p, ctypes.c_int64, ctypes.c_float
_ARGUMENTS: dict[str, list[Any]] = {
    "norm_forward": [_P] * 6 + [_I, _I, _F, _F],
    "norm_again": [_P] * 4 + [_I, _I, _F],
    "norm_backward": [_P] * 6 + [_I, _I, _F],
    "swiglu_forward": [_P] * 3 + [_I],
    "swiglu_backward": [_P] * 3 + [_I],
    "rope": [_P] * 4 + [_I] * 6 + [_F],
    "cross_entropy": [_P] * 3 + [_I, _I, ctypes.c_int],
    "attention_forward": [_P] * 7 + [_I] * 5 + [_P, _F],
    "attention_backward": [_P] * 12 + [_I] * 5 + [_P, _F],
}


class Kernels:
    """The loaded library. ``call(name, dtype, *arguments)`` takes tensors (contiguous unless the kernel takes strides) and numbers."""

    def __init__(self, path: Path) -> None:
        library = ctypes.CDLL(str(path))
        self._functions: dict[tuple[str, torch.dtype], Any] = {}
        for name, arguments in _ARGUMENTS.items():
            for dtype, suffix in NAMES.items():
                function = getattr(library, f"{name}_{suffix}")
                function.argtypes, function.restype = [*arguments, ctypes.c_int], None
                self._functions[name, dtype] = function
        self._attention_scratch = library.attention_scratch
        self._attention_scratch.argtypes, self._attention_scratch.restype = [_I, _I], _I

    def call(self, name: str, dtype: torch.dtype, *arguments: torch.Tensor | float | None) -> None:
        """Run a kernel on torch's own number of threads."""
        values = [a.data_ptr() if isinstance(a, torch.Tensor) else a for a in arguments]
        self._functions[name, dtype](*values, torch.get_num_threads())

    def attention_scratch(self, longest: int, dim: int) -> torch.Tensor:
        """Memory for the attention kernels on documents of up to ``longest`` tokens, every thread its own."""
        return torch.empty(torch.get_num_threads() * self._attention_scratch(longest, dim), dtype=torch.float32)


@cache
def kernels() -> Kernels | None:
    """The C kernels, or None where they cannot be had here."""
    if os.environ.get("PENNAME_KERNELS") == "torch" or platform.system() != "Linux":
        return None
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        return None
    try:
        return Kernels(_compiled(compiler))
    except (OSError, PennameError, subprocess.SubprocessError, AttributeError):
        return None  # no OpenMP, a read-only cache, a foreign compiler: torch does the work


def _compiled(compiler: str) -> Path:
    key = sha256_value([[source.read_text(encoding="utf-8") for source in _SOURCES], _FLAGS, _cpu(), torch.__version__, compiler])[:20]
    path = cache_folder() / "kernels" / f"fused-{key}.so"
    if path.is_file():
        return path
    with tempfile.TemporaryDirectory() as aside:
        made = Path(aside) / path.name
        # torch's own OpenMP runtime stands first in the search path: a second one would bring a second pool of threads.
        library = Path(torch.__file__).parent / "lib"
        sources = [str(source) for source in _SOURCES if source.suffix == ".c"]
        command = [compiler, *_FLAGS, f"-L{library}", f"-Wl,-rpath,{library}", "-o", str(made), *sources, "-lm"]
        subprocess.run(command, check=True, capture_output=True, timeout=_TIMEOUT_SECONDS)
        write_bytes(path, made.read_bytes())
    return path


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())
