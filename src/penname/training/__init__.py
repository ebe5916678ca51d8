"""LoRA training that is exact and proves it: packed attention, loss, loop, checkpoints, preflight."""

from __future__ import annotations

from typing import Any

__all__ = ["RunResult", "Stopped", "planned_runs", "run_train", "train_run"]

_HOMES = {"RunResult": "run", "Stopped": "loop", "planned_runs": "stage", "run_train": "stage", "train_run": "run"}


def __getattr__(name: str) -> Any:
    """Import on first use: planned_runs and run_train need no torch until a run starts."""
    if name not in _HOMES:
        raise AttributeError(name)
    from importlib import import_module

    return getattr(import_module(f"penname.training.{_HOMES[name]}"), name)
