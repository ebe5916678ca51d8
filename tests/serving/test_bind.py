"""bind by names and by weights: a good adapter binds; each broken one does not, with its own reason."""

from __future__ import annotations

import json

import pytest
import torch
from safetensors.torch import load_file, save_file

from penname.core.errors import BadInput
from penname.core.hashing import ADAPTER_WEIGHTS
from penname.serving.adapter import read_adapter, write_adapter
from penname.serving.bind import Binding, bind_names, bind_weights, overall
from penname.serving.classes import FULL, TEXT, half_fused, serving_class
from penname.serving.export import rekey
from serving_adapters import CONFIG, LEAVES, make_adapter
from tiny import tiny_carrier


def test_a_good_adapter_binds_at_both_depths(dense):
    carrier, adapter = dense
    for name in ("transformers", "vllm", "llama.cpp"):
        binding = bind_names(adapter, serving_class(carrier, name))
        assert (binding.state, binding.matched, binding.total, binding.reasons) == ("bound", 14, 14, ())
    weights = bind_weights(adapter, carrier)
    assert (weights.state, weights.matched, weights.reasons) == ("bound", 14, ())
    assert overall([binding, weights]) == "bound"


def test_zero_lora_b_does_not_bind(dense, tmp_path):
    carrier, adapter = dense
    tensors = load_file(adapter.folder / ADAPTER_WEIGHTS)
    save_file({key: torch.zeros_like(t) if "lora_B" in key else t for key, t in tensors.items()}, adapter.folder / ADAPTER_WEIGHTS)
    binding = bind_weights(read_adapter(adapter.folder), carrier)
    assert (binding.state, binding.matched) == ("not bound", 0)
    assert "model.layers.0.mlp.down_proj did not change; its lora_B is all zeros" in binding.reasons


def test_a_wrong_prefix_does_not_bind(tmp_path):
    carrier = tiny_carrier("qwen3")
    adapter = make_adapter(tmp_path / "a", carrier, rename=lambda path: "transformer." + path)
    names = bind_names(adapter, serving_class(carrier, "transformers"))
    assert (names.state, names.matched) == ("not bound", 0)
    assert (
        "transformer.model.layers.0.mlp.down_proj has no module of that name in transformers (it has model.layers.0.mlp.down_proj)"
        in names.reasons
    )
    assert bind_weights(adapter, carrier).state == "not bound"


def test_another_carriers_adapter_does_not_bind(tmp_path):
    other = make_adapter(tmp_path / "a", tiny_carrier("llama"))
    names = bind_names(other, serving_class(tiny_carrier("qwen3_5"), "transformers"))
    assert names.state != "bound"
    assert any("another carrier's" in reason or "no module of that name" in reason for reason in names.reasons)


def test_half_the_modules_renamed_is_partly_bound(tmp_path):
    carrier = tiny_carrier("qwen3")
    adapter = make_adapter(tmp_path / "a", carrier, rename=lambda path: path.replace("_proj", "_project"), part=0.5)
    names = bind_names(adapter, serving_class(carrier, "transformers"))
    assert (names.state, names.matched, names.total) == ("partly bound", 7, 14)
    assert any("should be adapted and the file has nothing for it" in reason for reason in names.reasons)


def test_the_causal_adapter_of_a_multimodal_carrier_binds_only_after_export(tmp_path):
    carrier = tiny_carrier("qwen3_5_full")
    causal = make_adapter(tmp_path / "causal", carrier, multimodal=True, rename=lambda path: rekey(path, full=False))
    assert all(module.startswith(TEXT) for module in causal.pairs)
    full_class = serving_class(carrier, "transformers-multimodal")
    assert bind_names(causal, full_class).state == "not bound"
    assert bind_names(causal, serving_class(carrier, "vllm")).state == "not bound"
    assert bind_weights(causal, carrier, multimodal=True).state == "not bound"

    from penname.serving.adapter import adapter_tensors

    tensors = {rekey(module, full=True): pair for module, pair in adapter_tensors(causal).items()}
    write_adapter(tmp_path / "full", dict(causal.config), tensors)
    exported = read_adapter(tmp_path / "full")
    assert all(module.startswith(FULL) for module in exported.pairs)
    assert bind_names(exported, full_class).state == "bound"
    assert bind_names(exported, serving_class(carrier, "vllm")).state == "bound"
    assert bind_weights(exported, carrier, multimodal=True).state == "bound"
    # and back again
    assert {rekey(module, full=False) for module in exported.pairs} == set(causal.pairs)


def test_half_of_a_fused_projection_does_not_bind_in_vllm(tmp_path):
    carrier = tiny_carrier("qwen3_5")
    linear = ("in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a", "out_proj")
    both = make_adapter(tmp_path / "both", carrier, leaves=(*LEAVES, *linear))
    assert bind_names(both, serving_class(carrier, "vllm")).state == "bound"
    half = make_adapter(tmp_path / "half", carrier, leaves=(*LEAVES, "in_proj_qkv", "out_proj"))
    names = bind_names(half, serving_class(carrier, "vllm"))
    assert names.state == "partly bound"
    assert (
        "model.layers.0.linear_attn.in_proj_qkvz is fused and only one half of it is adapted; vLLM takes both or neither" in names.reasons
    )
    assert bind_names(half, serving_class(carrier, "transformers")).state == "bound"
    assert half_fused(both.pairs) == []


