"""Adapters on tiny carriers, good and broken."""

from __future__ import annotations

from pathlib import Path

import torch

from penname.serving.adapter import read_adapter, write_adapter
from penname.serving.classes import transformers_modules

LEAVES = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
CONFIG = {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": 4, "lora_alpha": 8, "target_modules": sorted(LEAVES), "bias": "none"}


def make_adapter(folder: Path, carrier: Path, *, seed=0, strength=0.3, multimodal=False, rename=lambda path: path, leaves=LEAVES, part=1.0):
    """A random adapter of rank 4 on the text model's modules; ``rename`` changes the paths that are written."""
    torch.manual_seed(seed)
    modules = transformers_modules(carrier, multimodal)
    paths = [path for path in modules if ".layers." in path and path.rpartition(".")[2] in leaves and "visual" not in path]
    tensors = {}
    for i, path in enumerate(paths):
        out, width = modules[path]
        name = rename(path) if i < part * len(paths) else path
        tensors[name] = (torch.randn(4, width) * width**-0.5, strength * torch.randn(out, 4))
    write_adapter(folder, dict(CONFIG, target_modules=sorted(leaves)), tensors)
    return read_adapter(folder)
