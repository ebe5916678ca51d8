"""Versions of what a run was made with."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from penname import __version__

_LIBRARIES = (
    "torch",
    "transformers",
    "peft",
    "safetensors",
    "tokenizers",
    "numpy",
    "flash-linear-attention",
    "causal-conv1d",
    "flash-attn",
)


def library_versions() -> dict[str, str]:
    """Penname, Python and each library that is installed."""
    found = {"penname": __version__, "python": platform.python_version()}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found
