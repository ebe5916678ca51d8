"""Quantise a folder of bf16 safetensors to NVFP4A16. Run by the Python of another environment, one with llmcompressor:

    PYTHON nvfp4_recipe.py MERGED TARGET

Weights become 4-bit floats in groups of 16, activations stay 16-bit; no calibration text is needed. Nothing of Penname is imported here.
Source of the recipe: llm-compressor, examples/quantization_w4a16_fp4/nvfp4.
"""

from __future__ import annotations

import json
import platform
import sys
from importlib.metadata import version
from pathlib import Path

# The fused projections of linear attention do not take scales a group of 16, so those layers stay bf16, as in llm-compressor's own example.
RECIPE = {"targets": "Linear", "scheme": "NVFP4A16", "ignore": ["lm_head", "re:.*visual.*", "re:.*linear_attn.*"]}
LIBRARIES = ("llmcompressor", "compressed-tensors", "torch", "transformers", "safetensors")


def main(merged: str, target: str) -> None:
    """Write the quantised model and ``nvfp4.json`` (recipe and versions) to ``target``."""
    import torch
    from llmcompressor import oneshot
    from llmcompressor.modifiers.quantization import QuantizationModifier
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(merged, dtype=torch.bfloat16, local_files_only=True, use_safetensors=True)
    oneshot(model=model, recipe=QuantizationModifier(**RECIPE))
    model.save_pretrained(target, save_compressed=True)
    versions = {"python": platform.python_version()} | {name: version(name) for name in LIBRARIES}
    record = json.dumps({"recipe": RECIPE, "versions": versions}, indent=2) + "\n"
    (Path(target) / "nvfp4.json").write_text(record, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
