"""What still names a purged path gets a RETIRED line on top, so that nobody starts from something that is gone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from penname.core.files import write_bytes

MARK = "RETIRED by penname purge"
_PATTERNS = ("*.sh", "Modelfile*", "*.toml", "*.service")
_NEVER = {"voice.toml", "decisions.toml", "edited.toml"}


def retire_mentions(voice: Path, purged: Iterable[Path]) -> list[Path]:
    """Put the line on top of launch scripts, Modelfiles and sweep tables of the voice folder that name a purged path.

    ``purged`` is relative to the voice folder. A script's ``#!`` line stays first. Gives the files that were changed.
    """
    names = sorted({str(path) for path in purged})
    changed = []
    for file in _texts(voice):
        text = file.read_bytes().decode("utf-8", "surrogateescape")
        hits = [name for name in names if name in text]
        if hits and MARK not in text:
            line = f"# {MARK}: {hits[0]} is gone\n"
            first, rest = text.split("\n", 1) if text.startswith("#!") and "\n" in text else ("", text)
            marked = f"{first}\n{line}{rest}" if first else line + text
            write_bytes(file, marked.encode("utf-8", "surrogateescape"))
            changed.append(file.relative_to(voice))
    return changed


def _texts(voice: Path) -> list[Path]:
    folders = [voice, *(path for path in voice.glob("exports/**") if path.is_dir())]
    return sorted(
        file
        for folder in folders
        for pattern in _PATTERNS
        for file in folder.glob(pattern)
        if file.is_file() and not file.is_symlink() and file.name not in _NEVER and file.stat().st_size < 1_000_000
    )
