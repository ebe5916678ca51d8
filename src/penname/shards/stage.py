"""The shards stage: copies, passages and beats in; ``shards/<carrier>/`` out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from penname.carriers.prompt import TEMPLATE_VERSION
from penname.carriers.tokenizer import CarrierTokenizer, load_tokenizer
from penname.core.config import Config
from penname.core.errors import BadInput, StaleInput
from penname.core.folder import VoiceFolder
from penname.core.progress import progress
from penname.core.stage import Manifest, require_manifest, require_whole, stage_writer
from penname.core.store import load_beats, load_books, load_copy, load_passages
from penname.core.values import JUDGING_COPY, Beat, Book, Passage
from penname.shards.build import build_shards
from penname.shards.corpus import LeftOut, Pair, corpus_passages, pairs_of_copy

VERSION = 1


def shards_settings(config: Config) -> dict[str, Any]:
    """What changes the shards."""
    settings = config.shards
    return {
        "seq_len": settings.seq_len,
        "single_share": settings.single_share,
        "corpus_words": settings.corpus_words,
        "copies": min(settings.copies or config.copies.count, config.copies.count),
        "seed": config.voice.seed,
        "template_version": TEMPLATE_VERSION,
    }


def shards_inputs(voice: VoiceFolder) -> dict[str, str]:
    """Digests of what the shards are made from: the books, each copy that is used, the beats, the tokenizer."""
    inputs = {"books": require_manifest(voice.books, "book").digest, "beats": require_manifest(voice.beats, "beat").digest}
    for copy in (JUDGING_COPY, *range(1, voice.copies_used + 1)):
        inputs[f"copy {copy}"] = require_manifest(voice.copies / str(copy), "rename").digest
    return {**inputs, "tokenizer": _tokenizer(voice.config).sha256}


def run_shards(voice: VoiceFolder) -> Manifest:
    """Tokenise, mask and pack. StaleInput where an earlier stage is missing, BadInput where nothing is left to train on."""
    config = voice.config
    inputs, tokenizer = shards_inputs(voice), _tokenizer(config)
    _require_inputs(voice)
    books = {book.id: book for book in load_books(voice.books)}
    passages = load_passages(voice.beats / "passages.jsonl")
    beats = {beat.passage_id: beat for beat in load_beats(voice.beats / "beats.jsonl")}
    missing = {p.book_id for p in passages} - set(books)
    if missing:
        raise StaleInput(f"passages name the book {min(missing)}, which is not in books/; run: penname beat")
    chosen = corpus_passages(passages, books, config.shards.corpus_words, config.voice.seed)
    if not chosen:
        raise BadInput("there is no passage to train on; see beats/passages.jsonl, and shards.corpus_words in voice.toml")
    left_out: list[LeftOut] = []
    counts: dict[str, Any] = {}
    folder = voice.current_shards
    with stage_writer(folder, stage="shards", version=VERSION, settings=shards_settings(config), inputs=inputs, counts=counts) as out:
        train = _pairs(voice, books, chosen, beats, range(1, voice.copies_used + 1), left_out)
        heldout = _pairs(
            voice, books, [p for p in passages if p.split == "heldout"], beats, range(JUDGING_COPY, JUDGING_COPY + 1), left_out
        )
        made = build_shards(
            out,
            train,
            heldout,
            tokenizer,
            seq_len=config.shards.seq_len,
            single_share=config.shards.single_share,
            seed=config.voice.seed,
            left_out=left_out,
            not_chosen=sorted({p.id for p in passages if p.split == "train"} - {p.id for p in chosen}),
            carrier=Path(config.carrier.name).name,
        )
        counts.update(
            words=sum(len(books[p.book_id].text[p.start : p.end].split()) for p in chosen),
            tokens=made["train_tokens"],
            learned_tokens=made["train_trained_tokens"],
            rows=made["train_rows"],
            heldout_learned_tokens=made["heldout_trained_tokens"],
            passages_not_trained=made["not_trained_passages"],
        )
    return require_manifest(folder, "shard")


def _require_inputs(voice: VoiceFolder) -> None:
    """StaleInput where a file that the shards are made from is not the one that its stage wrote."""
    copies = [(voice.copies / str(copy), "rename") for copy in (JUDGING_COPY, *range(1, voice.copies_used + 1))]
    for folder, verb in ((voice.books, "book"), (voice.beats, "beat"), *copies):
        require_whole(folder, verb)


def _pairs(
    voice: VoiceFolder, books: dict[str, Book], passages: list[Passage], beats: dict[str, Beat], copies: range, left_out: list[LeftOut]
) -> Iterator[Pair]:
    by_book: dict[str, list[Passage]] = {}
    for passage in passages:
        by_book.setdefault(passage.book_id, []).append(passage)
    with progress("tokens of copies and books", len(copies) * len(by_book)) as count:
        for number in copies:
            for book_id, own in by_book.items():
                book = books[book_id]
                copy = load_copy(voice.copies / str(number), book)
                yield from pairs_of_copy(book, copy, own, beats, left_out)
                count.advance()


def _tokenizer(config: Config) -> CarrierTokenizer:
    from penname.carriers import resolve_carrier

    return load_tokenizer(resolve_carrier(config.carrier.name))
