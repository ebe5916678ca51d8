"""Merging: W + scale x (alpha / r) x B A, checked against base plus adapter before anything counts as written."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from penname.core.errors import BadInput, ProofFailed
from penname.serving.adapter import Adapter, adapter_tensors

LOGIT_TOLERANCE = 0.05  # of the adapter's own effect on the logits; what bf16 rounding of the merged weights may cost


def merge_into(model: Any, adapter: Adapter, scale: float = 1.0) -> list[str]:
    """Add the adapter to the model's own weights, computed in fp32 and rounded once. Gives the names of the changed tensors."""
    if strangers := without_place(model, adapter):
        raise BadInput(
            f"{len(strangers)} of the adapter's {len(adapter.pairs)} matrices have no module of their name and shape in this carrier "
            f"({strangers[0]}); see: penname bind"
        )
    state = dict(model.named_parameters())
    changed = []
    for module, (a, b) in adapter_tensors(adapter).items():
        weight = state[f"{module}.weight"]
        delta = scale * adapter.scaling * (b @ a)
        weight.data = (weight.data.float() + delta.to(weight.device)).to(weight.dtype)
        changed.append(f"{module}.weight")
    return changed


def without_place(model: Any, adapter: Adapter) -> list[str]:
    """Modules of the adapter that the model does not have, or has in another shape."""
    shapes = {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
    return [
        module
        for module, pair in adapter.pairs.items()
        if shapes.get(f"{module}.weight") != (pair.b.shape[0], pair.a.shape[1]) or pair.a.shape[0] != pair.b.shape[1]
    ]


def adapted_logits(model: Any, adapter: Adapter, input_ids: torch.Tensor, scale: float = 1.0) -> torch.Tensor:
    """(B, T, V) logits of base plus adapter, by a hook on each target module: independent of PEFT and of merging."""
    hooks = []
    modules = dict(model.named_modules())
    for module, (a, b) in adapter_tensors(adapter).items():

        def add(_module: Any, args: Any, out: torch.Tensor, a: torch.Tensor = a, b: torch.Tensor = b) -> torch.Tensor:
            x = args[0].float()
            return out + (scale * adapter.scaling * (x @ a.T @ b.T)).to(out.dtype)

        hooks.append(modules[module].register_forward_hook(add))
    try:
        with torch.inference_mode():
            return model(input_ids=input_ids, use_cache=False).logits.float()
    finally:
        for hook in hooks:
            hook.remove()


def check_merged(base: Any, merged: Any, adapter: Adapter, input_ids: torch.Tensor, scale: float = 1.0) -> float:
    """The merged model's distance from base plus adapter, over the adapter's own effect. ProofFailed above the tolerance.

    At ``scale`` 0 the merged model must be the base itself.
    """
    with torch.inference_mode():
        plain = base(input_ids=input_ids, use_cache=False).logits.float()
        got = merged(input_ids=input_ids, use_cache=False).logits.float()
    want = adapted_logits(base, adapter, input_ids, scale)
    effect = float((want - plain).norm())
    error = float((got - want).norm())
    if effect == 0.0:
        if not error <= 1e-3 * float(plain.norm()):
            raise ProofFailed("the adapter changes nothing and the merged model differs from the base; nothing was written")
        return 0.0
    if not error <= LOGIT_TOLERANCE * effect:  # nor may it be no number
        raise ProofFailed(
            f"the merged model is not base plus adapter: its logits are off by {error / effect:.1%} of the adapter's own effect "
            f"(at most {LOGIT_TOLERANCE:.0%} is rounding); nothing was written"
        )
    return error / effect


def probe_ids(folder: Path, count: int = 2, length: int = 48) -> torch.Tensor:
    """(count, length) token ids of plain prose of our own, for comparisons of logits."""
    from penname.carriers.tokenizer import load_tokenizer

    text = (
        "The boat came in under the wall with the last of the light, and nobody on the quay spoke to the man who stood up in it. "
        "He had been expected in the spring; it was now nearly winter, and the letter that should have told them was in his own pocket. "
    ) * 4
    ids = load_tokenizer(folder).encode(text)
    return torch.tensor([ids[i * length : (i + 1) * length] for i in range(count)])
