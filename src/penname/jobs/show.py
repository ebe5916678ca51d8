"""What ``penname jobs`` shows of each job: its state, and how far the newest run is."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penname.core.errors import last_line
from penname.core.files import read_json, read_jsonl
from penname.jobs.record import all_jobs

RATE_STEPS = 20  # the rate is the mean over so many of the newest steps


@dataclass(frozen=True)
class JobRow:
    """One line of the table. Step, loss and rate belong to the run that moved last, and only while the job runs."""

    id: str
    command: str
    state: str
    started: str
    why: str = ""
    run: str = ""
    step: int | None = None
    steps: int | None = None
    loss: float | None = None
    tokens_per_second: float | None = None
    seconds_left: float | None = None


def job_rows(voice: Path) -> list[JobRow]:
    """Every job of the voice, oldest first."""
    rows = []
    for job in all_jobs(voice / "jobs"):
        progress = _progress(voice) if job.state == "running" else {}
        why = str((job.exit or {}).get("why", ""))
        if job.state == "failed":
            why = why or _last_line(job.log)
        rows.append(JobRow(job.id, "penname " + " ".join(job.command), job.state, job.started, why, **progress))
    return rows


def _progress(voice: Path) -> dict[str, Any]:
    logs = sorted(voice.glob("runs/*/metrics.jsonl"), key=lambda path: path.stat().st_mtime)
    if not logs:
        return {}
    steps = [row for row in read_jsonl(logs[-1], growing=True) if "loss" in row]
    if not steps:
        return {}
    recent = steps[-RATE_STEPS:]
    seconds = sum(row["seconds"] for row in recent)
    planned = logs[-1].parent / "run.json"
    total = read_json(planned).get("steps") if planned.exists() else None
    return {
        "run": logs[-1].parent.name,
        "step": steps[-1]["step"],
        "steps": total,
        "loss": steps[-1]["loss"],
        "tokens_per_second": sum(row["tokens"] for row in recent) / seconds if seconds else None,
        "seconds_left": seconds / len(recent) * (total - steps[-1]["step"]) if total else None,
    }


def _last_line(log: Path) -> str:
    try:
        return last_line(log.read_text(encoding="utf-8", errors="replace"), "")
    except OSError:
        return ""
