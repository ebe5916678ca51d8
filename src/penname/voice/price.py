"""What runs will take before they are started: hours and memory from measured rows, disk from the carrier's headers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from penname.carriers.bench_rows import BenchRow
from penname.carriers.corpus import voice_corpus
from penname.carriers.plan import CarrierPlan, project
from penname.carriers.probe import probe_folder
from penname.carriers.store import resolve_carrier
from penname.carriers.targets import resolve_targets
from penname.core.errors import BadInput
from penname.core.folder import VoiceFolder, open_voice
from penname.core.progress import format_bytes, format_count, format_seconds
from penname.jobs.sweep import Sweep, read_sweep
from penname.training.arm import arm_of
from penname.training.stage import planned_runs

FLOOR_BYTES = 2_000_000_000  # what should stay free beside checkpoints: shards, samples, and whatever else lives on that disk
_WEIGHT_BYTES = {"fp32": 4, "bf16": 2}


@dataclass(frozen=True)
class ArmPrice:
    """One arm of a sweep: what is left of it, and the plan of one run; None where no row of its carrier was measured."""

    name: str  # as its runs are called, without their seed
    carrier: str
    runs_left: int
    plan: CarrierPlan | None

    @property
    def sentence(self) -> str:
        """The arm for a person."""
        what = f"{self.name}: {format_count(self.runs_left, 'run')} to do"
        if self.plan is None:
            return f"{what}, of unknown length (no measured row; run: penname carrier bench {self.carrier})"
        memory = f", {format_bytes(self.plan.bytes_needed)} of memory" if self.plan.bytes_needed is not None else ""
        return f"{what}, each {_range(self.plan.hours, self.plan.hours_low, self.plan.hours_high)}{memory}"


@dataclass(frozen=True)
class SweepPrice:
    """All arms of a sweep, one run after another."""

    arms: tuple[ArmPrice, ...]

    @property
    def runs_left(self) -> int:
        """Runs that are not complete."""
        return sum(arm.runs_left for arm in self.arms)

    @property
    def sentence(self) -> str:
        """The whole for a person: hours with their range, and the most memory that a run takes."""
        if not self.runs_left:
            return "every run is complete; there is nothing to train"
        priced = [(arm.runs_left, arm.plan) for arm in self.arms if arm.plan is not None and arm.runs_left]
        if not priced:
            return f"in all {format_count(self.runs_left, 'run')}; none can be priced before a step of its carrier was measured"
        hours, low, high = (sum(n * getattr(plan, name) for n, plan in priced) for name in ("hours", "hours_low", "hours_high"))
        most = max(plan.bytes_needed or 0 for _, plan in priced)
        unpriced = self.runs_left - sum(runs for runs, _ in priced)
        return (
            f"in all {format_count(self.runs_left, 'run')}: {_range(hours, low, high)} one after another"
            + (f", {format_bytes(most)} of memory at the most" if most else "")
            + (f"; {unpriced} of them not priced" if unpriced else "")
            + ". A projection from measured steps: evaluation, samples and start-up come on top"
        )


def _range(hours: float, low: float, high: float) -> str:
    middle, least, most = (format_seconds(value * 3600) for value in (hours, low, high))
    return f"{middle} ({least} to {most})"


def price_sweep(voice: Path, sweep: Sweep, rows: Sequence[BenchRow]) -> SweepPrice:
    """The price of what a sweep has yet to do. BadInput where the settings of an arm do not hold, or there are no books."""
    arms = []
    for settings in sweep.arms:
        seeds = [task.seed for task in sweep.tasks if task.settings == settings]
        arm = open_voice(voice, (*settings, f"training.seeds={sorted(set(seeds))}"))
        training = arm_of(arm)
        left = sum(run.state != "fresh" for run in planned_runs(arm))
        own = [row for row in rows if Path(row.carrier).name == training.carrier]
        plan = project(own, voice_corpus(arm), seeds=1).carriers[0] if own else None
        arms.append(ArmPrice(f"{training.carrier}-{training.name}", training.carrier, left, plan))
    return SweepPrice(tuple(arms))


def launch_bytes(voice: Path, command: Sequence[str]) -> int:
    """Bytes that the runs of a launched command will write; 0 for a command that trains nothing.

    BadInput where its ``--set`` or its table do not hold: better now than in the log of a detached job.
    """
    given = [value for word, value in pairwise(command) if word == "--set"]
    base = open_voice(voice, [*given, *(word.removeprefix("--set=") for word in command if word.startswith("--set="))])
    if command[0] in ("run", "train"):
        return runs_bytes(base)
    if command[0] != "sweep":
        return 0
    sweep = read_sweep(base.path / next((word for word in command[1:] if word.endswith(".toml")), ""))
    return sum(runs_bytes(open_voice(voice, (*task.settings, f"training.seeds=[{task.seed}]"))) for task in sweep.tasks)


def runs_bytes(voice: VoiceFolder) -> int:
    """Bytes of checkpoints and adapters that the unfinished runs of a configuration will write; 0 where its carrier cannot be read.

    A checkpoint holds the adapter and AdamW's two moments of it. One more than are kept stands while the newest is written.
    """
    training = voice.config.training
    try:
        targets = resolve_targets(probe_folder(resolve_carrier(voice.config.carrier.name)), training.target_modules, training.lora_rank)
    except BadInput:
        return 0  # the stage that needs the carrier says what is wrong with it
    adapter = targets.lora_parameters * _WEIGHT_BYTES[training.adapter_dtype]
    left = sum(run.state != "fresh" for run in planned_runs(voice))
    return left * (adapter * 3 * (training.keep_checkpoints + 1) + adapter)
