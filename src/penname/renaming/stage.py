"""The stage ``rename``: books/ and cast/ to copies/<k>/, one for judging (0) and ``copies.count`` for training, each proved."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from penname.core.config import Config
from penname.core.files import json_text
from penname.core.folder import VoiceFolder
from penname.core.hashing import sha256_value
from penname.core.progress import progress, say
from penname.core.stage import Manifest, require_manifest, require_whole, stage_writer
from penname.core.store import load_books, load_casts, save_copy
from penname.core.values import Book, Cast
from penname.core.workers import in_processes
from penname.renaming.copies import check_decided, copy_from, merged_words, taken_words
from penname.renaming.dictionary import load_dictionary
from penname.renaming.plan import draw_names
from penname.renaming.proof import prove
from penname.renaming.survey import Survey, survey_book

VERSION = 2
STAGE = "rename"


def rename_inputs(voice: VoiceFolder) -> dict[str, str]:
    """Digests of the books and the cast that the copies are made from."""
    return {"books": require_manifest(voice.books, "book").digest, "cast": require_manifest(voice.cast, "cast").digest}


def rename_settings(config: Config) -> dict[str, Any]:
    """What the copies depend on besides their inputs; the dictionary by its hash."""
    return {
        "seed": config.voice.seed,
        "series": config.voice.series,
        "count": config.copies.count,
        "places": config.copies.places,
        "dictionary": load_dictionary().sha256,
    }


def run_rename(voice: VoiceFolder) -> Manifest:
    """Make and prove every copy of every book. Raises NeedsPerson while names wait for a person, ProofFailed where a name slipped."""
    config = voice.config
    settings, inputs = rename_settings(config), rename_inputs(voice)
    for folder, verb in ((voice.books, "book"), (voice.cast, "cast")):
        require_whole(folder, verb)
    books = load_books(voice.books)
    casts = load_casts(voice.cast, books)
    for cast in casts:
        check_decided(cast)
    work = _Work(config, books, casts)
    counts: dict[str, Any] = {"books": len(books), "copies": config.copies.count, "edits": 0, "surfaces_searched": 0, "name_words": 0}
    ks = range(config.copies.count + 1)
    with ExitStack() as stack:
        folder = stack.enter_context(
            stage_writer(voice.copies, stage=STAGE, version=VERSION, settings=settings, inputs=inputs, counts=counts)
        )
        # Each copy has a manifest of its own as well, so that shards depend only on the copies they use.
        asides = [
            stack.enter_context(stage_writer(folder / str(k), stage=STAGE, version=VERSION, settings=settings, inputs=inputs)) for k in ks
        ]
        made = stack.enter_context(in_processes(lambda i: work.copies_of(i, asides), range(len(books))))
        done = stack.enter_context(progress("books renamed", len(books)))
        names: list[dict[str, dict[str, str]]] = [{} for _ in ks]
        proofs: list[dict[str, dict[str, Any]]] = [{} for _ in ks]
        for book, rows in zip(books, made, strict=True):
            for k, (map_of_names, proof) in zip(ks, rows, strict=True):
                names[k][book.id], proofs[k][book.id] = map_of_names, proof
                counts["edits"] += proof["edits"]
                counts["surfaces_searched"] += proof["surfaces"]
                counts["name_words"] += proof["words"]
            if rows[0][1]["unchanged"]:
                say(f"{book.id}: named in every copy as in the book, by a title and no name: {', '.join(rows[0][1]['unchanged'])}")
            done.advance()
        for k in ks:
            (asides[k] / "names.json").write_bytes(json_text(names[k]).encode())
            (asides[k] / "proof.json").write_bytes(json_text(proofs[k]).encode())
    return require_manifest(voice.copies, "rename")


class _Work:
    """What the copies of all books have in common."""

    def __init__(self, config: Config, books: Sequence[Book], casts: Sequence[Cast]) -> None:
        self.config, self.books, self.casts = config, books, casts
        self.dictionary = load_dictionary()
        self.taken = taken_words(books)
        # In a series the names are drawn for all books at once, so all are surveyed before any is renamed.
        self.surveys = [self._survey(i) for i in range(len(books))] if config.voice.series else []
        self.shared = merged_words(self.surveys)

    def _survey(self, i: int) -> Survey:
        return survey_book(self.books[i], self.casts[i], self.dictionary, self.config.copies.places)

    def copies_of(self, i: int, folders: Sequence[Path]) -> list[tuple[dict[str, str], dict[str, Any]]]:
        """Write and prove the copies of one book, each into its folder: its map of names and what was proved of each."""
        book, cast, seed = self.books[i], self.casts[i], self.config.voice.seed
        survey = self.surveys[i] if self.surveys else self._survey(i)
        words, scope = (self.shared, "series") if self.surveys else (survey.words, book.id)
        rows = []
        for k, folder in enumerate(folders):
            new = draw_names(words, self.dictionary, self.taken, seed, k, scope)
            copy = copy_from(book, survey, new, k)
            proof = prove(book, cast, copy, places=self.config.copies.places, all_books=self.books)
            save_copy(folder, copy)
            row = {"edits": proof.edits, "surfaces": proof.surfaces, "words": proof.words, "unchanged": list(proof.unchanged)}
            row["map"] = sha256_value(new)
            rows.append((dict(copy.names), row))
        return rows
