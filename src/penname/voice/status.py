"""``penname status``: one screen with each stage's state, what it holds, disk use, and the next command."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from penname.core.folder import VoiceFolder
from penname.voice.graph import StageState, all_states
from penname.voice.run import read_timings


@dataclass(frozen=True)
class StatusRow:
    """One stage as status shows it."""

    stage: str
    state: str
    why: str
    counts: dict[str, object]
    size_bytes: int
    seconds: float | None


@dataclass(frozen=True)
class Status:
    """Everything that ``penname status`` shows."""

    voice: str
    carrier: str
    rows: tuple[StatusRow, ...]
    size_bytes: int
    next_command: str


def voice_status(voice: VoiceFolder) -> Status:
    """The state of a voice, as plain values."""
    timings = read_timings(voice)
    states = all_states(voice)
    rows = tuple(
        StatusRow(
            s.stage.name,
            s.state,
            s.why,
            dict(s.manifest.counts) if s.manifest else {},
            _stage_bytes(voice, s),
            timings.get(s.stage.name),
        )
        for s in states
    )
    return Status(voice.name, voice.config.carrier.name, rows, folder_bytes(voice.path), _next_command(states))


def folder_bytes(folder: Path) -> int:
    """Bytes of the files below ``folder``; links are not followed."""
    return sum(p.lstat().st_size for p in folder.rglob("*") if p.is_file() and not p.is_symlink())


def _stage_bytes(voice: VoiceFolder, found: StageState) -> int:
    folder = found.stage.folder(voice)
    if found.stage.name == "train":
        return folder_bytes(folder) if folder.is_dir() else 0
    return sum(int(entry["bytes"]) for entry in found.manifest.files.values()) if found.manifest else 0


def _next_command(states: list[StageState]) -> str:
    for found in states:
        if found.state == "blocked":
            return "penname review"
        if found.state == "running":
            return "penname status"
        if found.state in ("missing", "stale"):
            return "penname run"
    return 'penname write "BEAT"'
