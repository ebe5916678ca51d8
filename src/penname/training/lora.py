"""LoRA on a carrier: which modules, how they begin, and the adapter folder that PEFT and everything after it reads."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from peft.utils.save_and_load import get_peft_model_state_dict, set_peft_model_state_dict
from safetensors.torch import load_file, save

from penname.carriers.targets import PRESETS
from penname.core.config import TrainingConfig
from penname.core.errors import BadInput
from penname.core.files import json_text, write_bytes, write_text
from penname.core.hashing import ADAPTER_CONFIG, ADAPTER_WEIGHTS
from penname.core.rng import CounterRng

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16}


def target_leaves(setting: str | Sequence[str]) -> tuple[str, ...]:
    """The module leaf names of a ``target_modules`` setting."""
    return PRESETS[setting] if isinstance(setting, str) else tuple(setting)


def planned_modules(model: Any, setting: str | Sequence[str]) -> list[str]:
    """Full names of the Linear modules to adapt: those of the text model's layers whose leaf is named, and nothing else.

    BadInput where a leaf names nothing there (``lm_head`` included: the head is never adapted), or no module at all is left.
    """
    leaves = target_leaves(setting)
    # A module that carries LoRA already stands under ".base_layer", so the plan is the same before and after.
    linear = [name.removesuffix(".base_layer") for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)]
    found = [name for name in linear if name.startswith("model.layers.") and name.rsplit(".", 1)[-1] in leaves]
    absent = sorted(set(leaves) - {name.rsplit(".", 1)[-1] for name in found})
    if absent and not isinstance(setting, str):
        raise BadInput(f"training.target_modules names {', '.join(absent)}, which no layer of this carrier's text model has")
    if not found:
        raise BadInput("training.target_modules names no module of this carrier; see: penname carrier probe")
    return found


def attach_lora(model: Any, settings: TrainingConfig, seed: int, base_name: str = "") -> PeftModel:
    """Freeze the carrier and put LoRA on the planned modules; ``lora_A`` is drawn from (seed, module name), ``lora_B`` is zero."""
    planned = planned_modules(model, settings.target_modules)
    leaves = sorted({name.rsplit(".", 1)[-1] for name in planned})
    config = LoraConfig(
        r=settings.lora_rank, lora_alpha=settings.lora_alpha, lora_dropout=0.0, bias="none", task_type="CAUSAL_LM", target_modules=leaves
    )
    model.requires_grad_(False)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # PEFT reads a property that transformers has renamed
        peft_model = get_peft_model(model, config, autocast_adapter_dtype=False)
    config.base_model_name_or_path = base_name  # a name, never a path of this machine
    dtype = DTYPES[settings.adapter_dtype]
    for name, parameter in adapter_parameters(peft_model).items():
        parameter.data = parameter.data.to(dtype)
        if ".lora_A." in name:
            _draw(parameter, CounterRng(seed, "lora", name).bits64() >> 1)
        else:
            parameter.data.zero_()
    return peft_model


def _draw(parameter: torch.nn.Parameter, seed: int) -> None:
    # Kaiming uniform with a = sqrt(5), as PEFT and nn.Linear begin: U(-1/sqrt(in), 1/sqrt(in)). Drawn on the CPU in fp32, so it is the
    # same for every device and dtype, and for every order of modules.
    bound = parameter.shape[1] ** -0.5
    values = torch.empty(parameter.shape).uniform_(-bound, bound, generator=torch.Generator().manual_seed(seed))
    parameter.data.copy_(values)


def adapter_parameters(model: Any) -> dict[str, torch.nn.Parameter]:
    """The LoRA parameters by name, sorted."""
    return dict(sorted((name, p) for name, p in model.named_parameters() if ".lora_A." in name or ".lora_B." in name))


def adapted_modules(peft_model: PeftModel) -> list[str]:
    """Full names, as the carrier has them, of the modules that carry LoRA."""
    return sorted(name for name, module in peft_model.get_base_model().named_modules() if hasattr(module, "lora_A"))


def adapter_tensors(peft_model: PeftModel) -> dict[str, torch.Tensor]:
    """The adapter under PEFT's file names."""
    state = get_peft_model_state_dict(peft_model, save_embedding_layers=False)
    return {name: state[name].detach().cpu().contiguous() for name in sorted(state)}


def save_adapter(folder: Path, peft_model: PeftModel) -> None:
    """Write ``adapter_model.safetensors`` and ``adapter_config.json`` as PEFT reads them; the same adapter gives the same bytes."""
    config: dict[str, Any] = peft_model.peft_config["default"].to_dict()
    config.update(inference_mode=True, target_modules=sorted(config["target_modules"]))
    write_bytes(folder / ADAPTER_WEIGHTS, save(adapter_tensors(peft_model), metadata={"format": "pt"}))
    write_text(folder / ADAPTER_CONFIG, json_text({key: _plain(config[key]) for key in sorted(config)}))


def load_adapter_tensors(peft_model: PeftModel, tensors: Mapping[str, torch.Tensor]) -> None:
    """Put saved tensors into an attached adapter. BadInput where the names are not exactly its own."""
    own = adapter_tensors(peft_model)
    if set(own) != set(tensors):
        odd = sorted(set(own) ^ set(tensors))[0]
        raise BadInput(f"the saved adapter does not fit this carrier and these target modules (first difference: {odd})")
    set_peft_model_state_dict(peft_model, dict(tensors))


def read_adapter(folder: Path) -> dict[str, torch.Tensor]:
    """The tensors of an adapter folder."""
    return load_file(folder / ADAPTER_WEIGHTS)


def _plain(value: Any) -> Any:
    if isinstance(value, set):
        return sorted(value)
    return value.value if hasattr(value, "value") else value
