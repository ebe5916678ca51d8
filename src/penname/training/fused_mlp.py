"""The SwiGLU block with LoRA on gate, up and down as one function, which keeps gate and up and makes everything else again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch

from penname.training.fused_linear import LoraBlock, NormSource, Projection, input_again, product_as
from penname.training.fused_ops import swiglu_backward, swiglu_forward


class Scratch:
    """Memory for a block's widest intermediate, shared by all layers: taken from the heap each time, it would leave holes between what is
    kept for the backward pass, and a step would need a fifth more memory.
    """

    def __init__(self) -> None:
        self._memory = torch.empty(0)

    def like(self, tensor: torch.Tensor) -> torch.Tensor:
        """Uninitialised memory of the tensor's size, gone at the next call. On a GPU the allocator does this by itself."""
        if tensor.device.type != "cpu":
            return torch.empty_like(tensor)
        if self._memory.dtype != tensor.dtype or self._memory.numel() < tensor.numel():
            self._memory = torch.empty(tensor.numel(), dtype=tensor.dtype)
        return self._memory[: tensor.numel()].view(tensor.shape)


@dataclass(frozen=True)
class Mlp:
    """The three projections of a SwiGLU block."""

    gate: Projection
    up: Projection
    down: Projection
    scratch: Scratch


class FusedMlp(torch.autograd.Function):
    """apply(x (N, D), source, mlp, A of gate, up, down, B of gate, up, down) -> (N, D). A second backward through it is an error."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor, source: NormSource | None, mlp: Mlp, *_: torch.Tensor | None) -> torch.Tensor:
        """down(silu(gate(x)) * up(x))."""
        first, second = LoraBlock.of((mlp.gate, mlp.up), x.dtype), LoraBlock.of((mlp.down,), x.dtype)
        reduced = first.reduce(x)
        gate = first.forward(0, mlp.gate, x, reduced)  # (N, F)
        up = first.forward(1, mlp.up, x, reduced)
        product = swiglu_forward(gate, up, mlp.scratch.like(gate))
        reduced_down = second.reduce(product)
        ctx.mlp, ctx.offset = mlp, source.offset if source else None
        ctx.save_for_backward(gate, up, reduced, reduced_down, *((source.x, source.rstd, source.weight) if source else (x,)))
        return second.forward(0, mlp.down, product, reduced_down)

    @staticmethod
    def backward(ctx: Any, *d_outputs: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        """Gradients of x and of every A and B. Works in the memory of gate and up, so it can run once."""
        gate, up, reduced, reduced_down, *kept = ctx.saved_tensors
        if ctx.mlp is None:
            raise RuntimeError("the fused MLP went backward twice; its saved tensors are gone after the first time")
        mlp, (d_y,) = ctx.mlp, d_outputs
        ctx.mlp = None
        first, second = LoraBlock.of((mlp.gate, mlp.up), d_y.dtype), LoraBlock.of((mlp.down,), d_y.dtype)
        scaled = second.scaled_b[0]
        d_product, d_reduced_down = mlp.scratch.like(gate), None  # (N, F)
        if scaled is not None and second.stacked_a is not None:
            d_reduced_down = d_y @ scaled  # (N, r)
            torch.mm(d_reduced_down, second.stacked_a, out=d_product).addmm_(d_y, mlp.down.weight)
        else:
            torch.mm(d_y, mlp.down.weight, out=d_product)
        d_gate, d_up, product = swiglu_backward(gate, up, d_product)
        d_a_down = d_b_down = None
        if d_reduced_down is not None and mlp.down.lora_a is not None and mlp.down.lora_b is not None:
            d_a_down = product_as(d_reduced_down.t(), product, mlp.down.lora_a.dtype)
            d_b_down = product_as(d_y.t(), reduced_down, mlp.down.lora_b.dtype).mul_(mlp.down.scale)
        del product, d_product
        d_x, d_a, d_b = first.backward(
            (mlp.gate, mlp.up), (d_gate, d_up), lambda: input_again(kept, ctx.offset), reduced, ctx.needs_input_grad[0]
        )
        return d_x, None, None, *d_a, d_a_down, *d_b, d_b_down


def fused_mlp(x: torch.Tensor, mlp: Mlp) -> torch.Tensor:
    """The SwiGLU block of x (..., D). Where ``x`` is a fused norm's result, its source is kept in its place."""
    parts = (mlp.gate, mlp.up, mlp.down)
    rows = x.reshape(-1, x.shape[-1])
    y = FusedMlp.apply(rows, getattr(x, "penname_source", None), mlp, *(p.lora_a for p in parts), *(p.lora_b for p in parts))
    return y.view(x.shape)
