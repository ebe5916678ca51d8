"""Rotary positions and packed attention on CPU, each as one function that keeps no more than it must."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import torch

from penname.training.fused_ops import rotate

_forward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default
_backward = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu_backward.default


class Rotate(torch.autograd.Function):
    """apply(x (1, H, T, D), cosine (1, T, R), sine) -> (1, H, T, D). Keeps only the angles: its gradient is the turn back."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        """Turn."""
        ctx.save_for_backward(cosine, sine)
        return rotate(x, cosine, sine, 1.0)

    @staticmethod
    def backward(ctx: Any, *d_outputs: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Turn back."""
        cosine, sine = ctx.saved_tensors
        return rotate(d_outputs[0], cosine, sine, -1.0), None, None


class FlashByDocument(torch.autograd.Function):
    """apply(q (1, H, T, D), k, v (1, Hkv, T, D), lengths, scale) -> (1, T, H, D): torch's CPU flash kernel, a call a document.

    The parts are views and the results go straight to their place, so nothing is cut up, put together or repeated for grouped heads.
    """

    @staticmethod
    def forward(
        ctx: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, lengths: tuple[int, ...], scale: float | None
    ) -> torch.Tensor:
        """Causal attention of each document over itself."""
        _, heads, tokens, dim = query.shape
        output = torch.empty(1, tokens, heads, dim, dtype=query.dtype)
        norms = []
        for start, end in _spans(lengths):
            part = [tensor[:, :, start:end] for tensor in (query, key, value)]
            result, norm = _forward(*part, 0.0, True, scale=scale)
            output[:, start:end] = result.transpose(1, 2)
            norms.append(norm)
        ctx.lengths, ctx.scale = lengths, scale
        ctx.save_for_backward(query, key, value, output, *norms)
        return output

    @staticmethod
    def backward(ctx: Any, *d_outputs: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Gradients of q, k, v."""
        query, key, value, output, *norms = ctx.saved_tensors
        d_output = d_outputs[0].contiguous()
        wholes = [torch.empty(1, t.shape[2], t.shape[1], t.shape[3], dtype=t.dtype) for t in (query, key, value)]  # (1, T, H, D)
        for (start, end), norm in zip(_spans(ctx.lengths), norms, strict=True):
            part = [tensor[:, :, start:end] for tensor in (query, key, value)]
            views = [tensor[:, start:end].transpose(1, 2) for tensor in (d_output, output)]
            found = _backward(views[0], *part, views[1], norm, 0.0, True, scale=ctx.scale)
            for whole, gradient in zip(wholes, found, strict=True):
                whole[:, start:end] = gradient.transpose(1, 2)
        return *(whole.transpose(1, 2) for whole in wholes), None, None


def _spans(lengths: tuple[int, ...]) -> list[tuple[int, int]]:
    return list(zip(accumulate((0, *lengths[:-1])), accumulate(lengths), strict=True))


def rotate_pair(
    q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, unsqueeze_dim: int = 1
) -> tuple[torch.Tensor, torch.Tensor]:
    """Stands in for a modelling module's ``apply_rotary_pos_emb`` on one row: q (1, H, T, D), k (1, Hkv, T, D), angles (1, T, R)."""
    assert unsqueeze_dim == 1 and q.shape[0] == 1
    return Rotate.apply(q, cos, sin), Rotate.apply(k, cos, sin)


def can_flash(query: torch.Tensor, dropout: float) -> bool:
    """Whether FlashByDocument serves this call: one row on a CPU, in training."""
    return query.device.type == "cpu" and query.shape[0] == 1 and dropout == 0.0 and torch.is_grad_enabled()
