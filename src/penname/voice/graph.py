"""Which stage needs what: the stages in the order in which ``run`` does them, and what state each is in.

A stage's room says what it reads (``<stem>_inputs``), which settings matter (``<stem>_settings``) and its ``VERSION``; a
finished folder whose manifest says the same is fresh. Training is the one stage with a state per run.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from penname.core.errors import PennameError
from penname.core.folder import VoiceFolder
from penname.core.hashing import canonical_json
from penname.core.lock import holder
from penname.core.progress import format_count
from penname.core.stage import MANIFEST, Manifest, read_manifest

State = Literal["missing", "fresh", "stale", "running", "blocked"]


@dataclass(frozen=True)
class Stage:
    """One stage: its verb on the command line, the room module that does it, and where its manifest stands."""

    name: str
    verb: str
    module: str
    stem: str
    folder: Callable[[VoiceFolder], Path]
    manifest: str = MANIFEST
    needs: tuple[str, ...] = ()

    def function(self, pattern: str) -> Any:
        """A function of the stage's module: ``stage.function("{}_inputs")``."""
        return getattr(importlib.import_module(self.module), pattern.format(self.stem))


STAGES = (
    Stage("books", "book", "penname.books.stage", "books", lambda v: v.books),
    Stage("cast", "cast", "penname.cast.stage", "cast", lambda v: v.cast, needs=("books",)),
    Stage("copies", "rename", "penname.renaming.stage", "rename", lambda v: v.copies, needs=("cast",)),
    Stage("beats", "beat", "penname.beats.stage", "beats", lambda v: v.beats, needs=("cast",)),
    Stage("shards", "shard", "penname.shards.stage", "shards", lambda v: v.current_shards, needs=("copies", "beats")),
    Stage("register", "control --register", "penname.judging.stage", "register", lambda v: v.judging, "manifest-register.json", ("beats",)),
    Stage("control", "control", "penname.judging.stage", "control", lambda v: v.judging, "manifest-control.json", ("register", "copies")),
    Stage("train", "train", "penname.training.stage", "train", lambda v: v.runs, needs=("shards", "register")),
    Stage("judge", "judge", "penname.judging.stage", "judge", lambda v: v.judging, "manifest-judge.json", ("train", "control")),
    Stage("report", "report", "penname.pages.stage", "report", lambda v: v.path, ".report.json", ("judge",)),
)


@dataclass(frozen=True)
class StageState:
    """A stage's state, and why."""

    stage: Stage
    state: State
    why: str = ""
    manifest: Manifest | None = None


def stage_named(name: str) -> Stage:
    """The stage of that name or verb. PennameError names the stages that there are."""
    for stage in STAGES:
        if name in (stage.name, stage.verb):
            return stage
    raise PennameError(f'there is no stage "{name}"; the stages are {", ".join(stage.name for stage in STAGES)}')


def stage_state(voice: VoiceFolder, stage: Stage) -> StageState:
    """The state of one stage, judged by its manifest alone (``penname check`` re-hashes the files as well)."""
    if stage.name == "train":
        return _train_state(voice, stage)
    manifest = read_manifest(stage.folder(voice), stage.manifest)
    if manifest is None:
        return StageState(stage, "missing")
    reason = _stale_reason(voice, stage, manifest)
    if reason:
        return StageState(stage, "stale", reason, manifest)
    if stage.name == "cast" and (open_questions := int(manifest.counts.get("unresolved", 0))):
        return StageState(stage, "blocked", f"{format_count(open_questions, 'name')} for a person to decide", manifest)
    return StageState(stage, "fresh", "", manifest)


def all_states(voice: VoiceFolder) -> list[StageState]:
    """Every stage's state; a stage behind one that is not fresh is stale itself, since it will be made again."""
    states: dict[str, StageState] = {}
    for stage in STAGES:
        found = stage_state(voice, stage)
        behind = next((need for need in stage.needs if states[need].state in ("stale", "missing")), None)
        if found.state == "fresh" and behind:
            found = StageState(stage, "stale", f"{behind} is {states[behind].state}", found.manifest)
        states[stage.name] = found
    worker = holder(voice.path)
    if worker and (at_work := states.get(str(worker.get("doing", "")))):
        states[at_work.stage.name] = StageState(at_work.stage, "running", f"pid {worker.get('pid')}", at_work.manifest)
    return list(states.values())


def _stale_reason(voice: VoiceFolder, stage: Stage, manifest: Manifest) -> str:
    if manifest.version != stage.function("VERSION"):
        return "made by another version of this stage"
    if canonical_json(manifest.settings) != canonical_json(stage.function("{}_settings")(voice.config)):
        return "its settings have changed"
    try:
        inputs = stage.function("{}_inputs")(voice)
    except PennameError as error:
        return str(error)
    changed = sorted(name for name in {*inputs, *manifest.inputs} if inputs.get(name) != manifest.inputs.get(name))
    if changed:
        return f"{', '.join(changed)} changed"
    gone = [path for path in manifest.files if not (stage.folder(voice) / path).is_file()]
    return f"{gone[0]} is gone" if gone else ""


def _train_state(voice: VoiceFolder, stage: Stage) -> StageState:
    from penname.training.stage import planned_runs  # one row a seed: name, state, why

    rows = planned_runs(voice)
    done = [row for row in rows if row.state == "fresh"]
    if len(done) == len(rows):
        return StageState(stage, "fresh", format_count(len(done), "run"))
    started = [row for row in rows if row.state != "missing"]
    return StageState(stage, "stale" if started else "missing", f"{len(done)} of {len(rows)} runs" if started else "")
