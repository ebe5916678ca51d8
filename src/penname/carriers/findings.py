"""What a probe means for training and serving, in plain sentences."""

from __future__ import annotations

from collections.abc import Mapping

from penname.carriers.facts import is_recurrent
from penname.carriers.kernels import HYBRID_KERNELS, MEANING
from penname.carriers.probe import Probe
from penname.carriers.regions import OUTSIDE
from penname.carriers.targets import patterns, resolve_targets

_HALF_OR_FULL = ("BF16", "F16", "F32")


def findings(probe: Probe, kernels: Mapping[str, str | None], target_modules: str = "attention+mlp") -> list[str]:
    """Sentences a person should read before a day is spent on this carrier. ``kernels`` as ``kernel_versions`` gives them."""
    return [
        *_outside(probe),
        *_experts(probe),
        *_serving(probe),
        *_hybrid(probe, kernels),
        *_coverage(probe, target_modules),
        *_weights(probe),
    ]


def _outside(probe: Probe) -> list[str]:
    found = []
    for region in OUTSIDE:
        if region not in probe.parts:
            continue
        part = probe.parts[region]
        found.append(
            f"The checkpoint holds {'a' if region == 'vision tower' else 'an'} {region} of {part.parameters:,} parameters with "
            f'{part.linear_leaves} Linear modules: "all-linear" would train them on text, and is refused.'
        )
    if probe.unloaded:
        groups = patterns(
            sorted({".".join(key.split(".")[:2]) if key.startswith("model.") else key.split(".")[0] for key in probe.unloaded})
        )
        named = ", ".join(f"{group}.*" for group in groups)
        found.append(f"{len(probe.unloaded)} tensors lie in the file that the causal class does not load ({named}).")
    return found


def _experts(probe: Probe) -> list[str]:
    if "experts" not in probe.parts:
        return []
    share = probe.share("experts")
    if probe.fused_experts:
        how = f"fused into one tensor a layer ({patterns(probe.fused_experts)[0]})"
    else:
        how = "single in the file and fused into one parameter when loaded"
    return [f"The experts ({share:.0%} of the parameters) are {how}: they are no nn.Linear, and LoRA does not reach them."]


def _serving(probe: Probe) -> list[str]:
    if not probe.multimodal:
        return []
    leaf = next((leaf for leaf in probe.leaves if leaf.causal_path and leaf.full_path and leaf.causal_path != leaf.full_path), None)
    if leaf is None:
        return []
    return [
        f"An adapter trained on the causal class names {leaf.causal_path}, and the multimodal class, which servers load, has it as "
        f"{leaf.full_path}: served as it is, it binds nothing, silently. See penname bind, and penname export for other keys."
    ]


def _hybrid(probe: Probe, kernels: Mapping[str, str | None]) -> list[str]:
    if not probe.hybrid:
        return []
    linear = sum(map(is_recurrent, probe.layer_types))
    found = [
        f"Hybrid: {linear} of {len(probe.layer_types)} layers are recurrent. Documents packed into one row would recur into each other, "
        "so these layers run document by document."
    ]
    absent = [package for package in HYBRID_KERNELS if not kernels.get(package)]
    if absent:
        slow = "; ".join(f"without {package} {MEANING[package]}" for package in absent)
        found.append(
            f"This machine lacks kernels for the recurrent layers ({slow}): the speed of its size is not to be had here; bench it."
        )
    return found


def _coverage(probe: Probe, target_modules: str) -> list[str]:
    targets = resolve_targets(probe, target_modules)
    if not targets.leaves:
        return [f"{target_modules} adapts no module of this carrier: its layers are named otherwise; name them in training.target_modules."]
    found = []
    if probe.hybrid and target_modules == "attention+mlp":
        wider = resolve_targets(probe, "attention+mlp+linear")
        found.append(
            f"attention+mlp covers {targets.share:.0%} of the text model, and with the linear-attention projections (attention+mlp+linear) "
            f"{wider.share:.0%}."
        )
    return found


def _weights(probe: Probe) -> list[str]:
    found = []
    odd = sorted(set(probe.dtypes) - set(_HALF_OR_FULL))
    if odd:
        found.append(f"Some weights are {', '.join(odd)}: a quantised checkpoint is no carrier to train; take the original.")
    if not probe.tied:
        head = probe.parts["embeddings"].parameters if "embeddings" in probe.parts else 0
        found.append(f"Embeddings and head are not tied: together {head / 1e9:.2f} B parameters, which training holds but does not adapt.")
    return found
