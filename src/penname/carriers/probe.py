"""What a carrier is made of, from its safetensors headers and configuration alone: no weight is read, torch is not needed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penname.carriers.facts import checked_config, is_recurrent, layer_types, read_config, text_config
from penname.carriers.headers import INDEX, TensorInfo, check_index, index_files, merge_headers, parse_header, read_checkpoint
from penname.carriers.regions import OUTSIDE, REGIONS, Leaf, Region, linear_leaves, region_of
from penname.core.errors import BadInput

# Text-only configurations whose family also has a multimodal class, under which servers hold the model.
_HAS_FULL_CLASS = ("qwen3_5_text", "qwen3_5_moe_text")


@dataclass(frozen=True)
class Part:
    """One region: its parameters, tensors and ``nn.Linear`` leaves."""

    parameters: int
    tensors: int
    linear_leaves: int


@dataclass(frozen=True)
class Probe:
    """``parameters`` is the text model with tied embeddings once; ``body`` is that without the embeddings."""

    name: str
    model_type: str
    parameters: int
    body: int
    parts: Mapping[Region, Part]
    tied: bool
    layer_types: tuple[str, ...]
    dtypes: Mapping[str, int]  # type -> parameters
    leaves: tuple[Leaf, ...]
    multimodal: bool
    unloaded: tuple[str, ...]  # tensors of the file that the causal class does not load
    fused_experts: tuple[str, ...]

    @property
    def hybrid(self) -> bool:
        """Whether some layers are recurrent (linear attention)."""
        return any(map(is_recurrent, self.layer_types))

    def share(self, region: Region) -> float:
        """A text region's share of the text model's parameters."""
        return self.parts[region].parameters / self.parameters if region in self.parts else 0.0


def probe_folder(folder: Path) -> Probe:
    """Probe a carrier folder. BadInput for a checkpoint or a configuration that cannot be one."""
    return probe_tensors(folder.resolve().name, read_config(folder), read_checkpoint(folder))


def probe_remote(repo: str, revision: str | None = None) -> Probe:
    """Probe a repository of the registry by range requests: its configuration and its headers, not its weights."""
    from penname.carriers.hub import find_repo, range_reader, read_bytes, sentences

    found = find_repo(repo, revision)
    sizes = {file.name: file.size for file in found.files}
    with sentences(f"probing {repo}"):
        config = checked_config(_json(read_bytes(found, "config.json"), "config.json"), f"config.json of {repo}")
        weight_map: dict[str, str] | None = None
        if INDEX in sizes:
            weight_map = index_files(_json(read_bytes(found, INDEX), INDEX), INDEX)
        names = sorted(set(weight_map.values())) if weight_map else sorted(name for name in sizes if name.endswith(".safetensors"))
        tensors = merge_headers({name: parse_header(range_reader(found, name), sizes.get(name, 0), name) for name in names})
    if weight_map:
        check_index(weight_map, tensors)
    return probe_tensors(repo, config, tensors)


def _json(data: bytes, name: str) -> Any:
    try:
        return json.loads(data)
    except ValueError:
        raise BadInput(f"{name} in the registry is not JSON; choose another revision") from None


def probe_tensors(name: str, config: Mapping[str, Any], tensors: Mapping[str, TensorInfo]) -> Probe:
    """The probe of a configuration and the tensors that belong to it."""
    text = text_config(config)
    says_tied = bool(config.get("tie_word_embeddings") or text.get("tie_word_embeddings"))
    has_head = any(key.endswith("lm_head.weight") and region_of(key) not in OUTSIDE for key in tensors)
    tied = says_tied or not has_head
    multimodal = "text_config" in config or config.get("model_type") in _HAS_FULL_CLASS
    leaves = linear_leaves(tensors, multimodal)
    parameters: Counter[Region] = Counter()
    count: Counter[Region] = Counter()
    dtypes: Counter[str] = Counter()
    for key, info in tensors.items():
        if tied and key.endswith("lm_head.weight"):
            continue  # a second copy of the embeddings: the class ties them
        region = region_of(key)
        parameters[region] += info.numel
        count[region] += 1
        dtypes[info.dtype] += info.numel
    linear = Counter(leaf.region for leaf in leaves)
    parts = {region: Part(parameters[region], count[region], linear[region]) for region in REGIONS if count[region]}
    total = sum(part.parameters for region, part in parts.items() if region not in OUTSIDE)
    return Probe(
        name=name,
        model_type=str(config["model_type"]),
        parameters=total,
        body=total - parameters["embeddings"],
        parts=parts,
        tied=tied,
        layer_types=tuple(layer_types(text)),
        dtypes=dict(dtypes),
        leaves=leaves,
        multimodal=multimodal,
        unloaded=tuple(sorted(key for key in tensors if region_of(key) in OUTSIDE)),
        fused_experts=tuple(sorted(key for key, info in tensors.items() if ".experts." in key and len(info.shape) == 3)),
    )
