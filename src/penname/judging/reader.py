"""Rows of tokens read on from shared starts: a start is read once, and every row that follows it goes on from its cache."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from penname.carriers.cache import GrowingCache


class Reader:
    """A model, and where it stands: its cache, which tokens in it are real, and what it expects next."""

    def __init__(self, model: Any, pad_id: int) -> None:
        self.model, self.pad_id = model, pad_id
        self.device = next(model.parameters()).device

    @torch.inference_mode()
    def read(
        self, starts: Sequence[Sequence[int]], after: Sequence[Sequence[Sequence[int]]], compared_tokens: int, max_tokens: int
    ) -> list[tuple[float, list[float]]]:
        """For each start minus log likelihoods after it: of its first row's first ``max_tokens``, and of every row's ``compared_tokens``.

        starts: ids; after: of each start, the rows that are read after it. ``max_tokens`` is no less than ``compared_tokens``.
        """
        self.cache = GrowingCache(self.model.config, max(map(len, starts)) + max_tokens)
        self.mask = torch.zeros((len(starts), 0), dtype=torch.long, device=self.device)
        self.before = self._forward(*self._padded(starts, left=True), logits_to_keep=1)
        self._keep([start for start, rows in enumerate(after) for _ in rows])
        beginnings = self._nll([list(ids[:compared_tokens]) for rows in after for ids in rows])
        first = [sum(map(len, after[:start])) for start in range(len(after))]
        self._keep(first)
        rest = [list(rows[0][compared_tokens:max_tokens]) for rows in after]
        wholes = self._nll(rest) if any(rest) else [0.0] * len(rest)
        return [(beginnings[at] + whole, beginnings[at : at + len(rows)]) for at, whole, rows in zip(first, wholes, after, strict=True)]

    def _nll(self, rows: Sequence[Sequence[int]]) -> list[float]:
        """Minus log likelihood of each row's tokens, given all that was read before them."""
        ids, mask = self._padded(rows, left=False)
        before, logits = self.before, self._forward(ids, mask)  # (rows, 1, V), (rows, T, V): position t predicts token t + 1
        self.before = logits[:, -1:]
        found = []
        for row, tokens in enumerate(rows):  # one by one in fp32: all at once would be gigabytes on a large vocabulary
            own = torch.cat([before[row], logits[row, : max(0, len(tokens) - 1)]])[: len(tokens)].float()  # (T, V)
            found.append(float((own.logsumexp(-1) - own.gather(1, ids[row, : len(tokens), None])[:, 0]).sum()))
        return found

    def _forward(self, ids: Any, mask: Any, logits_to_keep: int = 0) -> Any:
        self.mask = torch.cat([self.mask, mask], dim=1)
        places = (self.mask.cumsum(1) - 1).clamp(min=0)[:, -ids.shape[1] :]
        inputs = {"input_ids": ids, "attention_mask": self.mask, "position_ids": places, "cache": self.cache}
        return self.model(**inputs, use_cache=True, logits_to_keep=logits_to_keep).logits

    def _keep(self, rows: list[int]) -> None:
        kept = torch.tensor(rows, device=self.device)
        self.cache.keep_rows(kept)
        self.mask, self.before = self.mask[kept], self.before[kept]

    def _padded(self, rows: Sequence[Sequence[int]], left: bool) -> tuple[Any, Any]:
        """(ids, mask), each (rows, T)."""
        longest = max(map(len, rows))
        ids = torch.full((len(rows), longest), self.pad_id)
        mask = torch.zeros((len(rows), longest), dtype=torch.long)
        for row, tokens in enumerate(rows):
            at = slice(longest - len(tokens), None) if left else slice(len(tokens))
            ids[row, at], mask[row, at] = torch.tensor(tokens, dtype=torch.long), 1
        return ids.to(self.device), mask.to(self.device)
