"""Carriers from a configuration alone: on the meta device for a probe, with random weights for a bench."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from penname.carriers.facts import checked_config
from penname.carriers.headers import TensorInfo
from penname.carriers.probe import Probe, probe_tensors

_NAMES = {torch.float32: "F32", torch.bfloat16: "BF16", torch.float16: "F16"}


def random_model(
    config: Mapping[str, Any],
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    *,
    attention: str = "sdpa",
    seed: int = 0,
) -> Any:
    """The causal class of ``config`` (see ``known_configuration``) with random weights, in eval mode."""
    from transformers import AutoModelForCausalLM

    devices = [device] if torch.device(device).type == "cuda" else []
    with torch.random.fork_rng(devices=devices), torch.device(device):
        torch.manual_seed(seed)
        return AutoModelForCausalLM.from_config(_auto_config(config), dtype=dtype, attn_implementation=attention).eval()


def probe_configuration(name: str, config: Mapping[str, Any]) -> Probe:
    """The probe of a configuration, from the class built without memory on the meta device."""
    model = random_model(config, "meta", torch.bfloat16)
    tensors = {key: TensorInfo(tuple(p.shape), _NAMES[p.dtype], "configuration") for key, p in model.named_parameters()}
    return probe_tensors(name, config, tensors)


def _auto_config(config: Mapping[str, Any]) -> Any:
    from transformers import AutoConfig

    given = dict(checked_config(dict(config), "the configuration"))
    return AutoConfig.for_model(given.pop("model_type"), **given)
