"""A KV cache with room: transformers' dynamic cache copies all keys and values at every token, this one only writes the new."""

from __future__ import annotations

from typing import Any

import torch
from transformers import DynamicCache
from transformers.cache_utils import DynamicLayer


class RoomyLayer(DynamicLayer):
    """A full-attention layer whose keys and values lie in buffers (B, H, capacity, D); ``keys`` and ``values`` are views."""

    def __init__(self, capacity: int) -> None:
        super().__init__()
        self.capacity = capacity
        self._buffers: tuple[torch.Tensor, torch.Tensor] | None = None

    def update(self, key_states: torch.Tensor, value_states: torch.Tensor, *args: Any, **kwargs: Any) -> tuple[torch.Tensor, torch.Tensor]:
        """Append (B, H, T, D) and give all that is held."""
        start = self.get_seq_length() if self._buffers is not None else 0
        stop = start + key_states.shape[-2]
        if self._buffers is None:
            self.lazy_initialization(key_states, value_states)
            self._buffers = self._room(key_states), self._room(value_states)
        elif stop > self.capacity:
            raise ValueError(f"the cache has room for {self.capacity} tokens and {stop} were put in")
        self._buffers[0][:, :, start:stop] = key_states
        self._buffers[1][:, :, start:stop] = value_states
        return self._view(stop)

    def reorder_cache(self, beam_idx: Any) -> None:
        """Keep the rows ``beam_idx`` of the batch, in that order."""
        if self._buffers is not None:
            length = self.get_seq_length()
            self._buffers = self._buffers[0].index_select(0, beam_idx), self._buffers[1].index_select(0, beam_idx)
            self._view(length)

    def _room(self, states: torch.Tensor) -> torch.Tensor:
        batch, heads, _, width = states.shape
        return states.new_empty(batch, heads, self.capacity, width)

    def _view(self, length: int) -> tuple[torch.Tensor, torch.Tensor]:
        assert self._buffers is not None
        keys, values = self._buffers[0][:, :, :length], self._buffers[1][:, :, :length]
        self.keys, self.values = keys, values
        return keys, values


class GrowingCache(DynamicCache):
    """The dynamic cache of a configuration, with room for ``capacity`` tokens in its full-attention layers."""

    def __init__(self, config: Any, capacity: int) -> None:
        super().__init__(config=config)
        self.layers = [RoomyLayer(capacity) if type(layer) is DynamicLayer else layer for layer in self.layers]

    def keep_rows(self, rows: Any) -> None:
        """Keep only ``rows`` of the batch; linear-attention layers know this as reordering."""
        for layer in self.layers:
            layer.reorder_cache(rows)
