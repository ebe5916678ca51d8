"""``penname run``: do what is missing or stale, in order; stop where a person must decide or the instrument is blind."""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penname.core.errors import BadInput, JudgeSaysNo
from penname.core.files import read_json, write_json
from penname.core.folder import VoiceFolder
from penname.core.lock import hold
from penname.core.progress import format_seconds, say
from penname.voice.graph import STAGES, Stage, stage_named, stage_state

TIMINGS = "timings.json"  # seconds a stage took when it last ran; for people and the report, never an input


@dataclass(frozen=True)
class RunOptions:
    """What a person said on the command line, handed to the stages that take it."""

    decide: str | None = None  # "auto" takes the proposed answer to every question about names
    yes: bool = False  # answer yes to what would be asked: sending text to a server, a long training run
    anyway: bool = False  # go on to training although a control failed; recorded


def run_voice(voice: VoiceFolder, to: str | None = None, options: RunOptions | None = None) -> dict[str, float]:
    """Bring every stage up to ``to`` (or all) up to date and give the seconds that each one done took.

    NeedsPerson where names must be decided first; JudgeSaysNo where a control failed and ``anyway`` is not set. What was
    finished before an interruption is kept, so the same call goes on from there.
    """
    last = stage_named(to) if to else STAGES[-1]
    taken: dict[str, float] = {}
    for stage in STAGES:
        seconds = bring_up_to_date(voice, stage, options or RunOptions())
        if seconds is not None:
            taken[stage.name] = seconds
        if stage is last:
            break
    return taken


def bring_up_to_date(voice: VoiceFolder, stage: Stage, options: RunOptions) -> float | None:
    """Run the stage unless it is fresh; the seconds it took, or None where there was nothing to do."""
    found = stage_state(voice, stage)
    if found.state == "fresh":
        say(f"{stage.name}: fresh")
    else:
        say(f"{stage.name}: {found.state}{f' ({found.why})' if found.why else ''}, running")
        seconds = run_stage(voice, stage, options)
        say(f"{stage.name}: done in {format_seconds(seconds)}")
    if stage.name == "control" and not options.anyway and stage_state(voice, stage_named("train")).state != "fresh":
        _stop_if_blind(voice)
    return seconds if found.state != "fresh" else None


def run_stage(voice: VoiceFolder, stage: Stage, options: RunOptions) -> float:
    """Run one stage under the folder's lock, whatever its state; the seconds it took, also kept in timings.json."""
    function: Callable[..., Any] = stage.function("run_{}")
    wanted = inspect.signature(function).parameters
    # A run records that it was trained against the control's word only where the control had spoken.
    anyway = options.anyway and (stage.name != "train" or bool(_failed_controls(voice)))
    given = {"decide": options.decide, "yes": options.yes, "anyway": anyway}
    with hold(voice.path, stage.name):
        started = time.monotonic()
        function(voice, **{key: value for key, value in given.items() if key in wanted and value is not None})
        seconds = time.monotonic() - started
        _note_seconds(voice, stage, seconds)
    return seconds


def _failed_controls(voice: VoiceFolder) -> list[str]:
    reasons: list[str] = read_json(voice.judging / "controls.json")["reasons"]
    return reasons


def _stop_if_blind(voice: VoiceFolder) -> None:
    reasons = _failed_controls(voice)
    if reasons:
        raise JudgeSaysNo(
            "the instrument cannot see this voice: "
            + "; ".join(reasons)
            + ". No training was started. Give more text by this author and by others, or go on with: penname run --anyway"
        )


def read_timings(voice: VoiceFolder) -> dict[str, float]:
    """Seconds that each stage took last. What cannot be read is left out: these figures are told and nothing rests on them."""
    try:
        timings = read_json(voice.path / TIMINGS)
    except BadInput:
        return {}
    return {stage: seconds for stage, seconds in timings.items() if isinstance(seconds, int | float)}


def _note_seconds(voice: VoiceFolder, stage: Stage, seconds: float) -> None:
    write_json(voice.path / TIMINGS, {**read_timings(voice), stage.name: round(seconds, 2)})