def test_no_gguf_for_a_hybrid():
    with pytest.raises(BadInput, match="a GGUF adapter can be made for dense carriers"):
        serving_class(tiny_carrier("qwen3_5"), "llama.cpp")


@pytest.mark.parametrize("name", ["adapter_model.bin", "adapter_model.pt", "new_embeddings.bin", "training_args.bin"])
@pytest.mark.parametrize("beside", [False, True])
def test_a_pickle_is_refused_unread_even_beside_safetensors(dense, tmp_path, name, beside):
    folder = dense[1].folder if beside else tmp_path
    (folder / name).write_bytes(b"\x80\x04cposix\nsystem\n")
    with pytest.raises(BadInput, match=rf"holds a pickle \({name}\), which could run code where a server loads it"):
        read_adapter(folder)


@pytest.mark.parametrize("damage", ["cut", "foreign", "no configuration", "not lora"])
def test_damaged_adapters_get_a_sentence(dense, damage):
    _, adapter = dense
    file = adapter.folder / ADAPTER_WEIGHTS
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-100])
        sentence = "is cut off"
    elif damage == "foreign":
        file.write_bytes(b"GGUF" + bytes(100))
        sentence = "is no safetensors file"
    elif damage == "no configuration":
        (adapter.folder / "adapter_config.json").unlink()
        sentence = "there is no file"
    else:
        (adapter.folder / "adapter_config.json").write_text(json.dumps({**CONFIG, "peft_type": "IA3"}))
        sentence = "is no LoRA configuration"
    with pytest.raises(BadInput, match=sentence):
        read_adapter(adapter.folder)


def test_an_unknown_class_is_named(dense):
    with pytest.raises(BadInput, match='no serving class "tgi"; there are transformers'):
        serving_class(dense[0], "tgi")
    with pytest.raises(BadInput, match="is a text model, so it has no full multimodal class"):
        serving_class(dense[0], "transformers-multimodal")


def rewrite(adapter, change):
    """The adapter read again after ``change`` of its tensors."""
    tensors = load_file(adapter.folder / ADAPTER_WEIGHTS)
    change(tensors)
    save_file(tensors, adapter.folder / ADAPTER_WEIGHTS)
    return read_adapter(adapter.folder)


DOWN = "base_model.model.model.layers.0.mlp.down_proj"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda t: t.update({"base_model.model.lm_head.bias": torch.ones(2, 2)}),
            "base_model.model.lm_head.bias is no matrix of a LoRA pair",
        ),
        (lambda t: t.pop(f"{DOWN}.lora_B.weight"), "model.layers.0.mlp.down_proj (only lora_A) is no matrix of a LoRA pair"),
        (
            lambda t: t.update({f"{DOWN}.lora_B.weight": torch.ones(64, 3)}),
            "model.layers.0.mlp.down_proj has a lora_A of rank 4 and a lora_B of rank 3",
        ),
        (
            lambda t: t.update({f"{DOWN}.lora_B.weight": torch.ones(63, 4)}),
            "model.layers.0.mlp.down_proj is 63 x 128 and the class has 64 x 128",
        ),
        (
            lambda t: t.update({f"{DOWN}.lora_A.weight": torch.ones(4, 64)}),
            "model.layers.0.mlp.down_proj is 64 x 64 and the class has 64 x 128",
        ),
    ],
)
def test_each_key_is_of_a_pair_that_fits(dense, change, reason):
    carrier, adapter = dense
    binding = bind_names(rewrite(adapter, change), serving_class(carrier, "transformers"))
    assert binding.state == "partly bound"
    assert any(found.startswith(reason) for found in binding.reasons), binding.reasons


def test_an_adapter_of_no_pair_is_refused(dense):
    with pytest.raises(BadInput, match="holds no LoRA matrices"):
        rewrite(dense[1], lambda tensors: [tensors.pop(key) for key in list(tensors) if "lora_B" in key])


@pytest.mark.parametrize(
    ("path", "change", "reason"),
    [
        ("layers.0.mlp.down_proj", lambda w: w.mul_(1.01), "model.layers.0.mlp.down_proj changed by something else than its own B times A"),
        ("layers.0.mlp.down_proj", lambda w: w.fill_(float("nan")), "model.layers.0.mlp.down_proj changed by something else"),
        ("norm", lambda w: w.add_(1e-6), "model.norm.weight changed and is no target"),
    ],
)
def test_weights_that_move_otherwise_do_not_bind(dense, monkeypatch, path, change, reason):
    from peft.tuners.lora import LoraModel

    merge = LoraModel.merge_and_unload

    def merged_badly(self):
        model = merge(self)
        change(model.model.get_submodule(path).weight.data)
        return model

    monkeypatch.setattr(LoraModel, "merge_and_unload", merged_badly)
    binding = bind_weights(dense[1], dense[0])
    assert binding.state == "partly bound"
    assert len(binding.reasons) == 1 and binding.reasons[0].startswith(reason)


def test_all_depths_together_are_as_good_as_the_worst():
    bound, partly, lost = (Binding(1, "here", state, 0, 0) for state in ("bound", "partly bound", "not bound"))
    assert [overall(found) for found in ([bound], [bound, partly], [partly, lost, bound])] == ["bound", "partly bound", "not bound"]
    with pytest.raises(BadInput, match="nothing was checked"):
        overall([])
