"""``export nvfp4a16``: the merged model with 4-bit weights, made by llmcompressor in an environment of its own, and read back here.

llmcompressor wants other versions of transformers than Penname, so its Python is named by ``serving.quantise_python`` and runs one
small script, ``nvfp4_recipe.py``. What it wrote is dequantised with numpy and compared with base plus adapter, tensor by tensor.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from penname.carriers.headers import read_checkpoint
from penname.core.errors import BadInput, PennameError, ProofFailed, last_line
from penname.core.files import read_json
from penname.core.progress import say
from penname.serving import nvfp4_recipe
from penname.serving.adapter import PICKLES, Adapter, adapter_tensors
from penname.serving.bind import Binding
from penname.serving.changes import bind_changes
from penname.serving.voices import ServedRun

LLMCOMPRESSOR = "llmcompressor==0.14.0.1"
GROUP = 16
# The sixteen 4-bit floats (two bits of exponent, one of mantissa), by their bits; the top bit is the sign.
E2M1 = np.array([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0], np.float32)
E2M1 = np.concatenate([E2M1, -E2M1])


def export_nvfp4(run: ServedRun, out: Path, scale: float, python: str) -> Binding:
    """Merge, quantise by the Python of another environment, read back. BadInput where that environment is not there."""
    from penname.serving.export import TOKENIZER_FILES, export_merged

    interpreter = quantising_python(python)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".merged-") as scratch:
        merged = Path(scratch) / "merged"
        export_merged(run, merged, scale)
        _quantise(interpreter, merged, out)
        for name in TOKENIZER_FILES:
            if (merged / name).is_file():
                shutil.copyfile(merged / name, out / name)
        return bind_nvfp4(run.adapter, run.carrier, merged, out, scale)


def quantising_python(python: str) -> Path:
    """The interpreter that has llmcompressor. BadInput with the commands that make it where it is not named or lacks it."""
    make = f"python -m venv nvfp4 && nvfp4/bin/pip install {LLMCOMPRESSOR}, then --set serving.quantise_python=nvfp4/bin/python"
    if not python:
        raise BadInput(f"export nvfp4a16 needs llmcompressor in an environment of its own, and serving.quantise_python names none: {make}")
    path = Path(python).expanduser()
    if not path.is_file():
        raise BadInput(f"serving.quantise_python is {python}, and there is no such file; make one with: {make}")
    probe = [str(path), "-c", "import importlib.metadata as m; print(m.version('llmcompressor'))"]
    try:
        found = subprocess.run(probe, capture_output=True, text=True, timeout=120, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise BadInput(f"serving.quantise_python ({python}) does not run: {error}; make one with: {make}") from None
    if found.returncode:
        raise BadInput(f"{python} has no llmcompressor; install it there with: {python} -m pip install {LLMCOMPRESSOR}")
    return path


def _quantise(python: Path, merged: Path, out: Path) -> None:
    say(f"quantising to NVFP4 with llmcompressor by {python}")
    # -I: no PYTHONPATH and no user packages, so that it is that environment and nothing else that answers.
    command = [str(python), "-I", str(Path(nvfp4_recipe.__file__)), str(merged), str(out)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode:
        said = last_line(done.stderr, "it said nothing").strip()[:300]
        raise PennameError(f"llmcompressor did not finish (exit {done.returncode}): {said}; nothing was written")
    if not (out / "nvfp4.json").is_file():
        raise ProofFailed("llmcompressor ended well and left no nvfp4.json with its versions; nothing was written")
    if pickled := next((path.name for path in sorted(out.rglob("*")) if path.suffix in PICKLES), None):
        raise ProofFailed(f"llmcompressor wrote a pickle ({pickled}); nothing was written")


def bind_nvfp4(adapter: Adapter, carrier: Path, merged: Path, out: Path, scale: float) -> Binding:
    """Depth 2 of a quantised model: its targets moved from the carrier's weights by the adapter, the others are the merged ones."""
    config = read_json(out / "config.json").get("quantization_config") or {}
    if config.get("format") != "nvfp4-pack-quantized":
        raise ProofFailed(
            f"the quantised model says that its format is {config.get('format')!r}, not nvfp4-pack-quantized; nothing was written"
        )
    written = read_checkpoint(out)
    deltas = {f"{m}.weight": (scale * adapter.scaling * (b @ a)).numpy() for m, (a, b) in adapter_tensors(adapter).items()}
    base, whole, packed = _Tensors(carrier), _Tensors(merged), _Tensors(out)

    def changes() -> Iterator[tuple[str, np.ndarray, np.ndarray, np.ndarray]]:
        for name, delta in sorted(deltas.items()):
            if name in written or f"{name}_packed" in written:
                yield name, base.read(name), packed.weight(name), delta

    weights = {name.removesuffix("_packed") for name in written if name.endswith((".weight", "_packed"))}
    others = [name for name in sorted(weights - set(deltas)) if not _same(whole, packed, name)]
    quantised = sum(name.endswith("_packed") for name in written)
    note = f"{quantised} matrices in 4 bits; untested: no server has run it yet (penname bind --server URL does)"
    return bind_changes("NVFP4A16, read back", changes(), len(deltas), others, note)


def _same(whole: _Tensors, packed: _Tensors, name: str) -> bool:
    """Whether an untargeted weight is the merged model's: exactly, or as near as 4 bits come."""
    tied = "model.embed_tokens.weight"  # llmcompressor unties lm_head before it looks at the layers
    want = whole.read(name if name in whole.files else tied)
    got = packed.weight(name)
    if want.shape != got.shape:
        return False
    if name in packed.files:
        return bool(np.array_equal(want, got))
    return float(np.linalg.norm(got - want)) < 0.2 * float(np.linalg.norm(want))


class _Tensors:
    """Tensors of a checkpoint, in fp32, one at a time."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = {name: info.file for name, info in read_checkpoint(folder).items()}

    def raw(self, name: str) -> Any:
        """A tensor as torch reads it."""
        from safetensors import safe_open

        with safe_open(self.folder / self.files[name], framework="pt") as file:
            return file.get_tensor(name)

    def read(self, name: str) -> np.ndarray:
        """A tensor in fp32."""
        values: np.ndarray = self.raw(name).float().numpy()
        return values

    def weight(self, name: str) -> np.ndarray:
        """A weight, dequantised where it is packed: value x scale of its group / scale of its tensor."""
        if name in self.files:
            return self.read(name)
        stem = name.removesuffix("weight")
        return dequantise(
            self.raw(f"{name}_packed").numpy(), self.read(f"{stem}weight_scale"), float(self.read(f"{stem}weight_global_scale").ravel()[0])
        )


def dequantise(packed: np.ndarray, scales: np.ndarray, global_scale: float) -> np.ndarray:
    """(out, in/2) bytes, two values each with the low half first, and (out, in/16) scales -> (out, in) in fp32."""
    values = E2M1[np.stack([packed & 0x0F, packed >> 4], axis=-1)].reshape(packed.shape[0], -1)
    grouped: np.ndarray = values.reshape(packed.shape[0], -1, GROUP) * (scales / global_scale)[..., None]
    return grouped.reshape(values.shape)
