"""Hybrid carriers: convolution and scan of the linear-attention layers, document by document.

The torch functions in transformers run a packed row as one sequence, so documents leak into each other; this is what other
trainers get. Here both are replaced, in the carrier's own modelling module, by ones that keep to ``documents``: by cutting at the
boundaries, or, where a kernel that takes boundaries is installed and the tensors are on CUDA, by handing them to it. Without
``documents`` they are the originals, so sampling and other users of the module see no change.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import wraps
from importlib.util import find_spec
from itertools import accumulate
from types import ModuleType
from typing import Any

import torch

from penname.core.errors import PennameError

CONVOLUTION, SCAN = "causal_conv1d_fn", "torch_chunk_gated_delta_rule"
_KERNELS = {CONVOLUTION: "causal_conv1d", SCAN: "fla"}  # packages that transformers takes the functions from, where they are there
_PLAIN = {"full_attention", "sliding_attention"}


def isolate_recurrence(model: Any) -> dict[str, str]:
    """Make convolution and scan keep to their documents; gives what was resolved, {} for a dense carrier.

    PennameError where the carrier has a recurrence of a kind that Penname cannot cut.
    """
    kinds = set(getattr(model.config.get_text_config(), "layer_types", None) or ())
    if not kinds - _PLAIN:
        return {}
    modules = [module for name, module in model.named_modules() if name.endswith(".linear_attn")]
    home = sys.modules[type(modules[0]).__module__] if modules else None
    unknown = kinds - _PLAIN - {"linear_attention"}
    if unknown or home is None or not all(hasattr(home, name) for name in (CONVOLUTION, SCAN)):
        raise PennameError(
            f"{type(model).__name__} has layers of kind {', '.join(sorted(unknown or kinds - _PLAIN))}, which Penname cannot keep to one "
            "document; take a dense carrier or a Qwen3.5 one"
        )
    logging.getLogger("transformers.integrations.hub_kernels").setLevel(logging.ERROR)  # what it warns of is recorded below
    device = next(model.parameters()).device.type
    return {"convolution": _install(home, CONVOLUTION, _convolution, device), "scan": _install(home, SCAN, _scan, device)}


def takes_boundaries(name: str, device_type: str) -> bool:
    """Whether ``name`` runs in a kernel that takes document boundaries there."""
    return device_type == "cuda" and find_spec(_KERNELS[name]) is not None


def _install(home: ModuleType, name: str, wrapper: Callable[[Callable[..., Any]], Callable[..., Any]], device_type: str) -> str:
    function = getattr(home, name)
    if not hasattr(function, "penname_original"):
        isolated = wrapper(function)
        isolated.penname_original = function  # type: ignore[attr-defined]
        setattr(home, name, isolated)
    return f"{_KERNELS[name]}, with boundaries" if takes_boundaries(name, device_type) else "torch, document by document"


def _convolution(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def convolution(hidden_states: torch.Tensor, *args: Any, documents: tuple[int, ...] = (), **kwargs: Any) -> torch.Tensor:
        if len(documents) < 2:
            return function(hidden_states, *args, **kwargs)
        if takes_boundaries(CONVOLUTION, hidden_states.device.type):
            owner = torch.repeat_interleave(torch.arange(len(documents), dtype=torch.int32), torch.tensor(documents))
            return function(hidden_states, *args, seq_idx=owner[None].to(hidden_states.device), **kwargs)
        return torch.cat([function(part, *args, **kwargs) for part in hidden_states.split(documents, dim=-1)], dim=-1)

    return convolution


def _scan(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def scan(*tensors: torch.Tensor, documents: tuple[int, ...] = (), **kwargs: Any) -> tuple[torch.Tensor, Any]:
        """``tensors`` are query, key and value; g and beta come by name. All have the sequence in dimension 1."""
        if len(documents) < 2:
            return function(*tensors, **kwargs)
        if takes_boundaries(SCAN, tensors[0].device.type):
            ends = torch.tensor([0, *accumulate(documents)], dtype=torch.int64, device=tensors[0].device)
            return function(*tensors, **{**kwargs, "cu_seqlens": ends})
        g, beta = kwargs.pop("g"), kwargs.pop("beta")
        outputs = []
        for end, length in zip(accumulate(documents), documents, strict=True):
            part = slice(end - length, end)
            outputs.append(function(*(tensor[:, part] for tensor in tensors), g=g[:, part], beta=beta[:, part], **kwargs)[0])
        return torch.cat(outputs, dim=1), None

    return scan
