"""Which leaves a ``target_modules`` setting adapts, how much of the text model that covers, and what LoRA adds."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from penname.carriers.probe import Probe
from penname.carriers.regions import OUTSIDE, Leaf, Region
from penname.core.errors import BadInput

ATTENTION_MLP = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
LINEAR_ATTENTION = ("in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a", "out_proj")
PRESETS = {"attention+mlp": ATTENTION_MLP, "attention+mlp+linear": (*ATTENTION_MLP, *LINEAR_ATTENTION)}
ALL_LINEAR = "all-linear"


@dataclass(frozen=True)
class Targets:
    """What a setting adapts. ``share``: parameters of the adapted leaves over those of the text model."""

    setting: str
    leaves: tuple[Leaf, ...]
    share: float
    lora_rank: int
    lora_parameters: int


def resolve_targets(probe: Probe, setting: str | Sequence[str], lora_rank: int = 32) -> Targets:
    """The leaves that ``setting`` (a preset, leaf names, or "all-linear") adapts in the text model; ``lm_head`` never is.

    Raises BadInput for "all-linear" where the checkpoint holds a vision tower or an MTP head, for a name that no leaf has.
    """
    text = [leaf for leaf in probe.leaves if leaf.region not in OUTSIDE and leaf.name != "lm_head"]
    if setting == ALL_LINEAR:
        refuse_all_linear(probe)
        chosen = text
    else:
        names = PRESETS.get(setting, tuple(setting.split(","))) if isinstance(setting, str) else tuple(setting)
        known = {leaf.name for leaf in text}
        unknown = [name for name in names if name not in known]
        if unknown and setting not in PRESETS:
            raise BadInput(f"no nn.Linear of {probe.name}'s text model is called {unknown[0]}; there are {', '.join(sorted(known))}")
        chosen = [leaf for leaf in text if leaf.name in names]
    covered = sum(leaf.in_features * leaf.out_features for leaf in chosen)
    added = sum(leaf.lora_parameters(lora_rank) for leaf in chosen)
    label = setting if isinstance(setting, str) else ",".join(setting)
    return Targets(label, tuple(chosen), covered / probe.parameters, lora_rank, added)


def refuse_all_linear(probe: Probe) -> None:
    """Raise BadInput with the module names where "all-linear" would reach outside the text model."""
    outside: dict[Region, list[str]] = {}
    for leaf in probe.leaves:
        if leaf.region in OUTSIDE:
            outside.setdefault(leaf.region, []).append(leaf.key.removesuffix(".weight"))
    if outside:
        parts = [f"the {region} ({', '.join(patterns(names))})" for region, names in outside.items()]
        raise BadInput(
            f'"all-linear" would train {" and ".join(parts)} of {probe.name} on text; take attention+mlp or attention+mlp+linear'
        )


def patterns(paths: Sequence[str]) -> list[str]:
    """Module paths with their layer numbers as ``*``, each once, in order of appearance."""
    return list(dict.fromkeys(re.sub(r"\.\d+(?=\.|$)", ".*", path) for path in paths))
