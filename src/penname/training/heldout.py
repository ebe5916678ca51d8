"""Held-out loss: the same packed rows and the same loss function as in training, on chapters that are not trained on."""

from __future__ import annotations

from typing import Any

import torch

from penname.core.tokens import Shards
from penname.training.batch import batch_of
from penname.training.parallel import World
from penname.training.step import loss_sum


@torch.no_grad()
def heldout_loss(model: Any, shards: Shards, world: World | None = None, limit: int = 0) -> float | None:
    """Mean cross entropy per passage token over the held-out rows, or ``limit`` of them spread over all; None where there are none.

    ``model`` is the causal LM.
    """
    world = world or World()
    device = next(model.parameters()).device
    rows = list(shards.heldout_rows)
    if limit and len(rows) > limit:
        rows = [rows[i * len(rows) // limit] for i in range(limit)]
    if not rows:
        return None
    model.eval()
    total, tokens = 0.0, 0.0
    for row in rows[world.rank :: world.size]:
        batch = batch_of(shards.row(row), device)
        total += float(loss_sum(model, batch))
        tokens += len(batch.targets)
    return world.sum_number(total) / world.sum_number(tokens)
