"""Optional kernels and tools of this machine: what is present, in which version, and what its absence means. No torch here."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys

# package -> what runs slower (never wrongly) without it
MEANING = {
    "flash-linear-attention": "the recurrent scan of hybrid carriers runs as plain torch",
    "causal-conv1d": "the short convolution of hybrid carriers runs as plain torch",
    "flash-attn": "attention runs through torch's own kernels",
    "triton": "torch.compile for CUDA and Triton kernels are off",
}
_ALSO_CALLED = {"flash-linear-attention": ("fla-core",)}  # the distribution that holds the kernels alone
HYBRID_KERNELS = ("flash-linear-attention", "causal-conv1d")


def kernel_versions() -> dict[str, str | None]:
    """Version of each optional kernel package, None where it is absent."""
    return {package: _version(package, *_ALSO_CALLED.get(package, ())) for package in MEANING}


def _version(*packages: str) -> str | None:
    for package in packages:
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def cpp_compiler() -> str | None:
    """The C++ compiler that torch.compile takes (torch/_inductor/config.py, cpp.cxx), None where it is not there."""
    return shutil.which(os.environ.get("CXX", "clang++" if sys.platform == "darwin" else "g++"))
