"""Adapters on tiny carriers."""

from __future__ import annotations

import pytest

from serving_adapters import make_adapter
from tiny import tiny_carrier


@pytest.fixture
def dense(tmp_path):
    """(carrier, adapter) of a tiny dense Qwen3."""
    carrier = tiny_carrier("qwen3")
    return carrier, make_adapter(tmp_path / "adapter", carrier)
