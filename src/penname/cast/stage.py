"""The stage: ``books/`` and a person's ``cast/decisions.toml`` to ``cast/<book>.json``; it stops while a name is undecided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from penname.cast.build import Readings
from penname.cast.decide import books_named, casts_with
from penname.cast.decisions import Decision, Decisions, decision_from, idle_decisions, load_decisions, save_decisions
from penname.cast.show import entities_named, question_lines, show_entity
from penname.core.config import Config
from penname.core.errors import BadInput, NeedsPerson
from penname.core.folder import VoiceFolder
from penname.core.hashing import sha256_file
from penname.core.progress import format_count, say
from penname.core.stage import Manifest, require_manifest, require_whole, stage_writer
from penname.core.store import load_books, load_casts, save_cast
from penname.core.values import Book, Cast
from penname.core.workers import in_processes

VERSION = 3
_ROUNDS = 3  # an answer can lay open another question


def cast_settings(config: Config) -> dict[str, Any]:
    """The settings that change what this stage writes. How questions were answered stands in decisions.toml, an input."""
    return {"series": config.voice.series, "min_mentions": config.cast.min_mentions, "max_questions": config.cast.max_questions}


def cast_inputs(voice: VoiceFolder) -> dict[str, str]:
    """Digest of the books, and of what a person decided."""
    decided = sha256_file(voice.decisions) if voice.decisions.exists() else ""
    return {"books": require_manifest(voice.books, "book").digest, "decisions": decided}


def run_cast(voice: VoiceFolder, decide: str = "") -> Manifest:
    """Write the cast of every book. ``decide`` is "ask" or "auto", else as voice.toml has it; "auto" takes every proposal and records it.

    NeedsPerson lists what is open; the cast stands then as far as the rules go, for review.
    """
    if decide not in ("", "ask", "auto"):
        raise BadInput(f'--decide is "ask" or "auto", and not "{decide}"')
    require_whole(voice.books, "book")
    books = load_books(voice.books)
    decisions = load_decisions(voice.decisions)
    for sentence in idle_decisions(decisions, {book.id: book.text for book in books}):
        say(f"{voice.decisions}: {sentence}; it changes nothing")
    say(f"cast: {sum(len(book.text) for book in books):,} characters in {format_count(len(books), 'book')}")
    readings = Readings(books, voice.config.cast, voice.config.voice.series)
    if (decide or voice.config.cast.decide) == "auto":
        casts, decisions, taken = take_proposals(readings, decisions)
        save_decisions(voice.decisions, decisions)
        if taken:
            say(f'cast: took {format_count(taken, "proposed answer")}, written to {voice.decisions.name} as by = "auto"')
    else:
        with in_processes(lambda part: readings.casts_of(part, decisions), readings.parts) as results:
            casts = [cast for row in results for cast in row]
    counts: dict[str, Any] = {
        "books": len(casts),
        "people": sum(e.kind == "person" for cast in casts for e in cast.entities),
        "places": sum(e.kind == "place" for cast in casts for e in cast.entities),
        "mentions": sum(len(cast.mentions) for cast in casts),
        "decided": sum(len(cast.decided) for cast in casts),
        "unresolved": sum(len(cast.unresolved) for cast in casts),
    }
    with stage_writer(
        voice.cast, stage="cast", version=VERSION, settings=cast_settings(voice.config), inputs=cast_inputs(voice), counts=counts
    ) as folder:
        for cast in casts:
            save_cast(folder / f"{cast.book_id}.json", cast)
    if counts["unresolved"]:
        raise NeedsPerson(_stop_message(books, casts))
    return require_manifest(voice.cast, "cast")


def take_proposals(readings: Readings, decisions: Decisions) -> tuple[list[Cast], Decisions, int]:
    """The casts with every open question answered by its proposal, the decisions with these answers, and how many there were."""
    with in_processes(lambda part: _answered(readings, part, decisions), readings.parts) as results:
        rows = list(results)
    taken = [decision for _, new in rows for decision in new]
    return [cast for casts, _ in rows for cast in casts], decisions.add(taken), len(taken)


def _answered(readings: Readings, part: int, decisions: Decisions) -> tuple[list[Cast], list[Decision]]:
    casts, taken = readings.casts_of(part, decisions), []
    for _ in range(_ROUNDS):
        new = [proposed(q.proposal, cast.book_id, q.id) for cast in casts for q in cast.unresolved]
        if not new:
            break
        taken += new
        decisions = decisions.add(new)
        casts = readings.casts_of(part, decisions)
    return casts, taken


def proposed(row: Any, book: str, question: str, by: str = "auto") -> Decision:
    """An answer out of a question's proposal or options, as a Decision."""
    return replace(decision_from(dict(row)), book=book, question=question, by=by)


def _stop_message(books: Sequence[Book], casts: Sequence[Cast]) -> str:
    total = sum(len(cast.unresolved) for cast in casts)
    lines = [f"{total} {'name is' if total == 1 else 'names are'} for a person to decide, most frequent first:"]
    for book, cast in zip(books, casts, strict=True):
        lines += [line for question in cast.unresolved for line in question_lines(book, question)]
    lines.append(
        "decide them with: penname review, or penname cast --show NAME, --merge A B, --link FORM B, --split A, --kind A KIND, "
        "--gender A GENDER, --keep A, --drop A,"
    )
    lines.append("or take all the proposals with: penname cast --decide auto")
    return "\n".join(lines)


def show_name(voice: VoiceFolder, name: str, book: str = "") -> str:
    """Everything about one name, in every book that has it. BadInput, with the nearest name, where none has."""
    books = {item.id: item for item in books_named(voice, book)}
    casts = casts_with(load_casts(voice.cast, list(books.values())), [name])
    return "\n\n".join(show_entity(books[cast.book_id], cast, entity) for cast in casts for entity in entities_named(cast, name))
