"""A running server and what is asked of it: log probabilities for ``bind``, passages for ``write``. Prompts go as token ids.

llama.cpp's own ``/completion`` takes the strength of its LoRA adapters in each request. Everything else is spoken to as OpenAI's
``/v1/completions`` with vLLM's additions (0.27, vllm/entrypoints/openai/completion/protocol.py): an adapter is a model of its own
name, ``return_tokens_as_token_ids`` names tokens by id.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

import httpx

from penname.core.config import SamplingConfig
from penname.core.errors import BadInput, PennameError

TIMEOUT_SECONDS = 120.0
VLLM_LOGPROBS_MAX = 20  # vLLM's --max-logprobs where nobody raised it
LLAMA_CPP_LOGPROBS = 100


@dataclass(frozen=True)
class Server:
    """A running server, and how its base and its adapter are asked for.

    ``base_model`` is empty, or ``lora_id`` None, where it serves one merged model and has no base to compare with.
    """

    url: str  # without /v1
    llama_cpp: bool
    base_model: str = ""
    adapter_model: str = ""
    lora_id: int | None = None
    window: int = 0  # tokens of a prompt and its passage; 0 where the server does not say

    @property
    def has_base(self) -> bool:
        """Whether base and adapter can both be asked."""
        return self.lora_id is not None if self.llama_cpp else bool(self.base_model) and self.base_model != self.adapter_model


def open_server(url: str, adapter_model: str = "", base_model: str = "") -> Server:
    """Find out what runs at ``url`` and what it calls base and adapter; names that are given are looked for.

    ``adapter_model`` is a model's name, or for llama.cpp the number or the file name of a LoRA adapter. BadInput with what there is
    where a name is not found, or where there is more than one to choose from.
    """
    root = url.rstrip("/").removesuffix("/v1")
    if not root.startswith(("http://", "https://")):
        raise BadInput(f'"{url}" is no address of a server; write one like http://localhost:8000')
    props = _get(root, "/props", may_miss=True)
    if isinstance(props, dict) and "default_generation_settings" in props:
        window = int(props["default_generation_settings"].get("n_ctx", 0))
        return _llama_cpp_adapter(Server(root, True, window=window), adapter_model)
    models = _get(root, "/v1/models")
    rows = models.get("data") if isinstance(models, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) and "id" in row for row in rows):
        raise PennameError(f"{root} does not answer as an OpenAI-compatible server does; give its address without a path")
    return _openai_names(Server(root, False), rows, adapter_model, base_model)


def _llama_cpp_adapter(server: Server, wanted: str) -> Server:
    rows = _get(server.url, "/lora-adapters", may_miss=True) or []
    names = {str(row["id"]): PurePosixPath(str(row.get("path", ""))).stem for row in rows}
    shown = ", ".join(f"{number} ({stem})" for number, stem in names.items()) or "none"
    found = [number for number, stem in names.items() if not wanted or wanted in (number, stem, f"{stem}.gguf")]
    if wanted and not found:
        raise BadInput(f'{server.url} has no LoRA adapter "{wanted}"; it has {shown}. Start it with: llama-server -m BASE.gguf --lora FILE')
    if len(found) > 1:
        raise BadInput(f"{server.url} has more than one LoRA adapter; name one with --adapter-model: {shown}")
    return replace(server, lora_id=int(found[0]), adapter_model=names[found[0]]) if found else server


def _openai_names(server: Server, rows: Sequence[dict[str, Any]], adapter_model: str, base_model: str) -> Server:
    parents = {str(row["id"]): str(row.get("parent") or "") for row in rows}  # vLLM gives a LoRA adapter its base as parent
    shown = ", ".join(parents) or "none"
    lost = next((name for name in (adapter_model, base_model) if name and name not in parents), None)
    if lost:
        raise BadInput(f'{server.url} has no model "{lost}"; it has {shown}')
    adapters = [name for name, parent in parents.items() if parent]
    adapter = adapter_model or (adapters[0] if len(adapters) == 1 else next(iter(parents)) if len(parents) == 1 else "")
    if not adapter:
        raise BadInput(f"{server.url} has more than one model; name the adapter with --adapter-model: {shown}")
    base = base_model or (parents[adapter] if parents[adapter] in parents else "")
    window = next((int(row.get("max_model_len") or 0) for row in rows if row["id"] in (base or adapter,)), 0)
    return replace(server, adapter_model=adapter, base_model=base, window=window)


def next_logprobs(server: Server, ids: Sequence[int], adapted: bool) -> dict[int, float]:
    """token id -> log probability of the next token: the likeliest ones, as many as the server gives."""
    if server.llama_cpp:
        # The probabilities are those before sampling. The token is forced to be one of the prompt's: where it is an end, or only part
        # of a character, the server leaves out its probabilities, and what comes first in the answer is a later token's.
        forced = {"n_predict": 1, "logit_bias": [[ids[-1], 1000.0]], "n_probs": LLAMA_CPP_LOGPROBS}
        body = {**_llama_cpp_body(server, ids, adapted, 1.0), **forced}
        with _sentences(server.url, "no log probabilities, so binding cannot be shown there"):
            answer = _post(f"{server.url}/completion", {**body, "temperature": 0})
            return {int(row["id"]): float(row["logprob"]) for row in answer["completion_probabilities"][0]["top_logprobs"]}
    body = {
        "model": server.adapter_model if adapted else server.base_model,
        "prompt": list(ids),
        "max_tokens": 1,
        "temperature": 0,
        "logprobs": VLLM_LOGPROBS_MAX,
        "return_tokens_as_token_ids": True,
    }
    with _sentences(server.url, "no log probabilities, so binding cannot be shown there"):
        top = _post(f"{server.url}/v1/completions", body)["choices"][0]["logprobs"]["top_logprobs"][0]
        if not all(key.startswith("token_id:") for key in top):
            raise BadInput(
                f"{server.url} names tokens by their text, which does not tell them apart; "
                "binding needs a server that answers return_tokens_as_token_ids, as vLLM does, or llama.cpp's own"
            )
        return {int(key.removeprefix("token_id:")): float(value) for key, value in top.items()}


def stream_text(
    server: Server, ids: Sequence[int], settings: SamplingConfig, seed: int, stop_id: int, *, adapted: bool = True, scale: float = 1.0
) -> Iterator[str]:
    """What the server writes after ``ids``, bit by bit, up to ``stop_id``. Its sampling is ours: temperature, then nucleus, no more."""
    sampling = {"temperature": settings.temperature, "top_p": settings.top_p, "top_k": 0, "min_p": 0.0, "seed": seed, "stream": True}
    if server.llama_cpp:
        own = {"n_predict": settings.max_tokens, "samplers": ["temperature", "top_p"], "repeat_penalty": 1.0}
        path, body = "/completion", {**_llama_cpp_body(server, ids, adapted, scale), **sampling, **own}
    else:
        model = server.adapter_model if adapted else server.base_model
        own = {"max_tokens": settings.max_tokens, "stop_token_ids": [stop_id], "repetition_penalty": 1.0}
        path, body = "/v1/completions", {"model": model, "prompt": list(ids), **sampling, **own}
    with (
        _sentences(server.url, "no passage"),
        httpx.stream("POST", server.url + path, json=body, headers=_headers(), timeout=TIMEOUT_SECONDS) as answer,
    ):
        if answer.is_error:
            answer.read()
        answer.raise_for_status()
        for line in answer.iter_lines():
            if not line.startswith("data:") or line.removeprefix("data:").strip() == "[DONE]":
                continue
            data = json.loads(line.removeprefix("data:"))
            if "error" in data:
                raise PennameError(f"the server stopped with an error: {str(data['error'])[:200]}")
            if stop_id in (data.get("tokens") or ()):  # of llama.cpp, where the GGUF names another end than the carrier does
                return
            yield str(data["content"] if server.llama_cpp else "".join(row["text"] for row in data["choices"]))


def _llama_cpp_body(server: Server, ids: Sequence[int], adapted: bool, scale: float) -> dict[str, Any]:
    # No cached prompt: its keys and values would be those of another adapter's strength.
    body: dict[str, Any] = {"prompt": list(ids), "cache_prompt": False}
    if server.lora_id is not None:
        body["lora"] = [{"id": server.lora_id, "scale": scale if adapted else 0.0}]
    return body


def _headers() -> dict[str, str]:
    key = os.environ.get("OPENAI_API_KEY", "")
    return {"Authorization": f"Bearer {key}"} if key else {}


def _get(url: str, path: str, may_miss: bool = False) -> Any:
    with _sentences(url, "nothing that Penname can read"):
        answer = httpx.get(url + path, headers=_headers(), timeout=TIMEOUT_SECONDS)
        return None if may_miss and answer.is_error else answer.raise_for_status().json()


def _post(url: str, body: dict[str, Any]) -> Any:
    return httpx.post(url, json=body, headers=_headers(), timeout=TIMEOUT_SECONDS).raise_for_status().json()


@contextmanager
def _sentences(url: str, gives: str) -> Iterator[None]:
    """Turn what a server answers wrongly, or does not answer, into one sentence."""
    try:
        yield
    except httpx.HTTPStatusError as error:
        raise PennameError(f"the server at {url} refuses: {error.response.status_code} {_said(error.response)}") from None
    except httpx.TransportError as error:
        raise PennameError(
            f"the server at {url} cannot be reached ({type(error).__name__}); is it running, and is the address right?"
        ) from None
    except (httpx.HTTPError, KeyError, IndexError, TypeError, ValueError) as error:
        raise PennameError(f"the server at {url} gives {gives} ({type(error).__name__}: {error})") from None


def _said(response: httpx.Response) -> str:
    """The message of an error answer, at most 200 characters."""
    try:
        data = response.json()
        error = data.get("error", data)
        return str(error.get("message", error))[:200]
    except (ValueError, AttributeError):
        return response.text[:200]
