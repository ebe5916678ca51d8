"""The voice folder: where everything of one voice stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from penname.core.config import Config, load_config
from penname.core.errors import BadInput

STAGE_FOLDERS = ("books", "others", "cast", "copies", "beats", "shards", "judging", "runs", "jobs")  # below the voice folder


@dataclass(frozen=True)
class VoiceFolder:
    """One voice folder and its configuration. Paths are properties, so that each stands in one place."""

    path: Path
    config: Config

    @property
    def books(self) -> Path:
        """books/<book>/text.txt, book.json, removed.jsonl."""
        return self.path / "books"

    @property
    def others(self) -> Path:
        """others/<book>/...: books by other authors, cleaned the same way; never renamed or trained on."""
        return self.path / "others"

    @property
    def cast(self) -> Path:
        """cast/<book>.json and the person's decisions.toml."""
        return self.path / "cast"

    @property
    def decisions(self) -> Path:
        """What a person decided about names."""
        return self.cast / "decisions.toml"

    @property
    def copies(self) -> Path:
        """copies/<k>/<book>.txt, <book>.edits.jsonl, names.json; 0 is the map kept for judging."""
        return self.path / "copies"

    @property
    def beats(self) -> Path:
        """beats/passages.jsonl, beats.jsonl, rejected.jsonl, curation.json, and the person's edited.toml."""
        return self.path / "beats"

    @property
    def judging(self) -> Path:
        """judging/registration.json, controls.json, verdict.json."""
        return self.path / "judging"

    @property
    def runs(self) -> Path:
        """runs/<run>/..."""
        return self.path / "runs"

    @property
    def report(self) -> Path:
        """The report page."""
        return self.path / "report.html"

    def shards(self, carrier: str) -> Path:
        """shards/<carrier>/."""
        return self.path / "shards" / carrier

    @property
    def current_shards(self) -> Path:
        """The shards of this configuration: shards/<carrier>, with a suffix where corpus or copies are cut down.

        So a sweep over corpus sizes keeps the shards of every arm.
        """
        settings = self.config.shards
        suffix = (f"-{settings.corpus_words}w" if settings.corpus_words else "") + (f"-{settings.copies}c" if settings.copies else "")
        return self.shards(Path(self.config.carrier.name).name + suffix)

    @property
    def copies_used(self) -> int:
        """How many renamed copies are trained on."""
        return min(self.config.shards.copies or self.config.copies.count, self.config.copies.count)

    def finished_runs(self) -> list[str]:
        """Names of the runs whose manifest stands, sorted."""
        return sorted(path.parent.name for path in self.runs.glob("*/manifest.json"))

    @property
    def name(self) -> str:
        """What the voice is called."""
        return self.config.voice.name or self.path.resolve().name


def open_voice(path: Path, overrides: Sequence[str] = ()) -> VoiceFolder:
    """The voice folder at ``path``. BadInput where it is none, or where its configuration does not hold."""
    if not (path / "voice.toml").is_file():
        raise BadInput(
            f"{path.resolve()} is no voice folder (it has no voice.toml); "
            "make one with: penname new DIR --book SOURCE, or name one with -C DIR"
        )
    return VoiceFolder(path, load_config(path / "voice.toml", overrides))
