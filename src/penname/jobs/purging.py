"""The whole of a purge, in its order: verify archives, look, probe, delete, re-hash adapters, retire, probe, report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from penname.core.errors import PennameError, ProofFailed
from penname.core.folder import VoiceFolder
from penname.core.progress import say
from penname.jobs.archive import read_records, verify_archives
from penname.jobs.places import FileFact, tree_facts
from penname.jobs.probe import complete_once
from penname.jobs.purge import PurgePlan, PurgeResult, delete, plan_purge, require_something
from penname.jobs.retire import retire_mentions
from penname.jobs.snapshots import snapshots_holding


@dataclass(frozen=True)
class Purged:
    """What a purge did."""

    result: PurgeResult
    retired: list[Path]
    snapshots: list[str]


def look(voice: VoiceFolder, keep: Sequence[str] = ()) -> PurgePlan:
    """The dry run: archives are re-hashed in their places, then every candidate is looked at. Nothing is changed."""
    verified = []
    for run in sorted(read_records(voice)):
        try:
            verify_archives(voice, [run])
            _adapter_as_archived(voice, run)
        except PennameError as error:
            say(f"{run}: {error}")
        else:
            verified.append(run)
    return plan_purge(voice, verified, keep)


def purge(voice: VoiceFolder, plan: PurgePlan, probe: str | None = None) -> Purged:
    """Carry out a plan that a person has seen. ProofFailed where an adapter is not what its archive recorded afterwards."""
    require_something(plan)
    if probe:
        complete_once(probe)
    result = delete(plan)
    for run in sorted({candidate.run for candidate in plan.going}):
        _adapter_as_archived(voice, run)
    gone = set(result.deleted)
    retired = retire_mentions(voice.path, [c.path for c in plan.going if c.path in gone])
    if probe:
        complete_once(probe)
    short = result.freed_bytes < result.planned_bytes * 0.9
    return Purged(result, retired, snapshots_holding(voice.path) if short else [])


def _adapter_as_archived(voice: VoiceFolder, run: str) -> None:
    adapter = voice.runs / run / "adapter"
    recorded = {
        path.removeprefix("adapter/"): FileFact(**fact)
        for path, fact in read_records(voice)[run]["files"].items()
        if path.startswith("adapter/")
    }
    if not adapter.is_dir() or tree_facts(adapter) != recorded:
        raise ProofFailed(f"the adapter of {run} here is not the one its archive recorded; archive it again, to another place if need be")
