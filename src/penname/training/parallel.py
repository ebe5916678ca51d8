"""Data parallelism under ``torchrun``: each process takes every n-th row of an optimizer step, and gradients are summed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

import torch
import torch.distributed as dist


@dataclass(frozen=True)
class World:
    """Where this process stands among those that train one run together."""

    rank: int = 0
    size: int = 1

    @property
    def first(self) -> bool:
        """True for the one process that writes files."""
        return self.rank == 0

    def sum_gradients(self, parameters: Iterable[torch.nn.Parameter]) -> None:
        """Add up the gradients of all processes, in place. A process without a row of this step contributes zero."""
        if self.size == 1:
            return
        grads = []
        for parameter in parameters:
            if parameter.grad is None:
                parameter.grad = torch.zeros_like(parameter)
            grads.append(parameter.grad)
        flat = torch.cat([grad.reshape(-1).float() for grad in grads])  # one message instead of hundreds
        dist.all_reduce(flat)
        for grad, part in zip(grads, flat.split([grad.numel() for grad in grads]), strict=True):
            grad.copy_(part.view_as(grad))

    def sum_number(self, value: float) -> float:
        """The sum of a number over all processes."""
        if self.size == 1:
            return value
        total = torch.tensor(value, dtype=torch.float64)
        total = total.cuda() if dist.get_backend() == "nccl" else total
        dist.all_reduce(total)
        return float(total)

    def any(self, flag: bool) -> bool:
        """True where it is true in any process; all processes must call it at the same place."""
        return self.sum_number(float(flag)) > 0

    def wait(self) -> None:
        """Until all processes are here."""
        if self.size > 1:
            dist.barrier()


def join_world(device: str) -> World:
    """The world that ``torchrun`` set up (nccl on CUDA, gloo on CPU), or a world of one."""
    if "WORLD_SIZE" not in os.environ or os.environ["WORLD_SIZE"] == "1":
        return World()
    if not dist.is_initialized():
        dist.init_process_group("nccl" if device == "cuda" else "gloo")
    if device == "cuda":
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    return World(dist.get_rank(), dist.get_world_size())
