"""Base models: stage, verify, probe, load, generate; the one prompt template. Importing this room does not import torch."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_PUBLIC = {
    "CarrierTokenizer": "tokenizer",
    "load_tokenizer": "tokenizer",
    "beat_segment": "prompt",
    "passage_segment": "prompt",
    "encode_pair": "prompt",
    "encode_prefix": "prompt",
    "encode_document": "prompt",
    "decode_passage": "prompt",
    "cache_folder": "store",
    "resolve_carrier": "store",
    "staged_carriers": "store",
    "rehash_carrier": "store",
    "stage_carrier": "staging",
    "stage_smollm2": "smollm",
    "CarrierFacts": "facts",
    "carrier_facts": "facts",
    "Sample": "generation",
    "generate": "generation",
    "load_model": "loading",
    "resolve_device": "loading",
    "resolve_dtype": "loading",
    "set_threads": "loading",
}

__all__ = sorted(_PUBLIC)


def __getattr__(name: str) -> Any:
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_PUBLIC[name]}"), name)
