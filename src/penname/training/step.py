"""Forward and backward over one packed row: the seam that faster functions plug into."""

from __future__ import annotations

from typing import Any

import torch

from penname.training.batch import Batch
from penname.training.loss import cross_entropy_sum


def hidden_states(model: Any, batch: Batch) -> torch.Tensor:
    """Hidden states after the last norm at the positions that predict a learned token, (N, D). ``model`` is the causal LM."""
    output = model.model(input_ids=batch.input_ids, position_ids=batch.position_ids, use_cache=False, documents=batch.documents)
    return output.last_hidden_state[0].index_select(0, batch.trained)


def loss_sum(model: Any, batch: Batch) -> torch.Tensor:
    """Sum of the cross entropies of the row's learned tokens, () float32."""
    return cross_entropy_sum(hidden_states(model, batch), model.lm_head.weight, batch.targets)


def forward_backward(model: Any, batch: Batch, scale: float) -> float:
    """Add ``scale`` times the gradient of the row's loss sum to ``.grad``; gives the loss sum.

    The caller gives 1 / (learned tokens of the whole optimizer step), so that accumulation never averages averages.
    """
    loss = loss_sum(model, batch)
    (loss * scale).backward()
    return float(loss.detach())
