"""The desk behind the review page: the queue of open questions, answers that are on disk before they are said, undo, who is who."""

from __future__ import annotations

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from penname.core.errors import BadInput, PennameError
from penname.core.folder import VoiceFolder
from penname.core.lock import hold
from penname.core.values import Book, Cast, Entity, Question

LOCK_SECONDS = 10.0
MANY = 400  # entities shown on the people page without a search


@dataclass(frozen=True)
class CastTools:
    """What the cast room does, handed in: this room does not import it."""

    load: Callable[[], Any]  # -> decisions as they are on disk
    save: Callable[[Any], None]
    build: Callable[[Sequence[Book], Any], list[Cast]]
    answer: Callable[[Mapping[str, Any], str, str], Any]  # (row, book, question) -> a decision by a person
    rename: Callable[[Book, Cast], Mapping[str, str]]  # old surface -> new surface, in copy 1


@dataclass(frozen=True)
class Open:
    """One open question with the book and cast that it is about."""

    book: Book
    cast: Cast
    question: Question

    def entities(self) -> list[dict[str, Any]]:
        """The entities in question, as the page shows them."""
        by_id = self.cast.by_id()
        return [entity_row(self.cast, by_id[i]) for i in self.question.entity_ids if i in by_id]


class Desk:
    """The review of one voice. ``books`` and casts stay in memory; decisions are read from disk each time."""

    def __init__(self, voice: VoiceFolder, books: Sequence[Book], tools: CastTools) -> None:
        self.voice, self._books, self._tools = voice, list(books), tools
        self._casts = tools.build(self._books, tools.load())

    def queue(self, skipped: Sequence[str]) -> list[Open]:
        """What is open, most frequent first; ``skipped`` ("book|question") stand last. Rebuilt when the queue has run dry, since an
        answer can lay open another question."""
        found = self._open()
        if not found and self._stale:
            self._rebuild()
            found = self._open()
        later = set(skipped)
        return sorted(found, key=lambda one: (f"{one.book.id}|{one.question.id}" in later, -one.question.count))

    def _open(self) -> list[Open]:
        decisions = self._tools.load()
        return [
            Open(book, cast, question)
            for book, cast in zip(self._books, self._casts, strict=True)
            for question in cast.unresolved
            if question.id not in decisions.answered(book.id)
        ]

    _stale = False

    def _rebuild(self) -> None:
        self._casts = self._tools.build(self._books, self._tools.load())
        self._stale = False

    def decided(self) -> int:
        """How many questions have an answer."""
        return sum(len(self._tools.load().answered(book.id)) for book in self._books)

    def decide(self, book_id: str, question_id: str, choice: str, name: str = "") -> str:
        """Write one answer to disk and say it. ``choice``: proposal, option:N, merge (with ``name``), split, keep, drop, kind:K, gender:G."""
        question = self._question(book_id, question_id)
        row = _row(question, choice, name)
        decision = self._tools.answer(row, book_id, question_id)
        self._change(lambda decisions: decisions.add([decision]))
        return f"{question.form}: {self.said(row)}"

    def undo(self) -> str:
        """Take back the last decision of a person and say which."""
        taken: list[Any] = []

        def without_last(decisions: Any) -> Any:
            mine = [d for d in decisions.items if d.by == "person" and d.question]
            if not mine:
                return decisions
            taken.append(mine[-1])
            return type(decisions)(tuple(d for d in decisions.items if d is not mine[-1]))

        self._change(without_last)
        return f"taken back: {', '.join(taken[0].names)}" if taken else "there is nothing to take back"

    def _change(self, change: Callable[[Any], Any]) -> None:
        deadline = time.monotonic() + LOCK_SECONDS
        while True:
            try:
                with hold(self.voice.path, "review"):
                    self._tools.save(change(self._tools.load()))
                break
            except PennameError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        self._stale = True

    def _question(self, book_id: str, question_id: str) -> Question:
        for book, cast in zip(self._books, self._casts, strict=True):
            for question in cast.unresolved:
                if book.id == book_id and question.id == question_id:
                    return question
        raise BadInput("that question is not open any more; go back to the queue")

    def said(self, row: Mapping[str, Any]) -> str:
        """A decision as a person would say it."""
        names, action = [str(name) for name in row["names"]], row["action"]
        if action in ("merge", "link"):
            return f"{names[0]} is {names[1]}" if len(names) == 2 else " = ".join(names)
        if action == "share":
            return f"{names[0]} is borne by {', '.join(names[1:])}; each mention goes by its context"
        if action == "split":
            return f"{', '.join(names)} is somebody else"
        if action in ("kind", "gender"):
            return f"{names[0]} is {row['value']}"
        return f"{names[0]} keeps its name" if action == "keep" else f"{names[0]} is no name"

    def all_names(self) -> list[str]:
        """Every name, for the type-ahead."""
        return sorted({entity.names[0] for cast in self._casts for entity in cast.entities if entity.names})

    def people(self, query: str) -> list[dict[str, Any]]:
        """Book by book: the entities that match, families, and who appears with whom."""
        if self._stale:
            self._rebuild()
        out = []
        for book, cast in zip(self._books, self._casts, strict=True):
            wanted = [e for e in cast.entities if not query or any(query.lower() in name.lower() for name in e.names)][:MANY]
            families: dict[str, list[str]] = defaultdict(list)
            for entity in cast.entities:
                if entity.kind == "person" and entity.family:
                    families[entity.family].append(entity.names[0])
            out.append(
                {
                    "title": book.title,
                    "rows": [entity_row(cast, entity) for entity in wanted],
                    "families": sorted((family, members) for family, members in families.items() if len(members) > 1),
                    "together": together(book, cast)[:20],
                }
            )
        return out

    def preview(self) -> list[dict[str, Any]]:
        """What copy 1 would call the most frequent people and places, as decided so far."""
        if self._stale:
            self._rebuild()
        rows = []
        for book, cast in zip(self._books, self._casts, strict=True):
            names = self._tools.rename(book, cast)
            counts = Counter(mention.entity_id for mention in cast.mentions)
            for entity in sorted(cast.entities, key=lambda e: -counts[e.id])[:40]:
                pairs = [(name, names.get(f"{entity.id}|{name}", names.get(name, name))) for name in entity.names[:4]]
                rows.append({"title": book.title, "kind": entity.kind, "pairs": pairs})
        return rows


