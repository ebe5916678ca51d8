"""Adapters on tiny carriers, good and broken, and voice folders with runs that hold them."""

from __future__ import annotations

from pathlib import Path

import torch

from finished_run import RUN, make_run
from penname.core.files import read_json, write_json
from penname.core.folder import open_voice
from penname.core.hashing import sha256_file
from penname.serving.adapter import read_adapter, write_adapter
from penname.serving.classes import transformers_modules
from tiny import tiny_carrier

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


def make_voice(folder, kind="qwen3", **adapter):
    """A voice folder on a tiny carrier with one finished run."""
    folder.mkdir()
    carrier = tiny_carrier(kind)
    (folder / "voice.toml").write_text(
        f'[carrier]\nname = "{carrier}"\ndtype = "fp32"\ndevice = "cpu"\nthreads = 1\n[sampling]\nmax_tokens = 24\n'
    )
    add_run(folder, carrier, **adapter)
    return open_voice(folder)


def add_run(folder, carrier, name=RUN, loss=3.0, **adapter):
    """A finished run of the folder, with the manifest that training would leave."""
    run = make_run(folder, name)
    make_adapter(run / "adapter", carrier, **adapter)
    record = {
        "run": name,
        "seed": 1,
        "started_unix": 100,
        "arm": {
            "id": "a" * 12,
            "name": "all-x6-am",
            "carrier": carrier.name,
            "corpus_words": 0,
            "copies": 6,
            "target_modules": "attention+mlp",
        },
        "settings": {"carrier": {"name": str(carrier)}},
        "carrier": {"name": carrier.name, "source": "folder"},
        "best": {"loss": loss, "step": 9},
    }
    write_json(run / "run.json", record)
    manifest = read_json(run / "manifest.json")
    names = ("adapter/adapter_model.safetensors", "adapter/adapter_config.json")
    manifest["files"] = {name: {"sha256": sha256_file(run / name), "bytes": (run / name).stat().st_size} for name in names}
    write_json(run / "manifest.json", manifest)
    return run
