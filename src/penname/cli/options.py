"""Options that many verbs share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Where = Annotated[Path, typer.Option("-C", "--dir", help="The voice folder.", show_default="here")]
Set = Annotated[list[str], typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Override a setting of voice.toml; may be repeated.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Answer yes to what would be asked.")]

HERE = Path()
