"""The carrier of a run: loaded, made ready for packed rows, and identified by the hashes of its files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from penname.carriers.facts import CarrierFacts, carrier_facts
from penname.carriers.kernels import cpp_compiler
from penname.carriers.loading import load_model, resolve_device, resolve_dtype, set_threads
from penname.carriers.store import rehash_carrier, resolve_carrier
from penname.core.config import Config
from penname.core.errors import BadInput, StaleInput
from penname.core.stage import read_manifest
from penname.training.attention import resolve_attention
from penname.training.recurrence import isolate_recurrence


@dataclass(frozen=True)
class LoadedCarrier:
    """A carrier that is ready to train, and what was resolved for it."""

    model: Any
    folder: Path
    facts: CarrierFacts
    device: torch.device
    dtype: torch.dtype
    threads: int
    resolved: dict[str, str]  # attention, and for a hybrid convolution and scan


def load_carrier(config: Config) -> LoadedCarrier:
    """Load the configured carrier with packed attention and isolated recurrence. StaleInput where its files have changed."""
    folder = resolve_carrier(config.carrier.name)
    if read_manifest(folder) is not None and (damaged := rehash_carrier(folder)):
        raise StaleInput(f"{damaged[0]}; run: penname carrier stage {folder.name}")
    device = resolve_device(config.carrier.device)
    dtype = resolve_dtype(config.carrier.dtype, device)
    threads = set_threads(config.carrier.threads)
    model = load_model(folder, device, dtype)
    resolved = prepare_model(model, config.training.attention)
    if config.training.gradient_checkpointing:
        model.activation_checkpointing_enable({"use_reentrant": False})
    return LoadedCarrier(model, folder, carrier_facts(folder), device, dtype, threads, resolved)


def prepare_model(model: Any, attention: str = "auto") -> dict[str, str]:
    """Make a causal LM take packed rows; gives what was resolved. Also what the step bench and the tests call."""
    return {"attention": resolve_attention(model, attention), **isolate_recurrence(model)}


def compile_layers(model: Any) -> dict[str, str]:
    """``torch.compile`` for the MLP and the norms of each layer; gives what was resolved. BadInput where there is no C++ compiler.

    What sees document boundaries (attention, convolution, scan) stays out: every row has others, and each would compile anew.
    """
    if next(model.parameters()).device.type == "cpu" and cpp_compiler() is None:
        raise BadInput("training.compile needs a C++ compiler, and there is none here; install g++, or set training.compile = false")
    parts = [part for name, part in model.named_modules() if name.rsplit(".", 1)[-1] == "mlp" or name.endswith("layernorm")]
    for part in parts:
        part.compile(dynamic=True)
    return {"compiled": f"{len(parts)} modules"}
