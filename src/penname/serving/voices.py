"""The runs of a voice folder as something to serve: which adapter, on which carrier, with which verdict."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penname.carriers.store import resolve_carrier
from penname.core.errors import BadInput, StaleInput
from penname.core.files import read_json
from penname.core.folder import VoiceFolder
from penname.core.stage import damaged_files, read_manifest
from penname.serving.adapter import Adapter, read_adapter


@dataclass(frozen=True)
class ServedRun:
    """A finished run."""

    name: str
    folder: Path
    record: dict[str, Any]
    adapter: Adapter
    carrier: Path


def open_run(voice: VoiceFolder, name: str | None = None) -> ServedRun:
    """The named run, or the best one: of those of the configured carrier, the lowest held-out loss. StaleInput where none is finished."""
    names = voice.finished_runs()
    if not names:
        raise StaleInput("there is no finished run in this voice folder; run: penname train")
    if name and name not in names:
        raise BadInput(f'there is no finished run "{name}"; there are {", ".join(names)}')
    if not name:
        records = {run: read_json(voice.runs / run / "run.json") for run in names}
        trained = [run for run in names if "scaled" not in records[run]] or names
        own = [run for run in trained if records[run]["arm"]["carrier"] == Path(voice.config.carrier.name).name] or trained
        name = min(own, key=lambda run: ((records[run].get("best") or {}).get("loss", float("inf")), run))
    folder = voice.runs / name
    record = read_json(folder / "run.json")
    _require_whole(folder)
    return ServedRun(name, folder, record, read_adapter(folder / "adapter"), resolve_carrier(record["settings"]["carrier"]["name"]))


def _require_whole(folder: Path) -> None:
    """BadInput where the adapter is not the file that training wrote, byte for byte."""
    manifest = read_manifest(folder)
    if manifest is not None and (bad := damaged_files(folder, manifest)):
        raise BadInput(
            f"{folder.name}/{bad[0]} is missing or not the file that was written when the run finished (its checksum differs); "
            "bring the run back with penname restore, or train it again"
        )


def said_verdict(voice: VoiceFolder) -> str:
    """The verdict in one sentence, or that there is none."""
    path = voice.judging / "verdict.json"
    return str(read_json(path)["sentence"]) if path.is_file() else "This voice has no verdict yet."
