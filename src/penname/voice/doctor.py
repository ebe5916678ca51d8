"""``penname doctor``: what this machine has of what Penname can use."""

from __future__ import annotations

import importlib.metadata
import platform
import shutil
from pathlib import Path
from typing import Any

import psutil

from penname import __version__
from penname.core.cache import cache_folder
from penname.core.progress import format_bytes
from penname.core.workers import core_count

LIBRARIES = ("torch", "transformers", "peft", "tokenizers", "safetensors", "huggingface_hub", "numpy", "scikit-learn", "gguf", "openai")
EXTRAS = {"xllamacpp": "gen", "ray": "sweep", "nvidia-ml-py": "gpu", "trackio": "track", "trl": "bench"}
TOOLS = {"restic": "backup --check", "rclone": "archive", "rsync": "archive", "ssh": "archive", "chromium": "report --pdf"}


def look() -> dict[str, dict[str, Any]]:
    """Section -> name -> value; None where something is absent. Nothing is changed and nothing is fetched."""
    from penname.carriers import resolve_device, staged_carriers
    from penname.carriers.kernels import cpp_compiler, kernel_versions
    from penname.carriers.loading import cpu_has_bf16

    device = resolve_device("auto")
    memory = psutil.virtual_memory()
    cache = cache_folder()
    existing = next(path for path in (cache, *cache.parents) if path.exists())
    return {
        "penname": {"version": __version__, "python": platform.python_version(), "system": platform.platform(terse=True)},
        "libraries": {name: _version(name) for name in LIBRARIES},
        "extras": {f"{name} (penname[{extra}])": _version(name) for name, extra in EXTRAS.items()},
        "device": {
            "trains on": str(device),
            "bf16 in hardware": "yes" if device.type == "cuda" or cpu_has_bf16() else "no: carriers run in fp32 here",
            "cores": core_count(),
            "memory": f"{format_bytes(memory.total)}, {format_bytes(memory.available)} free",
        },
        "kernels": {**kernel_versions(), "C++ compiler": cpp_compiler()},
        "tools": {f"{tool} (for {use})": shutil.which(tool) for tool, use in TOOLS.items()},
        "carriers": {name: "staged" for name in staged_carriers()} or {"none": "penname carrier stage smollm2-135m"},
        "disk": {"cache": str(cache), "free there": _free(existing), "free here": _free(Path())},
    }


def _version(name: str) -> str | None:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return None


def _free(path: Path) -> str:
    return format_bytes(shutil.disk_usage(path).free)
