"""Every answer an annotator ever gave, in SQLite: committed before it is used, so a killed run loses nothing that was answered.

The key is a hash of everything that shapes an answer: prompt version, model, sampling, and the passage's own words. The
server's address is not in it: the same model elsewhere is not asked again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penname.core.errors import BadInput, PennameError
from penname.core.hashing import sha256_bytes, sha256_value

_SCHEMA = """
CREATE TABLE IF NOT EXISTS answers (
    key TEXT NOT NULL, attempt INTEGER NOT NULL, text TEXT NOT NULL, raw TEXT NOT NULL,
    rule TEXT NOT NULL, reason TEXT NOT NULL, prompt_tokens INTEGER NOT NULL, completion_tokens INTEGER NOT NULL,
    PRIMARY KEY (key, attempt)
) WITHOUT ROWID
"""


@dataclass(frozen=True, slots=True)
class CachedAnswer:
    """One answer and what became of it; ``rule`` is empty where it passed the gate."""

    attempt: int
    text: str
    raw: str
    rule: str
    reason: str
    prompt_tokens: int = 0
    completion_tokens: int = 0


def answer_key(asked_with: Mapping[str, Any], passage: str, occurrence: int = 0) -> str:
    """The cache's key for a passage's words; ``occurrence`` tells apart passages of the same words."""
    return sha256_value({**asked_with, "passage": sha256_bytes(passage.encode()), "occurrence": occurrence})


class AnswerCache:
    """The open cache; one process at a time writes it (the voice folder's lock sees to that)."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def answers(self, key: str) -> list[CachedAnswer]:
        """The answers to one passage, first attempt first."""
        rows = self._connection.execute(
            "SELECT attempt, text, raw, rule, reason, prompt_tokens, completion_tokens FROM answers WHERE key = ? ORDER BY attempt", (key,)
        )
        return [CachedAnswer(*row) for row in rows]

    def put(self, key: str, answer: CachedAnswer) -> None:
        """Store an answer, durably against a killed process, before anything else is done with it."""
        values = (answer.attempt, answer.text, answer.raw, answer.rule, answer.reason, answer.prompt_tokens, answer.completion_tokens)
        self._connection.execute("INSERT OR REPLACE INTO answers VALUES (?, ?, ?, ?, ?, ?, ?, ?)", (key, *values))


@contextmanager
def open_cache(path: Path | None) -> Iterator[AnswerCache]:
    """The cache in ``path`` (in memory where it is None).

    BadInput where the file is no such cache; PennameError where it cannot be opened or written (a full disk), and what it holds stays.
    """
    try:
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
        # isolation_level None: every statement commits by itself. WAL: a commit is one append, and a reader never waits.
        with closing(sqlite3.connect(path or ":memory:", isolation_level=None)) as connection:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(_SCHEMA)
            yield AnswerCache(connection)
    except sqlite3.OperationalError as error:  # a kind of DatabaseError, and no fault of the file's
        raise PennameError(
            f"{path} cannot be read or written ({error}); mend that and run: penname beat. Every answer in it is kept"
        ) from error
    except sqlite3.DatabaseError as error:
        raise BadInput(f"{path} cannot be used as the cache of beats ({error}); move it away and run: penname beat") from error
