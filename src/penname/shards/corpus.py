"""What is trained on: the (beat, passage) pairs of every copy, as text with its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from penname.core.beatnames import rename_beat
from penname.core.rng import CounterRng
from penname.core.values import Beat, Book, CopySpans, Passage, RenamedCopy


@dataclass(frozen=True, slots=True)
class Pair:
    """One (beat, passage) pair of one copy. ``start:end`` is the passage's span in the copy's text."""

    passage_id: str
    book_id: str
    copy: int
    chapter: int
    start: int
    end: int
    beat: str
    text: str


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A passage, or the end of one, that is not trained on, and why."""

    passage_id: str
    copy: int
    start: int
    end: int
    words: int
    why: str
    tokens: int = 0


def corpus_passages(passages: Sequence[Passage], books: Mapping[str, Book], words: int, seed: int) -> list[Passage]:
    """The training passages within ``words`` words of original text (0: all), whole chapters in a seeded order, the last one cut.

    The result keeps the order of ``passages``.
    """
    train = [p for p in passages if p.split == "train"]
    if words == 0:
        return train
    chapters = {key: list(group) for key, group in groupby(train, key=lambda p: (p.book_id, p.chapter))}
    chosen: set[str] = set()
    left = words
    for key in CounterRng(seed, "corpus").shuffled(sorted(chapters)):
        for passage in chapters[key]:
            left -= len(books[passage.book_id].text[passage.start : passage.end].split())
            if left < 0:
                return [p for p in train if p.id in chosen]
            chosen.add(passage.id)
    return [p for p in train if p.id in chosen]


def pairs_of_copy(
    book: Book, copy: RenamedCopy, passages: Sequence[Passage], beats: Mapping[str, Beat], left_out: list[LeftOut]
) -> Iterator[Pair]:
    """The pairs of one book in one copy; a passage without a beat goes to ``left_out``."""
    spans = CopySpans(copy)
    for passage in passages:
        start, end = spans.at(passage.start), spans.at(passage.end)
        text = copy.text[start:end]
        beat = beats.get(passage.id)
        if beat is None:
            left_out.append(LeftOut(passage.id, copy.copy, start, end, len(text.split()), "it has no beat"))
            continue
        yield Pair(passage.id, book.id, copy.copy, passage.chapter, start, end, rename_beat(beat, copy.names), text)
