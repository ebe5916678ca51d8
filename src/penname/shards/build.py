"""Pairs -> documents -> token files. Tokens stream to disk as they are made; only the small tables stay in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, islice
from pathlib import Path
from typing import IO, Any

import numpy as np

from penname.carriers.prompt import TEMPLATE_VERSION, beat_segment, passage_segment
from penname.carriers.tokenizer import CarrierTokenizer
from penname.core.files import json_text
from penname.core.hashing import sha256_bytes
from penname.core.rng import CounterRng
from penname.core.tokens import DOCUMENT, ORDER_RULE, SEGMENT, TOKEN, order_hash, row_order
from penname.shards.corpus import LeftOut, Pair
from penname.shards.packing import pack

_BATCH = 512  # pairs tokenised at once
_ORDERS = (range(1, 5), range(4))  # seeds and epochs whose order is written down, so that a changed rule is noticed


@dataclass(frozen=True, slots=True)
class Encoded:
    """A pair with its ids; ``cut`` ids of the passage's end did not fit ``seq_len``."""

    pair: Pair
    beat_ids: list[int]
    passage_ids: list[int]
    cut: int

    @property
    def tokens(self) -> int:
        """Tokens of beat and passage."""
        return len(self.beat_ids) + len(self.passage_ids)


@dataclass
class ShardTables:
    """What is known of every document, segment, passage and book, in the order of writing."""

    documents: list[tuple[int, ...]] = field(default_factory=list)
    segments: list[tuple[int, ...]] = field(default_factory=list)
    passages: dict[str, int] = field(default_factory=dict)
    books: dict[str, int] = field(default_factory=dict)
    tokens: int = 0
    trained: int = 0


def build_shards(
    folder: Path,
    train: Iterable[Pair],
    heldout: Iterable[Pair],
    tokenizer: CarrierTokenizer,
    *,
    seq_len: int,
    single_share: float,
    seed: int,
    left_out: list[LeftOut] | None = None,
    not_chosen: Sequence[str] = (),
    carrier: str = "",
) -> dict[str, Any]:
    """Write the shards of ``train`` and ``heldout`` into ``folder``; gives the counts.

    Pairs come grouped by copy, book and chapter, in reading order. Over-length passages and what else is not trained on go to
    ``truncation.json``, after the rows that ``left_out`` already holds; so do the ids of passages ``not_chosen`` by corpus_words.
    """
    left_out = [] if left_out is None else left_out
    tables = ShardTables()
    with (folder / "tokens.bin").open("wb") as file:
        _write_documents(file, train, tokenizer, seq_len, single_share, seed, tables, left_out)
        train_documents, train_tokens, train_trained = len(tables.documents), tables.tokens, tables.trained
        _write_documents(file, heldout, tokenizer, seq_len, single_share, seed, tables, left_out)
    rows = pack([row[1] for row in tables.documents[:train_documents]], seq_len)
    train_rows = len(rows)
    rows += [[train_documents + d for d in row] for row in pack([row[1] for row in tables.documents[train_documents:]], seq_len)]
    _write_tables(folder, tables, rows, train_rows)
    counts = {
        "train_tokens": train_tokens,
        "train_trained_tokens": train_trained,
        "train_documents": train_documents,
        "train_rows": train_rows,
        "heldout_tokens": tables.tokens - train_tokens,
        "heldout_trained_tokens": tables.trained - train_trained,
        "heldout_documents": len(tables.documents) - train_documents,
        "heldout_rows": len(rows) - train_rows,
        "not_trained_passages": len(left_out),
        "packed_share": round(train_tokens / (train_rows * seq_len), 4) if train_rows else 0.0,
    }
    index = {
        "carrier": carrier,
        "seq_len": seq_len,
        "tokens": tables.tokens,
        "documents": len(tables.documents),
        "segments": len(tables.segments),
        "rows": len(rows),
        **counts,
        "tokenizer_sha256": tokenizer.sha256,
        "template_version": TEMPLATE_VERSION,
        "start_ids": list(tokenizer.start_ids),
        "stop_id": tokenizer.stop_id,
        "stop_token": tokenizer.token(tokenizer.stop_id),
        "books": list(tables.books),
        "passages": list(tables.passages),
    }
    (folder / "index.json").write_text(json_text(index), encoding="utf-8")
    (folder / "truncation.json").write_text(json_text(_truncation(left_out, not_chosen)), encoding="utf-8")
    return counts


