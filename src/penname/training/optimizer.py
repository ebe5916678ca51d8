"""AdamW, the schedule, and their state as plain tensors."""

from __future__ import annotations

import math
from collections.abc import Mapping

import torch

from penname.core.config import TrainingConfig


def make_optimizer(parameters: Mapping[str, torch.nn.Parameter], settings: TrainingConfig) -> torch.optim.AdamW:
    """AdamW (Loshchilov and Hutter 2019) over the adapter, fused: one pass over memory."""
    return torch.optim.AdamW(list(parameters.values()), lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True)


def learning_rate(step: int, total_steps: int, settings: TrainingConfig) -> float:
    """The rate of optimizer step ``step`` (from 0): linear warmup, then cosine to zero or constant.

    The warmup takes at most a quarter of the steps, so that a short trial still trains.
    """
    warmup = min(settings.warmup_steps, total_steps // 4)
    if step < warmup:
        return settings.learning_rate * (step + 1) / warmup
    if settings.schedule == "constant":
        return settings.learning_rate
    return settings.learning_rate * 0.5 * (1 + math.cos(math.pi * (step - warmup) / max(1, total_steps - warmup)))


def optimizer_tensors(optimizer: torch.optim.AdamW, parameters: Mapping[str, torch.nn.Parameter]) -> dict[str, torch.Tensor]:
    """The optimizer's state as named tensors: "<parameter>/<exp_avg | exp_avg_sq | step>"."""
    return {
        f"{name}/{key}": value.detach().cpu().contiguous()
        for name, parameter in parameters.items()
        for key, value in sorted(optimizer.state.get(parameter, {}).items())
    }


def load_optimizer_tensors(
    optimizer: torch.optim.AdamW, parameters: Mapping[str, torch.nn.Parameter], tensors: Mapping[str, torch.Tensor]
) -> None:
    """Put such tensors back."""
    for name, parameter in parameters.items():
        state = {key.rsplit("/", 1)[1]: value for key, value in tensors.items() if key.rsplit("/", 1)[0] == name}
        optimizer.state[parameter] = {key: value.to(parameter.device).clone() for key, value in state.items()}
