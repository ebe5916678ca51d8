"""The training stage: the runs of the configuration's arm, one a seed."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Literal

from penname.carriers.store import carrier_digest
from penname.core.errors import BadInput, PennameError
from penname.core.folder import VoiceFolder
from penname.core.hashing import canonical_json
from penname.core.lock import hold
from penname.core.progress import say
from penname.core.stage import Manifest, damaged_files, read_manifest, require_manifest
from penname.training.arm import arm_of, run_name, train_settings

VERSION = 1


@dataclass(frozen=True)
class PlannedRun:
    """A run that the configuration asks for, and its state."""

    name: str
    seed: int
    state: Literal["missing", "fresh", "stale"]
    why: str = ""


def train_inputs(voice: VoiceFolder) -> dict[str, str]:
    """Digests of what a run is made from: the shards and the carrier's files."""
    return {"shards": require_manifest(voice.current_shards, "shard").digest, "carrier": carrier_digest(voice.config.carrier.name)}


def planned_runs(voice: VoiceFolder) -> list[PlannedRun]:
    """One row a seed of the configuration."""
    arm = arm_of(voice)
    return [_planned(voice, run_name(arm, seed), seed) for seed in voice.config.training.seeds]


def _planned(voice: VoiceFolder, name: str, seed: int, whole: bool = False) -> PlannedRun:
    """``whole``: the adapter is re-hashed, and not only looked for."""
    manifest = read_manifest(voice.runs / name)
    if manifest is None:
        begun = (voice.runs / name / "run.json").is_file()
        return PlannedRun(name, seed, "stale" if begun else "missing", "not finished" if begun else "")
    if manifest.version != VERSION:
        return PlannedRun(name, seed, "stale", "made by another version of training")
    if canonical_json(manifest.settings) != canonical_json(train_settings(voice.config)):
        return PlannedRun(name, seed, "stale", "its settings have changed")
    try:
        inputs = train_inputs(voice)
    except PennameError as error:
        return PlannedRun(name, seed, "stale", str(error))
    changed = sorted(key for key in inputs if inputs[key] != manifest.inputs.get(key))
    if changed:
        return PlannedRun(name, seed, "stale", f"{', '.join(changed)} changed")
    folder = voice.runs / name
    bad = damaged_files(folder, manifest) if whole else [path for path in manifest.files if not (folder / path).is_file()]
    return PlannedRun(name, seed, "stale" if bad else "fresh", f"{bad[0]} is missing or not what was written" if bad else "")


def run_train(
    voice: VoiceFolder,
    seed: int | None = None,
    *,
    yes: bool = False,
    anyway: bool = False,
    confirm: Callable[[str], bool] | None = None,
) -> list[Manifest]:
    """Train every run that is not fresh (or the one of ``seed``). NeedsPerson: a plan is above ``ask_above_hours``, and nobody said yes.

    ``anyway`` says that a control failed and training goes on nevertheless; it is recorded in run.json.
    """
    from penname.training.run import train_run

    seeds = voice.config.training.seeds
    if seed is not None and seed not in seeds:
        raise BadInput(f"seed {seed} is not among training.seeds; add it there, or give --set 'training.seeds=[{seed}]'")
    arm = arm_of(voice)
    made = []
    for one in seeds if seed is None else [seed]:
        name = run_name(arm, one)
        with _hold_run(voice, name):
            found = _planned(voice, name, one, whole=True)
            if found.state == "fresh":
                say(f"{name}: trained already")
                continue
            if found.state == "stale":
                say(f"{name}: {found.why}")
            train_run(voice, one, yes=yes, anyway=anyway, confirm=confirm)
            made.append(require_manifest(voice.runs / name, "train"))
    return made


def _hold_run(voice: VoiceFolder, name: str) -> AbstractContextManager[None]:
    """The lock of one run, so that seeds may train beside each other and no run has two writers, whichever verb started them."""
    if os.environ.get("RANK", "0") != "0":
        return nullcontext()  # under torchrun one process holds the lock for all of them
    folder = voice.runs / ".locks" / name
    folder.mkdir(parents=True, exist_ok=True)
    return hold(folder, "train")
