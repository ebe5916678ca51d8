"""One error family. The command line turns each into one sentence and an exit code; nothing else prints a traceback."""

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
