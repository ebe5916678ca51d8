"""What an organisation publishes that could be a carrier, and what was left out and why."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from penname.carriers.facts import judge_kind, layout_of, text_config
from penname.carriers.hub import RemoteRepo, api, read_bytes, sentences
from penname.core.errors import BadInput
from penname.core.progress import track

_QUANTISED = re.compile(r"(awq|gptq|gguf|fp8|nvfp4|mxfp4|int[48]|[248][-_]?bits?|bnb|mlx|onnx|openvino|w\d+a\d+|quant)", re.I)
_SIDECAR = re.compile(r"(\bsaes?\b|[-_]sae|transcoder|crosscoder|scope|lens|interp|steering|eagle|draft|speculat|lora|adapter)", re.I)
_OTHER_TASK = re.compile(r"(embedding|rerank|reward|guard|\bprm\b|-prm|-rm\b|classifier|tokenizer)", re.I)
_SIDECAR_TAGS = {"sparse-autoencoder", "sae", "interpretability", "mechanistic-interpretability", "adapter"}
_TASKS = (None, "text-generation", "image-text-to-text")
_EXPAND = ["cardData", "config", "createdAt", "gated", "lastModified", "library_name", "pipeline_tag", "safetensors", "sha", "tags"]
_REQUESTS_AT_ONCE = 8


@dataclass(frozen=True)
class SurveyRow:
    """One model that could be a carrier."""

    repo: str
    kind: str  # "base" or "instruct"
    evidence: tuple[str, ...]
    layout: str  # "dense" or "hybrid"
    parameters: int | None
    date: str  # of its last change, YYYY-MM-DD
    origin: str  # "official", or "derived from ORG/NAME"
    gated: bool


def survey(org: str) -> tuple[list[SurveyRow], list[tuple[str, str]]]:
    """(carriers, left out): the models of ``org``, smallest first, and (repository, reason) of those that are no carriers.

    Raises NoAnswer where the registry cannot be asked, BadInput where the organisation has no models.
    """
    with sentences(f"listing {org}"):
        models = list(api().list_models(author=org, expand=_EXPAND))
        if not models:
            raise BadInput(f"the registry knows no models of {org}; check the name")
        left_out, candidates = [], []
        for model in models:
            reason = reason_to_leave_out(model.id, model.tags or [], model.pipeline_tag, model.library_name, model.safetensors is not None)
            if reason:
                left_out.append((model.id, reason))
            else:
                candidates.append(model)
        with ThreadPoolExecutor(_REQUESTS_AT_ONCE) as pool:
            results = list(track(pool.map(_row, candidates), f"reading configurations of {org}", len(candidates)))
    rows = [row for row in results if isinstance(row, SurveyRow)]
    left_out += [row for row in results if not isinstance(row, SurveyRow)]
    return sorted(rows, key=lambda row: (row.parameters or 0, row.repo)), sorted(left_out)


def reason_to_leave_out(repo: str, tags: list[str], task: str | None, library: str | None, has_safetensors: bool) -> str | None:
    """Why a repository is no carrier by its name and tags; None where it may be one."""
    name = repo.rsplit("/", 1)[-1]
    if _QUANTISED.search(name) or any(tag.startswith("base_model:quantized:") for tag in tags) or library in ("gguf", "onnx", "mlx"):
        return "a quantised copy"
    if library in ("peft", "saelens") or _SIDECAR_TAGS & set(tags) or _SIDECAR.search(name):
        return "a sidecar of another model"
    if task not in _TASKS or _OTHER_TASK.search(name):
        return f"made for another task ({task or name})"
    if not has_safetensors:
        return "no safetensors"
    return None


def _row(model: Any) -> SurveyRow | tuple[str, str]:
    repo = RemoteRepo(model.id, model.sha or "main", (), bool(model.gated))
    config = _read(repo, "config.json")
    if config is None:
        return model.id, "its config.json cannot be read" + (" (gated)" if model.gated else "")
    if config.get("model_type") not in causal_model_types():
        return model.id, f"no causal language model ({config.get('model_type', 'no model_type')})"
    text = text_config(config)
    if "num_hidden_layers" not in text:
        return model.id, "its config.json describes no layers"
    hinted = (model.config or {}).get("tokenizer_config", {}) if isinstance(model.config, dict) else {}
    kind, evidence = judge_kind(model.id, bool(hinted.get("chat_template")), _read(repo, "generation_config.json") or {})
    layout = layout_of(text)
    total = getattr(model.safetensors, "total", None)
    date = model.last_modified or model.created_at
    return SurveyRow(model.id, kind, evidence, layout, total, date.strftime("%Y-%m-%d") if date else "", _origin(model), bool(model.gated))


def _read(repo: RemoteRepo, name: str) -> dict[str, Any] | None:
    from huggingface_hub import errors

    try:
        value = json.loads(read_bytes(repo, name))
    except (errors.HfHubHTTPError, ValueError):
        return None
    return value if isinstance(value, dict) else None


def _origin(model: Any) -> str:
    card: Mapping[str, Any] = model.card_data.to_dict() if model.card_data is not None else {}
    base = card.get("base_model")
    base = base[0] if isinstance(base, list) and base else base
    if not base:
        base = next((tag.rsplit(":", 1)[-1] for tag in model.tags or [] if tag.startswith("base_model:") and "/" in tag), None)
    if not isinstance(base, str) or base.split("/")[0] == model.id.split("/")[0]:
        return "official"
    return f"derived from {base}"


def causal_model_types() -> frozenset[str]:
    """The model types that transformers can load as a causal language model."""
    from transformers.models.auto.modeling_auto import MODEL_FOR_CAUSAL_LM_MAPPING_NAMES

    return frozenset(MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
