"""The fault server as a process, its log, and ``penname beat`` as a process that can be killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent


@contextmanager
def fault_server(log: Path, *options: str) -> Iterator[str]:
    """Run the server; yields its base address."""
    server = subprocess.Popen([sys.executable, str(HERE / "fault_server.py"), str(log), *options], stdout=subprocess.PIPE, text=True)
    try:
        yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
    finally:
        server.kill()
        server.wait()


def requests_in(log: Path) -> list[dict[str, Any]]:
    """The requests that the server has finished with; a line that is still being written is not counted."""
    if not log.exists():
        return []
    return [json.loads(line) for line in log.read_text(encoding="utf-8").split("\n")[:-1]]


def answered_count(log: Path) -> int:
    """How many requests the server has finished with; cheap enough to poll."""
    return log.read_bytes().count(b"\n") if log.exists() else 0


def beat_process(voice: Path, **environment: str) -> subprocess.Popen:
    """``penname beat`` on its own. A shell that runs the tests in the background has Ctrl-C ignored in all that it starts; not here."""
    program = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); from penname.cli.app import main; main()"
    command = [sys.executable, "-c", program, "beat", "-C", str(voice), "--json"]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, **environment})
