"""What a person decided about names: ``cast/decisions.toml``, read and written without losing a comment.

    [[decision]]
    book = "jane-eyre"            # left out: holds for every book
    question = "link:miss ingram" # the question it answers; left out where nobody asked
    action = "link"               # merge, link, share, split, kind, gender, keep, drop
    names = ["Miss Ingram", "Blanche Ingram"]
    by = "person"                 # or "auto": taken by --decide auto

merge: all who bear these names are one.   link: the first name, and it alone, belongs to the bearer of the second.
share: the first name belongs to each of the others' bearers; each mention goes to whom the context names.
split: these names are a person of their own.   kind: value = "person", "place" or "other".   gender: value = "female",
"male" or "unknown".   keep: the bearer keeps its name in every copy.   drop: these are no names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tomlkit
from tomlkit.exceptions import TOMLKitError

from penname.core.errors import BadInput
from penname.core.files import read_text, write_text

ACTIONS = {"merge": 2, "link": 2, "share": 3, "split": 1, "kind": 1, "gender": 1, "keep": 1, "drop": 1}  # and the least number of names
VALUES = {"kind": ("person", "place", "other"), "gender": ("female", "male", "unknown")}
_KEYS = ("book", "question", "action", "names", "value", "by")


@dataclass(frozen=True)
class Decision:
    """One answer. ``book`` is "" where it holds for every book."""

    action: str
    names: tuple[str, ...]
    value: str = ""
    book: str = ""
    question: str = ""
    by: str = "person"

    def to_table(self) -> dict[str, Any]:
        """The decision as decisions.toml holds it, empty fields left out."""
        row = {
            "book": self.book,
            "question": self.question,
            "action": self.action,
            "names": list(self.names),
            "value": self.value,
            "by": self.by,
        }
        return {key: value for key, value in row.items() if value}


@dataclass(frozen=True)
class Decisions:
    """All decisions, in the order in which they were made; a later one wins over an earlier one."""

    items: tuple[Decision, ...] = ()

    def of_book(self, book: str) -> list[Decision]:
        """Those that hold for a book; a person's come after those taken automatically, so that they win."""
        mine = [d for d in self.items if d.book in ("", book)]
        return [d for d in mine if d.by == "auto"] + [d for d in mine if d.by != "auto"]

    def answered(self, book: str) -> set[str]:
        """Ids of the questions of a book that have an answer."""
        return {d.question for d in self.items if d.question and d.book in ("", book)}

    def add(self, new: Iterable[Decision]) -> Decisions:
        """With more decisions; a new answer to a question takes the place of the old one."""
        new = list(new)
        again = {(d.book, d.question) for d in new if d.question}
        return Decisions(tuple(d for d in self.items if (d.book, d.question) not in again and d not in new) + tuple(new))


def plain_name(name: str) -> str:
    """A name as names are compared here: case, dots, commas, hyphens, spacing and apostrophe style do not count."""
    return " ".join(re.sub(r"[.,_-]", " ", name.replace("’", "'")).split()).casefold()


def decision_from(row: Mapping[str, Any], where: str = "decision") -> Decision:
    """A Decision from a table; BadInput says what is wrong with it."""
    if not isinstance(row, Mapping):
        raise BadInput(f"{where} is {row!r}; write it as a table [[decision]] with action = and names =")
    unknown = [key for key in row if key not in _KEYS]
    if unknown:
        raise BadInput(f'{where} has a key "{unknown[0]}" that is none of {", ".join(_KEYS)}')
    action, names, value = row.get("action"), row.get("names"), str(row.get("value", ""))
    if action not in ACTIONS:
        raise BadInput(f"{where} has action {action!r}; the actions are {', '.join(ACTIONS)}")
    at = where if where.startswith("--") else f"{where} ({action})"  # an option of the command line is called as its action is
    if not isinstance(names, list | tuple) or len(names) < ACTIONS[action] or not all(isinstance(n, str) and n.strip() for n in names):
        raise BadInput(f"{at} wants names, at least {ACTIONS[action]} and none of them empty")
    if action == "merge" and len(set(names)) < 2:
        raise BadInput(f'{at} names "{names[0]}" twice; name two that are one person')
    if action in VALUES and value not in VALUES[action]:
        raise BadInput(f'{at} cannot be "{value}"; it can be {", ".join(VALUES[action])}')
    return Decision(
        str(action), tuple(map(str, names)), value, str(row.get("book", "")), str(row.get("question", "")), str(row.get("by", "person"))
    )


def load_decisions(path: Path) -> Decisions:
    """The decisions in a ``decisions.toml``; none where there is no file. BadInput lists every faulty entry."""
    if not path.exists():
        return Decisions()
    items, problems = [], []
    for k, row in enumerate(_document(path).unwrap().get("decision", []), 1):
        try:
            items.append(decision_from(row, f"decision {k}"))
        except BadInput as error:
            problems.append(str(error))
    if problems:
        raise BadInput(f"{path}: " + "; ".join(problems))
    return Decisions(tuple(items))


def idle_decisions(decisions: Decisions, texts: Mapping[str, str]) -> list[str]:
    """What a person wrote that can change nothing: a sentence for each unknown book, and each name that no text of its books holds."""
    by_person = [(number, decision) for number, decision in enumerate(decisions.items, 1) if decision.by != "auto"]
    plain = {book: f" {_words(text)} " for book, text in texts.items()} if by_person else {}
    said = []
    for number, decision in by_person:
        what = f"decision {number} ({decision.action} {', '.join(decision.names)})"
        if decision.book and decision.book not in texts:
            said.append(f'{what} is for the book "{decision.book}", and the books are {", ".join(texts)}')
            continue
        mine = [plain[decision.book]] if decision.book else list(plain.values())
        said += [f'{what}: "{name}" stands in no book' for name in decision.names if not any(f" {_words(name)} " in text for text in mine)]
    return said


def _words(text: str) -> str:
    return " ".join(re.findall(r"[^\W_]+", text)).casefold()


def save_decisions(path: Path, decisions: Decisions) -> None:
    """Write the decisions; tables that stay keep their place and their comments, new ones go to the end."""
    if not decisions.items and not path.exists():
        return
    document = (
        _document(path)
        if path.exists()
        else tomlkit.parse("# What a person decided about names; penname cast and penname review write here.\n")
    )
    left = list(decisions.items)
    tables = document.get("decision")
    if tables is None:
        tables = tomlkit.aot()
        document["decision"] = tables
    kept = []
    for table in list(tables):
        decision = decision_from(table.unwrap())
        if decision in left:
            left.remove(decision)
            kept.append(table)
    if len(kept) != len(tables):
        fresh = tomlkit.aot()
        for table in kept:
            fresh.append(table)
        document["decision"] = tables = fresh
    for decision in left:
        table = tomlkit.table()
        for key, value in decision.to_table().items():
            table[key] = value
        tables.append(table)
    write_text(path, tomlkit.dumps(document))


def _document(path: Path) -> tomlkit.TOMLDocument:
    try:
        document = tomlkit.parse(read_text(path))
    except TOMLKitError as error:
        raise BadInput(f"{path} is not TOML: {error}; mend that line and run again") from None
    unknown = [key for key in document if key != "decision"]
    if unknown or not isinstance(document.unwrap().get("decision", []), list):
        raise BadInput(f"{path}: write each decision as a table [[decision]]" + (f'; "{unknown[0]}" is none' if unknown else ""))
    return document
