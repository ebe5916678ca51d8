"""One writer a folder: who is kept out, who is told of, and that nothing is left of it."""

from __future__ import annotations

import fcntl
import json
import os
import subprocess
import sys

import pytest

from penname.core import lock
from penname.core.errors import PennameError
from penname.core.lock import hold, holder


def test_lock_keeps_a_second_process_out_and_dies_with_its_holder(tmp_path):
    code = (
        "import sys, time; from pathlib import Path; from penname.core.lock import hold\n"
        "with hold(Path(sys.argv[1]), 'train'):\n print('held', flush=True)\n time.sleep(60)"
    )
    other = subprocess.Popen([sys.executable, "-c", code, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert other.stdout.readline() == "held\n"
        with pytest.raises(PennameError, match=rf"another penname works in .* \(pid {other.pid}, train\)"), hold(tmp_path, "run"):
            pass
        assert holder(tmp_path) == {"pid": other.pid, "doing": "train"}
    finally:
        other.kill()
        other.wait()
    assert holder(tmp_path) is None
    with hold(tmp_path, "run"), hold(tmp_path, "book"):
        assert json.loads((tmp_path / ".lock").read_text())["doing"] == "run"


def test_a_lock_that_was_let_go_is_taken_anew(tmp_path):
    assert holder(tmp_path) is None
    for doing in ("run", "book"):
        with hold(tmp_path, doing):
            assert holder(tmp_path) == {"pid": os.getpid(), "doing": doing}
        assert (holder(tmp_path), (tmp_path / ".lock").read_text()) == (None, "")


def test_a_holder_that_has_not_yet_said_who_it_is_holds_the_lock(tmp_path):
    with (tmp_path / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_SH)
        assert holder(tmp_path) is None  # that one only looks
        fcntl.flock(held, fcntl.LOCK_EX)
        assert holder(tmp_path) == {}
        with pytest.raises(PennameError, match=r"\(pid \?, unknown\)"), hold(tmp_path, "run"):
            pass


def test_whoever_only_looks_who_holds_the_lock_keeps_nobody_out(tmp_path, monkeypatch):
    with (tmp_path / ".lock").open("w") as looking:
        fcntl.flock(looking, fcntl.LOCK_SH)
        monkeypatch.setattr(lock, "holder", lambda folder: fcntl.flock(looking, fcntl.LOCK_UN))  # nobody does, and the look is over
        with hold(tmp_path, "run"):
            assert json.loads((tmp_path / ".lock").read_text())["doing"] == "run"
