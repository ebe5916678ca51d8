"""What judging reads: held-out passages with their beats, through the name map that no training copy uses, and the training text."""

from __future__ import annotations

from dataclasses import dataclass

from penname.core.beatnames import rename_beat
from penname.core.errors import StaleInput
from penname.core.folder import VoiceFolder
from penname.core.rng import CounterRng
from penname.core.store import load_beats, load_books, load_copy, load_passages
from penname.core.values import STORY_KINDS, Book, Passage, RenamedCopy, apply_edits, edits_within

JUDGING_COPY = 0


@dataclass(frozen=True)
class HeldOut:
    """One held-out passage under the judging names: its beat and the author's own text."""

    passage_id: str
    book_id: str
    chapter: int
    beat: str
    text: str

    @property
    def cluster(self) -> str:
        """The chapter it comes from: passages of one chapter are no independent draws."""
        return f"{self.book_id}:{self.chapter:04d}"


@dataclass(frozen=True)
class Material:
    """Everything judging reads of a voice, under the judging names."""

    heldout: tuple[HeldOut, ...]
    train_texts: tuple[str, ...]  # the author's training chapters, one text a book
    other_texts: tuple[str, ...]  # books by others
    other_titles: tuple[str, ...]
    original_names: frozenset[str]  # surfaces of the books' own people, which no sample should hold


def load_material(voice: VoiceFolder) -> Material:
    """Read books, judging copy, beats and others. StaleInput where a stage is missing."""
    books = load_books(voice.books)
    by_id = {book.id: book for book in books}
    copies = {book.id: load_copy(voice.copies / str(JUDGING_COPY), book) for book in books}
    beats = {beat.passage_id: beat for beat in load_beats(voice.beats / "beats.jsonl")}
    heldout = []
    for passage in load_passages(voice.beats / "passages.jsonl"):
        if passage.split == "heldout" and passage.id in beats:
            copy = copies[passage.book_id]
            beat = rename_beat(beats[passage.id], copy.names)
            heldout.append(HeldOut(passage.id, passage.book_id, passage.chapter, beat, _in_copy(by_id[passage.book_id], passage, copy)))
    if not heldout:
        raise StaleInput("there is no held-out passage with a beat; set books.heldout_chapters_min above 0 and run: penname run --to beats")
    others = load_books(voice.others) if voice.others.is_dir() else []
    names = {old for copy in copies.values() for old in copy.names if "|" not in old and old[:1].isupper()}
    return Material(
        tuple(heldout),
        tuple(_training_text(book, copies[book.id]) for book in books),
        tuple(other.text for other in others),
        tuple(other.title for other in others),
        frozenset(names),
    )


def _in_copy(book: Book, passage: Passage, copy: RenamedCopy) -> str:
    return apply_edits(book.text[passage.start : passage.end], list(edits_within(copy.edits, passage.start, passage.end)))


def _training_text(book: Book, copy: RenamedCopy) -> str:
    parts = []
    for chapter in book.chapters:
        if chapter.kind in STORY_KINDS and chapter.split == "train":
            span = chapter.body_start, chapter.end
            parts.append(apply_edits(book.text[slice(*span)], list(edits_within(copy.edits, *span))))
    return "\n\n".join(parts)


def choose_prompts(heldout: tuple[HeldOut, ...], count: int, seed: int) -> list[HeldOut]:
    """``count`` held-out passages to write from: all of them in a seeded order, again from the start where there are too few."""
    order = CounterRng(seed, "judging prompts").shuffled(range(len(heldout)))
    return [heldout[order[i % len(order)]] for i in range(count)]
