"""Options that many verbs share, each declared once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

HERE = Path()
# Of a verb that has verbs of its own, as the whole has them; completion is the whole's.
GROUP: dict[str, Any] = {"add_completion": False, "no_args_is_help": True, "context_settings": {"help_option_names": ["-h", "--help"]}}
STRENGTH_MAX = 100.0  # of --scale: far beyond what still writes words


def _called_in(folder: Path) -> Path:
    """Hints name a folder that is given behind the verb as they do one that is given before it."""
    from penname.core.progress import be_called_in

    be_called_in(folder)
    return folder


Where = Annotated[Path, typer.Option("-C", "--dir", help="The voice folder.", show_default="here", callback=_called_in)]
Set = Annotated[list[str], typer.Option("--set", metavar="SECTION.KEY=VALUE", help="Override a setting of voice.toml; may be repeated.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON on stdout.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Answer yes to what would be asked.")]
Scale = Annotated[float, typer.Option("--scale", min=0.0, max=STRENGTH_MAX, help="A weaker (0.5) or stronger (1.2) voice.")]
