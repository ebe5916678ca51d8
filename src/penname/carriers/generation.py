"""Batched sampling with a KV cache: training samples, judging and ``write`` all draw their passages here.

What row ``i`` draws depends on (seed, i) only: each position has its own uniform number from the counter RNG, turned into
a token by the inverse of the cumulative distribution. Batches differ in rounding alone, so in fp32 the batch size does
not change a sample; in bf16 a near-tie may fall the other way.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import torch

from penname.carriers.cache import GrowingCache
from penname.carriers.prompt import decode_passage
from penname.carriers.tokenizer import CarrierTokenizer
from penname.core.config import SamplingConfig
from penname.core.errors import BadInput, ProofFailed
from penname.core.progress import Progress, progress
from penname.core.rng import CounterRng

_NUCLEUS_FIRST = 256  # sorting a whole vocabulary can cost as much as the forward pass of a small carrier


@dataclass(frozen=True, slots=True)
class Sample:
    """One generated passage: its ids without the stop id, its text, and why it ended."""

    index: int
    token_ids: tuple[int, ...]
    text: str
    finish: Literal["stop", "length"]


def generate(
    model: Any,
    tokenizer: CarrierTokenizer,
    prefixes: Sequence[Sequence[int]],
    settings: SamplingConfig,
    seed: int,
    *,
    label: str = "samples",
    first_index: int = 0,
) -> list[Sample]:
    """One passage for each prefix (ids from ``encode_prefix``), in their order; tokens a second stand beside the progress.

    Row ``i`` draws as number ``first_index + i`` of the seed. The model's mode and caching are left as they were. Raises
    BadInput for an empty prefix, ProofFailed where the model gives no finite logits.
    """
    if any(len(prefix) == 0 for prefix in prefixes):
        raise BadInput("a passage cannot be generated from an empty prefix; give a beat")
    order = sorted(range(len(prefixes)), key=lambda i: (len(prefixes[i]), i))  # rows of like length need little padding
    samples: dict[int, Sample] = {}
    training = model.training
    model.eval()
    try:
        # Counted in decoding steps: all rows of a batch run side by side, so the passages that ended do not say what is left.
        batches = -(-len(prefixes) // settings.batch_size)
        with torch.inference_mode(), progress(label, batches * settings.max_tokens) as count:
            meter = _Meter(count, len(prefixes))
            for start in range(0, len(order), settings.batch_size):
                rows = order[start : start + settings.batch_size]
                drawn = _generate_batch(
                    model, tokenizer, [prefixes[i] for i in rows], [first_index + i for i in rows], settings, seed, meter
                )
                for row, (token_ids, finish) in zip(rows, drawn, strict=True):
                    samples[row] = Sample(row, tuple(token_ids), decode_passage(tokenizer, token_ids), finish)
    finally:
        model.train(training)
    return [samples[i] for i in range(len(prefixes))]


class _Meter:
    """Counts decoding steps; the note says how many passages have ended, and how fast tokens come."""

    def __init__(self, count: Progress, passages: int) -> None:
        self.count, self.passages, self.ended, self.tokens = count, passages, 0, 0
        self.started = time.monotonic()

    def tick(self, steps: int, tokens: int, ended: int) -> None:
        self.tokens += tokens
        self.ended += ended
        speed = self.tokens / max(time.monotonic() - self.started, 1e-9)
        self.count.note(f"{self.ended} of {self.passages} passages, {speed:.0f} tokens/s")
        self.count.advance(steps)


def _generate_batch(
    model: Any,
    tokenizer: CarrierTokenizer,
    prefixes: list[Sequence[int]],
    indices: list[int],
    settings: SamplingConfig,
    seed: int,
    meter: _Meter,
) -> list[tuple[list[int], Literal["stop", "length"]]]:
    device = model.get_input_embeddings().weight.device
    longest = max(len(prefix) for prefix in prefixes)
    input_ids = torch.full((len(prefixes), longest), tokenizer.pad_id)  # (B, T), padded on the left
    mask = torch.zeros((len(prefixes), longest), dtype=torch.long)
    for row, prefix in enumerate(prefixes):
        input_ids[row, longest - len(prefix) :] = torch.tensor(list(prefix))
        mask[row, longest - len(prefix) :] = 1
    input_ids, mask = input_ids.to(device), mask.to(device)
    position_ids = (mask.cumsum(1) - 1).clamp(min=0)
    draws = [CounterRng(seed, "sample", index) for index in indices]
    cache = GrowingCache(model.config, longest + settings.max_tokens)
    alive = list(range(len(prefixes)))  # batch row -> row of this call; rows leave as they stop
    token_ids: list[list[int]] = [[] for _ in prefixes]
    finish: list[Literal["stop", "length"]] = ["length"] * len(prefixes)
    for step in range(settings.max_tokens):
        out = model(input_ids=input_ids, attention_mask=mask, position_ids=position_ids, cache=cache, use_cache=True, logits_to_keep=1)
        logits = out.logits[:, -1].float()  # (B, V)
        uniform = torch.tensor([draws[row].random() for row in alive], dtype=torch.float64)
        chosen = choose(logits, uniform.to(device), settings.temperature, settings.top_p).tolist()
        keep = []
        for at, (row, token) in enumerate(zip(alive, chosen, strict=True)):
            if token == tokenizer.stop_id:
                finish[row] = "stop"
            else:
                token_ids[row].append(token)
                keep.append(at)
        last = step + 1 == settings.max_tokens
        done = last or not keep
        meter.tick(settings.max_tokens - step if done else 1, len(alive), len(alive) if done else len(alive) - len(keep))
        if done:
            break
        if len(keep) < len(alive):
            kept = torch.tensor(keep, device=device)
            cache.keep_rows(kept)
            mask, position_ids = mask[kept], position_ids[kept]
            alive = [alive[at] for at in keep]
        input_ids = torch.tensor([[chosen[at]] for at in keep], device=device)
        mask = torch.cat([mask, mask.new_ones(len(keep), 1)], dim=1)
        position_ids = position_ids[:, -1:] + 1
    return list(zip(token_ids, finish, strict=True))


def choose(logits: torch.Tensor, uniform: torch.Tensor, temperature: float, top_p: float) -> torch.Tensor:
    """(B,) token ids: the nucleus of ``logits`` (B, V) at a temperature, by the inverse CDF at ``uniform`` (B,) in [0, 1).

    Nucleus sampling (Holtzman et al. 2020): the smallest set of likeliest tokens whose probability reaches ``top_p``.
    Temperature 0 takes the likeliest token, the lowest id where two are equal.
    """
    if temperature == 0:
        return _finite(logits.max(dim=-1)).indices
    scaled = logits / temperature
    return _nucleus_draw(scaled, _finite(torch.logsumexp(scaled, dim=-1, keepdim=True)), uniform, top_p, _NUCLEUS_FIRST)


def _finite(reduced: Any) -> Any:
    values = reduced if isinstance(reduced, torch.Tensor) else reduced.values
    if not torch.isfinite(values).all():
        raise ProofFailed("the model gave logits that are not finite, so nothing can be sampled from it; try carrier.dtype = fp32")
    return reduced


def _nucleus_draw(scaled: torch.Tensor, total: torch.Tensor, uniform: torch.Tensor, top_p: float, width: int) -> torch.Tensor:
    # Only the likeliest `width` tokens are sorted. A row whose nucleus is wider is drawn again by itself with more of
    # them, so that what a row gives never depends on the rows beside it.
    width = min(width, scaled.shape[-1])
    top, ids = scaled.topk(width, dim=-1)  # (B, width), descending
    top = (top - total).double().exp()
    cumulative = top.cumsum(-1)
    inside = (cumulative - top < top_p) & (top > 0)  # the first token always is: nothing stands before it
    mass = cumulative.gather(-1, inside.sum(-1, keepdim=True) - 1)
    at = torch.searchsorted(cumulative, uniform[:, None] * mass, right=True)
    at = torch.minimum(at, inside.sum(-1, keepdim=True) - 1)  # rounding may put a draw behind the nucleus
    chosen = ids.gather(-1, at).squeeze(-1)
    wide = (cumulative[:, -1] < top_p).nonzero().squeeze(-1)
    if width < scaled.shape[-1] and len(wide):
        chosen[wide] = _nucleus_draw(scaled[wide], total[wide], uniform[wide], top_p, width * 16)
    return chosen
