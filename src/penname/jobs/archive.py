"""``penname archive | restore``: adapters and what proves them, in a second place, whole and verified or not at all.

    <place>/run-<name>/adapter/...  run.json  config.json  verdict.json  ...  archive.json

``archive.json`` goes with the item and holds every file's hash; the voice folder's ``archives.json`` records where each run went.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penname.core.errors import BadInput, PennameError, ProofFailed
from penname.core.files import json_text, read_json, write_json
from penname.core.folder import VoiceFolder
from penname.core.hashing import adapter_digest
from penname.jobs.adapter import check_adapter
from penname.jobs.places import FileFact, Place, copy_tree, open_place, tree_facts
from penname.jobs.record import exclusively

RECORD = "archives.json"
RECEIPT = "archive.json"
_PROOFS = ("run.json", "config.json", "bind.json", "metrics.jsonl")
_JUDGING = ("verdict.json", "controls.json", "registration.json")


@dataclass(frozen=True)
class Archived:
    """One run in its second place."""

    run: str
    place: str
    files: dict[str, FileFact]
    already_there: bool = False

    @property
    def total_bytes(self) -> int:
        """Bytes of all files."""
        return sum(fact.size for fact in self.files.values())


def archive_runs(voice: VoiceFolder, target: str, runs: Iterable[str] = (), *, with_text: bool = False) -> list[Archived]:
    """Archive the named runs (or every finished one) to ``target`` and verify each by reading it back.

    Refused, run by run, before anything is copied: an adapter without a configuration, with zero weights, or not bound; and
    an item of that name that is there already with other bytes.
    """
    names = list(runs) or voice.finished_runs()
    if not names:
        raise BadInput("there is no finished run to archive; run: penname train")
    for name in names:
        check_adapter(voice.runs / name)
    place = open_place(target)
    # A lock of its own, and not the folder's: a run may be archived while the next seed trains.
    with exclusively(voice.path / "jobs/.archiving", "another penname archive works in this folder; wait for it"):
        return [_archive(voice, place, target, name, with_text) for name in names]


def _archive(voice: VoiceFolder, place: Place, target: str, run: str, with_text: bool) -> Archived:
    item = f"run-{run}"
    with tempfile.TemporaryDirectory(dir=voice.path, prefix=".archiving-") as scratch:
        source = Path(scratch) / item
        facts = _gather(voice, run, source, with_text)
        already = place.holds(item)
        if already:
            _require_same(place, item, facts)
        else:
            place.put(source, item)
        there = place.facts(item)
        _compare(place.name, item, facts, there)
    _record(voice, run, target, facts)
    return Archived(run, place.name, facts, already)


def _gather(voice: VoiceFolder, run: str, into: Path, with_text: bool) -> dict[str, FileFact]:
    folder = voice.runs / run
    copy_tree(folder / "adapter", into / "adapter")
    for name in _PROOFS:
        if (folder / name).is_file():
            shutil.copy2(folder / name, into / name)
    for name in _JUDGING:
        if (voice.judging / name).is_file():
            shutil.copy2(voice.judging / name, into / name)
    if with_text:
        for text in voice.books.glob("*/text.txt"):
            (into / "books").mkdir(exist_ok=True)
            shutil.copy2(text, into / "books" / f"{text.parent.name}.txt")
    facts = tree_facts(into)
    receipt = {"run": run, "adapter": adapter_digest(folder / "adapter"), "files": {path: vars(fact) for path, fact in facts.items()}}
    (into / RECEIPT).write_text(json_text(receipt), encoding="utf-8")
    return {**facts, RECEIPT: tree_facts(into)[RECEIPT]}


def _require_same(place: Place, item: str, facts: dict[str, FileFact]) -> None:
    there = place.facts(item)
    adapter = {path: fact for path, fact in facts.items() if path.startswith("adapter/")}
    other = [path for path, fact in adapter.items() if there.get(path) != fact]
    if other or set(there) != set(facts) or there != facts:
        what = other[0] if other else next(path for path in sorted({*there, *facts}) if there.get(path) != facts.get(path))
        raise PennameError(
            f"{place.name}/{item} is there already and its {what} differs; "
            "nothing was overwritten. Archive to another place, or move it away"
        )


def _compare(place: str, item: str, here: dict[str, FileFact], there: dict[str, FileFact]) -> None:
    if here == there:
        return
    path = next(path for path in sorted({*here, *there}) if here.get(path) != there.get(path))
    totals = f"{sum(f.size for f in here.values())} bytes here, {sum(f.size for f in there.values())} there"
    raise ProofFailed(f"{place}/{item} does not read back as it was sent: {path} differs ({totals}); do not rely on it, and archive again")


def _record(voice: VoiceFolder, run: str, target: str, facts: dict[str, FileFact]) -> None:
    records = read_records(voice)
    records[run] = {"target": target, "item": f"run-{run}", "files": {path: vars(fact) for path, fact in facts.items()}}
    write_json(voice.path / RECORD, records)


def read_records(voice: VoiceFolder) -> dict[str, Any]:
    """Run name -> {"target", "item", "files"} of everything archived from this folder."""
    path = voice.path / RECORD
    records: dict[str, Any] = read_json(path) if path.exists() else {}
    return records


def verify_archives(voice: VoiceFolder, runs: Iterable[str] = ()) -> list[Archived]:
    """Re-hash archived runs in their places against what was recorded when they were sent.

    ProofFailed at the first difference, BadInput where nothing was archived.
    """
    records = read_records(voice)
    names = list(runs) or sorted(records)
    if not names:
        raise BadInput("nothing was archived from this folder, so there is nothing to verify; run: penname archive TARGET")
    verified = []
    for run in names:
        if run not in records:
            raise BadInput(f"the run {run} was never archived from this folder; run: penname archive TARGET --run {run}")
        record = records[run]
        place = open_place(record["target"])
        here = {path: FileFact(**fact) for path, fact in record["files"].items()}
        if not place.holds(record["item"]):
            raise ProofFailed(f"{place.name} no longer holds {record['item']}; archive it again")
        _compare(place.name, record["item"], here, place.facts(record["item"]))
        verified.append(Archived(run, place.name, here, True))
    return verified


def restore_run(voice: VoiceFolder, target: str, run: str) -> Path:
    """Bring an archived run back to ``runs/<run>``, verified against its receipt. BadInput where a run of that name is here."""
    if Path(run).name != run:
        raise BadInput(f'"{run}" is no name of a run; give one as it stands in runs/, without a folder')
    folder = voice.runs / run
    if folder.exists():
        raise BadInput(f"{folder} is here already; move it away first, nothing was overwritten")
    place = open_place(target)
    item = f"run-{run}"
    if not place.holds(item):
        raise BadInput(f"{place.name} holds no {item}; name the run and the place as archives.json has them")
    voice.runs.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=voice.runs, prefix=".restoring-") as scratch:
        aside = Path(scratch) / item
        place.get(item, aside)
        receipt = read_json(aside / RECEIPT)
        facts = {path: FileFact(**fact) for path, fact in receipt["files"].items()}
        found = {path: fact for path, fact in tree_facts(aside).items() if path != RECEIPT}
        if found != facts:
            path = next(path for path in sorted({*found, *facts}) if found.get(path) != facts.get(path))
            raise ProofFailed(f"{place.name}/{item} is not what was archived: {path} differs; nothing was restored")
        aside.rename(folder)
    return folder
