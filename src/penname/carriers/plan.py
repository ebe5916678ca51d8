"""Hours and memory a voice will take, projected from measured rows: tokens x copies x epochs over tokens a second."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penname.carriers.bench_rows import BenchRow, fastest_rows
from penname.core.errors import BadInput

# English novels under the Qwen and SmolLM vocabularies: 300,000 words are about 0.39 M tokens.
TOKENS_PER_WORD = 1.3


@dataclass(frozen=True)
class Corpus:
    """``tokens`` of the original text; each of ``copies`` renamed copies is seen ``epochs`` times."""

    tokens: int
    copies: int
    epochs: float

    @property
    def trained_tokens(self) -> float:
        """Tokens that go through the model in one run."""
        return self.tokens * self.copies * self.epochs


@dataclass(frozen=True)
class CarrierPlan:
    """One carrier: hours of one run with the range that its spread gives, and bytes it needs at once."""

    carrier: str
    hours: float
    hours_low: float
    hours_high: float
    bytes_needed: int | None
    fits_memory: bool | None  # None where either number is unknown
    fits_hours: bool | None


@dataclass(frozen=True)
class Plan:
    """A projection, not a measurement. ``sweep_hours`` are the carriers ``sweep`` at ``seeds`` runs each, one after another."""

    corpus: Corpus
    seeds: int
    carriers: tuple[CarrierPlan, ...]
    sweep: tuple[str, ...]
    sweep_hours: float
    sweep_hours_low: float
    sweep_hours_high: float
    cheapest: str | None  # the carrier with the fewest hours of those that fit limit and memory

    @property
    def sentence(self) -> str:
        """The sweep in one line, with what it rests on."""
        return (
            f"{', '.join(self.sweep)} at {self.seeds} seed{'s' * (self.seeds != 1)} each: {self.sweep_hours:.0f} h "
            f"({self.sweep_hours_low:.0f} to {self.sweep_hours_high:.0f}). A projection from measured steps, not a measurement: "
            "evaluation, samples and start-up come on top."
        )


def project(
    rows: Sequence[BenchRow],
    corpus: Corpus,
    *,
    seeds: int = 2,
    limit_hours: float | None = None,
    memory_bytes: int | None = None,
    unified: bool = False,
    sweep: Sequence[str] = (),
) -> Plan:
    """The plan of each carrier's fastest row that fits the memory.

    ``memory_bytes``: of the device. ``unified``: device and host share it (Grace, Apple, AMD APUs), so both peaks count together.
    ``sweep``: the carriers of the sweep, all where empty. ``limit_hours`` is for one run. Raises BadInput for an empty corpus
    and for a sweep carrier that has no row.
    """
    if corpus.trained_tokens <= 0:
        raise BadInput("a plan needs tokens, copies and epochs above zero")
    fitting = [row for row in rows if _fits(row, memory_bytes, unified) is not False]
    chosen = {row.carrier: row for row in (*fastest_rows(rows), *fastest_rows(fitting))}
    unknown = [name for name in sweep if name not in chosen]
    if unknown:
        raise BadInput(f"there is no measured row of {unknown[0]}; there are rows of {', '.join(chosen)}")
    plans = [_one(row, corpus, limit_hours, memory_bytes, unified) for row in fastest_rows(chosen.values())]
    in_sweep = [plan for plan in plans if not sweep or plan.carrier in sweep]
    eligible = [plan for plan in plans if plan.fits_hours is not False and plan.fits_memory is not False]
    return Plan(
        corpus=corpus,
        seeds=seeds,
        carriers=tuple(plans),
        sweep=tuple(plan.carrier for plan in in_sweep),
        sweep_hours=seeds * sum(plan.hours for plan in in_sweep),
        sweep_hours_low=seeds * sum(plan.hours_low for plan in in_sweep),
        sweep_hours_high=seeds * sum(plan.hours_high for plan in in_sweep),
        cheapest=min(eligible, key=lambda plan: plan.hours).carrier if eligible else None,
    )


def _one(row: BenchRow, corpus: Corpus, limit_hours: float | None, memory_bytes: int | None, unified: bool) -> CarrierPlan:
    low, middle, high = (corpus.trained_tokens / speed / 3600 for speed in (row.fastest, row.tokens_per_second, row.slowest))
    fits_hours = None if limit_hours is None else high <= limit_hours
    return CarrierPlan(row.carrier, middle, low, high, _bytes(row, unified), _fits(row, memory_bytes, unified), fits_hours)


def _bytes(row: BenchRow, unified: bool) -> int | None:
    if row.peak_bytes is None:
        return None
    return row.peak_bytes + (row.host_bytes or 0 if unified and row.device != "cpu" else 0)


def _fits(row: BenchRow, memory_bytes: int | None, unified: bool) -> bool | None:
    needed = _bytes(row, unified)
    return None if needed is None or memory_bytes is None else needed <= memory_bytes


@dataclass(frozen=True)
class Actual:
    """A finished run beside its projection."""

    run: str
    carrier: str
    projected_hours: float
    actual_hours: float

    @property
    def sentence(self) -> str:
        """Projected against actual, for a person."""
        off = self.actual_hours / self.projected_hours - 1
        return f"{self.run}: projected {self.projected_hours:.2f} h, actual {self.actual_hours:.2f} h ({off:+.0%})"


def against_actual(rows: Sequence[BenchRow], run: str, carrier: str, trained_tokens: float, actual_hours: float) -> Actual | None:
    """A finished run against what the rows would have said; None where no row is of its carrier."""
    row = next((row for row in fastest_rows(rows) if row.carrier == carrier), None)
    if row is None:
        return None
    return Actual(run, carrier, trained_tokens / row.tokens_per_second / 3600, actual_hours)
