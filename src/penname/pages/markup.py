"""Text as safe HTML: everything from books, names and models goes through here or through the templates' escaping."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Table:
    """A table: headings, rows of cells, and which columns hold numbers."""

    headings: Sequence[str]
    rows: Sequence[Sequence[object]]
    numbers: frozenset[int] = field(default_factory=frozenset)
    caption: str = ""


def plain(text: object) -> str:
    """Text without control characters (they are shown as their code) and without unpaired surrogates; newlines and tabs stay."""
    out = []
    for char in str(text):
        kind = unicodedata.category(char)
        if char in "\n\t" or kind not in ("Cc", "Cs", "Cf") or char in "\u200d\u200c\u00ad":
            out.append(char)
        else:
            out.append(f"\N{REPLACEMENT CHARACTER}U+{ord(char):04X}")
    return "".join(out)


def templates() -> Environment:
    """The pages' templates: a name that is missing is an error, and whatever an expression gives is escaped, markup apart."""
    return Environment(loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, finalize=_finalize)


def _finalize(value: Any) -> Any:
    # Applied to every {{ expression }}: markup stays, anything else loses its control characters and is escaped by Jinja.
    return value if isinstance(value, Markup) else plain(value)


def table_of(table: Table) -> Markup:
    """The table as HTML that scrolls sideways on a narrow screen."""
    if not table.rows:
        return Markup("")
    classes = [' class="n"' if i in table.numbers else "" for i in range(len(table.headings))]
    head = "".join(
        f'<th scope="col"{c}>{escape(plain(h))}</th>' if h else f"<td{c}></td>" for h, c in zip(table.headings, classes, strict=True)
    )
    body = "".join(
        "<tr>" + "".join(f"<td{c}>{_cell(cell)}</td>" for cell, c in zip(row, classes, strict=True)) + "</tr>" for row in table.rows
    )
    caption = f"<caption>{escape(plain(table.caption))}</caption>" if table.caption else ""
    name = escape(plain(table.caption or f"Table: {', '.join(filter(None, map(str, table.headings)))}"))
    inner = f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
    return Markup(f'<div class="scroll" tabindex="0" role="region" aria-label="{name}">{inner}</div>')


def marked(text: str, spans: Sequence[tuple[int, int]]) -> Markup:
    """Text with half-open spans of it in <mark>; spans are sorted and do not overlap."""
    parts: list[str] = []
    at = 0
    for start, end in spans:
        parts += (escape(plain(text[at:start])), Markup("<mark>"), escape(plain(text[start:end])), Markup("</mark>"))
        at = end
    parts.append(escape(plain(text[at:])))
    return Markup("").join(parts)


def _cell(cell: object) -> str:
    if isinstance(cell, Markup):
        return cell
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, int):
        return f"{cell:,}"
    if isinstance(cell, float):
        return f"{cell:,.4g}"
    return str(escape(plain("" if cell is None else cell)))
