"""One error family. The command line turns each into one sentence and an exit code; nothing else prints a traceback.

``first_line`` and ``last_line`` make such a sentence of what others say.
"""

from __future__ import annotations


class PennameError(Exception):
    """Refused, or wrong input: one clear sentence that says what, where, and what to do next."""

    exit_code = 1


class BadInput(PennameError):
    """A file, a setting or a value that cannot be used."""


class StaleInput(PennameError):
    """A stage's input is missing or was made from something that has changed since."""


class ProofFailed(PennameError):
    """A step could not be proved to have worked, so what it made is not kept."""


class NeedsPerson(PennameError):
    """A person must decide before this can go on."""

    exit_code = 3


class JudgeSaysNo(PennameError):
    """The judge or a control says no."""

    exit_code = 4


def first_line(error: BaseException) -> str:
    """What another library's error says, in one line; its kind where it says nothing, as a MemoryError does."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def last_line(printed: str, otherwise: str = "no reason given") -> str:
    """The last line with words in it of what a program printed, where it says why it failed; without the frame that typer draws."""
    lines = (line.strip(" \t│") for line in reversed(printed.splitlines()))
    return next((line for line in lines if any(char.isalnum() for char in line)), otherwise)
