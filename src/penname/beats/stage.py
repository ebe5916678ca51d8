"""The stage: books and casts in, ``beats/`` out.

Writes passages.jsonl, beats.jsonl, rejected.jsonl (every refused answer, with the rule) and curation.json. The cache of answers
(cache.sqlite) and a person's edited.toml stand in the same folder and are never touched by a re-run.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penname.beats.annotate import Annotated, Annotation
from penname.beats.cache import open_cache
from penname.beats.curation import curate
from penname.beats.edits import edits_for, load_edits
from penname.beats.endpoint import EndpointAnnotator, host_of, is_address, is_loopback
from penname.beats.gate import GATE_VERSION, Gate
from penname.beats.inverse_prompt import prompt_id
from penname.beats.keywords import KEYWORD_ATTEMPTS, KeywordAnnotator
from penname.beats.local import gguf_path, local_model, serve_gguf
from penname.beats.passages import cut_passages
from penname.core.config import BeatsConfig, Config
from penname.core.errors import BadInput, NeedsPerson, PennameError
from penname.core.files import json_text, jsonl_text
from penname.core.folder import VoiceFolder
from penname.core.hashing import sha256_file
from penname.core.progress import say
from penname.core.stage import Manifest, require_manifest, require_whole, stage_writer
from penname.core.store import load_books, load_casts, save_beats, save_passages
from penname.core.values import Book, Passage

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
        model = beats.model if beats.annotator == "endpoint" else Path(beats.gguf).name
        settings |= {"model": model, "prompt": prompt_id(), "attempts": beats.attempts, **_sampling(beats)}
    return settings


def asked_with(settings: BeatsConfig) -> dict[str, Any]:
    """Everything but the passage that shapes an answer: the cache's key. BadInput where the model is not settled."""
    if settings.annotator == "keywords":
        return {"model": KeywordAnnotator.model}
    model = local_model(settings) if settings.annotator == "local" else _endpoint_model(settings)
    return {"prompt": prompt_id(), "model": model, **_sampling(settings)}


def _sampling(settings: BeatsConfig) -> dict[str, Any]:
    return {"api": settings.api, "temperature": settings.temperature, "max_tokens": settings.max_tokens}


def _endpoint_model(settings: BeatsConfig) -> str:
    if not settings.model:
        raise BadInput('the endpoint annotator needs a model: set beats.model, as the server names it (--set beats.model="...")')
    return settings.model


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
    inputs = beats_inputs(voice)
    corpus = load_corpus(voice)
    if not corpus.passages:
        raise BadInput("the books hold no chapter with prose in it, so there is nothing to write beats for; see: penname book --json")
    annotated = _annotate(voice, corpus, yes, confirm)
    report = curate(annotated.beats, annotated.rejected, len(corpus.passages), annotated.fallbacks)
    counts = {key: report[key] for key in ("passages", "beats", "style", "fallbacks", "rejected")}
    with stage_writer(
        voice.beats, stage="beats", version=VERSION, settings=beats_settings(voice.config), inputs=inputs, counts=counts
    ) as folder:
        save_passages(folder / "passages.jsonl", corpus.passages)
        save_beats(folder / "beats.jsonl", annotated.beats)
        (folder / "rejected.jsonl").write_text(jsonl_text(annotated.rejected), encoding="utf-8")
        (folder / "curation.json").write_text(json_text(report), encoding="utf-8")
    if annotated.completion_tokens:
        say(f"asked {annotated.asked} times, {annotated.prompt_tokens:,} tokens read and {annotated.completion_tokens:,} written")
    return require_manifest(voice.beats, "beat")


@dataclass(frozen=True)
class Corpus:
    """The books of a voice as this stage sees them."""

    books: Mapping[str, Book]
    gates: Mapping[str, Gate]
    passages: list[Passage]
    keywords: KeywordAnnotator

    def text(self, passage: Passage) -> str:
        """The passage's words."""
        return self.books[passage.book_id].text[passage.start : passage.end]


def load_corpus(voice: VoiceFolder) -> Corpus:
    """Books, gates and freshly cut passages of a voice. StaleInput where books or cast are not what was written."""
    for folder, verb in ((voice.books, "book"), (voice.cast, "cast")):
        require_whole(folder, verb)
    books = load_books(voice.books)
    gates = {book.id: Gate(book, cast) for book, cast in zip(books, load_casts(voice.cast, books), strict=True)}
    passages = [passage for book in books for passage in cut_passages(book, voice.config.beats)]
    keywords = KeywordAnnotator(books, passages, {book_id: gate.names for book_id, gate in gates.items()})
    return Corpus({book.id: book for book in books}, gates, passages, keywords)


def _annotate(voice: VoiceFolder, corpus: Corpus, yes: bool, confirm: Callable[[str], bool] | None) -> Annotated:
    settings = voice.config.beats
    offline = settings.annotator == "keywords"
    annotation = Annotation(
        corpus.passages,
        corpus.books,
        corpus.gates,
        corpus.keywords,
        attempts=KEYWORD_ATTEMPTS if offline else settings.attempts,
        max_fallback_share=settings.max_fallback_share,
        workers=1 if offline else settings.concurrency * _WORKERS_PER_REQUEST,
        written=edits_for(load_edits(voice.beats / EDITED), corpus.passages, corpus.books, corpus.gates),
    )
    key = asked_with(settings)
    with open_cache(None if offline else voice.beats / CACHE) as cache:
        missing = annotation.prepare(cache, key, "keywords" if offline else "sentence")
        if not missing:
            annotation.check_falls()
        elif offline:
            annotation.ask(corpus.keywords, missing)
        elif settings.annotator == "local":
            with serve_gguf(gguf_path(settings), settings, voice.config.carrier.threads) as (base_url, server_key):
                annotation.ask(EndpointAnnotator(base_url, server_key, settings, model=key["model"], seeded=True), missing)
        else:
            base_url = endpoint_address(settings)
            if not (yes or settings.send_text == "yes" or is_loopback(base_url)):
                _ask_to_send(base_url, [corpus.text(corpus.passages[i]) for i in missing], confirm)
            annotation.ask(EndpointAnnotator(base_url, os.environ.get("OPENAI_API_KEY", ""), settings, model=key["model"]), missing)
    return annotation.finish(key["model"])


def endpoint_address(settings: BeatsConfig) -> str:
    """The server's address from the configuration or the environment. BadInput where there is none."""
    base_url = settings.base_url or os.environ.get("OPENAI_BASE_URL", "")
    if not is_address(base_url):
        raise BadInput(
            f'the endpoint annotator needs an address such as "http://127.0.0.1:8080/v1" (it is "{base_url}"): '
            "set beats.base_url, or OPENAI_BASE_URL in the environment"
        )
    return base_url


def _ask_to_send(base_url: str, texts: list[str], confirm: Callable[[str], bool] | None) -> None:
    words = sum(len(text.split()) for text in texts)
    what = f"{len(texts)} passages ({words:,} words of your books) would be sent to {host_of(base_url)}"
    if confirm is None:
        raise NeedsPerson(f'{what}; to allow it run: penname beat --yes, or set beats.send_text = "yes"')
    if not confirm(f"{what}. Send them?"):
        raise PennameError(f"nothing was sent to {host_of(base_url)}; to write beats offline: --set beats.annotator=keywords")
