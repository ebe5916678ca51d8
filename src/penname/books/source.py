"""What a source gives, whatever its format: one decoded text, and what the format says about places in it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from penname.core.errors import BadInput

MAX_SOURCE_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Hint:
    """A heading that the format itself marks: ``start`` is where it stands in the text; level 1 is the outermost.

    ``label`` is what a contents list or a file name calls it. Where ``shown`` is False the text at ``start`` is not the
    heading, the division just begins there.
    """

    start: int
    level: int
    label: str = ""
    shown: bool = True


@dataclass(frozen=True, slots=True)
class Source:
    """A decoded source. ``text`` is what ``removed`` spans of the Book point into.

    For .txt it is the file's text, newlines and all. For a marked-up format it is the text that a reader sees, in reading
    order, one paragraph a line with a blank line between; the markup itself is no part of it. ``lines`` says whether the
    line breaks inside a block are the author's (marked-up formats) or may come from hard wrapping (.txt).
    """

    text: str
    name: str
    sha256: str
    lines: Literal["wrapped", "kept"] = "wrapped"
    title: str = ""
    author: str = ""
    language: str = ""
    hints: tuple[Hint, ...] = ()
    cuts: tuple[tuple[int, int, str], ...] = ()  # spans that the format marks as no text of the book, each with a rule
    oddities: tuple[str, ...] = ()


@dataclass
class Emitter:
    """Collects the blocks of a marked-up format into the text of a Source."""

    keep_italics: bool = False
    hints: list[Hint] = field(default_factory=list)
    cuts: list[tuple[int, int, str]] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    size: int = 0

    def block(self, text: str, *, level: int = 0, rule: str = "", joined: bool = False) -> None:
        """Add one paragraph (``level`` 0) or heading. ``rule`` marks it as no text of the book; ``joined`` as a verse line."""
        text = text.strip(" \n")
        if not text:
            return
        if level:
            text = text.replace("\n", " ")
        if self._parts:
            self._add("\n" if joined else "\n\n")
        if level and not rule:
            self.hints.append(Hint(self.size, level))
        if rule:
            self.cuts.append((self.size, self.size + len(text), rule))
        self._add(text)

    def _add(self, text: str) -> None:
        self._parts.append(text)
        self.size += len(text)
        if self.size > MAX_SOURCE_BYTES:
            raise BadInput("the text inside is larger than any book (over 256 MB); it looks like an archive bomb")

    def text(self) -> str:
        """All that was collected."""
        return "".join(self._parts) + ("\n" if self._parts else "")


_CHARSET = re.compile(rb"""(?:charset|encoding)\s*=\s*["']?\s*([A-Za-z0-9_\-]{2,40})""")


def declared_charset(data: bytes) -> str | None:
    """The encoding that an HTML or XML file says it is in, where Python knows it."""
    match = _CHARSET.search(data[:4096])
    if not match:
        return None
    name = match[1].decode("ascii").lower()
    try:
        "".encode(name)
    except (LookupError, UnicodeError):
        return None
    return "cp1252" if name in ("iso-8859-1", "latin-1", "latin1", "us-ascii", "ascii") else name
