"""Depth 3: what a running server says. Base and adapter must differ from each other, and the adapter agree with a local reference.

A server that loads an adapter and ignores it answers 200 with the base model's text; only its log probabilities give it away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx

from penname.core.errors import BadInput, PennameError
from penname.serving.adapter import Adapter
from penname.serving.bind import Binding, BindState

TOP = 10  # log probabilities a position that are compared
TIMEOUT_SECONDS = 120.0
PROMPTS = (
    "[The boat comes in at dusk.]\n\n",
    "[She reads the letter again and burns it.]\n\nThe letter had lain on the table since morning, and",
    "[Two brothers quarrel over the farm; the elder leaves.]\n\nIt was the elder who spoke first. He had been standing at the window with "
    "his back to the room, looking at the field that they had both ploughed since they were boys, and when he turned",
)


@dataclass(frozen=True)
class ServerTarget:
    """A server, and how its base and its adapter are asked for.

    base_model, adapter_model: names for the ``model`` field. lora: for llama.cpp, which takes the adapter's scale in each request
    instead of a name; the base is then asked with scale 0.
    """

    url: str
    base_model: str
    adapter_model: str
    lora_id: int | None = None
    key: str = ""


def bind_server(target: ServerTarget, adapter: Adapter, carrier: Path, base_quantised: float | None = None) -> Binding:
    """Ask base and adapter for the next token's log probabilities after short and long prompts, and compare with torch.

    The tolerance is fitted to the server's own quantisation: what its base differs from the local base, three times over.
    """
    local_base, local_adapter = _local_logprobs(carrier, adapter)
    asked = []
    for i, prompt in enumerate(PROMPTS):
        ids = _ids(carrier, prompt)
        base = _ask(target, ids, adapted=False)
        adapted = _ask(target, ids, adapted=True)
        asked.append((i, base, adapted))
    reasons = []
    effects, noises, misses = [], [], []
    for i, base, adapted in asked:
        effects.append(_distance(base, adapted))
        noises.append(_distance(base, local_base[i]))
        misses.append(_distance(adapted, local_adapter[i]))
    local_effect = max(_distance(local_base[i], local_adapter[i]) for i in range(len(PROMPTS)))
    noise = base_quantised if base_quantised is not None else max(noises)
    if local_effect <= 3 * noise:
        reasons.append(
            f"the adapter moves log probabilities by {local_effect:.3f} and this server's base is off by {noise:.3f} already, "
            "so nothing can be shown"
        )
    same = [i for i, effect in enumerate(effects) if effect < 0.2 * _distance(local_base[i], local_adapter[i])]
    for i in same:
        reasons.append(f"prompt {i + 1}: the server's adapter says what its base says (differs by {effects[i]:.4f})")
    wrong = [i for i, miss in enumerate(misses) if i not in same and miss > 3 * noise + 0.05]
    for i in wrong:
        reasons.append(
            f"prompt {i + 1}: the server's adapter is off by {misses[i]:.3f} from base plus adapter, its base by {noises[i]:.3f}"
        )
    matched = len(PROMPTS) - len(same) - len(wrong)
    state: BindState = "bound" if not reasons else "partly bound" if matched and not same else "not bound"
    note = f"effect {max(effects):.3f}, base off by {max(noises):.3f}, adapter off by {max(misses):.3f} (mean over the top {TOP})"
    return Binding(3, target.url, state, matched, len(PROMPTS), tuple(reasons), note)


def _ids(carrier: Path, prompt: str) -> list[int]:
    from penname.carriers.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(carrier)
    return [*tokenizer.start_ids, *tokenizer.encode(prompt)]


def _local_logprobs(carrier: Path, adapter: Adapter) -> tuple[list[dict[int, float]], list[dict[int, float]]]:
    import torch

    from penname.carriers.loading import load_model
    from penname.serving.merge import adapted_logits

    model = load_model(carrier, "cpu", torch.float32)
    base, adapted = [], []
    for prompt in PROMPTS:
        ids = torch.tensor([_ids(carrier, prompt)])
        with torch.inference_mode():
            plain = model(input_ids=ids, use_cache=False).logits[0, -1].float().log_softmax(-1)
        moved = adapted_logits(model, adapter, ids)[0, -1].log_softmax(-1)
        base.append(dict(enumerate(plain.tolist())))
        adapted.append(dict(enumerate(moved.tolist())))
    return base, adapted


def _distance(one: dict[int, float], other: dict[int, float]) -> float:
    """Mean absolute difference of log probability over the likeliest tokens of ``one`` that both name."""
    top = sorted(one, key=lambda token: (-one[token], token))[:TOP]
    shared = [token for token in top if token in other]
    return sum(abs(one[token] - other[token]) for token in shared) / len(shared) if shared else float("inf")


def _ask(target: ServerTarget, ids: Sequence[int], adapted: bool) -> dict[int, float]:
    """token id -> log probability of the next token, the likeliest 100 or as many as the server gives."""
    headers = {"Authorization": f"Bearer {target.key}"} if target.key else {}
    base = target.url.rstrip("/").removesuffix("/v1")
    try:
        if target.lora_id is not None:
            body: dict[str, Any] = {
                "prompt": list(ids),
                "n_predict": 8,  # of which the first counts; the server holds back a token that is part of a character
                "temperature": 0,
                "n_probs": 100,
                "cache_prompt": False,
                "ignore_eos": True,  # an end as the first token would leave the answer without probabilities
                "lora": [{"id": target.lora_id, "scale": 1.0 if adapted else 0.0}],
            }
            answer = httpx.post(f"{base}/completion", json=body, headers=headers, timeout=TIMEOUT_SECONDS).raise_for_status().json()
            rows = answer["completion_probabilities"][0]["top_logprobs"]
            return {int(row["id"]): float(row["logprob"]) for row in rows}
        body = {
            "model": target.adapter_model if adapted else target.base_model,
            "prompt": list(ids),
            "max_tokens": 1,
            "temperature": 0,
            "logprobs": 20,
            "return_tokens_as_token_ids": True,
        }
        answer = httpx.post(f"{base}/v1/completions", json=body, headers=headers, timeout=TIMEOUT_SECONDS).raise_for_status().json()
        return _openai_logprobs(answer["choices"][0]["logprobs"])
    except httpx.HTTPStatusError as error:
        raise PennameError(f"the server at {base} refuses: {error.response.status_code} {error.response.text[:200]}") from None
    except (httpx.HTTPError, KeyError, IndexError, TypeError, ValueError) as error:
        raise PennameError(
            f"the server at {base} gives no log probabilities ({type(error).__name__}: {error}); binding cannot be shown there"
        ) from None


def _openai_logprobs(data: dict[str, Any]) -> dict[int, float]:
    if "content" in data:  # llama.cpp's OpenAI-compatible answer
        return {int(row["id"]): float(row["logprob"]) for row in data["content"][0]["top_logprobs"]}
    top = data["top_logprobs"][0]
    if not all(key.startswith("token_id:") for key in top):
        raise BadInput(
            "the server names tokens by their text, which does not tell them apart; start vLLM with --return-tokens-as-token-ids"
        )
    return {int(key.removeprefix("token_id:")): float(value) for key, value in top.items()}
