"""Depth 3: what a running server says. Base and adapter must differ from each other, and the adapter agree with a local reference.

A server that loads an adapter and ignores it answers 200 with the base model's text; only its log probabilities give it away.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from pathlib import Path
from typing import Any

import torch

from penname.carriers.loading import load_model
from penname.carriers.tokenizer import load_tokenizer
from penname.serving.adapter import Adapter
from penname.serving.bind import Binding, state_of
from penname.serving.client import Server, next_logprobs
from penname.serving.merge import adapted_logits, without_place

SAME_SHARE = 0.2  # an adapter that moves the server by less than this of what it moves torch is not there
NOISE_FACTOR = 2.0  # of what the server's own base is off by: its quantisation, measured and not guessed
NOISE_MAX = 0.3  # above this an adapter that is half there could pass
SLACK = 0.1
MERGED_MAX = 0.5  # a server without a base must be nearer to base plus adapter than to the base, by half
PROMPTS = (
    "[The boat comes in at dusk.]\n\n",
    "[She reads the letter again and burns it.]\n\nThe letter had lain on the table since morning, and",
    "[Two brothers quarrel over the farm; the elder leaves.]\n\nIt was the elder who spoke first. He had been standing at the window with "
    "his back to the room, looking at the field that they had both ploughed since they were boys, and when he turned",
)

SAME = "the server's adapter says what its base says"

Logprobs = dict[int, float]


@dataclass(frozen=True)
class Asked:
    """One prompt: what server and torch say of the next token, with and without the adapter."""

    local_base: Logprobs
    local_adapter: Logprobs
    adapter: Logprobs
    base: Logprobs | None = None  # None where the server has no base

    @property
    def off(self) -> float:
        """What the server's adapter is off by, over what the adapter moves in torch at the same tokens: 0 is agreement."""
        return self._over_effect(self.adapter, self.local_adapter)

    @property
    def noise(self) -> float:
        """The same of the server's base: what its quantisation costs."""
        return self._over_effect(self.base, self.local_base) if self.base else 0.0

    @property
    def moved(self) -> float:
        """What the adapter moves on the server, over what it moves in torch, at the tokens that base and adapter both name."""
        shared = [token for token in self.base or {} if token in self.adapter]
        if not self.base or len(shared) < 0.8 * len(self.base):
            return float("inf")  # other tokens are likely than before
        effect = sum(abs(self.local_adapter[token] - self.local_base[token]) for token in shared)
        return sum(abs(self.adapter[token] - self.base[token]) for token in shared) / effect if effect else 0.0

    def _over_effect(self, said: Logprobs, local: Logprobs) -> float:
        error = hypot(*(said[token] - local[token] for token in said))
        effect = hypot(*(self.local_adapter[token] - self.local_base[token] for token in said))
        return error / effect if effect else float("inf")


def bind_server(server: Server, adapter: Adapter, carrier: Path) -> Binding:
    """Ask for the next token's log probabilities after short and long prompts, and compare with torch.

    With a base on the server the tolerance is fitted to the server's own quantisation: twice what its base is off by. A server of one
    merged model must be nearer to base plus adapter than to the base, by half at least.
    """
    model = load_model(carrier, "cpu", torch.float32)
    if strangers := without_place(model, adapter):
        return _no_reference(server, adapter, carrier, strangers)
    asked = [_ask(server, adapter, model, ids) for ids in _prompts(carrier)]
    if all(one.local_base == one.local_adapter for one in asked):
        return Binding(3, server.url, "not bound", 0, len(asked), ("the adapter changes nothing in torch either; its lora_B is all zeros",))
    noise = max(one.noise for one in asked)
    if noise > NOISE_MAX:
        hidden = (
            f"this server's base is off by {noise:.0%} of what the adapter moves, so nothing can be shown; "
            "serve a base of the same carrier that is quantised less"
        )
        return Binding(3, server.url, "not bound", 0, len(asked), (hidden,))
    faults = [_fault(one) for one in asked]
    reasons = [f"prompt {number}: {fault}" for number, fault in enumerate(faults, 1) if fault]
    base = f", its base by {noise:.1%}" if server.has_base else ""
    note = f"log probabilities: adapter off by {max(one.off for one in asked):.1%} of what it moves{base}"
    matched = faults.count("")
    return Binding(3, server.url, state_of(matched, len(asked), reasons), matched, len(asked), tuple(reasons), note)


def _fault(one: Asked) -> str:
    """What is wrong with the server's answer to one prompt; "" where nothing is."""
    if one.base is not None and one.moved < SAME_SHARE:
        return SAME
    most = MERGED_MAX if one.base is None else SLACK + NOISE_FACTOR * one.noise
    if one.off <= most:
        return ""
    return f"the server's adapter is off from base plus adapter by {one.off:.0%} of what the adapter moves (at most {most:.0%})"


def _prompts(carrier: Path) -> list[list[int]]:
    tokenizer = load_tokenizer(carrier)
    return [[*tokenizer.start_ids, *tokenizer.encode(prompt)] for prompt in PROMPTS]


def _ask(server: Server, adapter: Adapter, model: Any, ids: list[int]) -> Asked:
    """One prompt, first of torch and then of the server."""
    fed = torch.tensor([ids])
    with torch.inference_mode():
        plain = model(input_ids=fed, use_cache=False).logits[0, -1].float().log_softmax(-1)
    moved = adapted_logits(model, adapter, fed)[0, -1].log_softmax(-1)
    base = next_logprobs(server, ids, adapted=False) if server.has_base else None
    local_base, local_adapter = (dict(enumerate(row.tolist())) for row in (plain, moved))
    return Asked(local_base, local_adapter, next_logprobs(server, ids, adapted=True), base)


def _no_reference(server: Server, adapter: Adapter, carrier: Path, strangers: list[str]) -> Binding:
    """An adapter with matrices that have no place in the carrier: whatever the server makes of it, it is not that adapter."""
    reasons = [
        f"{len(strangers)} of {len(adapter.pairs)} matrices have no module of their name and shape in the carrier ({strangers[0]}), "
        "so nothing says what the server should say"
    ]
    if server.has_base:
        same = [_near(next_logprobs(server, ids, False), next_logprobs(server, ids, True)) for ids in _prompts(carrier)]
        reasons += [f"prompt {number}: {SAME}" for number, is_same in enumerate(same, 1) if is_same]
    return Binding(3, server.url, "not bound", 0, len(PROMPTS), tuple(reasons))


def _near(one: Logprobs, other: Logprobs) -> bool:
    """Whether two answers are one model's: no likely token differs by more than servers differ from one call to the next."""
    shared = [token for token in one if token in other]
    return len(shared) > len(one) // 2 and all(abs(one[token] - other[token]) < 0.05 for token in shared)
