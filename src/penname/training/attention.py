"""Packed attention, document by document, behind transformers' attention interface.

``documents`` (a tuple of lengths) is passed to the model's forward and reaches every layer as a keyword. Nothing else about the
model changes, so dense and hybrid carriers are served alike. Three ways to run it, resolved once and recorded:

- ``per-document``: a call of its own for each document; the reference, and what a CPU runs;
- ``varlen``: torch's own variable-length flash attention, CUDA, half precision, heads of up to 256;
- ``flex``: FlexAttention with a block mask of the documents, CUDA, where varlen does not serve.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import accumulate
from typing import Any

import torch
from torch.nn.functional import scaled_dot_product_attention
from transformers import AttentionInterface

from penname.core.errors import BadInput
from penname.training.fused_attention import AttendByDocument, can_flash

_PREFIX = "penname_"
_VARLEN_HEAD_MAX = 256  # FlashAttention 2


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
    if can_flash(query, dropout):
        return AttendByDocument.apply(query, key, value, lengths, scaling), None
    grouped = query.shape[1] != key.shape[1]
    parts = [
        scaled_dot_product_attention(q, k, v, is_causal=q.shape[2] > 1, scale=scaling, dropout_p=dropout, enable_gqa=grouped)
        for q, k, v in zip(query.split(lengths, dim=2), key.split(lengths, dim=2), value.split(lengths, dim=2), strict=True)
    ]
    return torch.cat([part.transpose(1, 2) for part in parts], dim=1), None


def varlen_attention(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    documents: tuple[int, ...] = (),
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """The same by one flash-attention call over all documents. One row only: query (1, H, T, D)."""
    from torch.nn.attention.varlen import varlen_attn

    lengths = documents or (query.shape[2],)
    ends = _ends(lengths, query.device)
    q, k, v = (tensor[0].transpose(0, 1) for tensor in (query, key, value))  # (T, H, D)
    longest, grouped = max(lengths), query.shape[1] != key.shape[1]
    # num_splits=1: a split over keys depends on the longest document of the row, and would change the rounding of the others.
    out: Any = varlen_attn(q, k, v, ends, ends, longest, longest, scale=scaling, window_size=(-1, 0), enable_gqa=grouped, num_splits=1)
    return out[None], None


def flex_attention_by_document(
    module: torch.nn.Module,
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attention_mask: torch.Tensor | None,
    scaling: float | None = None,
    documents: tuple[int, ...] = (),
    **_: Any,
) -> tuple[torch.Tensor, None]:
    """The same by FlexAttention, compiled on CUDA, with blocks outside a document skipped."""
    lengths = documents or (query.shape[2],)
    mask = _block_mask(lengths, query.device)
    out = _flex(query.device.type)(query, key, value, block_mask=mask, scale=scaling, enable_gqa=query.shape[1] != key.shape[1])
    return out.transpose(1, 2), None


@lru_cache(maxsize=8)
def _ends(lengths: tuple[int, ...], device: torch.device) -> torch.Tensor:
    return torch.tensor([0, *accumulate(lengths)], dtype=torch.int32, device=device)


@lru_cache(maxsize=8)
def _block_mask(lengths: tuple[int, ...], device: torch.device) -> Any:
    from torch.nn.attention.flex_attention import create_block_mask

    owner = torch.repeat_interleave(torch.arange(len(lengths)), torch.tensor(lengths)).to(device)

    def same_document_before(b: Any, h: Any, q: torch.Tensor, k: torch.Tensor) -> torch.Tensor:
        return (owner[q] == owner[k]) & (q >= k)

    return create_block_mask(same_document_before, None, None, sum(lengths), sum(lengths), device=str(device))


@lru_cache(maxsize=2)
def _flex(device_type: str) -> Any:
    from torch.nn.attention.flex_attention import flex_attention

    return torch.compile(flex_attention) if device_type == "cuda" else flex_attention


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "per-document": per_document_attention,
    "varlen": varlen_attention,
    "flex": flex_attention_by_document,
}
for _name, _function in _FUNCTIONS.items():
    # Names of our own without a mask function: transformers then builds no mask at all.
    AttentionInterface.register(_PREFIX + _name.replace("-", "_"), _function)


def resolve_attention(model: Any, wanted: str = "auto") -> str:
    """Set the model's packed attention once; gives its name for the record. BadInput where this machine lacks what is asked for."""
    parameter = next(model.parameters())
    on_cuda = parameter.device.type == "cuda"
    config = model.config.get_text_config()
    head_dim = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    varlen = on_cuda and parameter.dtype != torch.float32 and head_dim <= _VARLEN_HEAD_MAX
    if wanted == "auto":
        wanted = "varlen" if varlen else "flex" if on_cuda else "per-document"
    if (wanted == "varlen" and not varlen) or (wanted == "flex" and not on_cuda):
        needs = "CUDA, bf16 weights and heads of up to 256" if wanted == "varlen" else "CUDA"
        raise BadInput(f'training.attention = "{wanted}" needs {needs}; set it to auto')
    model.set_attn_implementation(_PREFIX + wanted.replace("-", "_"))
    return wanted


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