def _write_documents(
    file: IO[bytes],
    pairs: Iterable[Pair],
    tokenizer: CarrierTokenizer,
    seq_len: int,
    single_share: float,
    seed: int,
    tables: ShardTables,
    left_out: list[LeftOut],
) -> None:
    encoded = _encode(pairs, tokenizer, seq_len, left_out)
    start_ids = list(tokenizer.start_ids)
    for (copy, book, chapter), group in groupby(encoded, key=lambda e: (e.pair.copy, e.pair.book_id, e.pair.chapter)):
        rng = CounterRng(seed, "single", copy, book, chapter)
        for document in _cut_documents(list(group), seq_len - len(start_ids), single_share, rng):
            first = len(tables.segments)
            ids = list(start_ids)
            for place, item in enumerate(document):
                ids += item.beat_ids + item.passage_ids
                pair = item.pair
                passage = tables.passages.setdefault(pair.passage_id, len(tables.passages))
                beat_tokens = len(item.beat_ids) + (len(start_ids) if place == 0 else 0)
                tables.segments.append((passage, pair.start, pair.end, beat_tokens, len(item.passage_ids)))
                tables.trained += len(item.passage_ids)
            book_index = tables.books.setdefault(book, len(tables.books))
            tables.documents.append((tables.tokens, len(ids), first, len(document), book_index, copy, chapter))
            tables.tokens += len(ids)
            file.write(np.array(ids, dtype=TOKEN).tobytes())


def _encode(pairs: Iterable[Pair], tokenizer: CarrierTokenizer, seq_len: int, left_out: list[LeftOut]) -> Iterator[Encoded]:
    # The same ids as carriers.prompt.encode_pair gives one by one, tokenised in batches on all cores.
    stream = iter(pairs)
    while batch := list(islice(stream, _BATCH)):
        beats = tokenizer.encode_many([beat_segment(pair.beat) for pair in batch])
        passages = tokenizer.encode_many([passage_segment(pair.text) for pair in batch])
        for pair, beat_ids, passage_ids in zip(batch, beats, passages, strict=True):
            item = _fit(pair, beat_ids, [*passage_ids, tokenizer.stop_id], seq_len - len(tokenizer.start_ids))
            if item.cut:
                left_out.append(_cut_off(item, tokenizer))
            if item.passage_ids:
                yield item


def _fit(pair: Pair, beat_ids: list[int], passage_ids: list[int], room: int) -> Encoded:
    cut = max(0, len(beat_ids) + len(passage_ids) - room)
    # A passage that is cut loses its stop id with its end: a voice must not learn to stop in the middle.
    return Encoded(pair, beat_ids, passage_ids[: max(0, len(passage_ids) - cut)], min(cut, len(passage_ids)))


def _cut_off(item: Encoded, tokenizer: CarrierTokenizer) -> LeftOut:
    pair = item.pair
    lead = len(pair.text) - len(pair.text.lstrip())
    kept = min(len(tokenizer.decode(item.passage_ids)), len(pair.text) - lead)
    rest = pair.text[lead + kept :]
    return LeftOut(
        pair.passage_id, pair.copy, pair.start + lead + kept, pair.end, len(rest.split()), "longer than shards.seq_len", item.cut
    )


def _cut_documents(pairs: Sequence[Encoded], room: int, single_share: float, rng: CounterRng) -> Iterator[list[Encoded]]:
    """Runs of consecutive pairs up to ``room`` tokens; about ``single_share`` of the documents are a single pair.

    A pair that was cut, or that is followed by a gap, ends its document: what comes next does not continue it.
    """
    at = 0
    while at < len(pairs):
        document, tokens = [pairs[at]], pairs[at].tokens
        at += 1
        if rng.random() >= single_share:
            while at < len(pairs) and tokens + pairs[at].tokens <= room and _continues(pairs[at - 1], pairs[at]):
                document.append(pairs[at])
                tokens += pairs[at].tokens
                at += 1
        yield document


def _continues(before: Encoded, after: Encoded) -> bool:
    # Passages of a chapter tile it but for white space and scene breaks, so their numbers tell whether one was left out.
    return not before.cut and _number(after.pair) == _number(before.pair) + 1


def _number(pair: Pair) -> int:
    return int(pair.passage_id.rsplit(":", 1)[1])


def _write_tables(folder: Path, tables: ShardTables, rows: list[list[int]], train_rows: int) -> None:
    np.array(tables.documents, dtype=DOCUMENT).tofile(folder / "documents.bin")
    np.array(tables.segments, dtype=SEGMENT).tofile(folder / "segments.bin")
    offsets = np.cumsum([0, *(len(row) for row in rows)], dtype="<i8")
    members = np.array([d for row in rows for d in row], dtype="<i4")
    offsets.tofile(folder / "rows.bin")
    members.tofile(folder / "row_documents.bin")
    rows_sha256 = sha256_bytes(offsets.tobytes() + members.tobytes())
    orders = {f"{seed}/{epoch}": order_hash(row_order(rows_sha256, train_rows, seed, epoch)) for seed in _ORDERS[0] for epoch in _ORDERS[1]}
    order = {"rule": ORDER_RULE, "train_rows": train_rows, "rows_sha256": rows_sha256, "orders": orders}
    (folder / "order.json").write_text(json_text(order), encoding="utf-8")


def _truncation(left_out: list[LeftOut], not_chosen: Sequence[str]) -> dict[str, Any]:
    rows = [
        {"passage": r.passage_id, "copy": r.copy, "start": r.start, "end": r.end, "words": r.words, "tokens": r.tokens, "why": r.why}
        for r in left_out
    ]
    return {"passages": len(rows), "words": sum(r.words for r in left_out), "rows": rows, "outside_corpus_words": list(not_chosen)}
