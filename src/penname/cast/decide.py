"""Decisions given on the command line: names are checked against the cast before anything is written."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from penname.cast.decisions import Decision, decision_from, load_decisions, plain_name, save_decisions
from penname.cast.show import entities_named
from penname.core.errors import BadInput
from penname.core.folder import VoiceFolder
from penname.core.progress import format_count, say
from penname.core.stage import require_manifest
from penname.core.store import load_books, load_casts
from penname.core.values import Book, Cast


@dataclass(frozen=True)
class Request:
    """What one command line asks for; empty where it does not."""

    merge: tuple[str, str] = ("", "")
    link: tuple[str, str] = ("", "")
    share: tuple[str, ...] = ()
    split: tuple[str, ...] = ()
    kind: tuple[str, str] = ("", "")
    gender: tuple[str, str] = ("", "")
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()

    def any(self) -> bool:
        """Whether it asks for anything."""
        return bool(self.rows())

    def rows(self) -> list[dict[str, object]]:
        """The decisions as tables, names not yet checked."""
        rows: list[dict[str, object]] = []
        for action in ("merge", "link"):
            pair = getattr(self, action)
            if any(pair):
                rows.append({"action": action, "names": list(pair)})
        if self.share:
            rows.append({"action": "share", "names": list(self.share)})
        if self.split:
            rows.append({"action": "split", "names": list(self.split)})
        for action in ("kind", "gender"):
            name, value = getattr(self, action)
            if name:
                rows.append({"action": action, "names": [name], "value": value})
        rows += [{"action": action, "names": [name]} for action in ("keep", "drop") for name in getattr(self, action)]
        return rows


def decide_by_hand(voice: VoiceFolder, request: Request, book: str = "") -> None:
    """Write the decisions of a command line. BadInput where a name stands in no book, with the nearest that does."""
    require_manifest(voice.cast, "cast")
    casts = load_casts(voice.cast, books_named(voice, book))
    decisions = load_decisions(voice.decisions)
    new: list[Decision] = []
    for row in request.rows():
        decision = decision_from({**row, "by": "person"}, f"--{row['action']}")
        for cast in casts_with(casts, decision.names):
            names = _all_names(cast, decision)
            question = _question(cast, decision)
            new.append(Decision(decision.action, names, decision.value, cast.book_id, question))
    save_decisions(voice.decisions, decisions.add(new))
    say(f"{format_count(len(new), 'decision')} written to {voice.decisions}")


def books_named(voice: VoiceFolder, book: str = "") -> list[Book]:
    """The one book of that id, or every book where it is "". BadInput where there is none."""
    books = load_books(voice.books)
    found = [item for item in books if book in ("", item.id)]
    if not found:
        raise BadInput(f'there is no book "{book}"; the books are {", ".join(item.id for item in books)}')
    return found


def casts_with(casts: Sequence[Cast], names: Sequence[str]) -> list[Cast]:
    """The casts that know all the names. BadInput, with the nearest name, where there is none."""
    found = [cast for cast in casts if all(entities_named(cast, name) for name in names)]
    if found:
        return found
    known = sorted({name for cast in casts for entity in cast.entities for name in entity.names})
    missing = next((n for n in names if not any(entities_named(cast, n) for cast in casts)), names[0])
    near = difflib.get_close_matches(missing, known, n=1, cutoff=0.6)
    raise BadInput(
        f'no book has the name "{missing}"' + (f', did you mean "{near[0]}"?' if near else "; list the names with: penname cast --show all")
    )


def _all_names(cast: Cast, decision: Decision) -> tuple[str, ...]:
    """For ``kind`` every name of the entity, since each is judged by itself; else the names as given."""
    if decision.action != "kind":
        return decision.names
    return tuple(dict.fromkeys(name for given in decision.names for entity in entities_named(cast, given) for name in entity.names))


def _question(cast: Cast, decision: Decision) -> str:
    """The open question that the decision answers, or ""."""
    for question in cast.unresolved:
        rows = (question.proposal, *question.options)
        if any(row["action"] == decision.action for row in rows) and plain_name(question.form) == plain_name(decision.names[0]):
            return question.id
    return ""
