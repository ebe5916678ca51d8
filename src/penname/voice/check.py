"""``penname check``: what can be known before time is spent. Each finding is one sentence with what to do next."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from penname.books.gutenberg import gutenberg_number
from penname.books.stage import located
from penname.core.errors import PennameError
from penname.core.folder import VoiceFolder
from penname.core.progress import format_bytes, format_count
from penname.core.stage import MANIFEST, damaged_files, read_manifest
from penname.core.store import load_books
from penname.voice.graph import STAGES
from penname.voice.price import FLOOR_BYTES, runs_bytes

SMALL_CORPUS_WORDS = 300_000
TINY_CORPUS_WORDS = 40_000


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    level: Literal["ok", "warn", "problem"]
    what: str


def check_voice(voice: VoiceFolder) -> list[Finding]:
    """Every finding about sources, corpus, finished stages, carrier and disk. Nothing is changed."""
    return [*_sources(voice), *_corpus(voice), *_folders(voice), *_carrier(voice), *_disk(voice)]


def _sources(voice: VoiceFolder) -> list[Finding]:
    found = []
    for key in ("books", "others"):
        for source in getattr(voice.config.voice, key):
            try:
                fetched = gutenberg_number(source) is not None
            except PennameError as error:
                found.append(Finding("problem", f"voice.{key}: {error}"))
                continue
            if not fetched and not Path(located(voice, source)).exists():
                found.append(Finding("problem", f"voice.{key} names {source}, and there is no such file; correct voice.toml"))
    if not voice.config.voice.books:
        found.append(Finding("problem", "voice.books is empty; name at least one book in voice.toml"))
    others = len(voice.config.voice.others)
    if others == 0:
        found.append(
            Finding(
                "warn",
                "no books by other authors (voice.others): the instrument can then tell the author from the base model, "
                "but cannot claim that the voice is this author's and not just of the period; three or more of the time help most",
            )
        )
    elif others < 3:
        found.append(
            Finding("warn", f"only {format_count(others, 'book')} by other authors: with three or more the instrument sees better")
        )
    return found or [Finding("ok", f"{format_count(len(voice.config.voice.books), 'book')} and {others} by others are there")]


def _corpus(voice: VoiceFolder) -> list[Finding]:
    if not (voice.books / MANIFEST).exists():
        return [Finding("warn", "the books are not cleaned yet, so the corpus has no size; run: penname book")]
    try:
        books = load_books(voice.books)
    except PennameError as error:
        return [Finding("problem", str(error))]
    words = sum(book.words() for book in books)
    said = f"{words:,} words in {format_count(len(books), 'book')}"
    if words >= SMALL_CORPUS_WORDS:
        return [Finding("ok", said)]
    if words < TINY_CORPUS_WORDS:
        meaning = (
            "enough to try the tool, not to make a voice: expect vocabulary and punctuation to move and little else, "
            "and a verdict of inconclusive or refused"
        )
    else:
        meaning = (
            "a small corpus (under 300,000; one novel of about 80,000 words is the common case): the voice will lean on this text, "
            "so memorisation and the held-out loss need watching, few held-out blocks make the controls less certain, "
            "and more epochs copy rather than teach; more works by the author help more than more copies"
        )
    return [Finding("warn", f"{said}: {meaning}")]


def _folders(voice: VoiceFolder) -> list[Finding]:
    stages = [(stage.name, stage.folder(voice), stage.manifest, stage.verb) for stage in STAGES if stage.name != "train"]
    runs = [(f"run {name}", voice.runs / name, MANIFEST, "train (or bring it back with penname restore)") for name in voice.finished_runs()]
    found = []
    for name, folder, file, verb in [*stages, ("others", voice.others, MANIFEST, "book"), *runs]:
        try:
            manifest = read_manifest(folder, file)
        except PennameError as error:
            found.append(Finding("problem", f"{name}: {error}"))
            continue
        if manifest and (bad := damaged_files(folder, manifest)):
            many = format_count(len(bad), "such file")
            found.append(Finding("problem", f"{name}: {bad[0]} is not what was written ({many}); run: penname {verb}"))
    return found or [Finding("ok", "every finished stage and run re-hashes to what its manifest says")]


def _carrier(voice: VoiceFolder) -> list[Finding]:
    from penname.carriers import carrier_facts, resolve_carrier

    name = voice.config.carrier.name
    try:
        facts = carrier_facts(resolve_carrier(name))
    except PennameError as error:
        return [Finding("problem", str(error))]
    if facts.instruct:
        return [Finding("warn", f"{name} is instruction-tuned: it serves to try things, not to make a voice; take a base carrier for that")]
    return [Finding("ok", f"{name} is staged, a base model")]


def _disk(voice: VoiceFolder) -> list[Finding]:
    free, written = shutil.disk_usage(voice.path).free, runs_bytes(voice)
    what = f"{format_bytes(free)} free on this disk" + (f", and the runs to come write {format_bytes(written)}" if written else "")
    if free > written + FLOOR_BYTES:
        return [Finding("ok", what)]
    return [Finding("warn", f"{what}; a run with checkpoints may not fit; free some space, see: penname purge")]
