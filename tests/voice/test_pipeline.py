"""The whole way on the bundled story with a tiny carrier: one command, again, interrupted, and twice from the same seed."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tiny import tiny_carrier

STORY = Path(__file__).resolve().parents[2] / "src/penname/voice/story"
STAGES = ["books", "cast", "copies", "beats", "shards", "register", "control", "train", "judge", "report"]
# Made byte for byte the same by the same seed; what is left out records times.
SAME = ("books/**/*", "cast/*.json", "copies/**/*", "beats/*.jsonl", "shards/**/*", "runs/*/adapter/adapter_*", "judging/base.jsonl")


def penname(*words, cwd=None, check=None):
    done = subprocess.run([sys.executable, "-m", "penname", *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=900)
    assert "Traceback" not in done.stderr, done.stderr
    if check is not None:
        assert done.returncode == check, done.stderr + done.stdout
    return done


def new_voice(folder):
    settings = [
        f"carrier.name={tiny_carrier('qwen3')}",
        "carrier.dtype=fp32",
        "carrier.threads=1",
        "copies.count=2",
        "shards.seq_len=512",
        "training.max_steps=4",
        "training.grad_accum_steps=1",
        "training.warmup_steps=1",
        "training.save_steps=2",
        "training.eval_steps=2",
        "judging.samples=8",
        "judging.block_words=100",
        "sampling.max_tokens=60",
    ]
    sets = [part for setting in settings for part in ("--set", setting)]
    others = [part for path in sorted(STORY.glob("other-*.txt")) for part in ("--other", path)]
    penname("new", folder, "--book", STORY / "novella.txt", *others, *sets, check=0)
    return folder


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A voice that one command made."""
    folder = new_voice(tmp_path_factory.mktemp("voice") / "tale")
    done = penname("run", "-C", folder, "--decide", "auto", "--anyway", check=0)
    return folder, done


def states(folder):
    rows = json.loads(penname("status", "-C", folder, "--json", check=0).stdout)["rows"]
    return {row["stage"]: row["state"] for row in rows}


def test_one_command_reaches_a_verdict_and_a_report(finished):
    folder, _ = finished
    verdict = json.loads((folder / "judging/verdict.json").read_text())
    assert verdict["verdict"] in ("passed", "failed", "inconclusive", "unregistered", "refused")
    assert len(verdict["runs"]) == 2
    report = (folder / "report.html").read_text()
    assert verdict["sentence"] in report or verdict["sentence"].replace("'", "&#39;") in report
    assert states(folder) == dict.fromkeys(STAGES, "fresh")


def test_a_second_run_has_nothing_to_do(finished):
    folder, _ = finished
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}
    done = penname("run", "-C", folder, "--json", check=0)
    assert json.loads(done.stdout) == {"seconds": {}}
    assert {path for path, when in before.items() if path.stat().st_mtime_ns != when and path.name != ".lock"} == set()


def test_status_answers_without_loading_torch(finished):
    folder, _ = finished
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "penname", "status", "-C", str(folder)], capture_output=True, text=True
    )
    assert "report" in done.stdout and "penname.voice.status" in done.stderr
    assert not [line for line in done.stderr.splitlines() if line.endswith((" torch", " transformers"))]


def test_names_that_a_person_must_decide_stop_it_with_exit_3(tmp_path):
    folder = new_voice(tmp_path / "tale")
    done = penname("run", "-C", folder, "--set", "cast.min_mentions=1", check=3)
    assert "names are for a person to decide" in done.stderr
    assert "proposed:" in done.stderr and f"penname -C {folder} review" in done.stderr
    assert json.loads(penname("status", "-C", folder, "--set", "cast.min_mentions=1", "--json").stdout)["rows"][1]["state"] == "blocked"
    penname("run", "-C", folder, "--set", "cast.min_mentions=1", "--decide", "auto", "--to", "copies", check=0)
    assert 'by = "auto"' in (folder / "cast/decisions.toml").read_text()


