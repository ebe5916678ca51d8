"""Does the adapter bind where it is served? By names, by weights, and (server.py) by what the server says.

Every depth ends in bound, not bound or partly bound, with counts and names; zero tolerance for a key without a module.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from penname.core.errors import BadInput, first_line
from penname.serving.adapter import Adapter, adapter_tensors
from penname.serving.classes import ServingClass, half_fused, vllm_slot

BindState = Literal["bound", "partly bound", "not bound"]


@dataclass(frozen=True)
class Binding:
    """What one depth found. ``reasons`` are sentences; empty where it is bound."""

    depth: int
    where: str
    state: BindState
    matched: int
    total: int
    reasons: tuple[str, ...] = ()
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        """For bind.json."""
        return {**asdict(self), "reasons": list(self.reasons)}


def bind_names(adapter: Adapter, serving: ServingClass) -> Binding:
    """Depth 1: every pair of the adapter finds a module of the class, with shapes that fit, and every key is of a pair."""
    reasons = [f"{key} is no matrix of a LoRA pair" for key in adapter.strange]
    matched = 0
    for module, pair in adapter.pairs.items():
        shape = serving.modules.get(module)
        if shape is None:
            reasons.append(f"{module} has no module of that name in {serving.name}{_near(module, serving)}")
        elif pair.a.shape[0] != pair.b.shape[1]:
            reasons.append(f"{module} has a lora_A of rank {pair.a.shape[0]} and a lora_B of rank {pair.b.shape[1]}, which do not multiply")
        elif (pair.b.shape[0], pair.a.shape[1]) != shape:
            reasons.append(
                f"{module} is {pair.b.shape[0]} x {pair.a.shape[1]} and the class has {shape[0]} x {shape[1]}: another carrier's"
            )
        else:
            matched += 1
    halves = half_fused(adapter.pairs) if serving.name == "vllm" else []
    reasons += [f"{path} is fused and only one half of it is adapted; vLLM takes both or neither" for path in halves]
    lost = set(halves)
    matched -= sum(vllm_slot(module) in lost for module in adapter.pairs) if lost else 0
    expected = _expected(adapter, serving)
    missing = sorted(expected - set(adapter.pairs))
    reasons += [f"{path} should be adapted and the file has nothing for it" for path in missing]
    return Binding(
        1, serving.name, state_of(matched, len(adapter.pairs), reasons), matched, len(adapter.pairs), tuple(reasons), serving.note
    )


def _expected(adapter: Adapter, serving: ServingClass) -> set[str]:
    """The modules that the adapter's own configuration says it adapts, as the class has them."""
    leaves = adapter.config.get("target_modules") or ()
    if isinstance(leaves, str):
        return set()
    layers = {path for path in serving.modules if ".layers." in path and not path.startswith(("model.visual", "visual", "mtp"))}
    return {path for path in layers if path.rpartition(".")[2] in leaves and not _is_vision(path)}


def _is_vision(path: str) -> bool:
    return any(part in path for part in ("visual.", "vision", "merger"))


def _near(module: str, serving: ServingClass) -> str:
    tail = ".".join(module.split(".")[-4:])
    near = next((path for path in serving.modules if path.endswith(tail)), None)
    return f" (it has {near})" if near else ""


def state_of(matched: int, total: int, reasons: Sequence[str]) -> BindState:
    """Bound only where everything matched and nothing speaks against it; partly where something matched."""
    if not reasons and matched == total:
        return "bound"
    return "partly bound" if matched else "not bound"


def bind_weights(adapter: Adapter, folder: Path, multimodal: bool = False) -> Binding:
    """Depth 2: load the carrier in the serving class, merge, and see that target tensors changed by scaling x BA and no other did.

    PEFT does the loading, as a server on transformers would; a key that it drops shows as a tensor that did not change.
    """
    import torch
    from peft import PeftModel

    from penname.carriers.loading import load_model

    where = "transformers-multimodal" if multimodal else "transformers"
    model = load_model(folder, "cpu", torch.float32, multimodal=multimodal)
    before = {name: tensor.detach().clone() for name, tensor in model.state_dict().items()}
    try:
        merged = PeftModel.from_pretrained(model, str(adapter.folder), is_trainable=False).merge_and_unload()
    except (ValueError, RuntimeError, KeyError) as error:
        return Binding(2, where, "not bound", 0, len(adapter.pairs), (f"PEFT does not load it: {first_line(error)}",))
    after = merged.state_dict()
    tensors = adapter_tensors(adapter)
    reasons, matched = [], 0
    for module, (a, b) in tensors.items():
        key = f"{module}.weight"
        if key not in before:
            reasons.append(f"{module} has no tensor in {where}")
            continue
        delta = adapter.scaling * (b @ a)
        change = after[key] - before[key]
        if not torch.any(change != 0):
            reasons.append(f"{module} did not change" + ("; its lora_B is all zeros" if not torch.any(b != 0) else ""))
        elif not torch.allclose(change, delta, rtol=1e-3, atol=1e-6 + 1e-3 * float(delta.abs().max())):
            reasons.append(f"{module} changed by something else than its own B times A")
        else:
            matched += 1
    targets = {f"{module}.weight" for module in tensors}
    others = [name for name in before if name in after and name not in targets and not torch.equal(before[name], after[name])]
    reasons += [f"{name} changed and is no target" for name in others]
    return Binding(2, where, state_of(matched, len(tensors), reasons), matched, len(tensors), tuple(reasons))


def overall(bindings: Sequence[Binding]) -> BindState:
    """The state of all depths together: bound only where each is."""
    if not bindings:
        raise BadInput("nothing was checked")
    states = {binding.state for binding in bindings}
    return "bound" if states == {"bound"} else "not bound" if "not bound" in states else "partly bound"
