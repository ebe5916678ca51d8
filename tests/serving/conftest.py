"""Adapters on tiny carriers, and a voice folder that has a finished run."""

from __future__ import annotations

import pytest

from serving_adapters import make_adapter, make_voice
from tiny import tiny_carrier


@pytest.fixture
def dense(tmp_path):
    """(carrier, adapter) of a tiny dense Qwen3."""
    carrier = tiny_carrier("qwen3")
    return carrier, make_adapter(tmp_path / "adapter", carrier)


@pytest.fixture
def voice(tmp_path):
    """A voice folder whose one run carries a real adapter on the tiny Qwen3."""
    return make_voice(tmp_path / "voice")
