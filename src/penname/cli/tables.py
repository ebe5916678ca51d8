"""How verbs print for a person: one look of tables, and a console that folds nothing that goes to a file or a pipe."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

PIPE_COLUMNS = 200  # a table's width where nobody's terminal says one


def console(stderr: bool = False) -> Any:
    """The console of stdout, or of stderr. Markup is off: names and paths may hold square brackets."""
    from rich.console import Console

    class Printer(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # for the command line to end quietly; rich would make a failure of it

    terminal = (sys.stderr if stderr else sys.stdout).isatty()
    return Printer(stderr=stderr, highlight=False, markup=False, soft_wrap=True, width=None if terminal else PIPE_COLUMNS)


def new_table(*headings: str, right: Sequence[int] = (), **more: Any) -> Any:
    """An empty table without lines; the columns numbered in ``right`` are set flush right."""
    from rich.table import Table

    made = Table(box=None, padding=(0, 2, 0, 0), **more)
    for number, heading in enumerate(headings):
        made.add_column(heading, justify="right" if number in right else "left", overflow="fold")
    return made
