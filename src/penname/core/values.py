"""The plain values that pass between rooms. All are frozen; text is never edited in place, it is annotated by span.

Every offset is a half-open code-point offset into the text that the value belongs to: ``surface = book.text[m.start:m.end]``.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Literal

Split = Literal["train", "heldout"]
ChapterKind = Literal["chapter", "front", "back", "heading", "piece"]
STORY_KINDS: tuple[ChapterKind, ...] = ("chapter", "piece")  # prefaces and afterwords are not trained on as story
EntityKind = Literal["person", "place", "other"]
Gender = Literal["female", "male", "unknown"]


@dataclass(frozen=True, slots=True)
class Chapter:
    """One division of a book that holds prose.

    kind: ``chapter``; ``front`` (preface, dedication, letter before the story); ``back`` (epilogue matter, afterword);
    ``heading`` (a volume or part heading with no prose of its own); ``piece`` (cut by size, because no chapters were found).
    level: 1 for the outermost division in use (volume), larger further in. ``start:end`` spans heading and body;
    ``body_start`` is where the prose begins.
    """

    kind: ChapterKind
    level: int
    heading: str
    start: int
    end: int
    body_start: int
    split: Split = "train"


@dataclass(frozen=True, slots=True)
class Removed:
    """A span of the decoded *source* that is not in the text, and the rule that removed it."""

    start: int
    end: int
    rule: str
    text: str


@dataclass(frozen=True, slots=True)
class AlphabetRow:
    """One character: how often it stood in the source and stands in the text, and where it first stands (-1: nowhere)."""

    char: str
    before: int
    after: int
    first: int


@dataclass(frozen=True, slots=True)
class Book:
    """A clean text with its chapters, whatever the source was."""

    id: str
    title: str
    author: str
    text: str
    chapters: tuple[Chapter, ...]
    source: str = ""
    source_sha256: str = ""
    language: str = "en"
    removed: tuple[Removed, ...] = ()
    alphabet: tuple[AlphabetRow, ...] = ()
    oddities: tuple[str, ...] = ()

    def words(self) -> int:
        """Number of whitespace-separated words in the whole text."""
        return len(self.text.split())


@dataclass(frozen=True, slots=True)
class Entity:
    """Someone or something with names. ``names`` are surface forms as they stand in the text, most frequent first."""

    id: str
    kind: EntityKind
    gender: Gender
    names: tuple[str, ...]
    family: str | None = None  # surname shared with others of this book, as written: "Reed"
    real: bool = False  # a real place, by the gazetteer
    fixed: bool = False  # a person said: keep this name as it is
    evidence: tuple[str, ...] = ()  # sentences a person can read


@dataclass(frozen=True, slots=True, order=True)
class Mention:
    """One place in the text where an entity is named; titles that belong to the name are inside the span."""

    start: int
    end: int
    entity_id: str


@dataclass(frozen=True, slots=True)
class Question:
    """Something about names that a person must decide; ``proposal`` is what ``--decide auto`` would answer."""

    id: str  # stable over re-runs: it depends on the name and the kind of question, not on positions
    kind: Literal["link", "split", "kind", "gender", "name"]
    form: str  # the surface form in question
    entity_ids: tuple[str, ...]
    count: int  # mentions that hang on the answer
    proposal: Mapping[str, object]  # a decision as decisions.toml holds it
    why: str
    snippets: tuple[tuple[int, int], ...]  # spans of text around up to three mentions
    options: tuple[Mapping[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class Cast:
    """The people, places and other named things of one book. Mentions are sorted and do not overlap."""

    book_id: str
    entities: tuple[Entity, ...]
    mentions: tuple[Mention, ...]
    unresolved: tuple[Question, ...] = ()
    decided: tuple[str, ...] = ()  # question ids that decisions.toml has answered

    def by_id(self) -> dict[str, Entity]:
        """Entities by id."""
        return {entity.id: entity for entity in self.entities}


@dataclass(frozen=True, slots=True, order=True)
class Edit:
    """One replacement in a book's text; edits of a copy are sorted and do not overlap."""

    start: int
    end: int
    new: str
    entity: str


JUDGING_COPY = 0  # held-out text and beats go through its name map, which no training copy uses


@dataclass(frozen=True, slots=True)
class RenamedCopy:
    """One renamed copy of a book: ``text`` is the book's text with ``edits`` applied, and nothing else differs."""

    book_id: str
    copy: int  # JUDGING_COPY, or 1... to train on
    text: str
    edits: tuple[Edit, ...]
    names: Mapping[str, str]  # old full surface -> new full surface


@dataclass(frozen=True, slots=True)
class Passage:
    """A run of whole paragraphs of one chapter; offsets into the *original* book's text."""

    id: str  # "<book>:<chapter index>:<n>"
    book_id: str
    chapter: int
    start: int
    end: int
    split: Split


@dataclass(frozen=True, slots=True)
class Beat:
    """The one line that steers a passage, on the original names. ``names`` are spans of the beat that are names."""

    passage_id: str
    text: str
    style: Literal["sentence", "keywords"]
    source: str  # "keywords", "person", or the annotator's model
    names: tuple[Mention, ...] = ()


@dataclass(frozen=True, slots=True)
class Score:
    """An instrument's reading of one text. ``value`` is always finite; higher is more like the author."""

    value: float
    answered: bool
    detail: Mapping[str, float] = field(default_factory=dict)


def apply_edits(text: str, edits: tuple[Edit, ...] | list[Edit]) -> str:
    """The text with sorted, non-overlapping edits applied."""
    parts: list[str] = []
    at = 0
    for edit in edits:
        parts += (text[at : edit.start], edit.new)
        at = edit.end
    parts.append(text[at:])
    return "".join(parts)


def edits_within(edits: tuple[Edit, ...], start: int, end: int) -> Iterator[Edit]:
    """The edits that lie in ``start:end``, shifted so that they apply to ``text[start:end]``."""
    for edit in edits:
        if start <= edit.start and edit.end <= end:
            yield replace(edit, start=edit.start - start, end=edit.end - start)


class CopySpans:
    """Carries spans of a book's text into a copy. An edit that begins before a position shifts it."""

    def __init__(self, copy: RenamedCopy) -> None:
        self._text = copy.text
        self._starts = [edit.start for edit in copy.edits]
        self._shifts = [0, *accumulate(len(edit.new) - (edit.end - edit.start) for edit in copy.edits)]

    def at(self, position: int) -> int:
        """The position in the copy; positions inside an edit are a mistake of the caller."""
        return position + self._shifts[bisect_right(self._starts, position - 1)]

    def text(self, start: int, end: int) -> str:
        """What the copy has where ``start:end`` stands in the book."""
        return self._text[self.at(start) : self.at(end)]
