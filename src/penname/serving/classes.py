"""How serving classes name their modules, from a configuration alone: what an adapter's keys must match.

vLLM's names are those of vLLM 0.27 (vllm/model_executor/models/qwen3.py, qwen3_5.py, utils.py), read and not run: the fused
projections and the two prefixes of the multimodal class. llama.cpp's are the tensor names of the gguf package.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penname.carriers.facts import read_config, text_config
from penname.core.errors import BadInput, first_line

CLASSES = ("transformers", "transformers-multimodal", "vllm", "llama.cpp")
VLLM_VERSION = "0.27"
FUSED = {
    "qkv_proj": ("q_proj", "k_proj", "v_proj"),
    "gate_up_proj": ("gate_proj", "up_proj"),
    "in_proj_qkvz": ("in_proj_qkv", "in_proj_z"),
    "in_proj_ba": ("in_proj_b", "in_proj_a"),
}
# Only these are taken as a whole or not at all: with one half missing, vLLM has no slot for the other.
WHOLE = ("in_proj_qkvz", "in_proj_ba")
_VLLM_LORA = {"qkv_proj", "o_proj", "gate_up_proj", "down_proj", "in_proj_qkvz", "in_proj_ba", "out_proj"}
_LLAMA_CPP_ARCHITECTURES = {"qwen3": "QWEN3", "llama": "LLAMA", "qwen2": "QWEN2"}
TEXT, FULL = "model.layers.", "model.language_model.layers."


@dataclass(frozen=True)
class ServingClass:
    """The Linear modules of one serving class: path -> (out, in), and what a fused one is made of."""

    name: str
    modules: Mapping[str, tuple[int, int]]
    note: str = ""


def transformers_modules(folder: Path, multimodal: bool) -> dict[str, tuple[int, int]]:
    """Every nn.Linear of the class that transformers would build for the carrier, without its weights."""
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText

    from penname.carriers.loading import quiet_transformers

    if multimodal and not is_multimodal(folder):
        raise BadInput(f"{folder.name} is a text model, so it has no full multimodal class")
    quiet_transformers()
    config: Any = AutoConfig.from_pretrained(folder, local_files_only=True)
    auto = AutoModelForImageTextToText if multimodal else AutoModelForCausalLM
    try:
        with torch.device("meta"):
            model = auto.from_config(config)
    except (ValueError, KeyError) as error:
        raise BadInput(f"{folder} has no {'multimodal' if multimodal else 'causal'} class: {first_line(error)}") from None
    return {
        name: (module.out_features, module.in_features) for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)
    }


def serving_class(folder: Path, name: str) -> ServingClass:
    """The modules of a serving class for a carrier. BadInput for a name or a model type that is not known."""
    if name == "transformers":
        return ServingClass(name, transformers_modules(folder, multimodal=False))
    if name == "transformers-multimodal":
        return ServingClass(name, transformers_modules(folder, multimodal=True))
    if name == "vllm":
        return _vllm(folder)
    if name == "llama.cpp":
        return _llama_cpp(folder)
    raise BadInput(f'there is no serving class "{name}"; there are {", ".join(CLASSES)}')


def is_multimodal(folder: Path) -> bool:
    """Whether the carrier's configuration is that of the full class, with the text model nested in it."""
    config = read_config(folder)
    return text_config(config) is not config


def _vllm(folder: Path) -> ServingClass:
    config = read_config(folder)
    kind = str(text_config(config).get("model_type", config["model_type"]))
    if not kind.startswith(("qwen3", "qwen2", "llama")):
        raise BadInput(
            f"vLLM's names for {kind} are not known to Penname; bind against the running server instead: penname bind --server URL"
        )
    multimodal = is_multimodal(folder)
    modules = transformers_modules(folder, multimodal)
    # vLLM's LoRA loader maps model.language_model.* of a file to language_model.model.* of the class; a file that says
    # model.layers.* finds nothing there.
    start = FULL if multimodal else TEXT
    found = {path: shape for path, shape in modules.items() if path.startswith(start)}
    note = f"names of vLLM {VLLM_VERSION}, read from its source and not run"
    return ServingClass("vllm", {path: shape for path, shape in found.items() if vllm_slot(path)}, note)


def vllm_slot(path: str) -> str | None:
    """The module of vLLM's class that takes the LoRA of ``path``, fused or not; None where there is none."""
    head, _, leaf = path.rpartition(".")
    slot = next((fused for fused, parts in FUSED.items() if leaf in parts), leaf)
    return f"{head}.{slot}" if slot in _VLLM_LORA else None


def half_fused(paths: Iterable[str]) -> list[str]:
    """Fused projections of linear attention of which only one half is adapted: both or neither will bind."""
    have: dict[str, set[str]] = {}
    for path in paths:
        head, _, leaf = path.rpartition(".")
        for fused in WHOLE:
            if leaf in FUSED[fused]:
                have.setdefault(f"{head}.{fused}", set()).add(leaf)
    return sorted(path for path, leaves in have.items() if len(leaves) < 2)


def _llama_cpp(folder: Path) -> ServingClass:
    modules = transformers_modules(folder, multimodal=False)
    names = gguf_names(folder)
    return ServingClass("llama.cpp", {path: shape for path, shape in modules.items() if path in names}, "tensor names of the gguf package")


def gguf_names(folder: Path) -> dict[str, str]:
    """Module path -> GGUF tensor name (without its ending) of every layer module. BadInput where llama.cpp's LoRA is not for this kind."""
    import gguf

    config = text_config(read_config(folder))
    kind = str(config.get("model_type"))
    if kind not in _LLAMA_CPP_ARCHITECTURES:
        known = ", ".join(sorted(_LLAMA_CPP_ARCHITECTURES))
        raise BadInput(f"a GGUF adapter can be made for dense carriers ({known}), and this one is {kind}; serve it merged, or by vLLM")
    layers = int(config["num_hidden_layers"])
    mapping = gguf.get_tensor_name_map(getattr(gguf.MODEL_ARCH, _LLAMA_CPP_ARCHITECTURES[kind]), layers)
    found = {}
    for path in transformers_modules(folder, multimodal=False):
        name = mapping.get_name(path)
        if name and path.startswith(TEXT):
            found[path] = name
    return found