def test_a_blind_instrument_stops_before_training_with_exit_4(finished, tmp_path):
    folder = new_voice(tmp_path / "tale")
    controls = json.loads((finished[0] / "judging/controls.json").read_text())
    done = penname("run", "-C", folder, "--decide", "auto", "--set", "judging.auc_floor=1.0")
    assert done.returncode == 4, done.stderr
    assert "the instrument cannot see this voice" in done.stderr and "--anyway" in done.stderr
    assert not (folder / "runs").exists()
    assert set(controls) >= {"passed", "reasons", "positive", "negative"}


def test_a_changed_setting_makes_stale_what_depends_on_it_and_no_more(finished):
    folder, _ = finished
    rows = json.loads(penname("status", "-C", folder, "--set", "shards.single_share=0.5", "--json", check=0).stdout)["rows"]
    found = {row["stage"]: row["state"] for row in rows}
    assert [found[stage] for stage in ("books", "cast", "copies", "beats", "register", "control")] == ["fresh"] * 6
    assert found["shards"] == "stale" and found["train"] == "stale"


def test_an_adapter_that_was_cut_short_is_named_and_made_again(finished, tmp_path):
    folder = shutil.copytree(finished[0], tmp_path / "tale")
    weights = min(folder.glob("runs/*/adapter/adapter_model.safetensors"))
    whole = weights.read_bytes()
    weights.write_bytes(whole[:1000])
    run = weights.parent.parent.name
    problems = [row["what"] for row in json.loads(penname("check", "-C", folder, "--json", check=1).stdout) if row["level"] == "problem"]
    assert [what.split(" (")[0] for what in problems] == [f"run {run}: adapter/adapter_model.safetensors is not what was written"]
    assert "adapter_model.safetensors is missing or not what was written" in penname("judge", "-C", folder, check=1).stderr
    assert f"{run}: adapter/adapter_model.safetensors is missing or not what was written" in penname("train", "-C", folder, check=0).stderr
    assert weights.read_bytes() == whole


@pytest.mark.slow
def test_two_folders_from_the_same_seed_hold_the_same_bytes(finished, tmp_path):
    first, _ = finished
    second = new_voice(tmp_path / "tale")
    penname("run", "-C", second, "--decide", "auto", "--anyway", "--to", "train", check=0)
    compared = 0
    for pattern in SAME:
        for path in first.glob(pattern):
            if path.is_file():
                compared += 1
                assert path.read_bytes() == (second / path.relative_to(first)).read_bytes(), path.relative_to(first)
    assert compared > 20


@pytest.mark.slow
def test_killed_anywhere_and_run_again_it_ends_the_same(finished, tmp_path):
    first, _ = finished
    folder = new_voice(tmp_path / "tale")
    command = [sys.executable, "-m", "penname", "run", "-C", str(folder), "--decide", "auto", "--anyway"]
    for seconds in (1.5, 3, 6, 10, 15):
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    penname("run", "-C", folder, "--decide", "auto", "--anyway", check=0)
    for path in first.glob("runs/*/adapter/adapter_model.safetensors"):
        assert path.read_bytes() == (folder / path.relative_to(first)).read_bytes()
    assert states(folder) == dict.fromkeys(STAGES, "fresh")


@pytest.mark.slow
def test_an_arm_at_half_strength_is_judged_beside_the_runs(finished, tmp_path):
    folder = shutil.copytree(finished[0], tmp_path / "tale")
    run = sorted(path.name for path in (folder / "runs").iterdir() if (path / "manifest.json").is_file())[0]
    arm = json.loads(penname("export", "arm", "-C", folder, "--run", run, "--scale", "0.5", "--json", check=0).stdout)["run"]
    assert states(folder)["judge"] == "stale"
    done = penname("judge", "-C", folder, "--json")
    assert done.returncode in (0, 4), done.stderr
    verdict = json.loads((folder / "judging/verdict.json").read_text())
    names = {row["run"]: row for row in verdict["runs"]}
    assert set(names) == {path.name for path in (folder / "runs").iterdir() if (path / "manifest.json").is_file()} and arm in names
    assert (folder / "judging/samples" / f"{arm}.jsonl").read_text() != (folder / "judging/samples" / f"{run}.jsonl").read_text()
    arms = {row["arm"]: row["name"] for row in verdict["arms"]}
    assert arms == {names[run]["arm"]: "all-x2-am", names[arm]["arm"]: "all-x2-am@0.5"}
