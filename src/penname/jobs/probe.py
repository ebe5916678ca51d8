"""Asking a live server for one completion, before and after a purge: what it serves must not have come from what went."""

from __future__ import annotations

import os

import httpx

from penname.core.errors import PennameError


def complete_once(url: str, timeout_seconds: float = 60.0) -> str:
    """One short completion from an OpenAI-compatible server. PennameError, with the reason, where it gives none.

    The key comes from OPENAI_API_KEY, where that is set.
    """
    base = url.rstrip("/").removesuffix("/v1")
    key = os.environ.get("OPENAI_API_KEY", "")
    try:
        with httpx.Client(timeout=timeout_seconds, headers={"Authorization": f"Bearer {key}"} if key else {}) as client:
            models = client.get(f"{base}/v1/models").raise_for_status().json()["data"]
            body = {"model": models[0]["id"], "prompt": "It was", "max_tokens": 4, "temperature": 0}
            answer = client.post(f"{base}/v1/completions", json=body).raise_for_status().json()
        text = answer["choices"][0]["text"]
    except (httpx.HTTPError, ValueError, KeyError, IndexError, TypeError) as error:
        raise PennameError(f"the server at {base} gives no completion: {error or type(error).__name__}") from None
    if not isinstance(text, str) or not text:
        raise PennameError(f"the server at {base} answers with an empty completion")
    return text
