"""Instrument, controls, registration, memorisation, verdict. Importing this room imports nothing heavy until a name is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "Instrument": "instrument",
    "Reference": "memorisation",
    "run_register": "stage",
    "run_control": "stage",
    "run_judge": "stage",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
