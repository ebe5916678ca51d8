"""The stage: books and casts in, ``beats/`` out.

Writes passages.jsonl, beats.jsonl, rejected.jsonl (every refused answer, with the rule) and curation.json. The cache of answers
(cache.sqlite) and a person's edited.toml stand in the same folder and are never touched by a re-run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penname.beats.annotate import Annotated, Annotation, annotate
from penname.beats.annotator import Annotator
from penname.beats.cache import open_cache
from penname.beats.curation import curate
from penname.beats.edits import edits_for, load_edits
from penname.beats.gate import GATE_VERSION, Gate
from penname.beats.keywords import KEYWORD_ATTEMPTS, KeywordAnnotator
from penname.beats.passages import cut_passages
from penname.core.config import BeatsConfig, Config
from penname.core.errors import BadInput
from penname.core.files import json_text, jsonl_text
from penname.core.folder import VoiceFolder
from penname.core.hashing import sha256_file
from penname.core.stage import Manifest, read_manifest, require_manifest, stage_writer
from penname.core.store import load_books, load_casts, save_beats, save_passages
from penname.core.values import Book, Cast, Passage

VERSION = 1
EDITED = "edited.toml"
CACHE = "cache.sqlite"
_WORKERS_PER_REQUEST = 4  # those that wait out a busy server hold no place among the requests under way


def beats_settings(config: Config) -> dict[str, Any]:
    """The settings that shape the beats; an endpoint's address, speed and limits do not."""
    beats = config.beats
    settings: dict[str, Any] = {
        "passage_words": [beats.passage_words_min, beats.passage_words_max],
        "annotator": beats.annotator,
        "gate": GATE_VERSION,
    }
    if beats.annotator != "keywords":
        settings |= asked_with(beats) | {"attempts": beats.attempts}
    return settings


def asked_with(settings: BeatsConfig) -> dict[str, Any]:
    """Everything but the passage that shapes an answer: the cache's key."""
    if settings.annotator == "keywords":
        return {"model": KeywordAnnotator.model}
    raise BadInput(f"beats.annotator {settings.annotator} is not there yet")


def beats_inputs(voice: VoiceFolder) -> dict[str, str]:
    """Digests of the finished books and cast, and of what a person wrote."""
    inputs = {
        "books": require_manifest(voice.books, "book").digest,
        "cast": require_manifest(voice.cast, "cast").digest,
    }
    edited = voice.beats / EDITED
    if edited.exists():
        inputs["edited"] = sha256_file(edited)
    return inputs


def run_beats(voice: VoiceFolder, yes: bool = False, confirm: Callable[[str], bool] | None = None) -> Manifest:
    """Cut passages and give each its beat.

    ``yes`` or ``confirm`` answers whether text may leave this machine; without either, NeedsPerson. PennameError where too many
    beats fall to keywords or the server cannot be used: whatever was answered is kept, and a re-run goes on from there.
    """
    settings = voice.config.beats
    inputs = beats_inputs(voice)
    books = load_books(voice.books)
    passages = [passage for book in books for passage in cut_passages(book, settings)]
    if not passages:
        raise BadInput("the books hold no chapter with prose in it, so there is nothing to write beats for; see: penname book --json")
    annotated = _annotate(voice, books, load_casts(voice.cast, books), passages)
    report = curate(annotated.beats, annotated.rejected, len(passages), annotated.fallbacks)
    counts = {key: report[key] for key in ("passages", "beats", "style", "fallbacks", "rejected")}
    with stage_writer(
        voice.beats, stage="beats", version=VERSION, settings=beats_settings(voice.config), inputs=inputs, counts=counts
    ) as folder:
        save_passages(folder / "passages.jsonl", passages)
        save_beats(folder / "beats.jsonl", annotated.beats)
        (folder / "rejected.jsonl").write_text(jsonl_text(annotated.rejected), encoding="utf-8")
        (folder / "curation.json").write_text(json_text(report), encoding="utf-8")
    manifest = read_manifest(voice.beats)
    assert manifest is not None  # the writer has just put it there
    return manifest


def gates_of(books: list[Book], casts: list[Cast]) -> dict[str, Gate]:
    """The gate of each book."""
    return {book.id: Gate(book, cast) for book, cast in zip(books, casts, strict=True)}


def _annotate(voice: VoiceFolder, books: list[Book], casts: list[Cast], passages: list[Passage]) -> Annotated:
    settings = voice.config.beats
    by_id, gates = {book.id: book for book in books}, gates_of(books, casts)
    keywords = KeywordAnnotator(books, passages, {book_id: gate.names for book_id, gate in gates.items()})
    written = edits_for(load_edits(voice.beats / EDITED), passages, by_id, gates)
    offline = settings.annotator == "keywords"
    annotation = Annotation(
        passages,
        by_id,
        gates,
        keywords,
        attempts=KEYWORD_ATTEMPTS if offline else settings.attempts,
        max_fallback_share=settings.max_fallback_share,
        workers=1 if offline else settings.concurrency * _WORKERS_PER_REQUEST,
        written=written,
    )
    annotator: Annotator = keywords
    with open_cache(None if offline else voice.beats / CACHE) as cache:
        return annotate(annotation, annotator, cache, asked_with(settings), lambda missing: None)
