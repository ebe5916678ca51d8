"""Renaming: a book and its cast to renamed copies, with the dictionary they draw from and the proof that nothing slipped."""

from __future__ import annotations

from typing import Any

from penname.core.beatnames import rename_beat
from penname.renaming.copies import rename
from penname.renaming.dictionary import Dictionary, load_dictionary
from penname.renaming.proof import Proof, prove

__all__ = ["Dictionary", "Proof", "load_dictionary", "prove", "rename", "rename_beat", "rename_inputs", "rename_settings", "run_rename"]


def __getattr__(name: str) -> Any:
    # The stage reads the configuration; rename() itself needs nothing beyond the standard library.
    if name in ("run_rename", "rename_inputs", "rename_settings", "VERSION"):
        from penname.renaming import stage

        return getattr(stage, name)
    raise AttributeError(name)
