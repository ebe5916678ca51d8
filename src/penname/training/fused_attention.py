"""Rotary positions and packed attention on CPU, each as one function that keeps no more than it must."""

from __future__ import annotations

from itertools import accumulate
from typing import Any

import torch

from penname.training.fused_native import Kernels
from penname.training.fused_ops import native_for, rotate

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


class AttendByDocument(torch.autograd.Function):
    """apply(q (1, H, T, D), k, v (1, Hkv, T, D), lengths, scale) -> (1, T, H, D): causal attention of each document over itself.

    The C kernel where it is there; else torch's CPU flash kernel, a call a document, on views, so that nothing is cut up or put together.
    """

    @staticmethod
    def forward(
        ctx: Any, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, lengths: tuple[int, ...], scale: float | None
    ) -> torch.Tensor:
        """Keeps its arguments, the result and the logarithms of the softmax sums."""
        scale = query.shape[-1] ** -0.5 if scale is None else scale
        native = _native_for(query, key, value)
        output, norms = _native_forward(native, query, key, value, lengths, scale) if native else _flash(query, key, value, lengths, scale)
        ctx.lengths, ctx.scale, ctx.native = lengths, scale, native
        ctx.save_for_backward(query, key, value, output, *norms)
        return output

    @staticmethod
    def backward(ctx: Any, *d_outputs: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Gradients of q, k, v."""
        query, key, value, output, *norms = ctx.saved_tensors
        gradients = [torch.empty(1, t.shape[2], t.shape[1], t.shape[3], dtype=t.dtype) for t in (query, key, value)]  # (1, T, H, D)
        arguments = d_outputs[0].contiguous(), (query, key, value), output, norms, gradients, ctx.lengths, ctx.scale
        _native_backward(ctx.native, *arguments) if ctx.native else _flash_backward(*arguments)
        return *(gradient.transpose(1, 2) for gradient in gradients), None, None


def _native_for(*tensors: torch.Tensor) -> Kernels | None:
    first = tensors[0]
    alike = all(t.stride(-1) == 1 and t.dtype == first.dtype and t.shape[-1] == first.shape[-1] for t in tensors)
    return native_for(first) if alike else None


def _native_forward(
    native: Kernels, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, lengths: tuple[int, ...], scale: float
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    _, heads, tokens, dim = query.shape
    output = torch.empty(1, tokens, heads, dim, dtype=query.dtype)
    norms = torch.empty(heads, tokens, dtype=torch.float32)
    facts, strides = _facts(query, key, value, lengths)
    ends, scratch = _ends(lengths), native.attention_scratch(max(lengths), dim)
    native.call("attention_forward", query.dtype, query, key, value, output, norms, ends, scratch, *facts, strides, scale)
    return output, [norms]


def _native_backward(
    native: Kernels,
    d_output: torch.Tensor,
    inputs: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    output: torch.Tensor,
    norms: list[torch.Tensor],
    gradients: list[torch.Tensor],
    lengths: tuple[int, ...],
    scale: float,
) -> None:
    _, heads, tokens, dim = inputs[0].shape
    sums = torch.empty(2, heads, tokens, dim, dtype=torch.float32)  # of keys and values, before heads that share one are summed
    facts, strides = _facts(*inputs, lengths)
    ends, scratch = _ends(lengths), native.attention_scratch(max(lengths), dim)
    native.call(
        "attention_backward", output.dtype, d_output, *inputs, output, *norms, *gradients, sums, ends, scratch, *facts, strides, scale
    )


def _facts(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, lengths: tuple[int, ...]) -> tuple[tuple[int, ...], torch.Tensor]:
    """(documents, the longest, heads, key heads, dim); the strides of token and head, of q, k and v."""
    facts = len(lengths), max(lengths), query.shape[1], key.shape[1], query.shape[3]
    return facts, torch.tensor([t.stride(axis) for t in (query, key, value) for axis in (2, 1)])


def _ends(lengths: tuple[int, ...]) -> torch.Tensor:
    return torch.tensor([0, *accumulate(lengths)])


def _flash(
    query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, lengths: tuple[int, ...], scale: float
) -> tuple[torch.Tensor, list[torch.Tensor]]:
    output = torch.empty(1, query.shape[2], query.shape[1], query.shape[3], dtype=query.dtype)
    norms = []
    for start, end in _spans(lengths):
        part = [tensor[:, :, start:end] for tensor in (query, key, value)]
        result, norm = _forward(*part, 0.0, True, scale=scale)
        output[:, start:end] = result.transpose(1, 2)
        norms.append(norm)
    return output, norms


def _flash_backward(
    d_output: torch.Tensor,
    inputs: tuple[torch.Tensor, torch.Tensor, torch.Tensor],
    output: torch.Tensor,
    norms: list[torch.Tensor],
    gradients: list[torch.Tensor],
    lengths: tuple[int, ...],
    scale: float,
) -> None:
    for (start, end), norm in zip(_spans(lengths), norms, strict=True):
        part = [tensor[:, :, start:end] for tensor in inputs]
        views = [tensor[:, start:end].transpose(1, 2) for tensor in (d_output, output)]
        found = _backward(views[0], *part, views[1], norm, 0.0, True, scale=scale)
        for whole, gradient in zip(gradients, found, strict=True):
            whole[:, start:end] = gradient.transpose(1, 2)


def _spans(lengths: tuple[int, ...]) -> list[tuple[int, int]]:
    return list(zip(accumulate((0, *lengths[:-1])), accumulate(lengths), strict=True))


def rotate_pair(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Stands in for a modelling module's ``apply_rotary_pos_emb`` on one row: q (1, H, T, D), k (1, Hkv, T, D), angles (1, T, R)."""
    return Rotate.apply(q, cos, sin), Rotate.apply(k, cos, sin)


def can_flash(query: torch.Tensor, dropout: float) -> bool:
    """Whether AttendByDocument serves this call: one row on a CPU, in training."""
    return query.device.type == "cpu" and query.shape[0] == 1 and dropout == 0.0 and torch.is_grad_enabled()