def entity_row(cast: Cast, entity: Entity) -> dict[str, Any]:
    """One entity as a table row."""
    count = sum(mention.entity_id == entity.id for mention in cast.mentions)
    return {
        "names": list(entity.names[:8]),
        "kind": entity.kind,
        "gender": entity.gender,
        "family": entity.family or "",
        "count": count,
        "evidence": list(entity.evidence[:6]),
    }


def together(book: Book, cast: Cast) -> list[tuple[str, str, int]]:
    """Pairs of people and the number of paragraphs that name both, most first."""
    people = {entity.id: entity.names[0] for entity in cast.entities if entity.kind == "person"}
    pairs: Counter[tuple[str, str]] = Counter()
    at, mentions = 0, cast.mentions
    start = 0
    while start <= len(book.text):
        end = book.text.find("\n\n", start)
        end = len(book.text) if end < 0 else end
        present = set()
        while at < len(mentions) and mentions[at].start < end:
            if mentions[at].entity_id in people:
                present.add(mentions[at].entity_id)
            at += 1
        pairs.update(combinations(sorted(present), 2))
        start = end + 2
    return [(people[a], people[b], n) for (a, b), n in sorted(pairs.items(), key=lambda item: (-item[1], item[0]))]


def _row(question: Question, choice: str, name: str) -> Mapping[str, Any]:
    kind, _, value = choice.partition(":")
    if choice == "proposal":
        return question.proposal
    if kind == "option" and value.isdigit() and int(value) < len(question.options):
        return question.options[int(value)]
    if kind == "merge":
        if not name.strip():
            raise BadInput("merge wants a name: who is it?")
        return {"action": "link", "names": [question.form, name.strip()]}
    if kind in ("split", "keep", "drop"):
        return {"action": kind, "names": [question.form]}
    if kind in ("kind", "gender"):
        return {"action": kind, "names": [question.form], "value": value}
    raise BadInput(f'"{choice}" is no answer to a question')
