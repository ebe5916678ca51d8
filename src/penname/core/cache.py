"""Where things stand that Penname may fetch again: ``$PENNAME_CACHE``, else ``$XDG_CACHE_HOME/penname``, else ``~/.cache/penname``."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """The folder of everything that may be fetched again."""
    if given := os.environ.get("PENNAME_CACHE"):
        return Path(given).expanduser()
    base = os.environ.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "penname"
