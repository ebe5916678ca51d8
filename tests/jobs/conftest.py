"""A voice folder with one finished run, for the tests of archives and purges; and scripts in the place of tools."""

from __future__ import annotations

import os

import pytest

from finished_run import make_run
from penname.core.folder import open_voice


@pytest.fixture
def voice(tmp_path):
    folder = tmp_path / "voice"
    folder.mkdir()
    (folder / "voice.toml").write_text("")
    (folder / "judging").mkdir()
    (folder / "judging/verdict.json").write_text('{"verdict": "passed"}')
    (folder / "books/jane").mkdir(parents=True)
    (folder / "books/jane/text.txt").write_text("There was no possibility")
    make_run(folder)
    return open_voice(folder)


@pytest.fixture
def tool(tmp_path, monkeypatch):
    """Put a script in the place of each named tool, before all others."""
    programs = tmp_path / "bin"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")

    def make(name, script):
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)

    return make
