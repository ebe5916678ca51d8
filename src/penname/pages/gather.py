"""What the report shows, read from finished folders into plain values. A stage that is missing is None, and is shown as missing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penname.core.files import read_json, read_jsonl, read_text
from penname.core.folder import VoiceFolder
from penname.core.stage import MANIFEST, Manifest, read_manifest, require_whole
from penname.core.store import load_book
from penname.core.values import STORY_KINDS


@dataclass(frozen=True)
class BookFacts:
    """One book in figures."""

    id: str
    title: str
    author: str
    words: int
    chapters: int
    heldout_chapters: int
    removed_characters: dict[str, int]  # rule -> characters
    alphabet: int
    oddities: tuple[str, ...]
    people: int | None = None
    places: int | None = None
    mentions: int | None = None
    unresolved: int | None = None


@dataclass(frozen=True)
class RunFacts:
    """One training run: its record, its metrics and its sample passages."""

    name: str
    record: dict[str, Any]
    steps: tuple[tuple[float, float], ...]  # (step, loss)
    heldout: tuple[tuple[float, float], ...]
    samples: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Facts:
    """Everything of a voice that the report shows."""

    name: str
    carrier: str
    books: tuple[BookFacts, ...]
    others: tuple[str, ...]
    copies: int | None
    curation: dict[str, Any] | None
    beat_examples: tuple[tuple[str, str], ...]  # (beat, passage)
    shards: Manifest | None
    registration: dict[str, Any] | None
    controls: dict[str, Any] | None
    verdict: dict[str, Any] | None
    runs: tuple[RunFacts, ...]
    curves: tuple[dict[str, Any], ...] = ()  # of ``penname judge --curve``
    manifests: dict[str, Manifest] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    config: dict[str, Any] = field(default_factory=dict)

    @property
    def words(self) -> int:
        """Words of all books."""
        return sum(book.words for book in self.books)


def _stages(voice: VoiceFolder) -> tuple[tuple[str, Path, str, str], ...]:
    """Name, folder and manifest of each stage that is shown, and the verb that makes its files again; "" where none of them is read."""
    return (
        ("books", voice.books, MANIFEST, "book"),
        ("others", voice.others, MANIFEST, "book"),
        ("cast", voice.cast, MANIFEST, "cast"),
        ("copies", voice.copies, MANIFEST, ""),
        ("beats", voice.beats, MANIFEST, "beat"),
        ("shards", voice.current_shards, MANIFEST, ""),
        ("register", voice.judging, "manifest-register.json", ""),  # an edit of it is no damage: the verdict then says "unregistered"
        ("control", voice.judging, "manifest-control.json", "control"),
        ("judge", voice.judging, "manifest-judge.json", "judge"),
    )


def finished_stages(voice: VoiceFolder) -> dict[str, Manifest]:
    """The manifests of the stages that are there to be shown, by name."""
    return {name: manifest for name, folder, file, _ in _stages(voice) if (manifest := read_manifest(folder, file)) is not None}


def gather(voice: VoiceFolder) -> Facts:
    """Read everything that is there; nothing is computed that a stage has not written.

    StaleInput where a file that is shown is not what its stage wrote.
    """
    manifests = finished_stages(voice)
    for name, folder, file, verb in _stages(voice):
        if verb and name in manifests:
            require_whole(folder, verb, file)
    return Facts(
        name=voice.name,
        carrier=Path(voice.config.carrier.name).name,
        books=tuple(_book(voice, path.parent) for path in sorted(voice.books.glob("*/book.json"))) if "books" in manifests else (),
        others=tuple(read_json(path)["title"] for path in sorted(voice.others.glob("*/book.json"))),
        copies=len([path for path in voice.copies.glob("*") if path.name.isdigit() and path.name != "0"])
        if "copies" in manifests
        else None,
        curation=_json(voice.beats / "curation.json") if "beats" in manifests else None,
        beat_examples=_beat_examples(voice) if "beats" in manifests and "books" in manifests else (),
        shards=manifests.get("shards"),
        registration=_json(voice.judging / "registration.json"),
        controls=_json(voice.judging / "controls.json"),
        verdict=_json(voice.judging / "verdict.json"),
        runs=tuple(_run(path.parent) for path in sorted(voice.runs.glob("*/run.json"))),
        curves=tuple(read_json(path) for path in sorted(voice.judging.glob("curve-*.json"))),
        manifests=manifests,
        seconds=_json(voice.path / "timings.json") or {},
        config=voice.config.model_dump(mode="json"),
    )


def _json(path: Path) -> dict[str, Any] | None:
    return read_json(path) if path.is_file() else None


def _book(voice: VoiceFolder, folder: Path) -> BookFacts:
    book = load_book(folder)
    removed: Counter[str] = Counter()
    for row in _rows(folder / "removed.jsonl"):
        removed[row["rule"]] += row["end"] - row["start"]
    counted: dict[str, Any] = {}
    if cast := _json(voice.cast / f"{book.id}.json"):
        kinds = Counter(entity["kind"] for entity in cast["entities"])
        counted = {
            "people": kinds["person"],
            "places": kinds["place"],
            "mentions": len(cast["mentions"]),
            "unresolved": len(cast["unresolved"]),
        }
    prose = [chapter for chapter in book.chapters if chapter.kind in STORY_KINDS]
    return BookFacts(
        book.id,
        book.title,
        book.author,
        book.words(),
        len(prose),
        sum(chapter.split == "heldout" for chapter in prose),
        dict(removed.most_common()),
        len(book.alphabet),
        book.oddities,
        **counted,
    )


def _beat_examples(voice: VoiceFolder, count: int = 5) -> tuple[tuple[str, str], ...]:
    passages = {row["id"]: row for row in _rows(voice.beats / "passages.jsonl")}
    beats = _rows(voice.beats / "beats.jsonl")
    texts: dict[str, str] = {}
    examples = []
    for beat in beats[:: max(1, len(beats) // count)][:count]:
        passage = passages.get(beat["passage_id"])
        if passage is None:
            continue
        book = passage["book_id"]
        if book not in texts:
            texts[book] = read_text(voice.books / book / "text.txt")
        examples.append((beat["text"], texts[book][passage["start"] : passage["end"]]))
    return tuple(examples)


def _run(folder: Path) -> RunFacts:
    metrics = _rows(folder / "metrics.jsonl")
    return RunFacts(
        folder.name,
        read_json(folder / "run.json"),
        tuple((row["step"], row["loss"]) for row in metrics if "loss" in row),
        tuple((row["step"], row["heldout_loss"]) for row in metrics if "heldout_loss" in row),
        tuple(_rows(folder / "samples.jsonl")),
    )


def _rows(path: Path) -> list[dict[str, Any]]:
    return list(read_jsonl(path, growing=True)) if path.is_file() else []
