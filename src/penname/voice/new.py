"""``penname new``: a voice folder with a configuration that says what it is made from."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path

import tomlkit

from penname.books.gutenberg import gutenberg_number
from penname.core.config import load_config
from penname.core.errors import BadInput
from penname.core.files import write_text
from penname.core.folder import VoiceFolder, open_voice

_SIZES = """
# Every other setting has a default; docs/configuration.md lists them all. Some that people change first:
#
# [carrier]
# name = "qwen3-1.7b"          # a staged carrier: penname carrier list
#
# [beats]
# annotator = "endpoint"       # sentences from a language model instead of offline keywords
# base_url = "http://localhost:8000/v1"
# model = "..."
#
# [training]
# seeds = [1, 2]
# epochs = 3.0
# max_steps = 0                # 0: no cap
"""


def new_voice(
    path: Path, books: Sequence[str], others: Sequence[str] = (), *, name: str = "", overrides: Sequence[str] = (), plain: bool = False
) -> VoiceFolder:
    """Make the voice folder ``path`` from book sources (paths as seen from here, or ``gutenberg:ID``).

    ``overrides`` (section.key=value) are written into voice.toml. ``plain`` leaves the hints out.
    BadInput: the folder exists and is not empty, no book is named, or a source is not there.
    """
    if (path / "voice.toml").exists():
        raise BadInput(f"{path} is a voice folder already; go on with: penname -C {shlex.quote(str(path))} run")
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise BadInput(f"{path} exists and is not an empty folder; name another: penname new DIR --book SOURCE")
    if not books:
        raise BadInput("a voice is made from at least one book; name it with --book SOURCE (a file, a folder of chapters, or gutenberg:ID)")
    document = tomlkit.document()
    document.add(tomlkit.comment("A voice of Penname. Human-written; nothing here is ever overwritten."))
    voice = tomlkit.table()
    voice["name"] = name or path.resolve().name
    voice["seed"] = 1
    voice["books"] = _source_list([_as_seen_from(path, source) for source in books])
    voice["others"] = _source_list([_as_seen_from(path, source) for source in others])
    document["voice"] = voice
    text = tomlkit.dumps(document)
    made = not path.exists()
    path.mkdir(parents=True, exist_ok=True)
    target = path / "voice.toml"
    write_text(target, text + ("" if plain else _SIZES))
    try:
        load_config(target, overrides)  # refuse a wrong override before anything is kept
        if overrides:
            _write_overrides(target, overrides)
    except BadInput:
        target.unlink()
        if made:
            path.rmdir()
        raise
    return open_voice(path)


def _source_list(sources: list[str]) -> tomlkit.items.Array:
    array = tomlkit.array()
    array.extend(sources)
    return array.multiline(len(sources) > 1)


def _as_seen_from(folder: Path, source: str) -> str:
    if gutenberg_number(source) is not None:
        return source
    if not source.strip():
        raise BadInput("a source is empty; --book and --other take a path or gutenberg:ID")
    file = Path(source).expanduser()
    if not file.exists():
        raise BadInput(f"there is no file or folder {source}; --book and --other take a path or gutenberg:ID")
    if file.is_absolute():
        return str(file)
    return os.path.relpath(file.resolve(), folder.resolve())


def _write_overrides(target: Path, overrides: Sequence[str]) -> None:
    config = load_config(target, overrides)
    document = tomlkit.parse(target.read_text(encoding="utf-8"))
    for override in overrides:
        section, _, key = override.partition("=")[0].strip().partition(".")
        if section not in document:
            document[section] = tomlkit.table()
        value = getattr(getattr(config, section), key)
        document[section][key] = list(value) if isinstance(value, tuple) else value
    write_text(target, tomlkit.dumps(document))
