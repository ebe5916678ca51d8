"""RMSNorm with a frozen weight, together with the residual sum before it."""

from __future__ import annotations

from typing import Any

import torch

from penname.training.fused_linear import NormSource
from penname.training.fused_ops import norm_backward, norm_forward


class SumAndNorm(torch.autograd.Function):
    """apply(x (N, D), added or None, weight (D,), eps, offset) -> (x + added, its norm, 1 / rms). Both gradients come back as one."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, added: torch.Tensor | None, weight: torch.Tensor, eps: float, offset: float
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """The sum goes on as the residual stream, the norm into the next block."""
        total, normed, rstd = norm_forward(x, weight, eps, offset, added)
        ctx.offset = offset
        ctx.mark_non_differentiable(rstd)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(total, rstd, weight)
        return total, normed, rstd

    @staticmethod
    def backward(ctx: Any, *d_outputs: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        """The same gradient for ``x`` and for ``added``."""
        d_total, d_normed, _ = d_outputs
        if d_normed is None:
            return d_total, d_total, None, None, None
        total, rstd, weight = ctx.saved_tensors
        passed = None if d_total is None else d_total.contiguous()
        d_x = norm_backward(d_normed.contiguous(), total, rstd, weight, ctx.offset, passed)
        return d_x, d_x if ctx.needs_input_grad[1] else None, None, None, None


def norm(x: torch.Tensor, weight: torch.Tensor, eps: float, offset: float) -> torch.Tensor:
    """RMSNorm of x (..., D)."""
    return sum_and_norm(x, None, weight, eps, offset)[1]


def sum_and_norm(
    x: torch.Tensor, added: torch.Tensor | None, weight: torch.Tensor, eps: float, offset: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """(x + added, its RMSNorm), each shaped like x (..., D). The norm knows its source, so that what reads it need not keep it."""
    width = x.shape[-1]
    rows = None if added is None else added.reshape(-1, width).contiguous()
    total, normed, rstd = SumAndNorm.apply(x.reshape(-1, width).contiguous(), rows, weight, eps, offset)
    normed = normed.view(x.shape)
    normed.penname_source = NormSource(total.detach(), rstd, weight, offset)  # a tensor takes attributes
    return total.view(x.shape), normed
