"""Linear layers with LoRA that read the same input, as one function: q, k, v; gate and up; a layer alone.

    y_i = x W_i^T + s_i (x A_i^T) B_i^T          W frozen, A_i (r, in), B_i (out, r)

Saved for the backward pass: the input (or what it can be made from again, where it is a norm's result) and x A^T. No gradient of W is ever
made, nor one of ``x`` where nobody asks for it; the A products of all layers are one product, and so are their gradients.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from penname.training.fused_ops import norm_again


@dataclass(frozen=True)
class NormSource:
    """What a norm's result can be made from again, so that only one of the two is kept: x (N, D), 1 / rms (N,), the norm's weight (D,)."""

    x: torch.Tensor
    rstd: torch.Tensor
    weight: torch.Tensor
    offset: float


@dataclass(frozen=True)
class Projection:
    """One linear layer: frozen ``weight`` (out, in) and ``bias``, and where it carries LoRA its A (r, in), B (out, r) and scale."""

    weight: torch.Tensor
    bias: torch.Tensor | None
    lora_a: torch.Tensor | None = None
    lora_b: torch.Tensor | None = None
    scale: float = 1.0


@dataclass
class LoraBlock:
    """The LoRA parts of projections over one input, in the type of the computation: A stacked (R, in), each B times its scale."""

    stacked_a: torch.Tensor | None
    scaled_b: list[torch.Tensor | None]
    columns: list[slice]  # of each projection in R; empty where it has no LoRA
    scales: list[float]

    @classmethod
    def of(cls, projections: Sequence[Projection], dtype: torch.dtype) -> LoraBlock:
        """The block of some projections."""
        given = [p.lora_a for p in projections if p.lora_a is not None]
        columns, at = [], 0
        for projection in projections:
            rank = 0 if projection.lora_a is None else projection.lora_a.shape[0]
            columns.append(slice(at, at + rank))
            at += rank
        stacked = torch.cat([a.to(dtype) for a in given]) if given else None
        scaled = [None if p.lora_b is None else (p.lora_b * p.scale).to(dtype) for p in projections]
        return cls(stacked, scaled, columns, [p.scale for p in projections])

    def reduce(self, x: torch.Tensor) -> torch.Tensor | None:
        """x A^T of all, (N, R)."""
        return None if self.stacked_a is None else x @ self.stacked_a.t()

    def forward(self, index: int, projection: Projection, x: torch.Tensor, reduced: torch.Tensor | None) -> torch.Tensor:
        """One projection of x (N, in) -> (N, out)."""
        scaled = self.scaled_b[index]
        if scaled is None or reduced is None:
            y = x @ projection.weight.t()
        else:
            # The small part first: the product that is added to it is summed in float32, so the large part is rounded once.
            y = (reduced[:, self.columns[index]] @ scaled.t()).addmm_(x, projection.weight.t())
        return y if projection.bias is None else y.add_(projection.bias)

    def backward(
        self,
        projections: Sequence[Projection],
        d_outputs: Sequence[torch.Tensor | None],
        x: Callable[[], torch.Tensor],
        reduced: torch.Tensor | None,
        wants_input: bool,
    ) -> tuple[torch.Tensor | None, list[torch.Tensor | None], list[torch.Tensor | None]]:
        """(d_x, d_A of each, d_B of each). ``x()`` gives the input (N, in), made again where it was not kept."""
        d_b: list[torch.Tensor | None] = [None] * len(projections)
        d_a: list[torch.Tensor | None] = [None] * len(projections)
        d_x: torch.Tensor | None = None
        if reduced is not None and self.stacked_a is not None:
            d_reduced = torch.zeros_like(reduced)
            for i, (projection, d_y) in enumerate(zip(projections, d_outputs, strict=True)):
                scaled, columns = self.scaled_b[i], self.columns[i]
                if d_y is not None and scaled is not None and projection.lora_b is not None:
                    torch.mm(d_y, scaled, out=d_reduced[:, columns])  # carries the scale
                    d_b[i] = product_as(d_y.t(), reduced[:, columns], projection.lora_b.dtype).mul_(self.scales[i])
            given = next(p.lora_a for p in projections if p.lora_a is not None)
            stacked = product_as(d_reduced.t(), x(), given.dtype)  # (R, in)
            for i, projection in enumerate(projections):
                if projection.lora_a is not None:
                    d_a[i] = stacked[self.columns[i]]
            d_x = d_reduced @ self.stacked_a if wants_input else None  # the small part first, as forward
        for projection, d_y in zip(projections, d_outputs, strict=True):
            if wants_input and d_y is not None:
                d_x = d_y @ projection.weight if d_x is None else d_x.addmm_(d_y, projection.weight)
        return d_x, d_a, d_b


def product_as(a: torch.Tensor, b: torch.Tensor, dtype: torch.dtype) -> torch.Tensor:
    """a @ b in ``dtype``. Where that is wider than theirs, what rounding took from the product is asked for in a second one and added:
    products are summed in float32, so ``a @ b - rounded`` comes out exact to its own rounding. Both are small: a LoRA matrix.
    """
    rounded = a @ b
    if rounded.dtype == dtype:
        return rounded
    lost = torch.addmm(rounded, a, b, beta=-1)
    return rounded.to(dtype).add_(lost)


class SharedProjections(torch.autograd.Function):
    """apply(x (N, in), source, projections, *all A, *all B) -> one (N, out) a projection. The A and B are given for autograd's sake."""

    @staticmethod
    def forward(
        ctx: Any, x: torch.Tensor, source: NormSource | None, projections: tuple[Projection, ...], *_: torch.Tensor | None
    ) -> tuple[torch.Tensor, ...]:
        """Each projection of ``x``."""
        block = LoraBlock.of(projections, x.dtype)
        reduced = block.reduce(x)
        ctx.projections, ctx.offset = projections, source.offset if source else None
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(reduced, *((source.x, source.rstd, source.weight) if source else (x,)))
        return tuple(block.forward(i, projection, x, reduced) for i, projection in enumerate(projections))

    @staticmethod
    def backward(ctx: Any, *d_outputs: torch.Tensor | None) -> tuple[torch.Tensor | None, ...]:
        """Gradients of x, and of every A and B."""
        reduced, *kept = ctx.saved_tensors
        block = LoraBlock.of(ctx.projections, kept[0].dtype)  # made again: kept for every layer, it is as large as the adapter
        d_x, d_a, d_b = block.backward(ctx.projections, d_outputs, lambda: input_again(kept, ctx.offset), reduced, ctx.needs_input_grad[0])
        return d_x, None, None, *d_a, *d_b


def input_again(kept: Sequence[torch.Tensor], offset: float | None) -> torch.Tensor:
    """The input from what was kept of it: itself, or a norm's source."""
    return kept[0] if offset is None else norm_again(kept[0], kept[1], kept[2], offset)


def project(x: torch.Tensor, projections: tuple[Projection, ...]) -> list[torch.Tensor]:
    """Each projection of x (..., in). Where ``x`` is a fused norm's result, its source is kept in its place."""
    rows = x.reshape(-1, x.shape[-1])
    loras = [p.lora_a for p in projections], [p.lora_b for p in projections]
    outputs = SharedProjections.apply(rows, getattr(x, "penname_source", None), projections, *loras[0], *loras[1])
    return [y.view(*x.shape[:-1], -1) for y in outputs]
