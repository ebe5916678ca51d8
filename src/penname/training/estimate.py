"""What a run will take on this machine, from one measured piece of a row."""

from __future__ import annotations

import time
from itertools import accumulate
from typing import Any

import torch

from penname.core.tokens import Row, Shards
from penname.training.batch import Batch, make_batch
from penname.training.step import forward_backward

_CPU_TOKENS = 512  # enough to measure a CPU by, and seconds instead of half a minute


def seconds_per_token(model: Any, shards: Shards) -> float:
    """Seconds of forward and backward a token: the second of two times, since the first one warms up. Leaves no gradient."""
    device = next(model.parameters()).device
    batch = _piece(shards.row(0), None if device.type == "cuda" else _CPU_TOKENS, device)
    model.train()
    for _ in range(2):
        _settle(device)
        started = time.perf_counter()
        forward_backward(model, batch, 1.0)
        _settle(device)
        seconds = time.perf_counter() - started
    for parameter in model.parameters():
        parameter.grad = None
    return seconds / batch.tokens


def _piece(row: Row, tokens: int | None, device: torch.device) -> Batch:
    ends = [min(end, tokens or end) for end in accumulate(row.documents)]
    lengths = tuple(end - start for start, end in zip([0, *ends], ends, strict=False) if end > start)
    return make_batch(row.input_ids[: ends[-1]], row.trained[: ends[-1]], lengths, device)


def _settle(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()
