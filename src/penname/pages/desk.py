"""The desk behind the review page: the queue of open questions, answers that are on disk before they are said, undo, who is who."""

from __future__ import annotations

import difflib
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from penname.core.errors import BadInput, PennameError
from penname.core.folder import VoiceFolder
from penname.core.hashing import sha256_value
from penname.core.lock import hold
from penname.core.values import Book, Cast, Question, RenamedCopy
from penname.pages.markup import plain
from penname.pages.people import busiest, entity_rows, new_names, renamed, together

LOCK_SECONDS = 10.0
PAIRS_SHOWN = 20
MANY = 400  # entities shown on the people page without a search
NEAREST = 0.6  # how alike a mistyped name must be to be suggested


@dataclass(frozen=True)
class CastTools:
    """What the cast and renaming rooms do, handed in: this room does not import cast."""

    load: Callable[[], Any]  # -> decisions as they are on disk
    save: Callable[[Any], None]
    build: Callable[[Sequence[Book], Any], list[Cast]]
    answer: Callable[[Mapping[str, Any], str, str], Any]  # (row, book, question) -> a decision by a person
    rename: Callable[[Book, Cast], RenamedCopy]  # copy 1 of a cast without open questions


@dataclass(frozen=True)
class Open:
    """One open question with the book and cast that it is about."""

    book: Book
    cast: Cast
    question: Question

    @property
    def key(self) -> str:
        """A short name for it in addresses and forms: ids hold names, and names may hold anything."""
        return sha256_value([self.book.id, self.question.id])[:16]

    def entities(self) -> list[dict[str, Any]]:
        """The entities in question, as the page shows them."""
        wanted = set(self.question.entity_ids)
        return [row for entity, row in zip(self.cast.entities, entity_rows(self.cast), strict=True) if entity.id in wanted]

    def names(self) -> list[str]:
        """Every name of the book's cast, for the type-ahead."""
        return sorted({name for entity in self.cast.entities for name in entity.names})


