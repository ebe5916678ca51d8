"""What state a stage is in, why, and what to do next; on two made-up stages of which the second needs the first."""

from __future__ import annotations

import fcntl
import json
import sys
from types import ModuleType

import pytest

from penname.core.errors import StaleInput
from penname.core.folder import open_voice
from penname.core.stage import stage_writer
from penname.voice import graph
from penname.voice.graph import Stage, StageState, all_states, stage_state
from penname.voice.status import _next_command

FRESH = {"version": 1, "settings": {"a": 1}, "inputs": {"books": "d"}}


@pytest.fixture
def voice(tmp_path, monkeypatch):
    module = ModuleType("made_up_room")
    module.VERSION, module.x_settings, module.x_inputs = 1, lambda config: {"a": 1}, lambda voice: {"books": "d"}
    monkeypatch.setitem(sys.modules, "made_up_room", module)
    stages = tuple(Stage(name, name, "made_up_room", "x", lambda v, n=name: v.path / n, needs=needs) for name, needs in NEEDS.items())
    monkeypatch.setattr(graph, "STAGES", stages)
    (tmp_path / "voice.toml").write_text("")
    return open_voice(tmp_path)


NEEDS = {"first": (), "second": ("first",)}


def finish(voice, name, **differs):
    with stage_writer(voice.path / name, stage=name, **{**FRESH, **differs}) as out:
        (out / "a.txt").write_text("a")


def states(voice):
    return [(found.state, found.why) for found in all_states(voice)]


@pytest.mark.parametrize(
    ("differs", "state", "why"),
    [
        ({}, "fresh", ""),
        ({"version": 2}, "stale", "made by another version of this stage"),
        ({"settings": {"a": 2}}, "stale", "its settings have changed"),
        ({"inputs": {"books": "e"}}, "stale", "books changed"),
        ({"inputs": {}}, "stale", "books changed"),
        ({"inputs": {"books": "d", "cast": "e"}}, "stale", "cast changed"),
    ],
)
def test_a_stage_is_fresh_where_its_manifest_says_what_would_be_done_now(voice, differs, state, why):
    finish(voice, "first", **differs)
    found = stage_state(voice, graph.STAGES[0])
    assert (found.state, found.why) == (state, why)


def test_a_stage_whose_file_or_input_is_gone_is_stale(voice, monkeypatch):
    def gone(voice):
        raise StaleInput("the books are not there")

    finish(voice, "first")
    (voice.path / "first/a.txt").unlink()
    assert stage_state(voice, graph.STAGES[0]).why == "a.txt is gone"
    monkeypatch.setattr(sys.modules["made_up_room"], "x_inputs", gone)
    assert stage_state(voice, graph.STAGES[0]).why == "the books are not there"


def test_what_stands_behind_a_stage_that_is_not_fresh_is_stale(voice):
    assert states(voice) == [("missing", ""), ("missing", "")]
    finish(voice, "second")
    assert states(voice) == [("missing", ""), ("stale", "first is missing")]
    finish(voice, "first", version=2)
    assert states(voice)[1] == ("stale", "first is stale")
    finish(voice, "first")
    assert states(voice) == [("fresh", ""), ("fresh", "")]


def test_a_stage_at_work_is_running_until_its_process_ends(voice):
    finish(voice, "first")
    with (voice.path / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        json.dump({"pid": 7, "doing": "second"}, held)
        held.flush()
        assert states(voice) == [("fresh", ""), ("running", "pid 7")]
    assert states(voice) == [("fresh", ""), ("missing", "")]


@pytest.mark.parametrize(
    ("state", "command"), [("blocked", "review"), ("running", "status"), ("missing", "run"), ("stale", "run"), ("fresh", 'write "BEAT"')]
)
def test_the_next_command_is_that_of_the_first_stage_that_is_not_fresh(voice, state, command):
    found = [StageState(graph.STAGES[0], "fresh"), StageState(graph.STAGES[1], state)]
    assert _next_command(found) == f"penname {command}"
