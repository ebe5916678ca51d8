"""Tiny voices with finished shards, made once a session and never written to."""

from __future__ import annotations

import pytest

from tiny_training import Tiny, make_tiny


@pytest.fixture(scope="session")
def dense(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """Qwen3, two layers."""
    return make_tiny(tmp_path_factory.mktemp("dense"), "qwen3")


@pytest.fixture(scope="session")
def hybrid(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    """Qwen3.5, one linear-attention layer and one full."""
    return make_tiny(tmp_path_factory.mktemp("hybrid"), "qwen3_5")


@pytest.fixture(params=["dense", "hybrid"])
def tiny(request: pytest.FixtureRequest) -> Tiny:
    """Each of the two."""
    return request.getfixturevalue(request.param)