class Desk:
    """The review of one voice. Books and casts stay in memory; decisions are read from disk each time.

    Not for threads: the server calls it from its event loop alone, so that of two tabs one is answered after the other.
    """

    def __init__(self, voice: VoiceFolder, books: Sequence[Book], tools: CastTools) -> None:
        self.voice, self._books, self._tools = voice, list(books), tools
        self._rebuild()

    def queue(self, skipped: Sequence[str] = ()) -> list[Open]:
        """What is open, most frequent first; ``skipped`` keys stand last, in their order.

        The casts are rebuilt when the queue has run dry, since an answer can lay open another question.
        """
        found = self._unanswered()
        if not found and self._stale():
            self._rebuild()
            found = self._unanswered()
        later = {key: place for place, key in enumerate(skipped)}
        return sorted(found, key=lambda one: (later.get(one.key, -1), -one.question.count))

    def decided(self) -> int:
        """How many questions have an answer."""
        decisions = self._tools.load()
        return sum(len(decisions.answered(book.id)) for book in self._books)

    def decide(self, key: str, choice: str, name: str = "") -> str:
        """Write one answer to disk and say it. ``choice``: proposal, option:N, merge (with ``name``), split, keep, drop, kind:K, gender:G.

        BadInput where the question is answered already (by another tab, an editor, another verb): nothing is overwritten unseen.
        """
        found = next((one for one in self._questions() if one.key == key), None)
        if found is None:
            raise BadInput("that question is not open any more; go back to the queue")
        row = _row(found, choice, name)
        decision = self._tools.answer(row, found.book.id, found.question.id)

        def with_answer(decisions: Any) -> Any:
            for old in decisions.items:
                if old.question == found.question.id and old.book in ("", found.book.id):
                    told = self.said(old.to_table())
                    raise BadInput(f"that was decided meanwhile, elsewhere: {told}; take it back first if that is wrong")
            return decisions.add([decision])

        self._change(with_answer)
        return f"{found.question.form}: {self.said(row)}"

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
        if not taken:
            return "There is nothing to take back."
        if taken[0].question not in {one.question.id for one in self._questions()}:
            self._rebuild()  # it was answered before the casts were last built
        return f"Taken back: {self.said(taken[0].to_table())}"

    def _questions(self) -> list[Open]:
        return [Open(book, cast, q) for book, cast in zip(self._books, self._casts, strict=True) for q in cast.unresolved]

    def _unanswered(self) -> list[Open]:
        decisions = self._tools.load()
        answered = {book.id: decisions.answered(book.id) for book in self._books}
        return [one for one in self._questions() if one.question.id not in answered[one.book.id]]

    def _stale(self) -> bool:
        return bool(self._tools.load() != self._built_from)

    def _rebuild(self) -> None:
        self._built_from = self._tools.load()
        self._casts = self._tools.build(self._books, self._built_from)

    def _change(self, change: Callable[[Any], Any]) -> None:
        with self._lock():  # other verbs take it too
            self._tools.save(change(self._tools.load()))

    @contextmanager
    def _lock(self) -> Iterator[None]:
        """The folder's lock, waited for: another review may be writing its answer."""
        deadline = time.monotonic() + LOCK_SECONDS
        with ExitStack() as held:
            while True:
                try:
                    held.enter_context(hold(self.voice.path, "review"))
                    break
                except PennameError:
                    if time.monotonic() > deadline:
                        raise
                    time.sleep(0.1)
            yield

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

    def people(self, query: str) -> list[dict[str, Any]]:
        """Book by book: the entities that match, families, and who appears with whom."""
        if self._stale():
            self._rebuild()
        out = []
        for book, cast in zip(self._books, self._casts, strict=True):
            families: dict[str, list[str]] = defaultdict(list)
            for entity in cast.entities:
                if entity.kind == "person" and entity.family:
                    families[entity.family].append(entity.names[0])
            rows = [row for row in entity_rows(cast) if any(query.casefold() in name.casefold() for name in row["names"])]
            out.append(
                {
                    "title": book.title,
                    "rows": sorted(rows, key=lambda row: -row["count"])[:MANY],
                    "families": sorted((family, members) for family, members in families.items() if len(members) > 1),
                    "together": together(book, cast)[:PAIRS_SHOWN],
                }
            )
        return out

    def preview(self, key: str = "") -> list[dict[str, Any]]:
        """Book by book what copy 1 would say, as decided so far: passages with their names marked, and the names.

        With the key of a question, its passages come first; what is still open goes as proposed.
        """
        if self._stale():
            self._rebuild()
        asked = {one.book.id: one.question for one in self._questions() if one.key == key}
        out = []
        for book, cast in zip(self._books, self._casts, strict=True):
            copy = self._tools.rename(book, replace(cast, unresolved=()))
            question = asked.get(book.id)
            spans = question.snippets if question else busiest(book, cast)
            out.append({"title": book.title, "passages": [renamed(book, copy, *span) for span in spans], "rows": new_names(cast, copy)})
        return sorted(out, key=lambda row: row["title"] not in {b.title for b in self._books if b.id in asked})


def _row(found: Open, choice: str, name: str) -> Mapping[str, Any]:
    question = found.question
    kind, _, value = choice.partition(":")
    if choice == "proposal":
        return question.proposal
    if kind == "option" and value.isdecimal() and int(value) < len(question.options):
        return question.options[int(value)]
    if kind == "merge":
        return {"action": "link", "names": [question.form, _known(found, name)]}
    if kind in ("split", "keep", "drop"):
        return {"action": kind, "names": [question.form]}
    if kind in ("kind", "gender"):
        return {"action": kind, "names": [question.form], "value": value}
    raise BadInput(f'"{choice}" is no answer to a question')


def _known(found: Open, name: str) -> str:
    """The name of the cast that was typed, as the page shows it. BadInput, with the nearest name, where there is none."""
    name = " ".join(name.split())
    if not name:
        raise BadInput("merge wants a name: who is it?")
    names = found.names()
    for known in names:
        if name in (known, plain(known)):
            return known
    near = difflib.get_close_matches(name, names, n=1, cutoff=NEAREST)
    raise BadInput(f'{found.book.title} has nobody called "{name}"' + (f'; did you mean "{near[0]}"?' if near else ""))
