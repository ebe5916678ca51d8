"""What a run will take on this machine, from one measured row."""

from __future__ import annotations

import time
from typing import Any

import torch

from penname.core.tokens import Shards
from penname.training.batch import batch_of
from penname.training.step import forward_backward


def seconds_per_token(model: Any, shards: Shards) -> float:
    """Seconds of forward and backward a token of a row: the second of two rows, since the first one warms up. Leaves no gradient."""
    device = next(model.parameters()).device
    batch = batch_of(shards.row(0), device)
    model.train()
    for _ in range(2):
        if device.type == "cuda":
            torch.cuda.synchronize()
        started = time.perf_counter()
        forward_backward(model, batch, 1.0)
        if device.type == "cuda":
            torch.cuda.synchronize()
        seconds = time.perf_counter() - started
    for parameter in model.parameters():
        parameter.grad = None
    return seconds / batch.tokens
