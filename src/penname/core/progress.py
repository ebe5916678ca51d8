"""Progress on stderr: a bar with time left on a terminal, one line every few seconds otherwise. stdout is for results."""

from __future__ import annotations

import re
import shlex
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")
_LINE_SECONDS = 5.0


class Progress:
    """One running count. ``advance`` moves it; ``note`` sets the short text beside it ("loss 2.31")."""

    def __init__(self, label: str, total: int | None, bar: Any = None, task: Any = None) -> None:
        self.label, self.total = label, total
        self.done = 0
        self._note = ""
        self._bar, self._task = bar, task
        self._started = self._printed = time.monotonic()

    def advance(self, n: int = 1) -> None:
        """Count ``n`` more as done."""
        self.done += n
        self._show()

    def note(self, text: str) -> None:
        """Set the text that stands beside the count."""
        self._note = text
        if self._bar is not None:
            self._bar.update(self._task, note=text)

    def _show(self) -> None:
        if self._bar is not None:
            self._bar.update(self._task, completed=self.done, note=self._note)
            return
        now = time.monotonic()
        if now - self._printed >= _LINE_SECONDS and not _quiet:
            self._printed = now
            print(self._line(now), file=sys.stderr, flush=True)

    def _line(self, now: float) -> str:
        share = f"{self.done}/{self.total}" if self.total else str(self.done)
        left = ""
        if self.total and self.done:
            left = f", {format_seconds((now - self._started) / self.done * (self.total - self.done))} left"
        return f"{self.label}: {share}{left}{', ' + self._note if self._note else ''}"


@contextmanager
def progress(label: str, total: int | None = None) -> Iterator[Progress]:
    """A progress count for the block: ``with progress("beats", 500) as p: ... p.advance()``."""
    if _quiet or not sys.stderr.isatty():
        yield Progress(label, total)
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichProgress

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    with RichProgress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield Progress(label, total, bar, bar.add_task(label, total=total, note=""))


def track(items: Iterable[T], label: str, total: int | None = None) -> Iterator[T]:
    """The items, with a progress count."""
    if total is None and hasattr(items, "__len__"):
        total = len(items)  # type: ignore[arg-type]
    with progress(label, total) as count:
        for item in items:
            yield item
            count.advance()


def say(text: str) -> None:
    """One line for the person at the terminal, on stderr."""
    if not _quiet:
        print(as_called(text), file=sys.stderr, flush=True)


def as_called(text: str) -> str:
    """The text with the folder of ``penname -C DIR`` in the commands that it names, so that they can be typed as they stand."""
    if not _command or _folder == Path():
        return text
    return re.sub(_command, lambda match: f"{match[0]} -C {shlex.quote(str(_folder))}", text)


def format_seconds(seconds: float) -> str:
    """ "42 s", "3 min 10 s", "2.5 h"."""
    if seconds < 60:
        return f"{seconds:.0f} s"
    if seconds < 3600:
        return f"{int(seconds // 60)} min {int(seconds % 60)} s"
    return f"{seconds / 3600:.1f} h"


def format_count(n: int, noun: str) -> str:
    """ "1 book", "2 copies", "1,204 words"."""
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{n:,} {noun if n == 1 else plural}"


def format_bytes(size: int) -> str:
    """ "812 B", "4.2 MB", "1.3 GB"; decimal units."""
    if size < 1000:
        return f"{size} B"
    amount = float(size)
    for unit in ("kB", "MB", "GB"):
        amount /= 1000
        if amount < 1000:
            return f"{amount:.1f} {unit}"
    return f"{amount / 1000:.1f} TB"


_quiet = False
_command = ""  # a pattern, compiled only where a folder is to be named
_folder = Path()


def know_verbs(verbs: Iterable[str]) -> None:
    """The verbs that work in a voice folder, so that their commands are known where they are told."""
    global _command
    _command = rf"(?<!another )\bpenname(?= (?:{'|'.join(verbs)})\b)"


def be_called_in(folder: Path) -> None:
    """Name ``folder`` in every command that is told from now on (``-C``); a second one is seen from the first."""
    global _folder
    _folder = _folder / folder


def be_quiet(quiet: bool = True) -> None:
    """Silence progress and messages (``--quiet``); results on stdout and errors still print."""
    global _quiet
    _quiet = quiet
