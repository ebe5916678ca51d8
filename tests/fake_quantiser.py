"""Stands in for a Python that has llmcompressor: answers the version probe, and writes what ``nvfp4_recipe.py`` would write.

    fake_quantiser.py FAULT -c CODE | -I RECIPE MERGED TARGET

FAULT: none, no-llmcompressor, crash, halves (the adapter's change is lost), pickle, silent (exit 0 and nothing written).
The tensors are those that llmcompressor 0.14 wrote for a tiny Qwen3: ``weight_packed`` (two 4-bit floats a byte, the low half first),
``weight_scale`` (float8 e4m3, a group of 16) and ``weight_global_scale``.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

LEVELS = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0], np.float32)


def quantise(weight):
    """(packed, scale, global scale) of one matrix: each group of 16 scaled so that its largest value is the largest 4-bit float."""
    groups = weight.float().numpy().reshape(weight.shape[0], -1, 16)
    largest = np.abs(groups).max(axis=-1)
    whole = 6.0 * 448.0 / largest.max()
    scale = torch.tensor(largest / 6.0 * whole).to(torch.float8_e4m3fn)
    scaled = groups / np.maximum(scale.float().numpy()[..., None] / whole, 1e-12)
    nearest = np.abs(np.abs(scaled)[..., None] - LEVELS).argmin(axis=-1).astype(np.uint8) + 8 * (scaled < 0).astype(np.uint8)
    codes = nearest.reshape(weight.shape)
    return torch.tensor(codes[:, 0::2] | (codes[:, 1::2] << 4)), scale, torch.tensor([whole], dtype=torch.float32)


def main(fault, *words):
    if words[0] == "-c":
        if fault == "no-llmcompressor":
            sys.exit("importlib.metadata.PackageNotFoundError: No package metadata was found for llmcompressor")
        print("0.14.0.1")
        return
    assert words[0] == "-I" and Path(words[1]).name == "nvfp4_recipe.py"
    merged, target = Path(words[2]), Path(words[3])
    if fault == "crash":
        print("Traceback (most recent call last):\n  ...\nRuntimeError: out of memory", file=sys.stderr)
        sys.exit(1)
    if fault == "silent":
        return
    target.mkdir(parents=True, exist_ok=True)
    tensors = {}
    for name, tensor in load_file(merged / "model.safetensors").items():
        if not name.endswith("_proj.weight"):
            tensors[name] = tensor
            continue
        packed, scale, whole = quantise(tensor * 0.5 if fault == "halves" else tensor)
        tensors |= {f"{name}_packed": packed, f"{name}_scale": scale, f"{name}_global_scale": whole}
    save_file(tensors, target / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((merged / "config.json").read_text())
    config["quantization_config"] = {"format": "nvfp4-pack-quantized", "quant_method": "compressed-tensors"}
    (target / "config.json").write_text(json.dumps(config))
    (target / "recipe.yaml").write_text("default_stage: {}\n")
    (target / "nvfp4.json").write_text(json.dumps({"recipe": {"scheme": "NVFP4A16"}, "versions": {"llmcompressor": "0.14.0.1"}}))
    if fault == "pickle":
        (target / "scheme.pt").write_bytes(b"\x80\x04.")


if __name__ == "__main__":
    main(*sys.argv[1:])
