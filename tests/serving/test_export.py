"""Exports: equality is checked before anything is written, and what does not bind is not kept."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace

import pytest
import torch
from transformers import Qwen3ForCausalLM

from penname.carriers.loading import load_model
from penname.core.errors import BadInput, PennameError, ProofFailed, StaleInput
from penname.core.files import read_json
from penname.core.folder import open_voice
from penname.judging.stage import finished_runs
from penname.serving.adapter import adapter_tensors, read_adapter
from penname.serving.export import export_adapter, export_gguf, export_gguf_merged, export_merged, finish_export, rekey, verify_export
from penname.serving.merge import adapted_logits, check_merged, merge_into, probe_ids
from penname.serving.scaled import export_arm
from penname.serving.serve_lines import serve_line, vllm_rank
from penname.serving.voices import open_run, said_verdict
from serving_adapters import add_run, make_adapter, make_voice
from tiny import tiny_carrier
from tiny_gguf import write_tiny_gguf


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


@pytest.mark.parametrize(("value", "scale"), [(1.5, 0.0), (float("nan"), 0.0), (float("nan"), 1.0)])
def test_a_merge_that_is_no_number_or_no_base_at_scale_0_is_refused(tmp_path, value, scale):
    carrier = tiny_carrier("qwen3")
    adapter = make_adapter(tmp_path / "a", carrier)
    base, merged = load_model(carrier), load_model(carrier)
    assert check_merged(base, merged, adapter, probe_ids(carrier), scale=0.0) == 0.0
    merged.model.norm.weight.data.fill_(value)
    with pytest.raises(ProofFailed, match=r"the merged model (differs from the base|is not base plus adapter)"):
        check_merged(base, merged, adapter, probe_ids(carrier), scale=scale)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda model: model.model.norm.weight.data.mul_(1.5), "the merged model is not base plus adapter"),
        (lambda model: setattr(model.lm_head, "weight", torch.nn.Parameter(model.lm_head.weight.clone())), "tied embeddings came apart"),
    ],
)
def test_what_was_written_is_read_back_and_compared(voice, monkeypatch, spoil, sentence):
    save = Qwen3ForCausalLM.save_pretrained

    def saved_badly(self, *arguments):
        spoil(self)
        self.config.tie_word_embeddings = self.lm_head.weight is self.model.embed_tokens.weight
        save(self, *arguments)

    monkeypatch.setattr(Qwen3ForCausalLM, "save_pretrained", saved_badly)
    run = open_run(voice)
    with pytest.raises(ProofFailed, match=sentence):
        finish_export(voice, run, "merged", lambda out: export_merged(run, out, 1.0), {})
    assert not (voice.path / "exports" / run.name / "merged").exists()


def test_export_merged_loads_and_keeps_tied_embeddings(voice):
    run = open_run(voice)
    place = finish_export(voice, run, "merged", lambda out: export_merged(run, out, 1.0), {"scale": 1.0})
    facts = json.loads((place / "export.json").read_text())
    assert facts["kind"] == "merged" and facts["binding"]["state"] == "bound" and facts["adapter"] == run.adapter.digest
    assert facts["serve"] == f"vllm serve exports/{run.name}/merged --served-model-name voice"
    again = load_model(place)
    assert again.get_output_embeddings().weight is again.get_input_embeddings().weight
    assert "model.safetensors" in facts["files"]


def test_what_a_killed_export_left_goes_and_two_exports_of_a_run_do_not_meet(voice):
    run = open_run(voice)
    left = voice.path / "exports" / run.name / ".writing-killed"
    (left / "merged").mkdir(parents=True)
    (left / "merged/model.safetensors").write_bytes(b"half")
    place = finish_export(voice, run, "adapter", lambda out: export_adapter(run, out, False), {"scale": 1.0})
    assert not left.exists() and (place / "export.json").is_file()
    other = (
        "import sys; from pathlib import Path; from penname.core.lock import hold\n"
        "with hold(Path(sys.argv[1]), 'export'): print('held', flush=True); input()"
    )
    command = [sys.executable, "-c", other, str(left.parent)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as held:
        assert held.stdout.readline() == "held\n"
        with pytest.raises(PennameError, match=rf"another penname works in .*{run.name} \(pid {held.pid}, export\)"):
            finish_export(voice, run, "adapter", lambda out: export_adapter(run, out, False), {"scale": 1.0})
        held.communicate("\n")


def test_export_gguf_with_its_modelfile(voice):
    run = open_run(voice)
    place = finish_export(voice, run, "gguf", lambda out: export_gguf(run, out, 0.5), {"scale": 0.5})
    assert (place / f"{run.name}.gguf").read_bytes()[:4] == b"GGUF"
    assert (
        (place / "Modelfile").read_text()
        == f"""# Put the carrier's GGUF in the place of BASE.gguf.
