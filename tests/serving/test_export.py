"""Exports: equality is checked before anything is written, and what does not bind is not kept."""

from __future__ import annotations

import json

import pytest
import torch

from finished_run import make_run
from penname.carriers.loading import load_model
from penname.core.errors import BadInput, ProofFailed, StaleInput
from penname.core.files import write_json
from penname.core.folder import open_voice
from penname.serving.export import export_adapter, export_gguf, export_merged, finish_export
from penname.serving.merge import adapted_logits, check_merged, merge_into, probe_ids
from penname.serving.voices import open_run, said_verdict
from serving_adapters import make_adapter
from tiny import tiny_carrier


@pytest.fixture
def voice(tmp_path):
    """A voice folder whose one run carries a real adapter on the tiny Qwen3."""
    folder = tmp_path / "voice"
    folder.mkdir()
    (folder / "voice.toml").write_text("")
    carrier = tiny_carrier("qwen3")
    run = make_run(folder)
    make_adapter(run / "adapter", carrier)
    record = {
        "arm": {"carrier": carrier.name},
        "settings": {"carrier": {"name": str(carrier)}},
        "carrier": {"name": carrier.name, "source": "folder"},
        "best": {"loss": 3.0, "step": 9},
    }
    write_json(run / "run.json", record)
    return open_voice(folder)


def test_merging_is_base_plus_scaled_ba(tmp_path):
    carrier = tiny_carrier("qwen3")
    adapter = make_adapter(tmp_path / "a", carrier)
    base, merged = load_model(carrier), load_model(carrier)
    ids = probe_ids(carrier)
    assert len(merge_into(merged, adapter)) == 14
    with torch.inference_mode():
        got = merged(input_ids=ids).logits
    torch.testing.assert_close(got, adapted_logits(base, adapter, ids), rtol=1e-4, atol=1e-4)
    assert check_merged(base, merged, adapter, ids) < 1e-3


def test_a_merge_that_is_something_else_is_refused(tmp_path):
    carrier = tiny_carrier("qwen3")
    adapter = make_adapter(tmp_path / "a", carrier)
    base, merged = load_model(carrier), load_model(carrier)
    merge_into(merged, adapter, scale=0.5)
    with pytest.raises(ProofFailed, match="the merged model is not base plus adapter"):
        check_merged(base, merged, adapter, probe_ids(carrier))
    assert check_merged(base, merged, adapter, probe_ids(carrier), scale=0.5) < 1e-3


def test_export_merged_loads_and_keeps_tied_embeddings(voice):
    run = open_run(voice)
    place = finish_export(voice, run, "merged", lambda out: export_merged(run, out, 1.0), {"scale": 1.0})
    facts = json.loads((place / "export.json").read_text())
    assert facts["kind"] == "merged" and facts["binding"]["state"] == "bound" and facts["adapter"] == run.adapter.digest
    assert facts["serve"] == f"vllm serve exports/{run.name}/merged"
    again = load_model(place)
    assert again.get_output_embeddings().weight is again.get_input_embeddings().weight
    assert "model.safetensors" in facts["files"]


def test_export_gguf_and_adapter(voice):
    run = open_run(voice)
    place = finish_export(voice, run, "gguf", lambda out: export_gguf(run, out), {})
    assert (place / f"{run.name}.gguf").read_bytes()[:4] == b"GGUF"
    assert (place / "Modelfile").read_text().startswith("FROM BASE.gguf\nADAPTER ./")
    assert finish_export(voice, run, "adapter", lambda out: export_adapter(run, out, False), {}).name == "adapter"


def test_an_export_that_does_not_bind_leaves_nothing(voice):
    run = open_run(voice)  # the full class of a dense text-only carrier does not exist, so the names cannot bind
    with pytest.raises((ProofFailed, BadInput)):
        finish_export(voice, run, "adapter-full", lambda out: export_adapter(run, out, True), {})
    assert not (voice.path / "exports" / run.name / "adapter-full").exists()
    assert [path.name for path in (voice.path / "exports" / run.name).iterdir()] == []


def test_runs_are_named_and_missing_ones_said(voice, tmp_path):
    assert open_run(voice).name == "tiny-all-x6-am-s1"
    with pytest.raises(BadInput, match='no finished run "x"; there are tiny-all-x6-am-s1'):
        open_run(voice, "x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty/voice.toml").write_text("")
    with pytest.raises(StaleInput, match="run: penname train"):
        open_run(open_voice(tmp_path / "empty"))
    assert said_verdict(voice) == "This voice has no verdict yet."
