"""Registration, controls and verdict on a tiny voice with a real (random) carrier and two trained seeds."""

from __future__ import annotations

import json
import shutil

import pytest

from penname.core.errors import BadInput, JudgeSaysNo, StaleInput
from penname.core.files import read_json, write_json
from penname.core.folder import open_voice
from penname.core.stage import read_manifest
from penname.judging.curves import draw_curve
from penname.judging.stage import finished_runs, require_sight, run_control, run_judge, run_register
from penname.training.stage import run_train
from tiny import tiny_carrier
from voices import reseal, settings_toml, tiny_book, tiny_voice

TRAINING = {"max_steps": 4, "grad_accum_steps": 1, "eval_steps": 2, "save_steps": 2, "sample_steps": 2, "lora_rank": 4, "lora_alpha": 8}
SETTINGS = settings_toml(
    shards={"seq_len": 200},
    training={**TRAINING, "seeds": [1, 2], "warmup_steps": 0},
    sampling={"max_tokens": 60},
    judging={"samples": 8, "block_words": 100},
)


@pytest.fixture(scope="module")
def judged(tmp_path_factory):
    from penname.shards import run_shards

    voice = tiny_voice(tmp_path_factory.mktemp("judged") / "voice", tiny_carrier("qwen3"), [tiny_book(chapters=5)], SETTINGS)
    run_shards(voice)
    run_register(voice, anyway=True)
    run_control(voice)
    run_train(voice, yes=True, anyway=True)
    run_judge(voice)
    return voice


@pytest.fixture
def voice(judged, tmp_path):
    shutil.copytree(judged.path, tmp_path / "voice")
    return open_voice(tmp_path / "voice")


def test_the_registration_is_kept_when_nothing_changes(voice):
    before = (voice.judging / "registration.json").read_bytes()
    run_register(voice, anyway=True)
    assert (voice.judging / "registration.json").read_bytes() == before


def test_an_edited_registration_is_made_anew(voice):
    path = voice.judging / "registration.json"
    written = read_json(path)
    write_json(path, {**written, "thresholds": {**written["thresholds"], "pass_share": 0.01}, "registered_unix": 1})
    run_register(voice, anyway=True)
    again = read_json(path)
    assert (again["thresholds"], again["hash"]) == (written["thresholds"], written["hash"])
    assert again["registered_unix"] >= written["registered_unix"]


def test_a_registration_that_is_gone_or_names_other_passages_is_said(voice):
    path = voice.judging / "registration.json"
    write_json(path, {**read_json(path), "passages": ["tale:9:9"]})
    with pytest.raises(StaleInput, match="names the passage 'tale:9:9', which is not held out any more; run: penname control --register"):
        run_judge(voice)
    path.unlink()
    with pytest.raises(StaleInput, match="nothing is registered yet; run: penname control --register"):
        run_control(voice)


def test_runs_of_another_carrier_are_not_judged(voice):
    run = finished_runs(voice)[0]
    write_json(voice.runs / run["run"] / "run.json", {**run, "arm": {**run["arm"], "carrier": "another"}})
    assert [record["run"] for record in finished_runs(voice)] == [run["run"].replace("-s1", "-s2")]


def test_what_cannot_work_is_not_registered(voice, capsys):
    with pytest.raises(BadInput, match=r"make 1 block of judging.block_words = 100.*raise books.heldout_share"):
        run_register(voice)
    few = open_voice(voice.path, ["judging.samples=4"])
    with pytest.raises(BadInput, match=r"cannot give the controls 2 blocks.*raise judging.samples to 12"):
        run_register(few)
    run_register(few, anyway=True)
    assert "raise judging.samples to 12" in capsys.readouterr().err


def test_the_controls_stand_with_the_base_samples(voice):
    controls = read_json(voice.judging / "controls.json")
    assert set(controls["negative"]) == {"author against author", "base against base", "shuffled labels"}
    assert controls["likelihood"]["shuffled"] == 5
    assert len((voice.judging / "base.jsonl").read_text().splitlines()) == 8


def test_a_blind_instrument_is_refused(voice):
    controls = read_json(voice.judging / "controls.json")
    assert not controls["passed"]  # six paragraphs of held-out text make one block
    with pytest.raises(JudgeSaysNo, match="cannot see this voice"):
        require_sight(voice)
    verdict = read_json(voice.judging / "verdict.json")
    assert verdict["verdict"] == "refused"
    assert "training went on although a control had failed" in verdict["reasons"]
    assert [row["seed"] for row in verdict["runs"]] == [1, 2]


def test_samples_use_the_judging_names(voice):
    rows = [json.loads(line) for line in (voice.judging / "base.jsonl").read_text().splitlines()]
    assert all(row["beat"].startswith("Sophia goes on") for row in rows)


def test_everything_the_report_shows_is_there(voice):
    verdict = read_json(voice.judging / "verdict.json")
    assert set(verdict["plots"]) == {"scores", "map", "drivers"}
    assert len(verdict["passages"]) == 4
    assert {"author", "base model"} < set(verdict["passages"][0]["texts"])


def test_an_edited_registration_makes_it_unregistered(voice):
    registered = read_json(voice.judging / "registration.json")
    registered["thresholds"]["pass_share"] = 0.01
    write_json(voice.judging / "registration.json", registered)
    controls = read_json(voice.judging / "controls.json")
    write_json(voice.judging / "controls.json", {**controls, "passed": True})
    reseal(voice.judging, "manifest-control.json")
    run_judge(voice)
    verdict = read_json(voice.judging / "verdict.json")
    assert verdict["verdict"] == "unregistered"
    assert "edited" in verdict["reasons"][0]


def test_a_control_that_was_made_to_pass_by_hand_is_no_control(voice):
    controls = read_json(voice.judging / "controls.json")
    write_json(voice.judging / "controls.json", {**controls, "passed": True, "reasons": []})
    with pytest.raises(StaleInput, match=r"controls\.json is missing or not what was written .*; run: penname control$"):
        run_judge(voice)


def test_judging_twice_gives_the_same_bytes(voice):
    before = (voice.judging / "verdict.json").read_bytes(), read_manifest(voice.judging, "manifest-judge.json").digest
    run_judge(voice)
    assert ((voice.judging / "verdict.json").read_bytes(), read_manifest(voice.judging, "manifest-judge.json").digest) == before


def test_no_run_to_judge(voice):
    shutil.rmtree(voice.runs)
    with pytest.raises(StaleInput, match="penname train"):
        run_judge(voice)


def test_the_curve_of_steps_needs_no_generation(voice):
    curve = draw_curve(voice, "steps")
    assert {point["x"] for point in curve["points"]} == {2, 4}
    assert curve["sentence"]
    assert (voice.judging / "curve-steps.json").is_file()


def test_a_curve_of_one_size_says_what_to_train(voice):
    with pytest.raises(StaleInput, match="penname sweep"):
        draw_curve(voice, "words")
