"""Which part of a model a tensor belongs to, and which modules are ``nn.Linear`` leaves, by the tensor's name and shape."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from penname.carriers.headers import TensorInfo

Region = Literal["MLP", "experts", "embeddings", "full attention", "linear attention", "norms", "other", "vision tower", "MTP head"]
REGIONS: tuple[Region, ...] = (
    "MLP",
    "experts",
    "embeddings",
    "full attention",
    "linear attention",
    "norms",
    "other",
    "vision tower",
    "MTP head",
)
OUTSIDE: tuple[Region, ...] = ("vision tower", "MTP head")  # not part of the text model

# First match wins. The names are those of transformers' model classes and of the checkpoints they read.
_RULES: tuple[tuple[Region, re.Pattern[str]], ...] = (
    ("MTP head", re.compile(r"(^|\.)(mtp|nextn|mtp_layers)\.")),
    ("vision tower", re.compile(r"(^|\.)(visual|(vision|image|audio)_\w+|multi_modal_projector|mm_projector|embed_(vision|audio))\.")),
    ("embeddings", re.compile(r"(^|\.)(embed_tokens\w*|wte|wpe|word_embeddings|lm_head|embed_out|embed_in)\.")),
    ("norms", re.compile(r"norm\w*\.(weight|bias)$|(^|\.)ln_\w+\.(weight|bias)$")),
    ("experts", re.compile(r"\.(experts|shared_experts?|shared_expert_gate|router|block_sparse_moe|mlp\.gate)\.|\.mlp\.gate$")),
    ("linear attention", re.compile(r"\.(linear_attn|mamba|mixer|ssm|delta_net|short_conv|conv|recurrent\w*)\.")),
    ("full attention", re.compile(r"\.(self_attn|attn|attention|self_attention)\.")),
    ("MLP", re.compile(r"\.(mlp|feed_forward|ffn|dense_h_to_4h|dense_4h_to_h)\.")),
)  # fmt: skip
_LAYERS = re.compile(r"^(?:model\.|transformer\.)?(?:language_model\.)?(?:model\.)?(layers\.\d+\..+)$")
# Experts are one fused parameter in the loaded class, whatever the file holds, and routers are bare parameters.
_NOT_LINEAR = re.compile(r"\.experts\.|\.mlp\.gate\.weight$|\.router\.weight$|(embed|conv)\w*\.weight$|pos_embed")


@dataclass(frozen=True)
class Leaf:
    """One ``nn.Linear`` module: its path in the causal class and in the full multimodal class (None: not there)."""

    key: str  # of its weight in the checkpoint
    region: Region
    in_features: int
    out_features: int
    causal_path: str | None
    full_path: str | None

    @property
    def name(self) -> str:
        """The leaf name that target_modules speaks of."""
        return self.key.removesuffix(".weight").rsplit(".", 1)[-1]

    def lora_parameters(self, lora_rank: int) -> int:
        """Parameters that LoRA of this rank adds here: A is (r, in), B is (out, r)."""
        return lora_rank * (self.in_features + self.out_features)


def region_of(key: str) -> Region:
    """The region of the tensor ``key``."""
    for region, pattern in _RULES:
        if pattern.search(key):
            return region
    return "other"


def linear_leaves(tensors: Mapping[str, TensorInfo], multimodal: bool) -> tuple[Leaf, ...]:
    """The ``nn.Linear`` leaves of a checkpoint. A tied ``lm_head`` has no tensor, but is a module all the same.

    ``multimodal``: whether the carrier has a full class beside the causal one, which nests the text model one level deeper.
    """
    leaves = []
    for key, info in tensors.items():
        if key.endswith(".weight") and len(info.shape) == 2 and _is_linear(key):
            region = region_of(key)
            causal, full = module_paths(key.removesuffix(".weight"), region, multimodal)
            leaves.append(Leaf(key, region, info.shape[1], info.shape[0], causal, full))
    embeddings = next((info for key, info in tensors.items() if key.endswith("embed_tokens.weight")), None)
    if embeddings is not None and not any(leaf.name == "lm_head" for leaf in leaves):
        vocab, width = embeddings.shape
        leaves.append(Leaf("lm_head.weight", "embeddings", width, vocab, "lm_head", "lm_head" if multimodal else None))
    return tuple(leaves)


def _is_linear(key: str) -> bool:
    if key.endswith("lm_head.weight"):
        return True
    return region_of(key) not in ("embeddings", "norms", "other") and not _NOT_LINEAR.search(key)


def module_paths(module: str, region: Region, multimodal: bool) -> tuple[str | None, str | None]:
    """(path in the causal class, path in the full class) of a checkpoint's module path; None where a class lacks it.

    transformers: ``Qwen3_5ForCausalLM`` holds the text model as ``model``, ``Qwen3_5ForConditionalGeneration`` as
    ``model.language_model``; the vision tower is only in the latter, the MTP head in neither.
    """
    if region == "MTP head":
        return None, None
    if region == "vision tower":
        return None, module
    if module.endswith("lm_head"):
        return "lm_head", "lm_head" if multimodal else None
    inside = _LAYERS.match(module)
    if inside is None:
        return module, module if multimodal else None
    return f"model.{inside[1]}", f"model.language_model.{inside[1]}" if multimodal else None
