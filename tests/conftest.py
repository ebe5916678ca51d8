"""Fixtures that many rooms share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

from penname.core import progress

# No limit in wall seconds. Where a commit is judged its examples are the same every time; elsewhere new ones are drawn, to find more.
settings.register_profile("penname", deadline=None, derandomize="CI" in os.environ)
settings.load_profile("penname")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real books, golds and scorers beside the checkout; tests that need it skip where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("../shared is not here: real books and gold annotations are read from there")
    return SHARED


@pytest.fixture(scope="session")
def story() -> Path:
    """The bundled novella."""
    return ROOT / "src/penname/voice/story/novella.txt"


@pytest.fixture(autouse=True)
def uncalled(monkeypatch):
    """What a verb that was called in this process has set for its own call ends with the test."""
    for name in ("_folder", "_command", "_quiet"):
        monkeypatch.setattr(progress, name, getattr(progress, name))
