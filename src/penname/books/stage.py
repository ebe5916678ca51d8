"""The stage: ``voice.toml``'s books and others, cleaned, into ``books/`` and ``others/``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from penname.books.doubles import refuse_doubles
from penname.books.gutenberg import names_gutenberg
from penname.books.heldout import split_heldout
from penname.books.open import source_digest
from penname.books.read import read_book
from penname.core.config import Config
from penname.core.errors import BadInput
from penname.core.folder import VoiceFolder
from penname.core.progress import say, track
from penname.core.stage import Manifest, require_manifest, stage_writer
from penname.core.store import save_book
from penname.core.values import STORY_KINDS, Book

VERSION = 2


def books_settings(config: Config) -> dict[str, Any]:
    """The settings that change what this stage writes."""
    settings = config.books.model_dump(mode="json", exclude={"mirror"})
    return {"seed": config.voice.seed, **settings}


def books_inputs(voice: VoiceFolder) -> dict[str, str]:
    """Digest of every source, books and others, keyed by its place in ``voice.toml`` and its name."""
    return {key: source_digest(located(voice, source)) for key, source in _sources(voice).items()}


def run_books(voice: VoiceFolder) -> Manifest:
    """Clean every source; returns the manifest of ``books/``. ``others/`` is written first, with a manifest of its own."""
    if not voice.config.voice.books:
        raise BadInput(f'{voice.path / "voice.toml"} names no books; add them under [voice]: books = ["FILE", ...]')
    config, sources = voice.config, _sources(voice)
    named = list(sources.values())
    read = _read_all(voice, named)
    refuse_doubles(read, named)
    # Of what was read, not of what stood there before: a Gutenberg book has no digest until it is fetched.
    inputs = {key: book.source_sha256 for key, book in zip(sources, read, strict=True)}
    common = {"version": VERSION, "settings": books_settings(config), "inputs": inputs}
    books, others = read[: len(config.voice.books)], read[len(config.voice.books) :]
    books = split_heldout(books, config.voice.seed, config.books.heldout_share, config.books.heldout_chapters_min)
    _write(voice.others, "others", others, common)
    return _write(voice.books, "books", books, common)


def _sources(voice: VoiceFolder) -> dict[str, str]:
    """Every source of ``voice.toml``, books and others, by its place there and its name."""
    named = (("books", voice.config.voice.books), ("others", voice.config.voice.others))
    return {f"{room}:{number}:{Path(source).name}": source for room, sources in named for number, source in enumerate(sources, 1)}


def located(voice: VoiceFolder, source: str) -> str:
    """A source of ``voice.toml`` as it is opened: paths are seen from the voice folder, gutenberg:ID stays."""
    return source if names_gutenberg(source) else str(voice.path / Path(source).expanduser())


def _read_all(voice: VoiceFolder, sources: Sequence[str]) -> list[Book]:
    books: list[Book] = []
    taken: set[str] = set()
    for source in track(sources, "books"):
        book = read_book(located(voice, source), settings=voice.config.books)
        name, number = book.id, 1
        while name in taken:
            number += 1
            name = f"{book.id}-{number}"
        taken.add(name)
        for oddity in book.oddities:
            say(f"{name}: {oddity}")
        books.append(replace(book, id=name))
    return books


def _write(folder: Path, stage: str, books: list[Book], common: Mapping[str, Any]) -> Manifest:
    by_book = {book.id: _counts(book) for book in books}
    counts: dict[str, Any] = {"books": len(books)}
    for row in by_book.values():
        for name, value in row.items():
            counts[name] = counts.get(name, 0) + value
    counts["by_book"] = by_book
    with stage_writer(folder, stage=stage, counts=counts, **common) as aside:
        for book in books:
            save_book(aside / book.id, book)
    return require_manifest(folder, "book")


def _counts(book: Book) -> dict[str, int]:
    held = [c for c in book.chapters if c.split == "heldout"]
    return {
        "words": book.words(),
        "chapters": sum(c.kind in STORY_KINDS for c in book.chapters),
        "heldout_chapters": len(held),
        "heldout_words": sum(len(book.text[c.body_start : c.end].split()) for c in held),
    }
