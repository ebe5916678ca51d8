"""Token shards on disk: the format of ``shards/<carrier>/`` and its memory-mapped reader.

It stands here because two rooms share it: ``shards`` writes it, ``training`` reads it. Little-endian, no pickle:

- ``tokens.bin``: uint32 token ids, document after document;
- ``documents.bin``, ``segments.bin``: rows of DOCUMENT and SEGMENT; a segment is one (beat, passage) pair of a document, its beat's tokens
  first and its passage's tokens, end mark included, after; only the latter are trained on;
- ``rows.bin``: int64 offsets into ``row_documents.bin`` (int32): the documents packed into each row, training rows first;
- ``index.json``: sizes, names, tokenizer and template; ``order.json``: the order of rows and its hashes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from penname.core.errors import BadInput, StaleInput
from penname.core.files import read_json
from penname.core.hashing import sha256_bytes
from penname.core.rng import CounterRng

TOKEN = np.dtype("<u4")
DOCUMENT = np.dtype(
    [("token", "<i8"), ("tokens", "<i4"), ("segment", "<i8"), ("segments", "<i4"), ("book", "<i4"), ("copy", "<i4"), ("chapter", "<i4")]
)
SEGMENT = np.dtype([("passage", "<i4"), ("start", "<i8"), ("end", "<i8"), ("beat_tokens", "<i4"), ("passage_tokens", "<i4")])
ORDER_RULE = "Fisher-Yates over the training rows, CounterRng(rows_sha256, 'order', seed, epoch)"


@dataclass(frozen=True)
class Row:
    """One packed row. ``input_ids`` (T,) and ``trained`` (T,), True where a token is learned; ``documents`` are lengths that sum to T."""

    index: int
    input_ids: np.ndarray
    trained: np.ndarray
    documents: tuple[int, ...]

    @property
    def trained_tokens(self) -> int:
        """How many of the tokens are learned."""
        return int(self.trained.sum())


class Shards:
    """The shards in a folder, memory-mapped: a row is read when it is asked for, and nothing else is held."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.index: Mapping[str, Any] = read_json(folder / "index.json")
        self.order_facts: Mapping[str, Any] = read_json(folder / "order.json")
        self.documents = _map(folder / "documents.bin", DOCUMENT, self.index["documents"])
        self.segments = _map(folder / "segments.bin", SEGMENT, self.index["segments"])
        self._tokens = _map(folder / "tokens.bin", TOKEN, self.index["tokens"])
        self._rows = _map(folder / "rows.bin", np.dtype("<i8"), self.index["rows"] + 1)
        self._row_documents = _map(folder / "row_documents.bin", np.dtype("<i4"), self.index["documents"])

    @property
    def train_rows(self) -> int:
        """Rows 0 ... train_rows - 1 are trained on."""
        return int(self.index["train_rows"])

    @property
    def heldout_rows(self) -> range:
        """The rows that measure the held-out loss."""
        return range(self.train_rows, int(self.index["rows"]))

    def row_documents(self, row: int) -> list[int]:
        """Indices of the documents packed into a row, in their order there."""
        return [int(d) for d in self._row_documents[self._rows[row] : self._rows[row + 1]]]

    def document_segments(self, document: int) -> np.ndarray:
        """The (beat, passage) pairs of a document, rows of SEGMENT."""
        row = self.documents[document]
        return self.segments[row["segment"] : row["segment"] + row["segments"]]

    def document_tokens(self, document: int) -> np.ndarray:
        """Token ids of a document, (T,)."""
        row = self.documents[document]
        return self._tokens[row["token"] : row["token"] + row["tokens"]]

    def document_trained(self, document: int) -> np.ndarray:
        """(T,) bool: True on passage tokens and end marks."""
        segments = self.document_segments(document)
        runs = np.stack([segments["beat_tokens"], segments["passage_tokens"]], axis=1).reshape(-1)
        return np.repeat(np.tile([False, True], len(segments)), runs)

    def row(self, row: int) -> Row:
        """One packed row."""
        documents = self.row_documents(row)
        return Row(
            row,
            np.concatenate([self.document_tokens(d) for d in documents]).astype(np.int64),
            np.concatenate([self.document_trained(d) for d in documents]),
            tuple(int(self.documents[d]["tokens"]) for d in documents),
        )

    def order(self, seed: int, epoch: int) -> np.ndarray:
        """The training rows of one epoch in the order in which they are trained on. StaleInput where it is not the recorded one."""
        order = row_order(self.order_facts["rows_sha256"], self.train_rows, seed, epoch)
        recorded = self.order_facts["orders"].get(f"{seed}/{epoch}")
        if recorded is not None and recorded != order_hash(order):
            raise StaleInput(f"the order of seed {seed}, epoch {epoch} is not the one in {self.folder / 'order.json'}; run: penname shard")
        return order

    def rows_hash(self) -> str:
        """Hash of what is packed where."""
        return sha256_bytes(self._rows.tobytes() + self._row_documents.tobytes())


def open_shards(folder: Path) -> Shards:
    """The shards in ``folder``. StaleInput where the stage has not finished, BadInput where a file has not its size."""
    if not (folder / "manifest.json").exists():
        raise StaleInput(f"{folder} holds no finished shards; run: penname shard")
    return Shards(folder)


def row_order(rows_sha256: str, rows: int, seed: int, epoch: int) -> np.ndarray:
    """The order that ORDER_RULE gives, (rows,) int64."""
    return np.array(CounterRng(rows_sha256, "order", seed, epoch).shuffled(range(rows)), dtype="<i8")


def order_hash(order: np.ndarray) -> str:
    """Hex SHA-256 of an order."""
    return sha256_bytes(order.astype("<i8").tobytes())


def _map(path: Path, dtype: np.dtype, count: int) -> np.ndarray:
    if not path.is_file() or path.stat().st_size != dtype.itemsize * count:
        raise BadInput(f"{path} is missing or has not the size that index.json says; delete its folder and run: penname shard")
    if count == 0:
        return np.zeros(0, dtype)
    return np.memmap(path, dtype, mode="r", shape=(count,))
