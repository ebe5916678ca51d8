"""Running stages: what a person said on the command line reaches the stage that records it, and only where it is true."""

from __future__ import annotations

import pytest

from penname.core.files import json_text
from penname.voice.graph import stage_named
from penname.voice.run import TIMINGS, RunOptions, read_timings, run_stage
from tiny import tiny_carrier
from voices import tiny_voice


@pytest.mark.parametrize(("reasons", "recorded"), [([], False), (["author against author: separates"], True)])
def test_a_run_counts_as_trained_anyway_only_where_a_control_had_failed(tmp_path, monkeypatch, reasons, recorded):
    voice = tiny_voice(tmp_path, carrier=tiny_carrier("qwen3"))
    voice.judging.mkdir(exist_ok=True)
    (voice.judging / "controls.json").write_text(json_text({"passed": not reasons, "reasons": reasons}))
    given = {}
    monkeypatch.setattr("penname.training.stage.run_train", lambda voice, yes=False, anyway=False: given.update(yes=yes, anyway=anyway))
    run_stage(voice, stage_named("train"), RunOptions(yes=True, anyway=True))
    assert given == {"yes": True, "anyway": recorded}


@pytest.mark.parametrize("left", ["{", "[]", '{"books": "x"}'])
def test_damaged_timings_stop_no_stage(tmp_path, monkeypatch, left):
    voice = tiny_voice(tmp_path, carrier=tiny_carrier("qwen3"))
    (voice.path / TIMINGS).write_text(left)
    monkeypatch.setattr("penname.books.stage.run_books", lambda voice: None)
    run_stage(voice, stage_named("books"), RunOptions())
    assert list(read_timings(voice)) == ["books"]
