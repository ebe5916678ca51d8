"""The stage ``rename``: books/ and cast/ to copies/<k>/, one for judging (0) and ``copies.count`` for training, each proved."""

from __future__ import annotations

from typing import Any

from penname.core.config import Config
from penname.core.files import json_text
from penname.core.folder import VoiceFolder
from penname.core.hashing import sha256_value
from penname.core.progress import progress
from penname.core.stage import Manifest, require_manifest, stage_writer
from penname.core.store import load_books, load_casts, save_copy
from penname.renaming.copies import check_decided, copy_from, merged_words, taken_words
from penname.renaming.dictionary import load_dictionary
from penname.renaming.plan import draw_names
from penname.renaming.proof import prove
from penname.renaming.survey import survey_book

VERSION = 1
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
    config, dictionary = voice.config, load_dictionary()
    inputs = rename_inputs(voice)
    books = load_books(voice.books)
    casts = load_casts(voice.cast, books)
    for cast in casts:
        check_decided(cast)
    places = config.copies.places
    surveys = [survey_book(book, cast, dictionary, places) for book, cast in zip(books, casts, strict=True)]
    taken = taken_words(books)
    shared = merged_words(surveys) if config.voice.series else None
    counts: dict[str, Any] = {"books": len(books), "copies": config.copies.count, "edits": 0, "surfaces_searched": 0, "name_words": 0}
    settings = rename_settings(config)
    with (
        stage_writer(voice.copies, stage=STAGE, version=VERSION, settings=settings, inputs=inputs, counts=counts) as folder,
        progress("copies", (config.copies.count + 1) * len(books)) as done,
    ):
        for k in range(config.copies.count + 1):
            series_names = draw_names(shared, dictionary, taken, config.voice.seed, k, "series") if shared else None
            # Each copy has a manifest of its own as well, so that shards depend only on the copies they use.
            with stage_writer(folder / str(k), stage=STAGE, version=VERSION, settings=settings, inputs=inputs) as aside:
                names: dict[str, dict[str, str]] = {}
                proofs = {}
                for book, cast, survey in zip(books, casts, surveys, strict=True):
                    new = series_names or draw_names(survey.words, dictionary, taken, config.voice.seed, k, book.id)
                    copy = copy_from(book, survey, new, k)
                    proof = prove(book, cast, copy, places=places, all_books=books)
                    save_copy(aside, copy)
                    names[book.id] = dict(copy.names)
                    proofs[book.id] = {"edits": proof.edits, "surfaces": proof.surfaces, "words": proof.words, "map": sha256_value(new)}
                    counts["edits"] += proof.edits
                    counts["surfaces_searched"] += proof.surfaces
                    counts["name_words"] += proof.words
                    done.advance()
                (aside / "names.json").write_bytes(json_text(names).encode())
                (aside / "proof.json").write_bytes(json_text(proofs).encode())
    return require_manifest(voice.copies, "rename")
