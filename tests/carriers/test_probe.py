"""The probe against figures measured on the real checkpoints, and against the very classes that load them."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest
import torch

from penname.carriers.facts import is_recurrent, layout_of
from penname.carriers.findings import findings
from penname.carriers.headers import TensorInfo
from penname.carriers.kernels import kernel_versions
from penname.carriers.known import CONFIGURATIONS, known_configuration
from penname.carriers.probe import probe_folder, probe_tensors
from penname.carriers.random_init import probe_configuration
from penname.carriers.targets import resolve_targets
from penname.core.errors import BadInput
from tiny import tiny_carrier

# parameters in B with tied embeddings once, the same with LoRA r=32 on q,k,v,o,gate,up,down, its modules
MEASURED = {
    "qwen3-0.6b": (0.5960, 0.6162, 196),
    "qwen3-1.7b": (1.7206, 1.7554, 196),
    "qwen3-4b": (4.0225, 4.0885, 252),
    "qwen3-8b": (8.1907, 8.2780, 252),
    "qwen3-14b": (14.7683, 14.8968, 280),
    "qwen3.5-0.8b": (0.7524, 0.7652, 96),
    "qwen3.5-2b": (1.8818, 1.9036, 96),
    "qwen3.5-4b": (4.2058, 4.2482, 128),
}
# MLP, embeddings, linear attention, full attention: percent of the parameters
SHARES = {"qwen3.5-0.8b": (35.1, 33.8, 25.2, 5.9), "qwen3.5-2b": (48.1, 27.0, 20.1, 4.7), "qwen3.5-4b": (53.9, 15.1, 24.0, 7.0)}
NO_KERNELS = {"flash-linear-attention": None, "causal-conv1d": None}


@pytest.mark.parametrize("name", sorted(MEASURED))
def test_parameters_and_lora_of_the_public_configurations(name):
    probe = probe_configuration(name, known_configuration(name))
    targets = resolve_targets(probe, "attention+mlp", lora_rank=32)
    assert (
        round(probe.parameters / 1e9, 4),
        round((probe.parameters + targets.lora_parameters) / 1e9, 4),
        len(targets.leaves),
    ) == MEASURED[name]
    if name in SHARES:
        regions = ("MLP", "embeddings", "linear attention", "full attention")
        assert tuple(round(100 * probe.share(region), 1) for region in regions) == SHARES[name]


def test_every_known_configuration_is_measured():
    assert sorted(CONFIGURATIONS) == sorted(MEASURED)
    with pytest.raises(BadInput, match=r'did you mean "qwen3-0\.6b"'):
        known_configuration("qwen3-0.6")


def test_the_hybrid_is_covered_by_41_percent_and_by_66_with_its_linear_projections():
    probe = probe_configuration("qwen3.5-0.8b", known_configuration("qwen3.5-0.8b"))
    assert round(100 * resolve_targets(probe, "attention+mlp").share) == 41
    assert round(100 * resolve_targets(probe, "attention+mlp+linear").share) == 66
    assert (probe.layer_types.count("linear_attention"), probe.layer_types.count("full_attention")) == (18, 6)
    assert any("41% of the text model" in sentence and "66%" in sentence for sentence in findings(probe, NO_KERNELS))


def test_layers_that_carry_a_state_make_a_hybrid_and_any_attention_does_not():
    kinds = ("full_attention", "sliding_attention", "chunked_attention", "linear_attention", "mamba", "conv")
    assert list(filter(is_recurrent, kinds)) == ["linear_attention", "mamba", "conv"]
    assert layout_of({"layer_types": ["chunked_attention", "full_attention"], "num_hidden_layers": 2}) == "dense"
    assert layout_of({"layer_types": ["conv", "full_attention"], "num_hidden_layers": 2}) == "hybrid"


def test_untied_embeddings_are_counted_twice_and_said():
    probe = probe_configuration("qwen3-8b", known_configuration("qwen3-8b"))
    assert (probe.tied, probe.parameters - probe.body) == (False, 2 * 151936 * 4096)
    assert any("not tied" in sentence for sentence in findings(probe, {}))


def linear_modules(model):
    return {name for name, module in model.named_modules() if isinstance(module, torch.nn.Linear)}


def classes(kind):
    """(causal class, full class) of a tiny carrier on the meta device."""
    from transformers import AutoConfig, AutoModelForCausalLM, Qwen3_5ForConditionalGeneration

    config = AutoConfig.from_pretrained(tiny_carrier(kind))
    with torch.device("meta"):
        return AutoModelForCausalLM.from_config(config), Qwen3_5ForConditionalGeneration(config) if kind == "qwen3_5_full" else None


@pytest.mark.parametrize("kind", ["qwen3", "qwen3_5", "llama", "qwen3_5_full"])
def test_linear_leaves_and_their_paths_are_those_of_the_classes(kind):
    causal, full = classes(kind)
    probe = probe_folder(tiny_carrier(kind))
    assert {leaf.causal_path for leaf in probe.leaves if leaf.causal_path} == linear_modules(causal)
    if full is not None:
        assert {leaf.full_path for leaf in probe.leaves if leaf.full_path} == linear_modules(full)
        for leaf in probe.leaves:
            for model, path in ((causal, leaf.causal_path), (full, leaf.full_path)):
                if path:
                    module = model.get_submodule(path)
                    assert (module.in_features, module.out_features) == (leaf.in_features, leaf.out_features)
    else:
        assert probe.parameters == sum(parameter.numel() for parameter in causal.parameters())


def test_a_full_multimodal_checkpoint():
    probe = probe_folder(tiny_carrier("qwen3_5_full"))
    text = probe_folder(tiny_carrier("qwen3_5"))
    assert probe.parameters == text.parameters == 116088  # neither vision tower nor MTP head belongs to the text model
    assert (probe.parts["vision tower"].linear_leaves, probe.parts["MTP head"].linear_leaves) == (6, 3)
    assert probe.parts["MTP head"].parameters == 64 * 128 + 128 * 64 + 128 * 64 + 64
    with pytest.raises(BadInput) as refused:
        resolve_targets(probe, "all-linear")
    assert "model.visual.blocks.*.attn.qkv" in str(refused.value) and "mtp.layers.*.self_attn.q_proj" in str(refused.value)
    assert [leaf.causal_path for leaf in resolve_targets(probe, "q_proj").leaves] == ["model.layers.1.self_attn.q_proj"]
    said = "\n".join(findings(probe, NO_KERNELS))
    assert "25 tensors lie in the file that the causal class does not load (model.visual.*, mtp.*)" in said
    assert "it binds nothing" in said and "model.language_model.layers.0" in said


def test_all_linear_is_taken_where_nothing_lies_outside():
    targets = resolve_targets(probe_folder(tiny_carrier("qwen3")), "all-linear")
    assert len(targets.leaves) == 14 and all(leaf.name != "lm_head" for leaf in targets.leaves)
    with pytest.raises(BadInput, match="called c_attn; there are down_proj"):
        resolve_targets(probe_folder(tiny_carrier("qwen3")), "c_attn")


def test_a_hybrid_on_a_machine_without_kernels_and_on_one_with():
    probe = probe_folder(tiny_carrier("qwen3_5"))
    without = "\n".join(findings(probe, NO_KERNELS))
    assert "1 of 2 layers" in without and "without causal-conv1d" in without
    assert "lacks kernels" not in "\n".join(findings(probe, {"flash-linear-attention": "0.4", "causal-conv1d": "1.5"}))
    assert findings(probe_folder(tiny_carrier("llama")), NO_KERNELS) == []
    assert set(kernel_versions()) >= {"flash-linear-attention", "causal-conv1d", "flash-attn"}


def test_experts_get_no_lora_however_the_file_holds_them():
    from transformers import AutoConfig, AutoModelForCausalLM

    config = {
        "model_type": "qwen3_moe", "vocab_size": 64, "hidden_size": 32, "intermediate_size": 64, "moe_intermediate_size": 16,
        "num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 16, "num_experts": 4,
        "num_experts_per_tok": 2, "tie_word_embeddings": True,
    }  # fmt: skip
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.for_model(**config))
    fused = {key: TensorInfo(tuple(p.shape), "BF16", "f") for key, p in model.named_parameters()}
    probe = probe_tensors("moe", config, fused)
    assert {leaf.causal_path for leaf in probe.leaves} == linear_modules(model)
    assert any("fused into one tensor a layer" in s and "no nn.Linear" in s for s in findings(probe, {}))
    single = {key: info for key, info in fused.items() if ".experts." not in key}
    for name, shape in {"gate_proj": (16, 32), "up_proj": (16, 32), "down_proj": (32, 16)}.items():
        single |= {f"model.layers.{i}.mlp.experts.{e}.{name}.weight": TensorInfo(shape, "BF16", "f") for i in range(2) for e in range(4)}
    published = probe_tensors("moe", config, single)
    assert (published.parameters, published.leaves) == (probe.parameters, probe.leaves)
    assert any("single in the file" in s for s in findings(published, {}))


def bytes_read():
    """By this process so far, from wherever."""
    return int(Path("/proc/self/io").read_text().split()[1])


def test_an_8_gb_checkpoint_is_probed_from_its_header_alone(tmp_path):
    probe = probe_configuration("qwen3-4b", known_configuration("qwen3-4b"))
    header, at = {}, 0
    tensors = {f"{leaf.causal_path}.weight": (leaf.out_features, leaf.in_features) for leaf in probe.leaves if leaf.name != "lm_head"}
    for key, shape in {"model.embed_tokens.weight": (151936, 2560), **tensors}.items():
        size = 2 * shape[0] * shape[1]
        header[key] = {"dtype": "BF16", "shape": list(shape), "data_offsets": [at, at + size]}
        at += size
    data = json.dumps(header).encode()
    with (tmp_path / "model.safetensors").open("wb") as file:
        file.write(struct.pack("<Q", len(data)) + data)
        file.truncate(8 + len(data) + at)  # a hole: eight gigabytes that take no disk
    (tmp_path / "config.json").write_text(json.dumps(known_configuration("qwen3-4b")))
    before = bytes_read()
    found = probe_folder(tmp_path)
    assert bytes_read() - before < 50e6  # a module that is imported on the way counts as well
    assert at > 8e9 and found.parts["MLP"].parameters == probe.parts["MLP"].parameters
