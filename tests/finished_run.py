"""A finished run as training and bind leave it, made by hand in a moment, for tests of what comes after."""

from __future__ import annotations

import json

import numpy as np
from safetensors.numpy import save_file

from penname.core.files import write_json
from penname.core.hashing import adapter_digest
from penname.core.stage import stage_writer

RUN = "tiny-all-x6-am-s1"


def make_run(voice_path, name=RUN, scale=1.0, bound=True):
    """A finished run with an adapter of two matrices, two complete checkpoints and its proofs."""
    folder = voice_path / "runs" / name
    with stage_writer(folder, stage="train", version=1, settings={}, inputs={}) as out:
        (out / "adapter").mkdir()
        rng = np.random.default_rng(len(name))
        weights = {"m.lora_A.weight": rng.random((2, 4), np.float32), "m.lora_B.weight": scale * rng.random((4, 2), np.float32)}
        save_file(weights, out / "adapter/adapter_model.safetensors")
        (out / "adapter/adapter_config.json").write_text(json.dumps({"r": 2}))
        (out / "run.json").write_text(json.dumps({"seed": 1}))
    for step in (50, 100):
        checkpoint = folder / f"checkpoints/step-{step:06d}"
        checkpoint.mkdir(parents=True)
        (checkpoint / "adapter.safetensors").write_bytes(b"a" * 3000)
        (checkpoint / "optimizer.safetensors").write_bytes(b"o" * 200_000)
        (checkpoint / "complete.json").write_text("{}")
    if bound:
        write_json(folder / "bind.json", {"state": "bound", "adapter": adapter_digest(folder / "adapter")})
    return folder
