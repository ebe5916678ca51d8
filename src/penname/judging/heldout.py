"""What judging reads: held-out passages with their beats, through the name map that no training copy uses, and the training text."""

from __future__ import annotations

from dataclasses import dataclass

from penname.core.beatnames import rename_beat
from penname.core.errors import StaleInput
from penname.core.folder import VoiceFolder
from penname.core.rng import CounterRng
from penname.core.stage import read_manifest, require_whole
from penname.core.store import load_beats, load_books, load_copy, load_passages
from penname.core.values import JUDGING_COPY, STORY_KINDS, Book, CopySpans


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
    for folder, verb in ((voice.books, "book"), (voice.beats, "beat"), (voice.copies / str(JUDGING_COPY), "rename")):
        require_whole(folder, verb)
    if read_manifest(voice.others) is not None:
        require_whole(voice.others, "book")
    books = load_books(voice.books)
    copies = {book.id: load_copy(voice.copies / str(JUDGING_COPY), book) for book in books}
    spans = {book_id: CopySpans(copy) for book_id, copy in copies.items()}
    beats = {beat.passage_id: beat for beat in load_beats(voice.beats / "beats.jsonl")}
    heldout = []
    for passage in load_passages(voice.beats / "passages.jsonl"):
        if passage.split == "heldout" and passage.id in beats:
            beat = rename_beat(beats[passage.id], copies[passage.book_id].names)
            text = spans[passage.book_id].text(passage.start, passage.end)
            heldout.append(HeldOut(passage.id, passage.book_id, passage.chapter, beat, text))
    if not heldout:
        raise StaleInput("there is no held-out passage with a beat; set books.heldout_chapters_min above 0 and run: penname run --to beats")
    others = load_books(voice.others) if voice.others.is_dir() else []
    names = {old for copy in copies.values() for old in copy.names if "|" not in old and old[:1].isupper()}
    return Material(
        tuple(heldout),
        tuple(_training_text(book, spans[book.id]) for book in books),
        tuple(other.text for other in others),
        tuple(other.title for other in others),
        frozenset(names),
    )


def _training_text(book: Book, spans: CopySpans) -> str:
    chapters = (chapter for chapter in book.chapters if chapter.kind in STORY_KINDS and chapter.split == "train")
    return "\n\n".join(spans.text(chapter.body_start, chapter.end) for chapter in chapters)


def choose_prompts(heldout: tuple[HeldOut, ...], count: int, seed: int) -> list[HeldOut]:
    """``count`` held-out passages to write from: all of them in a seeded order, again from the start where there are too few."""
    order = CounterRng(seed, "judging prompts").shuffled(range(len(heldout)))
    return [heldout[order[i % len(order)]] for i in range(count)]
