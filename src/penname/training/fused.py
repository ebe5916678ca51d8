"""Put the fused functions in place on a carrier with LoRA: same mathematics, fewer passes over memory, less kept for the backward pass.

The modules stay the model's and PEFT's own; only what their ``forward`` calls changes, so dense and hybrid carriers are served by the same
few functions: projections that share an input (fused_linear), the SwiGLU block (fused_mlp), RMSNorm with the residual sum (fused_norm),
rotary positions and attention (fused_attention). What is not known by name is left as it is.
"""

from __future__ import annotations

import ctypes
import platform
import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from peft.tuners.lora import Linear as LoraLinear

from penname.training.fused_attention import rotate_pair
from penname.training.fused_linear import Projection, project
from penname.training.fused_mlp import Mlp, Scratch, fused_mlp
from penname.training.fused_native import kernels
from penname.training.fused_norm import norm, sum_and_norm

# Norms by class, with what is added to the weight; layers that are x + mixer(norm(x)), then x + mlp(norm(x)).
_NORMS = {
    "LlamaRMSNorm": 0.0, "MistralRMSNorm": 0.0, "SmolLM3RMSNorm": 0.0, "Qwen2RMSNorm": 0.0, "Qwen3RMSNorm": 0.0, "Qwen3_5RMSNorm": 1.0,
}  # fmt: skip
_LAYERS = {
    "LlamaDecoderLayer", "MistralDecoderLayer", "SmolLM3DecoderLayer", "Qwen2DecoderLayer", "Qwen3DecoderLayer", "Qwen3_5DecoderLayer",
}  # fmt: skip
_SHARING = (("q_proj", "k_proj", "v_proj"), ("in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a"))
_ROTARY = "apply_rotary_pos_emb"


def fuse_model(model: torch.nn.Module) -> dict[str, str]:
    """Fuse a causal LM that carries LoRA; gives what was resolved, for the record. ``unfuse_model`` takes it back."""
    unfuse_model(model)
    scratch = Scratch()
    counts = {"norm": 0, "mlp": 0, "projections": 0, "layer": 0}
    for module in list(model.modules()):
        kind = type(module).__name__
        if kind in _NORMS:
            _install(module, partial(_norm_forward, module))
            counts["norm"] += 1
        if _is_swiglu(module):
            _install(module, partial(_mlp_forward, module, scratch))
            counts["mlp"] += 1
        counts["projections"] += _share_inputs(module)
    for module in model.modules():
        if isinstance(module, LoraLinear) and "forward" not in module.__dict__ and _is_plain(module):
            _install(module, partial(_linear_forward, module))
            counts["projections"] += 1
        if type(module).__name__ in _LAYERS and _is_known_layer(module):
            _install(module, partial(_layer_forward, module))
            counts["layer"] += 1
            _fuse_rotary(getattr(module, "self_attn", None))
    _settle_memory(next(model.parameters()).dtype)
    return {"fused": ", ".join(f"{count} {name}" for name, count in counts.items() if count), "kernels": "c" if kernels() else "torch"}


def unfuse_model(model: torch.nn.Module) -> None:
    """Give every module its own forward back."""
    for module in model.modules():
        if hasattr(module.__dict__.get("forward"), "penname_fused"):
            del module.forward


def _install(module: torch.nn.Module, forward: Callable[..., Any]) -> None:
    forward.penname_fused = True  # type: ignore[attr-defined]
    module.forward = forward


def _norm_forward(module: Any, hidden_states: torch.Tensor) -> torch.Tensor:
    return norm(hidden_states, *_norm_facts(module))


def _norm_facts(module: Any) -> tuple[torch.Tensor, float, float]:
    eps = module.variance_epsilon if hasattr(module, "variance_epsilon") else module.eps
    return module.weight, eps, _NORMS[type(module).__name__]