FROM BASE.gguf
ADAPTER ./{run.name}.gguf
TEMPLATE \"\"\"[{{{{ .Prompt }}}}]

{{{{ .Response }}}}\"\"\"
PARAMETER temperature 0.8
PARAMETER top_p 0.95
PARAMETER top_k 0
PARAMETER min_p 0
PARAMETER repeat_penalty 1
PARAMETER num_predict 24
PARAMETER stop "<|endoftext|>"
"""
    )
    facts = json.loads((place / "export.json").read_text())
    assert (facts["binding"]["depth"], facts["binding"]["matched"]) == (2, 14)
    assert set(facts["files"]) == {"Modelfile", f"{run.name}.gguf"}
    assert facts["serve"] == f"llama-server -m BASE.gguf --lora exports/{run.name}/gguf/{run.name}.gguf"


def test_export_merged_gguf_needs_the_carriers_own_gguf(voice, tmp_path):
    run = open_run(voice)
    base = write_tiny_gguf(run.carrier, tmp_path / "base.gguf")
    place = finish_export(voice, run, "gguf-merged", lambda out: export_gguf_merged(run, out, base, "q8_0", 1.0), {})
    facts = json.loads((place / "export.json").read_text())
    assert (facts["binding"]["state"], facts["binding"]["depth"], facts["binding"]["matched"]) == ("bound", 2, 14)
    assert (place / "Modelfile").read_text().startswith(f"FROM ./{run.name}-q8_0.gguf\nTEMPLATE")
    for given, sentence in ((None, "none is staged; name it with --base"), (tmp_path / "x.gguf", "there is no file")):
        with pytest.raises(BadInput, match=sentence):
            finish_export(voice, run, "gguf-merged", lambda out, given=given: export_gguf_merged(run, out, given, "q8_0", 1.0), {})
    with pytest.raises(BadInput, match='"q4" is no kind of merged GGUF; there are f16, q8_0'):
        finish_export(voice, run, "gguf-merged", lambda out: export_gguf_merged(run, out, base, "q4", 1.0), {})
    assert verify_export(place) is None  # what failed left the earlier export as it was


def test_export_adapter_scales_b_and_names_the_vllm_line(voice):
    run = open_run(voice)
    place = finish_export(voice, run, "adapter", lambda out: export_adapter(run, out, False, 0.5), {"scale": 0.5})
    before, after = adapter_tensors(run.adapter), adapter_tensors(read_adapter(place))
    for module, (a, b) in before.items():
        assert torch.equal(after[module][0], a) and torch.equal(after[module][1], 0.5 * b)
    facts = json.loads((place / "export.json").read_text())
    assert facts["binding"]["depth"] == 2
    lora = f"--enable-lora --max-lora-rank 8 --lora-modules voice=exports/{run.name}/adapter"
    assert facts["serve"] == f"vllm serve {run.carrier} {lora}"
    hub = replace(run, record={**run.record, "carrier": {"name": "qwen3-1.7b", "source": "Qwen/Qwen3-1.7B-Base at ea980cb0"}})
    assert serve_line(hub, "adapter", "voice", place) == f"vllm serve Qwen/Qwen3-1.7B-Base --revision ea980cb0 {lora}"


def test_vllm_takes_certain_ranks_only():
    assert [vllm_rank(rank) for rank in (1, 4, 8, 12, 33, 257, 512)] == [1, 8, 8, 16, 64, 320, 512]
    with pytest.raises(BadInput, match="vLLM takes adapters up to rank 512"):
        vllm_rank(600)


def test_the_adapter_of_a_multimodal_carrier_is_exported_under_the_names_of_the_full_class(tmp_path):
    voice = make_voice(tmp_path / "voice", "qwen3_5_full", multimodal=True, rename=lambda path: rekey(path, full=False))
    run = open_run(voice)
    place = finish_export(voice, run, "adapter-full", lambda out: export_adapter(run, out, True), {})
    facts = json.loads((place / "export.json").read_text())
    assert (facts["binding"]["where"], facts["binding"]["state"]) == ("transformers-multimodal", "bound")
    assert facts["serve"].startswith("vllm serve ")
    causal = finish_export(voice, run, "adapter", lambda out: export_adapter(run, out, False), {})
    assert json.loads((causal / "export.json").read_text())["serve"].endswith("penname export adapter --full")


def test_an_arm_at_another_strength_is_a_run_of_its_own(voice):
    run = open_run(voice)
    name = export_arm(voice, run, 0.5)
    assert name == f"{run.name}@0.5" and name in voice.finished_runs()
    arm = open_run(voice, name)
    for module, (_, b) in adapter_tensors(run.adapter).items():
        assert torch.equal(adapter_tensors(arm.adapter)[module][1], 0.5 * b)
    assert arm.record["scaled"] == {"from": run.name, "scale": 0.5}
    assert (arm.record["run"], arm.record["seed"], arm.record["started_unix"]) == (name, 1, 100)
    assert arm.record["arm"]["name"] == "all-x6-am@0.5" and arm.record["arm"]["id"] != run.record["arm"]["id"]
    assert read_json(voice.runs / name / "bind.json")["state"] == "bound"
    assert open_run(voice).name == run.name  # an arm that was not trained is never the one that writes by itself
    assert [record["run"] for record in finished_runs(voice)] == [run.name, name]  # what judge scores
    with pytest.raises(BadInput, match="is scaled already; scale tiny-all-x6-am-s1 instead"):
        export_arm(voice, arm, 0.5)
    with pytest.raises(BadInput, match="an arm at scale 1 is the run itself"):
        export_arm(voice, run, 1.0)
    with pytest.raises(BadInput, match="an arm at scale 0 is the base model"):
        export_arm(voice, run, 0.0)


def test_an_adapter_of_zeros_is_exported_nowhere(tmp_path):
    voice = make_voice(tmp_path / "voice", strength=0.0)
    run = open_run(voice)
    for kind, write in (("adapter", lambda out: export_adapter(run, out, False)), ("gguf", lambda out: export_gguf(run, out))):
        with pytest.raises(ProofFailed, match="its lora_B is all zeros; "):
            finish_export(voice, run, kind, write, {})
    assert [path.name for path in (voice.path / "exports" / run.name).iterdir()] == [".lock"]


@pytest.mark.parametrize("record", ["{}", '{"files": []}', '{"files": {"a": 1}}'])
def test_a_record_of_another_shape_is_no_record(tmp_path, record):
    (tmp_path / "export.json").write_text(record)
    with pytest.raises(BadInput, match=r"export\.json is no record of an export; write it again with penname export"):
        verify_export(tmp_path)


def test_an_export_that_does_not_bind_leaves_nothing(voice):
    run = open_run(voice)
    with pytest.raises(BadInput, match="is a text model and serves as its causal class; leave out --full"):
        finish_export(voice, run, "adapter-full", lambda out: export_adapter(run, out, True), {})
    assert not (voice.path / "exports" / run.name / "adapter-full").exists()
    assert [path.name for path in (voice.path / "exports" / run.name).iterdir()] == [".lock"]


def test_runs_are_named_and_missing_ones_said(voice, tmp_path):
    assert open_run(voice).name == "tiny-all-x6-am-s1"
    with pytest.raises(BadInput, match='no finished run "x"; there are tiny-all-x6-am-s1'):
        open_run(voice, "x")
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty/voice.toml").write_text("")
    with pytest.raises(StaleInput, match="run: penname train"):
        open_run(open_voice(tmp_path / "empty"))
    assert said_verdict(voice) == "This voice has no verdict yet."


def test_the_best_run_is_that_of_the_lowest_loss_on_the_configured_carrier(voice):
    add_run(voice.path, tiny_carrier("qwen3"), "tiny-s2", loss=2.5)
    add_run(voice.path, tiny_carrier("llama"), "other-s1", loss=1.0)
    assert open_run(voice).name == "tiny-s2"


def test_a_record_or_a_verdict_of_another_shape_names_its_file(voice):
    (voice.judging).mkdir()
    (voice.judging / "verdict.json").write_text("{}")
    with pytest.raises(BadInput, match=r'verdict\.json has no "sentence"; .*penname check names the verb'):
        said_verdict(voice)
    (voice.runs / "tiny-all-x6-am-s1/run.json").write_text("{}")
    for name in (None, "tiny-all-x6-am-s1"):
        with pytest.raises(BadInput, match=r'tiny-all-x6-am-s1/run\.json has no "(arm|settings)"; .*penname check names the verb'):
            open_run(voice, name)
    with pytest.raises(BadInput, match=r'run\.json has no "(arm|run)"'):
        finished_runs(voice)
