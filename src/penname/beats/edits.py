"""Beats that a person wrote: ``beats/edited.toml``. They win over every annotator and survive re-runs.

[[beat]]
passage = "jane-eyre:0:4"
sha256 = "9f2c41d07b6a33e0"        # of the passage's words: the beat follows its passage when the cutting changes
begins = "Habitually obedient to John, I came up"
text = "John strikes Jane; she steps back from his chair."
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError

from penname.beats.gate import Gate
from penname.core.errors import BadInput, NeedsPerson
from penname.core.files import read_text, write_text
from penname.core.hashing import sha256_bytes
from penname.core.values import Book, Passage

_MUST = ("empty", "lines", "names")  # a person may break the other rules; without these no copy could be made


def load_edits(path: Path) -> dict[str, str]:
    """Hash of a passage's words -> the beat that a person wrote for it. BadInput where the file does not hold."""
    return {row["sha256"]: row["text"] for row in _rows(path)}


def passage_hash(text: str) -> str:
    """What a person's beat is kept under."""
    return sha256_bytes(text.encode())[:16]


def save_edit(path: Path, passage: Passage, text: str, beat: str) -> None:
    """Add or replace one beat; comments and other beats of the file stay."""
    document = _document(path)
    rows = document.setdefault("beat", tomlkit.aot())
    digest = passage_hash(text)
    for row in rows:
        if row["sha256"] == digest:
            row["text"] = beat
            break
    else:
        table = tomlkit.table()
        table.update({"passage": passage.id, "sha256": digest, "begins": " ".join(text.split()[:8]), "text": beat})
        rows.append(table)
    write_text(path, tomlkit.dumps(document))


def check_edit(gate: Gate, passage: Passage, beat: str) -> str | None:
    """What a person's beat breaks of the gate, as advice; BadInput where it could not be carried into the copies."""
    refusal = gate.check(beat, passage)
    if refusal and refusal.rule in _MUST:
        raise BadInput(f'"{beat}" cannot be the beat of {passage.id}: {refusal.reason}')
    return refusal.reason if refusal else None


def edits_for(
    edits: Mapping[str, str], passages: Sequence[Passage], books: Mapping[str, Book], gates: Mapping[str, Gate]
) -> dict[str, str]:
    """Passage id -> the person's beat. NeedsPerson where a later cast makes one impossible to rename."""
    if not edits:
        return {}
    found = {}
    for passage in passages:
        beat = edits.get(passage_hash(books[passage.book_id].text[passage.start : passage.end]))
        if beat is not None:
            refusal = gates[passage.book_id].check(beat, passage)
            if refusal and refusal.rule in _MUST:
                raise NeedsPerson(
                    f'your beat of {passage.id}, "{beat}", no longer fits the cast: {refusal.reason}; '
                    f'run: penname beat --edit {passage.id} "..."'
                )
            found[passage.id] = beat
    return found


def _document(path: Path) -> tomlkit.TOMLDocument:
    if not path.exists():
        return tomlkit.document()
    try:
        return tomlkit.parse(read_text(path))
    except TOMLKitError as error:
        raise BadInput(f"{path} is not TOML: {error}") from None


def _rows(path: Path) -> list[dict[str, str]]:
    rows = _document(path).unwrap().get("beat", [])
    for number, row in enumerate(rows, 1):
        if not isinstance(row, dict) or not isinstance(row.get("sha256"), str) or not isinstance(row.get("text"), str):
            raise BadInput(f"{path}, beat {number}: it needs passage, sha256 and text; remove it and run: penname beat --edit PASSAGE")
    return list(rows)
