"""Element-wise steps, each with a plain torch form and, where the C kernels are there, a form that goes over memory once.

Tensors of rows are (N, D) and contiguous.
"""

from __future__ import annotations

import torch
from torch.nn.functional import silu

from penname.training.fused_native import NAMES, Kernels, kernels


def native_for(tensor: torch.Tensor) -> Kernels | None:
    """The C kernels where they can work on this tensor: float32 or bfloat16 in main memory."""
    return kernels() if tensor.device.type == "cpu" and tensor.dtype in NAMES else None


def norm_forward(
    x: torch.Tensor, weight: torch.Tensor, eps: float, offset: float, added: torch.Tensor | None = None
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """RMSNorm (Zhang and Sennrich 2019, formula 4) of ``x + added``: (the sum, its norm times ``offset + weight``, 1 / rms (N,))."""
    native = native_for(x)
    if native is not None and weight.dtype == x.dtype:
        total = x if added is None else torch.empty_like(x)
        normed, rstd = torch.empty_like(x), torch.empty(x.shape[0], dtype=torch.float32)
        native.call("norm_forward", x.dtype, x, added, weight, total, normed, rstd, *x.shape, eps, offset)
        return total, normed, rstd
    total = x if added is None else x + added
    rstd = torch.rsqrt(total.float().square().mean(-1) + eps)
    return total, norm_again(total, rstd, weight, offset), rstd


def norm_again(x: torch.Tensor, rstd: torch.Tensor, weight: torch.Tensor, offset: float) -> torch.Tensor:
    """What ``norm_forward`` gave, bit by bit, from ``x`` and 1 / rms."""
    native = native_for(x)
    if native is not None and weight.dtype == x.dtype:
        normed = torch.empty_like(x)
        native.call("norm_again", x.dtype, x, weight, rstd, normed, *x.shape, offset)
        return normed
    return (x.float() * rstd[:, None] * (weight.float() + offset)).to(x.dtype)


def norm_backward(
    d_normed: torch.Tensor, x: torch.Tensor, rstd: torch.Tensor, weight: torch.Tensor, offset: float, d_passed: torch.Tensor | None
) -> torch.Tensor:
    """Gradient of ``x`` through the norm, plus ``d_passed``, the gradient that reaches it directly. The weight is frozen."""
    native = native_for(x)
    if native is not None and weight.dtype == x.dtype:
        d_x = torch.empty_like(x)
        native.call("norm_backward", x.dtype, d_normed, x, weight, rstd, d_passed, d_x, *x.shape, offset)
        return d_x
    scaled = d_normed.float() * (weight.float() + offset)  # (N, D)
    unit = x.float() * rstd[:, None]
    d_sum = rstd[:, None] * (scaled - unit * (scaled * unit).mean(-1, keepdim=True))
    return (d_sum if d_passed is None else d_sum + d_passed.float()).to(x.dtype)


def swiglu_forward(gate: torch.Tensor, up: torch.Tensor, out: torch.Tensor | None = None) -> torch.Tensor:
    """silu(gate) * up (Shazeer 2020), in ``out`` where it is given."""
    product = torch.empty_like(gate) if out is None else out
    native = native_for(gate)
    if native is not None:
        native.call("swiglu_forward", gate.dtype, gate, up, product, gate.numel())
        return product
    return torch.mul(silu(gate), up, out=product)


def swiglu_backward(gate: torch.Tensor, up: torch.Tensor, d_product: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(d_gate, d_up, the product again), in the memory of the three arguments: nothing is allocated, and the arguments are gone."""
    native = native_for(gate)
    if native is not None:
        native.call("swiglu_backward", gate.dtype, gate, up, d_product, gate.numel())
        return gate, up, d_product
    sigmoid = torch.sigmoid(gate)
    activated = gate * sigmoid
    product = activated * up
    d_gate = d_product * up * sigmoid.mul_(1 + gate - activated)  # silu' = sigmoid (1 + x - silu)
    d_up = d_product * activated
    return d_gate, d_up, product


def rotate(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor, sign: float) -> torch.Tensor:
    """Rotary positions (Su et al. 2021) on the first R of D: x (1, H, T, D), cosine and sine (1, T, R); sign -1 turns back.

    The result lies in memory as (1, T, H, D).
    """
    _, heads, tokens, dim = x.shape
    rotary = cosine.shape[-1]
    native = native_for(x)
    y = torch.empty(1, tokens, heads, dim, dtype=x.dtype, device=x.device).transpose(1, 2)
    if native is not None and x.stride(-1) == 1 and cosine.dtype == x.dtype:
        native.call(
            "rope", x.dtype, x, cosine.contiguous(), sine.contiguous(), y, tokens, heads, dim, rotary, x.stride(2), x.stride(1), sign
        )
        return y
    half = rotary // 2
    c, s = cosine[..., :half].unsqueeze(1), sine[..., :half].unsqueeze(1) * sign  # both halves of the angles are the same
    first, second = x[..., :half], x[..., half:rotary]
    torch.mul(first, c, out=y[..., :half]).addcmul_(second, s, value=-1)
    torch.mul(second, c, out=y[..., half:rotary]).addcmul_(first, s)
    y[..., rotary:] = x[..., rotary:]
    return y


def cross_entropy(logits: torch.Tensor, targets: torch.Tensor, gradient: bool) -> torch.Tensor:
    """Sum of the cross entropies, () float32. With ``gradient``, ``logits`` (N, V) become softmax minus one-hot, in place."""
    native = native_for(logits)
    if native is not None:
        losses = torch.empty(logits.shape[0], dtype=torch.float32)
        native.call("cross_entropy", logits.dtype, logits, targets, losses, *logits.shape, int(gradient))
        return losses.sum()
    values = logits.float()  # (N, V); the same memory where they are float32 already
    norm = torch.logsumexp(values, dim=-1, keepdim=True)  # (N, 1)
    wanted = values.gather(1, targets[:, None]) - norm
    if gradient:
        probabilities = values.sub_(norm).exp_().scatter_(1, targets[:, None], torch.expm1(wanted))
        logits.copy_(probabilities)
    return -wanted.sum()
