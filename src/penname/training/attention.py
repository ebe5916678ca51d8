"""Packed attention, document by document, behind transformers' attention interface.

``documents`` (a tuple of lengths) is passed to the model's forward and reaches every layer as a keyword. Nothing else about the
model changes, so dense and hybrid carriers are served alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

from penname.core.errors import BadInput

PER_DOCUMENT = "penname_per_document"


def per_document_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    documents: tuple[int, ...] = (),
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """Causal attention of each document over itself. query (B, H, T, D), key and value (B, Hkv, T, D); gives (B, T, H, D).

    Every document is a call of its own, so what stands in one cannot touch another, not even by rounding.
    """
    lengths = documents or (query.shape[2],)
    grouped = query.shape[1] != key.shape[1]
    parts = [
        scaled_dot_product_attention(q, k, v, is_causal=q.shape[2] > 1, scale=scaling, dropout_p=dropout, enable_gqa=grouped)
        for q, k, v in zip(query.split(lengths, dim=2), key.split(lengths, dim=2), value.split(lengths, dim=2), strict=True)
    ]
    return torch.cat([part.transpose(1, 2) for part in parts], dim=1), None


# A name of our own without a mask function: transformers then builds no mask at all.
AttentionInterface.register(PER_DOCUMENT, per_document_attention)


def resolve_attention(model: Any, wanted: str = "auto") -> str:
    """Set the model's packed attention once; gives its name for the record. BadInput where this machine lacks what is asked for."""
    if wanted not in ("auto", "per-document"):
        raise BadInput(f'training.attention = "{wanted}" needs a CUDA device; set it to auto or per-document')
    model.set_attn_implementation(PER_DOCUMENT)
    return "per-document"


@contextmanager
def plain_attention(model: Any) -> Iterator[None]:
    """Within the block the model attends as transformers does by itself (for sampling, where a cache and padding are in play)."""
    config = model.config
    before = config._attn_implementation
    config._attn_implementation = "sdpa"
    try:
        yield
    finally:
        config._attn_implementation = before
