"""The one interface of everything that writes beats: a passage in, one line out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from penname.core.values import Passage

Style = Literal["sentence", "keywords"]


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a beat is not taken: the gate's rule, and a sentence that an annotator can act on."""

    rule: str
    reason: str


@dataclass(frozen=True, slots=True)
class Ask:
    """One passage to write a beat for. ``attempt`` counts from 0; ``refused`` are the earlier answers, each with its refusal."""

    passage: Passage
    text: str
    names: tuple[str, ...]  # that the beat may use
    attempt: int = 0
    refused: tuple[tuple[str, Refusal], ...] = ()
    language: str = "en"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. ``fault`` is set where there is nothing to put before the gate ("truncated", "empty", "refusal")."""

    text: str
    raw: str = ""
    fault: Refusal | None = None
    prompt_tokens: int = 0
    completion_tokens: int = 0


class Annotator(Protocol):
    """Writes one line for one passage. ``model`` names it in Beat.source and in the cache's key."""

    model: str
    style: Style

    async def answer(self, ask: Ask) -> Answer:
        """The line for a passage. Raises PennameError where going on has no sense."""
        ...

    async def close(self) -> None:
        """Let go of what it holds open."""
        ...
