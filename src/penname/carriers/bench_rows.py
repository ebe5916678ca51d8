"""Rows of ``carrier bench`` (JSONL): reading them, and whether a difference between two stands clear of their spreads."""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from penname.core.errors import BadInput
from penname.core.files import read_jsonl
from penname.core.hashing import canonical_json


@dataclass(frozen=True)
class BenchRow:
    """One measured setting of a carrier. ``spread`` is (max - min) / median of the measured steps; bytes at the peak."""

    carrier: str
    tokens_per_second: float
    spread: float
    peak_bytes: int | None  # of the device; None where the row does not say
    host_bytes: int | None  # of the process, beside the device's
    device: str
    settings: Mapping[str, Any]

    @property
    def key(self) -> tuple[str, str]:
        """What was measured: rows with the same key are repetitions."""
        return self.carrier, canonical_json(dict(self.settings))

    @property
    def slowest(self) -> float:
        """Tokens a second at the slow end of the spread: half of it above the median step."""
        return self.tokens_per_second / (1 + self.spread / 2)

    @property
    def fastest(self) -> float:
        """Tokens a second at the fast end of the spread."""
        return self.tokens_per_second / max(1 - self.spread / 2, 0.05)


@dataclass(frozen=True)
class Comparison:
    """Row ``b`` against row ``a``: the ratio of their speeds with its range, and whether that range leaves out 1."""

    a: BenchRow
    b: BenchRow
    ratio: float
    low: float
    high: float
    clear: bool

    def sentence(self, a: str, b: str) -> str:
        """The comparison for a person; ``a`` and ``b`` say what the rows are."""
        if self.clear:
            slower = self.ratio < 1
            times, low, high = (1 / self.ratio, 1 / self.high, 1 / self.low) if slower else (self.ratio, self.low, self.high)
            return f"{b} is {times:.2f} times {'slower' if slower else 'faster'} than {a}; the spreads leave {low:.2f} to {high:.2f} times"
        return (
            f"{b} has {self.ratio:.2f} of the speed of {a}, and the spreads leave {self.low:.2f} to {self.high:.2f}: "
            "no difference is shown; measure both again on an idle machine"
        )


_SETTINGS = (
    "seq_len", "batch", "document_tokens", "gradient_checkpointing", "attention", "dtype", "device", "fused", "target_modules", "lora_rank",
    "random_init",
)  # fmt: skip


def read_rows(path: Path) -> list[BenchRow]:
    """The rows of a bench file. Rows that ran out of memory are left out; BadInput for a file that holds no row or is not there."""
    if not path.exists():
        raise BadInput(f"there is no {path}, so nothing was measured here yet; run: penname carrier bench CARRIER")
    rows = [row_from(value, f"{path}, row {number}") for number, value in enumerate(read_jsonl(path), 1) if not _failed(value)]
    if not rows:
        raise BadInput(f"{path} holds no measured row; run: penname carrier bench")
    return rows


def row_from(value: Mapping[str, Any], where: str) -> BenchRow:
    """A row from its JSON. BadInput that names the field where one is missing or no number."""
    numbers = []
    for name, fallback in (("tokens_per_second", None), ("spread", 0.0)):
        try:
            numbers.append(float(value.get(name, fallback)))
        except (TypeError, ValueError):
            raise BadInput(f"{where} is no row of penname carrier bench: it has no usable {name}") from None
    if "carrier" not in value:
        raise BadInput(f"{where} is no row of penname carrier bench: it names no carrier")
    speed, spread = numbers
    if speed <= 0 or spread < 0:
        raise BadInput(f"{where}: {speed} tokens/s with a spread of {spread} cannot be a measurement")
    settings = {key: value[key] for key in _SETTINGS if key in value}
    peak, host = value.get("peak_bytes"), value.get("host_bytes")
    return BenchRow(str(value["carrier"]), speed, spread, peak, host, str(value.get("device", "")), settings)


def _failed(value: Mapping[str, Any]) -> bool:
    return bool(value.get("out_of_memory")) or value.get("tokens_per_second", 0) is None


def compare(a: BenchRow, b: BenchRow) -> Comparison:
    """``b`` against ``a``. Clear only where the slow end of the faster lies above the fast end of the slower."""
    low, high = b.slowest / a.fastest, b.fastest / a.slowest
    return Comparison(a, b, b.tokens_per_second / a.tokens_per_second, low, high, clear=low > 1 or high < 1)


def pooled(rows: Iterable[BenchRow]) -> list[BenchRow]:
    """One row for each setting that was measured: the median of its repetitions, with the wider of their spreads and their range."""
    groups: dict[tuple[str, str], list[BenchRow]] = {}
    for row in rows:
        groups.setdefault(row.key, []).append(row)
    return [_pool(group) for group in groups.values()]


def _pool(group: list[BenchRow]) -> BenchRow:
    speeds = [row.tokens_per_second for row in group]
    median = statistics.median(speeds)
    spread = max(max(row.spread for row in group), (max(speeds) - min(speeds)) / median)
    peak = max((row.peak_bytes for row in group if row.peak_bytes is not None), default=None)
    host = max((row.host_bytes for row in group if row.host_bytes is not None), default=None)
    return replace(group[0], tokens_per_second=median, spread=spread, peak_bytes=peak, host_bytes=host)


def labels(rows: Sequence[BenchRow]) -> list[str]:
    """What to call each row: its carrier, and the settings in which the rows differ."""
    differing = [name for name in _SETTINGS if len({canonical_json(row.settings.get(name)) for row in rows}) > 1]
    return [", ".join([row.carrier, *(f"{name} {row.settings[name]}" for name in differing if name in row.settings)]) for row in rows]


def fastest_rows(rows: Iterable[BenchRow]) -> list[BenchRow]:
    """The fastest setting of each carrier, fastest carrier first: what a plan would train with."""
    best: dict[str, BenchRow] = {}
    for row in pooled(rows):
        if row.carrier not in best or row.tokens_per_second > best[row.carrier].tokens_per_second:
            best[row.carrier] = row
    return sorted(best.values(), key=lambda row: (-row.tokens_per_second, row.carrier))
