"""An adapter folder, read without torch: its configuration, and the name, shape and type of every matrix. No pickle is opened."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penname.carriers.headers import TensorInfo, read_header
from penname.core.errors import BadInput
from penname.core.files import read_json
from penname.core.hashing import ADAPTER_CONFIG, ADAPTER_WEIGHTS, adapter_digest

PICKLES = (".bin", ".pt", ".pth", ".pkl", ".ckpt")
PREFIX = "base_model.model."  # what PEFT puts before a module's path
_KEY = re.compile(r"^(?P<module>.+)\.lora_(?P<side>[AB])\.weight$")


@dataclass(frozen=True)
class Pair:
    """The two matrices of one module: A is (r, in), B is (out, r)."""

    module: str  # the module's path as the adapter names it, without PEFT's prefix
    a: TensorInfo
    b: TensorInfo


@dataclass(frozen=True)
class Adapter:
    """A LoRA adapter on disk."""

    folder: Path
    config: dict[str, Any]
    pairs: dict[str, Pair]  # by module path
    strange: tuple[str, ...]  # keys that are no LoRA matrices of a pair

    @property
    def lora_rank(self) -> int:
        """r."""
        return int(self.config["r"])

    @property
    def scaling(self) -> float:
        """What BA is multiplied by: alpha / r, or alpha / sqrt(r) with rsLoRA."""
        alpha = float(self.config["lora_alpha"])
        return alpha / self.lora_rank**0.5 if self.config.get("use_rslora") else alpha / self.lora_rank

    @property
    def digest(self) -> str:
        """One hash over weights and configuration, as the proofs name it."""
        return adapter_digest(self.folder)


def read_adapter(folder: Path) -> Adapter:
    """The adapter in ``folder``. BadInput: it is a pickle, is cut short, has no configuration, or is no LoRA adapter."""
    if pickled := next((path.name for path in sorted(folder.glob("*")) if path.suffix in PICKLES), None):
        raise BadInput(
            f"{folder} holds a pickle ({pickled}), which could run code where a server loads it, so the folder is refused; "
            "save the adapter as safetensors, and delete the pickle"
        )
    if not (folder / ADAPTER_WEIGHTS).is_file():
        raise BadInput(f"{folder} is no adapter: it has no {ADAPTER_WEIGHTS}; name a run with --run, or an adapter's folder")
    config = read_json(folder / ADAPTER_CONFIG)
    if not isinstance(config, dict) or config.get("peft_type") != "LORA" or not isinstance(config.get("r"), int):
        raise BadInput(f"{folder / ADAPTER_CONFIG} is no LoRA configuration of PEFT")
    sides: dict[str, dict[str, TensorInfo]] = {}
    strange = []
    for key, info in read_header(folder / ADAPTER_WEIGHTS).items():
        match = _KEY.match(key.removeprefix(PREFIX))
        if match is None or len(info.shape) != 2:
            strange.append(key)
        else:
            sides.setdefault(match["module"], {})[match["side"]] = info
    strange += [f"{module} (only lora_{next(iter(found))})" for module, found in sides.items() if len(found) == 1]
    pairs = {module: Pair(module, found["A"], found["B"]) for module, found in sorted(sides.items()) if len(found) == 2}
    if not pairs:
        raise BadInput(f"{folder / ADAPTER_WEIGHTS} holds no LoRA matrices")
    return Adapter(folder, config, pairs, tuple(sorted(strange)))


def adapter_tensors(adapter: Adapter) -> dict[str, tuple[Any, Any]]:
    """module path -> (A, B) as torch tensors, in fp32."""
    from safetensors.torch import load_file

    tensors = load_file(adapter.folder / ADAPTER_WEIGHTS)
    found = {}
    for module in adapter.pairs:
        keys = [next(k for k in (f"{PREFIX}{module}.lora_{side}.weight", f"{module}.lora_{side}.weight") if k in tensors) for side in "AB"]
        found[module] = (tensors[keys[0]].float(), tensors[keys[1]].float())
    return found


def write_adapter(folder: Path, config: dict[str, Any], tensors: dict[str, tuple[Any, Any]], dtype: Any = None) -> None:
    """Write an adapter folder as PEFT reads it: module path -> (A, B)."""
    from safetensors.torch import save_file

    folder.mkdir(parents=True, exist_ok=True)
    state = {}
    for module, (a, b) in sorted(tensors.items()):
        for side, tensor in (("A", a), ("B", b)):
            state[f"{PREFIX}{module}.lora_{side}.weight"] = (tensor.to(dtype) if dtype is not None else tensor).contiguous()
    save_file(state, folder / ADAPTER_WEIGHTS, metadata={"format": "pt"})
    (folder / ADAPTER_CONFIG).write_text(json.dumps(config, indent=2, sort_keys=True) + "\n", encoding="utf-8")
