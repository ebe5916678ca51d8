"""Cross entropy at trained positions only, in chunks: the logits of a row never exist as a whole."""

from __future__ import annotations

from typing import Any

import torch

CHUNK = 512


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
        for start in range(0, hidden.shape[0], chunk):
            part, target = hidden[start : start + chunk], targets[start : start + chunk]
            logits = (part @ weight.t()).float()  # (chunk, V)
            norm = torch.logsumexp(logits, dim=-1, keepdim=True)  # (chunk, 1)
            total += (norm[:, 0] - logits.gather(1, target[:, None])[:, 0]).sum()
            if gradient is not None:
                probabilities = logits.sub_(norm).exp_()
                probabilities[torch.arange(len(target), device=target.device), target] -= 1.0
                gradient[start : start + chunk] = probabilities.to(weight.dtype) @ weight
        ctx.save_for_backward(gradient)
        return total

    @staticmethod
    def backward(ctx: Any, *grad_outputs: torch.Tensor) -> tuple[torch.Tensor | None, None, None, None]:
        """Scale the gradient that forward made."""
        (gradient,) = ctx.saved_tensors
        return gradient * grad_outputs[0].to(gradient.dtype), None, None, None


def cross_entropy_sum(hidden: torch.Tensor, weight: torch.Tensor, targets: torch.Tensor, chunk: int = CHUNK) -> torch.Tensor:
    """Sum of the cross entropies in float32. hidden (N, D) at trained positions, weight (V, D) frozen, targets (N,)."""
    return ChunkedCrossEntropy.apply(hidden, weight, targets, chunk)
