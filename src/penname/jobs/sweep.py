"""``penname sweep``: carriers x seeds x corpus sizes x target modules, from one table, one subprocess of ``penname train`` a run.

A run that is complete is skipped by its own marker, so the same call goes on where it was; a run that fails does not stop the
rest; a run that a lost machine had begun goes on from its checkpoint wherever it is started next.
"""

from __future__ import annotations

import difflib
import itertools
import json
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penname.core.errors import BadInput, last_line
from penname.core.files import read_text

# Key -> what its value must be, and how to say so.
_KEYS: dict[str, tuple[tuple[type, ...], str]] = {
    "carriers": ((list,), "a list"),
    "seeds": ((list,), "a list"),
    "corpus_words": ((list,), "a list"),
    "copies": ((list,), "a list"),
    "target_modules": ((list,), "a list"),
    "set": ((dict,), "a table: [sweep.set]"),
    "gpus": ((int, float), "a number"),
    "threads": ((int,), "a whole number"),
}


@dataclass(frozen=True)
class Task:
    """One run: the settings that make its arm, and its seed."""

    settings: tuple[str, ...]  # section.key=value
    seed: int

    @property
    def label(self) -> str:
        """What the table shows."""
        return " ".join([*(setting.split(".", 1)[1] for setting in self.settings), f"seed={self.seed}"])

    def command(self, verb: str, *more: str) -> list[str]:
        """The command a person would type."""
        sets = [part for setting in self.settings for part in ("--set", setting)]
        return [sys.executable, "-m", "penname", verb, *sets, *more]


@dataclass(frozen=True)
class Sweep:
    """A sweep's tasks in the order of its table, and what each may use."""

    tasks: tuple[Task, ...]
    gpus: float = 0.0  # a task's share of GPUs, on Ray
    threads: int = 0  # CPU threads a task; 0 takes all

    @property
    def arms(self) -> tuple[tuple[str, ...], ...]:
        """The distinct settings, in order: what shards are made for."""
        return tuple(dict.fromkeys(task.settings for task in self.tasks))


@dataclass(frozen=True)
class Outcome:
    """How one task ended."""

    task: Task
    code: int
    last_line: str = ""
    where: str = ""


@dataclass
class SweepResult:
    """How all ended."""

    outcomes: list[Outcome] = field(default_factory=list)

    @property
    def failed(self) -> list[Outcome]:
        """Those that did not end well."""
        return [outcome for outcome in self.outcomes if outcome.code]


def read_sweep(path: Path) -> Sweep:
    """The sweep of a TOML file's [sweep] table. BadInput lists every problem of the table at once."""
    try:
        table = tomllib.loads(read_text(path)).get("sweep")
    except tomllib.TOMLDecodeError as error:
        raise BadInput(f"{path} is not TOML: {error}") from None
    if not isinstance(table, dict):
        raise BadInput(f"{path} has no [sweep] table; it wants at least: [sweep] and seeds = [1, 2]")
    problems = [_no_key(key) for key in table if key not in _KEYS]
    problems += [f"{key} wants {what}" for key, (kinds, what) in _KEYS.items() if key in table and type(table[key]) not in kinds]
    seeds = table.get("seeds")
    if not isinstance(seeds, list) or not seeds or not all(type(seed) is int for seed in seeds):
        problems.append("seeds wants at least one number, and whole numbers only, as in: seeds = [1, 2]")
    if problems:
        raise BadInput(f"{path}: " + "; ".join(problems))
    axes: list[tuple[str, list[Any]]] = [
        ("carrier.name", table.get("carriers", [])),
        ("shards.corpus_words", table.get("corpus_words", [])),
        ("shards.copies", table.get("copies", [])),
        ("training.target_modules", table.get("target_modules", [])),
    ]
    chosen = [[f"{key}={_toml(value)}" for value in values] for key, values in axes if values]
    fixed = [f"{key}={_toml(value)}" for key, value in table.get("set", {}).items()]
    tasks = [Task((*combination, *fixed), seed) for combination, seed in itertools.product(itertools.product(*chosen), table["seeds"])]
    return Sweep(tuple(tasks), float(table.get("gpus", 0)), int(table.get("threads", 0)))


def _no_key(key: str) -> str:
    near = difflib.get_close_matches(key, _KEYS, n=1)
    return f'there is no key "{key}" in [sweep]' + (f', did you mean "{near[0]}"?' if near else "")


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else str(value)  # a JSON string is one of TOML's basic strings


def run_task(voice: Path, task: Task, threads: int = 0, first: Callable[[], object] | None = None) -> Outcome:
    """Train one run in a subprocess, which does ``first`` before all; its last line of output tells what went wrong."""
    more = ["--seed", str(task.seed), "--yes"]
    if threads:
        more += ["--set", f"carrier.threads={threads}"]
    done = subprocess.run(
        task.command("train", *more), cwd=voice, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, preexec_fn=first
    )
    return Outcome(task, done.returncode, last_line(done.stdout if done.returncode == 0 else done.stderr, ""))


def make_shards(voice: Path, sweep: Sweep) -> None:
    """The shards of every arm, one after another: runs only read them. BadInput with the shard verb's own sentence."""
    for settings in sweep.arms:
        done = subprocess.run(Task(settings, 0).command("shard"), cwd=voice, capture_output=True, text=True, check=False)
        if done.returncode:
            raise BadInput(f"the shards of {' '.join(settings) or 'the configuration'} could not be made: {last_line(done.stderr)}")


def run_sweep(voice: Path, sweep: Sweep, on_outcome: Callable[[Outcome], None], run_all: RunAll | None = None) -> SweepResult:
    """Every task; ``on_outcome`` is called as each ends. ``run_all`` decides where tasks run (here, one by one, by default)."""
    make_shards(voice, sweep)
    result = SweepResult()
    for outcome in (run_all or one_by_one)(voice, sweep.tasks, sweep):
        result.outcomes.append(outcome)
        on_outcome(outcome)
    return result


RunAll = Callable[[Path, Sequence[Task], Sweep], Iterator[Outcome]]


def one_by_one(voice: Path, tasks: Sequence[Task], sweep: Sweep) -> Iterator[Outcome]:
    """The default: this machine, one run at a time."""
    for task in tasks:
        yield run_task(voice, task, sweep.threads)
