"""Fixtures of the carriers' tests: a cache of their own, and a registry on loopback."""

from __future__ import annotations

import huggingface_hub.constants
import pytest

from carriers.registry import Repo, serve
from tiny import tiny_carrier


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A fresh folder for everything that is staged."""
    monkeypatch.setenv("PENNAME_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def registry(cache, monkeypatch):
    """A registry with one dense and one multimodal carrier, and two that are no use."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", False)
    with serve() as served:
        monkeypatch.setenv("HF_ENDPOINT", served.url)
        for name, kind in {"Org/Tiny-0.1M-Base": "qwen3", "Org/Full-0.2M-Base": "qwen3_5_full"}.items():
            served.repos[name] = Repo({path.name: path.read_bytes() for path in sorted(tiny_carrier(kind).iterdir())})
        served.repos["Org/Closed-Base"] = Repo(served.repos["Org/Tiny-0.1M-Base"].files, gated=True)
        served.repos["Org/Pickled"] = Repo({"config.json": b"{}", "pytorch_model.bin": b"\x80\x04"})
        served.renamed["Org/Old-Name"] = "Org/Tiny-0.1M-Base"
        yield served