def _layer_forward(layer: Any, hidden_states: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    if args:  # transformers gives all but the first by name
        return type(layer).forward(layer, hidden_states, *args, **kwargs)
    residual, normed = sum_and_norm(hidden_states, None, *_norm_facts(layer.input_layernorm))
    if hasattr(layer, "linear_attn"):
        wanted = {key: value for key, value in kwargs.items() if key not in ("position_embeddings", "position_ids")}
        mixed = layer.linear_attn(hidden_states=normed, **wanted)
    else:
        kwargs["position_embeddings"][0].penname_fused = True  # so that ``rotary`` turns for this forward and for no other model's
        mixed, _ = layer.self_attn(hidden_states=normed, **kwargs)
    residual, normed = sum_and_norm(residual, mixed, *_norm_facts(layer.post_attention_layernorm))
    return residual + layer.mlp(normed)


def _mlp_forward(module: Any, scratch: Scratch, x: torch.Tensor) -> torch.Tensor:
    gate, up, down = (_projection(module.get_submodule(name)) for name in ("gate_proj", "up_proj", "down_proj"))
    if gate is None or up is None or down is None:
        return type(module).forward(module, x)
    return fused_mlp(x, Mlp(gate, up, down, scratch))


def _linear_forward(module: LoraLinear, x: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
    projection = _projection(module)
    if projection is None or args or kwargs:
        return type(module).forward(module, x, *args, **kwargs)
    return project(x, (projection,))[0]


class _SharedInput:
    """Layers that are called one after another with the same tensor: the first call makes all results, the others take theirs."""

    def __init__(self, modules: list[torch.nn.Module]) -> None:
        self._modules = modules
        self._input: torch.Tensor | None = None
        self._ready: dict[int, torch.Tensor] = {}

    def forward(self, index: int, x: torch.Tensor, *args: Any, **kwargs: Any) -> torch.Tensor:
        if x is not self._input or index not in self._ready:
            projections = [_projection(module) for module in self._modules]
            if args or kwargs or any(projection is None for projection in projections):
                module = self._modules[index]
                return type(module).forward(module, x, *args, **kwargs)
            self._input = x
            self._ready = dict(enumerate(project(x, tuple(projections))))  # type: ignore[arg-type]
        result = self._ready.pop(index)
        if not self._ready:
            self._input = None  # nothing of a row is held after it
        return result


def _share_inputs(parent: torch.nn.Module) -> int:
    for names in _SHARING:
        modules = [getattr(parent, name, None) for name in names]
        if not any(isinstance(module, LoraLinear) for module in modules):
            continue
        if all(_is_fusable(m) for m in modules):
            shared = _SharedInput(modules)  # type: ignore[arg-type]
            for index, module in enumerate(modules):
                _install(module, partial(shared.forward, index))  # type: ignore[arg-type]
            return len(modules)
    return 0


def _is_fusable(module: Any) -> bool:
    return type(module) is torch.nn.Linear or (isinstance(module, LoraLinear) and _is_plain(module))


def _projection(module: Any) -> Projection | None:
    """The parts of a linear layer, or None where PEFT's own forward must run (adapter off, merged, or of a special kind)."""
    if type(module) is torch.nn.Linear:
        return Projection(module.weight, module.bias)
    active = module.active_adapters
    if module.disable_adapters or module.merged or len(active) != 1 or active[0] not in module.lora_A or not _is_plain(module):
        return None
    base, lora_a, lora_b = module.base_layer, module.lora_A[active[0]].weight, module.lora_B[active[0]].weight
    return Projection(base.weight, base.bias, lora_a, lora_b, module.scaling[active[0]])


def _is_plain(module: LoraLinear) -> bool:
    plain_base = type(module.base_layer) is torch.nn.Linear and not module.lora_variant and not any(module.lora_bias.values())
    return plain_base and all(isinstance(dropout, torch.nn.Identity) for dropout in module.lora_dropout.values())


def _is_swiglu(module: torch.nn.Module) -> bool:
    parts = [getattr(module, name, None) for name in ("gate_proj", "up_proj", "down_proj")]
    if not type(module).__name__.endswith("MLP") or not any(isinstance(part, LoraLinear) for part in parts):
        return False
    linear = all(_is_fusable(part) for part in parts)
    return linear and type(getattr(module, "act_fn", None)).__name__ in ("SiLU", "SiLUActivation")


def _is_known_layer(layer: torch.nn.Module) -> bool:
    norms = [type(getattr(layer, name, None)).__name__ for name in ("input_layernorm", "post_attention_layernorm")]
    return (
        all(kind in _NORMS for kind in norms) and hasattr(layer, "mlp") and (hasattr(layer, "self_attn") or hasattr(layer, "linear_attn"))
    )


def _fuse_rotary(attention: torch.nn.Module | None) -> None:
    """The attention's own modelling module calls this function by name, so it is replaced there, for good; only fused layers notice."""
    home = sys.modules[type(attention).__module__] if attention is not None else None
    original = getattr(home, _ROTARY, None)
    if original is None or hasattr(original, "penname_fused"):
        return

    def rotary(q: torch.Tensor, k: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
        fused = hasattr(cos, "penname_fused") and q.requires_grad and torch.is_grad_enabled()
        if not fused or args or kwargs or q.shape[0] != 1:
            return original(q, k, cos, sin, *args, **kwargs)
        return rotate_pair(q, k, cos, sin)

    rotary.penname_fused = True  # type: ignore[attr-defined]
    setattr(home, _ROTARY, rotary)


def _settle_memory(dtype: torch.dtype) -> None:
    """Say how glibc treats the memory of large tensors that are freed.

    Kept in the heap, it need not be taken from the system again, which saves a twentieth of a step; but what lives on leaves holes, and the
    peak is a sixth higher. In float32, where a step needs most, large tensors therefore get mappings of their own.
    """
    if platform.system() != "Linux" or platform.libc_ver()[0] != "glibc":
        return
    trim_threshold, mmap_threshold, megabyte, largest = -1, -3, 2**20, 2**31 - 1  # malloc.h
    libc = ctypes.CDLL(None)
    libc.mallopt(mmap_threshold, megabyte if dtype == torch.float32 else largest)
    libc.mallopt(trim_threshold, megabyte if dtype == torch.float32 else largest)
