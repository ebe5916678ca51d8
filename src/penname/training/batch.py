"""One packed row as tensors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from penname.core.tokens import Row


@dataclass(frozen=True)
class Batch:
    """One packed row on a device.

    input_ids, position_ids: (1, T) int64; positions begin at 0 in every document. documents: lengths that sum to T.
    trained: (N,) int64, positions t whose *next* token is learned; targets: (N,) int64, those next tokens.
    """

    input_ids: torch.Tensor
    position_ids: torch.Tensor
    documents: tuple[int, ...]
    trained: torch.Tensor
    targets: torch.Tensor

    @property
    def tokens(self) -> int:
        """Tokens in the row."""
        return int(self.input_ids.shape[1])


def batch_of(row: Row, device: torch.device | str = "cpu") -> Batch:
    """The Batch of a row. The first token of a document is never a target: nothing in its document comes before it."""
    return make_batch(row.input_ids, row.trained, row.documents, device)


def make_batch(input_ids: np.ndarray, trained: np.ndarray, documents: tuple[int, ...], device: torch.device | str = "cpu") -> Batch:
    """A Batch from token ids (T,), the mask of learned tokens (T,) and document lengths."""
    positions = np.concatenate([np.arange(length) for length in documents])
    target_at = np.flatnonzero(trained & (positions > 0))
    move = lambda array: torch.from_numpy(np.ascontiguousarray(array, dtype=np.int64)).to(device)  # noqa: E731
    return Batch(move(input_ids)[None], move(positions)[None], documents, move(target_at - 1), move(input_ids[target_at]))
