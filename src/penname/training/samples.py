"""Sample passages from held-out beats while a run goes on: samples.jsonl."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from penname.carriers.tokenizer import CarrierTokenizer
from penname.core.config import SamplingConfig
from penname.core.files import jsonl_text, read_jsonl, write_text
from penname.core.tokens import Shards
from penname.training.attention import plain_attention

_COUNT = 4


class Sampler:
    """Called with a step, writes passages for the same few held-out beats, so that they can be read side by side."""

    def __init__(
        self, model: Any, tokenizer: CarrierTokenizer, shards: Shards, settings: SamplingConfig, seed: int, path: Path, count: int = _COUNT
    ) -> None:
        self._model, self._tokenizer, self._settings, self._seed, self._path = model, tokenizer, settings, seed, path
        self._prompts = heldout_prompts(shards, count)

    def __call__(self, step: int) -> None:
        """Write the samples of a step; those of the same or a later step, from before a resume, are dropped."""
        if not self._prompts:
            return
        from penname.carriers.generation import generate

        self._model.eval()
        with plain_attention(self._model):
            samples = generate(self._model, self._tokenizer, [prefix for _, prefix in self._prompts], self._settings, self._seed)
        rows = []
        for (passage, prefix), sample in zip(self._prompts, samples, strict=True):
            beat = self._tokenizer.decode(prefix[len(self._tokenizer.start_ids) :]).strip().removeprefix("[").removesuffix("]")
            rows.append({"step": step, "passage": passage, "beat": beat, "text": sample.text})
        before = read_jsonl(self._path) if self._path.exists() else ()
        write_text(self._path, jsonl_text([*(row for row in before if row["step"] < step), *rows]))


def heldout_prompts(shards: Shards, count: int) -> list[tuple[str, list[int]]]:
    """(passage id, prefix ids) of the first pairs of up to ``count`` held-out documents, spread over them."""
    documents = range(int(shards.index["train_documents"]), int(shards.index["documents"]))
    picked = documents[:: max(1, len(documents) // count)][:count]
    prompts = []
    for document in picked:
        first = shards.document_segments(document)[0]
        ids = shards.document_tokens(document)[: first["beat_tokens"]]
        prompts.append((shards.index["passages"][first["passage"]], [int(i) for i in ids]))
    return prompts
