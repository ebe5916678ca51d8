"""What a voice folder says about the size of a run: the corpus for a plan, and finished runs to hold it against."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from penname.carriers.bench_rows import BenchRow
from penname.carriers.plan import TOKENS_PER_WORD, Actual, Corpus, against_actual
from penname.core.config import Config
from penname.core.errors import BadInput
from penname.core.files import read_json
from penname.core.folder import VoiceFolder, open_voice
from penname.core.store import load_books
from penname.core.values import STORY_KINDS

_COPIES, _EPOCHS = 6, 3.0


def plan_corpus(
    where: Path, *, tokens: int | None = None, words: int | None = None, copies: int | None = None, epochs: float | None = None
) -> Corpus:
    """The corpus of a plan: ``tokens`` or ``words`` where given, else the training chapters of the voice in ``where``.

    BadInput where neither is there.
    """
    if tokens is not None and words is not None:
        raise BadInput("give --tokens or --words, not both")
    if tokens is not None or words is not None:
        counted = tokens if tokens is not None else round((words or 0) * TOKENS_PER_WORD)
        return Corpus(counted, copies or _COPIES, epochs or _EPOCHS)
    if not (where / "voice.toml").is_file():
        raise BadInput("a plan needs a corpus: give --tokens or --words, or call it in a voice folder (-C DIR)")
    corpus = voice_corpus(open_voice(where))
    return replace(corpus, copies=copies or corpus.copies, epochs=epochs or corpus.epochs)


def voice_corpus(voice: VoiceFolder) -> Corpus:
    """The corpus that a voice's configuration trains on: its training chapters, capped as ``shards`` says. BadInput without books."""
    counted_words = sum(
        len(book.text[chapter.body_start : chapter.end].split())
        for book in load_books(voice.books)
        for chapter in book.chapters
        if chapter.split == "train" and chapter.kind in STORY_KINDS
    )
    if not counted_words:
        raise BadInput(f"{voice.path.resolve()} has no clean books yet; run: penname book")
    limit = voice.config.shards.corpus_words
    tokens = round((min(counted_words, limit) if limit else counted_words) * TOKENS_PER_WORD)
    return Corpus(tokens, voice.copies_used, _epochs(voice.config, tokens * voice.copies_used))


def _epochs(config: Config, tokens: int) -> float:
    """The passes over ``tokens``, or the part of one that ``training.max_steps`` leaves."""
    training = config.training
    if not training.max_steps:
        return training.epochs
    return min(training.epochs, training.max_steps * training.grad_accum_steps * config.shards.seq_len / tokens)


def finished_runs(where: Path, rows: Sequence[BenchRow]) -> list[Actual]:
    """Every finished run of the voice in ``where`` whose carrier has a row, projected against actual."""
    found = []
    for path in sorted((where / "runs").glob("*/run.json")):
        record = read_json(path)
        hours, carrier = record.get("hours", {}), record.get("carrier", {})
        if record.get("state") != "complete" or not hours.get("actual") or not record.get("tokens"):
            continue
        if actual := against_actual(rows, path.parent.name, str(carrier.get("name")), float(record["tokens"]), float(hours["actual"])):
            found.append(actual)
    return found
