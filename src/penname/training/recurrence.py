"""Hybrid carriers: convolution and scan of the linear-attention layers, document by document.

The torch fallbacks in transformers run a packed row as one sequence, so documents leak into each other; this is what other
trainers get. Here both functions are replaced, in the carrier's own modelling module, by ones that cut at the boundaries.
Without ``documents`` they are the originals, so sampling and other users of the module see no change.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable
from functools import wraps
from itertools import accumulate
from types import ModuleType
from typing import Any

import torch

from penname.core.errors import PennameError

CONVOLUTION, SCAN = "causal_conv1d_fn", "torch_chunk_gated_delta_rule"


def recurrent_modules(model: Any) -> list[torch.nn.Module]:
    """The linear-attention modules of a hybrid carrier; none for a dense one."""
    kinds = set(getattr(model.config.get_text_config(), "layer_types", None) or ())
    if not kinds - {"full_attention", "sliding_attention"}:
        return []
    return [module for name, module in model.named_modules() if name.endswith(".linear_attn")]


def isolate_recurrence(model: Any) -> dict[str, str]:
    """Make convolution and scan keep to their documents; gives what was resolved, {} for a dense carrier.

    PennameError where the carrier has a recurrence of a kind that Penname cannot cut.
    """
    kinds = set(getattr(model.config.get_text_config(), "layer_types", None) or ())
    unknown = kinds - {"full_attention", "linear_attention"}
    modules = recurrent_modules(model)
    if not modules and not unknown:
        return {}
    home = sys.modules[type(modules[0]).__module__] if modules else None
    if unknown or home is None or not all(hasattr(home, name) for name in (CONVOLUTION, SCAN)):
        raise PennameError(
            f"{type(model).__name__} has layers of kind {', '.join(sorted(unknown or kinds))}, which Penname cannot keep to one document; "
            "take a dense carrier or a Qwen3.5 one"
        )
    logging.getLogger("transformers.integrations.hub_kernels").setLevel(logging.ERROR)  # what it warns of is recorded below
    return {
        "convolution": _install(home, CONVOLUTION, _by_document_last_dim),
        "scan": _install(home, SCAN, _by_document_scan),
    }


def _install(home: ModuleType, name: str, wrapper: Callable[[Callable[..., Any]], Callable[..., Any]]) -> str:
    function = getattr(home, name)
    if not hasattr(function, "penname_resolved"):
        isolated = wrapper(function)
        isolated.penname_resolved = f"{function.__module__.split('.')[0]}, document by document"  # type: ignore[attr-defined]
        setattr(home, name, isolated)
    return str(getattr(home, name).penname_resolved)


def _by_document_last_dim(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def convolution(hidden_states: torch.Tensor, *args: Any, documents: tuple[int, ...] = (), **kwargs: Any) -> torch.Tensor:
        if len(documents) < 2:
            return function(hidden_states, *args, **kwargs)
        return torch.cat([function(part, *args, **kwargs) for part in hidden_states.split(documents, dim=-1)], dim=-1)

    return convolution


def _by_document_scan(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def scan(
        query: torch.Tensor,
        key: torch.Tensor,
        value: torch.Tensor,
        g: torch.Tensor,
        beta: torch.Tensor,
        documents: tuple[int, ...] = (),
        **kwargs: Any,
    ) -> tuple[torch.Tensor, Any]:
        if len(documents) < 2:
            return function(query, key, value, g=g, beta=beta, **kwargs)
        outputs = []
        for start, end in zip(accumulate((0, *documents[:-1])), accumulate(documents), strict=True):
            part = [tensor[:, start:end] for tensor in (query, key, value)]
            outputs.append(function(*part, g=g[:, start:end], beta=beta[:, start:end], **kwargs)[0])
        return torch.cat(outputs, dim=1), None

    return scan
