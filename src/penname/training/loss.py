"""Cross entropy at trained positions only, in chunks: the logits of a row never exist as a whole."""

from __future__ import annotations

from typing import Any

import torch

from penname.training.fused_ops import cross_entropy

_CHUNK_BYTES = 2**25  # of logits at once: half of what stays in a server's last cache, and enough rows for a full-speed product
_CHUNK_ROWS_MIN = 128


class ChunkedCrossEntropy(torch.autograd.Function):
    """Sum of the cross entropy of ``hidden @ weight.T`` against ``targets``. The head is frozen: only ``hidden`` gets a gradient.

    The gradient is made chunk by chunk in the forward pass, while a chunk's logits are there anyway.
    """

    @staticmethod
    def forward(ctx: Any, hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, chunk: int) -> torch.Tensor:
        """hidden (N, D), weight (V, D), targets (N,) -> () float32."""
        total = torch.zeros((), dtype=torch.float32, device=hidden.device)
        wants_gradient = hidden.requires_grad
        gradient = torch.empty_like(hidden) if wants_gradient else None
        memory = torch.empty(min(chunk, hidden.shape[0]), weight.shape[0], dtype=hidden.dtype, device=hidden.device)
        for start in range(0, hidden.shape[0], chunk):
            part = hidden[start : start + chunk]
            logits = torch.mm(part, weight.t(), out=memory[: len(part)])  # (chunk, V); all chunks use the same memory
            total += cross_entropy(logits, targets[start : start + chunk], wants_gradient)
            if gradient is not None:
                torch.mm(logits, weight, out=gradient[start : start + chunk])  # softmax minus one-hot by now
        ctx.save_for_backward(gradient)
        return total

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> tuple[torch.Tensor | None, None, None, None]:
        """Scale the gradient that forward made."""
        (gradient,) = ctx.saved_tensors
        return gradient * grad_outputs[0].to(gradient.dtype), None, None, None


def cross_entropy_sum(hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, chunk: int = 0) -> torch.Tensor:
    """Sum of the cross entropies in float32. hidden (N, D) at trained positions, weight (V, D) frozen, targets (N,)."""
    chunk = chunk or max(_CHUNK_ROWS_MIN, _CHUNK_BYTES // (weight.shape[0] * weight.element_size()))
    return ChunkedCrossEntropy.apply(hidden, weight, targets, chunk)
