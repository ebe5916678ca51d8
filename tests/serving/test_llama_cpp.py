"""Depth 3 against the real llama.cpp server: what it says with the adapter is what torch says."""

from __future__ import annotations

import gguf
import numpy as np
import pytest
import torch

from llama_server import llama_cpp
from penname.carriers import stage_carrier
from penname.core.errors import BadInput
from penname.serving import ggufs
from penname.serving.adapter import adapter_tensors, read_adapter, write_adapter
from penname.serving.check import bind_adapter
from penname.serving.classes import gguf_names
from penname.serving.client import open_server
from penname.serving.ggufs import (
    bind_lora_gguf,
    bind_merged_gguf,
    open_gguf,
    permute_rows,
    permuted_back,
    write_lora_gguf,
    write_merged_gguf,
)
from penname.serving.server import bind_server
from serving_adapters import make_adapter
from tiny import tiny_carrier
from tiny_gguf import write_tiny_gguf

pytest.importorskip("xllamacpp", reason="the extra gen (xllamacpp) is not installed")


@pytest.mark.parametrize("kind", ["qwen3", "llama"])
def test_an_exported_adapter_binds_and_broken_ones_do_not(kind, tmp_path, monkeypatch):
    carrier = tiny_carrier(kind)
    base = write_tiny_gguf(carrier, tmp_path / "base.gguf")
    adapter = make_adapter(tmp_path / "a", carrier, strength=1.0)
    write_lora_gguf(adapter, carrier, tmp_path / "good.gguf")
    tensors = adapter_tensors(adapter)
    write_adapter(tmp_path / "zero", adapter.config, {m: (a, torch.zeros_like(b)) for m, (a, b) in tensors.items()})
    write_lora_gguf(read_adapter(tmp_path / "zero"), carrier, tmp_path / "zero.gguf")
    half = dict(list(tensors.items())[: len(tensors) // 2])
    write_adapter(tmp_path / "half", adapter.config, half)
    write_lora_gguf(read_adapter(tmp_path / "half"), carrier, tmp_path / "half.gguf")
    make_adapter(tmp_path / "b", carrier, strength=1.0, seed=9)
    write_lora_gguf(read_adapter(tmp_path / "b"), carrier, tmp_path / "other.gguf")
    paths = [tmp_path / f"{name}.gguf" for name in ("good", "zero", "half", "other")]
    if kind == "llama":
        monkeypatch.setattr(ggufs, "_permuted_heads", lambda _: {})
        write_lora_gguf(adapter, carrier, tmp_path / "unpermuted.gguf")
        paths.append(tmp_path / "unpermuted.gguf")
    with llama_cpp(base, *paths) as url:
        found = [bind_server(open_server(url, str(i)), adapter, carrier) for i in range(len(paths))]
    assert found[0].state == "bound", found[0]
    assert found[1].state == "not bound"
    assert "the server's adapter says what its base says" in found[1].reasons[0]
    for broken in found[2:]:
        assert broken.state != "bound", broken
        assert any("is off from base plus adapter by" in reason for reason in broken.reasons)


def write_any_gguf(tensors, names, target, architecture):
    """A LoRA GGUF under whatever names: what a careless converter would write."""
    writer = gguf.GGUFWriter(target, architecture)
    writer.add_type(gguf.GGUFType.ADAPTER)
    writer.add_string(gguf.Keys.Adapter.TYPE, "lora")
    writer.add_float32(gguf.Keys.Adapter.LORA_ALPHA, 8.0)
    for module, (a, b) in tensors.items():
        writer.add_tensor(f"{names(module)}.weight.lora_a", a.numpy())
        writer.add_tensor(f"{names(module)}.weight.lora_b", b.numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return target


def test_a_wrong_prefix_and_another_carrier_get_no_gguf_and_llama_cpp_takes_none(tmp_path):
    carrier = tiny_carrier("qwen3")
    base = write_tiny_gguf(carrier, tmp_path / "base.gguf")
    names = gguf_names(carrier)
    adapter = make_adapter(tmp_path / "a", carrier)
    wrong = make_adapter(tmp_path / "w", carrier, rename=lambda path: "transformer." + path)
    foreign = make_adapter(tmp_path / "f", carrier)
    halved = {module: (a[:, : a.shape[1] // 2], b) for module, (a, b) in adapter_tensors(adapter).items()}
    write_adapter(tmp_path / "f", foreign.config, halved)
    for broken in (wrong, read_adapter(tmp_path / "f")):
        with pytest.raises(BadInput, match="has no tensor of that name and shape in a GGUF of this carrier"):
            write_lora_gguf(broken, carrier, tmp_path / "w.gguf")
    prefixed = write_any_gguf(adapter_tensors(adapter), lambda m: "transformer." + names[m], tmp_path / "p.gguf", "qwen3")
    narrow = write_any_gguf(halved, lambda m: names[m], tmp_path / "n.gguf", "qwen3")
    for path in (prefixed, narrow):
        with pytest.raises(RuntimeError, match="Failed to init server"), llama_cpp(base, path):
            pass


def test_a_lora_gguf_is_read_back_and_a_changed_one_does_not_bind(tmp_path):
    carrier = tiny_carrier("llama")
    adapter = make_adapter(tmp_path / "a", carrier)
    write_lora_gguf(adapter, carrier, tmp_path / "good.gguf", 0.5)
    good = bind_lora_gguf(adapter, carrier, tmp_path / "good.gguf", 0.5)
    assert (good.state, good.matched, good.total) == ("bound", 14, 14)
    loud = bind_lora_gguf(adapter, carrier, tmp_path / "good.gguf")
    assert loud.state == "partly bound"
    assert loud.reasons == ("good.gguf scales by alpha 4, and the adapter asks for 8",)
    other = bind_lora_gguf(make_adapter(tmp_path / "b", carrier, seed=9), carrier, tmp_path / "good.gguf", 0.5)
    assert (other.state, other.matched) == ("not bound", 0)
    assert "model.layers.0.mlp.down_proj holds other numbers in good.gguf than in the adapter" in other.reasons


def test_a_merged_gguf_that_is_the_base_or_has_other_tensors_changed_does_not_bind(tmp_path):
    carrier = tiny_carrier("qwen3")
    adapter = make_adapter(tmp_path / "a", carrier, strength=1.0)
    base, other = (write_tiny_gguf(tiny_carrier("qwen3", seed), tmp_path / f"{seed}.gguf") for seed in (0, 1))
    write_merged_gguf(adapter, carrier, base, tmp_path / "merged.gguf", "f16")
    assert bind_merged_gguf(adapter, carrier, base, base).state == "not bound"
    assert bind_merged_gguf(adapter, carrier, base, tmp_path / "merged.gguf", 0.5).state == "not bound"
    reasons = bind_merged_gguf(adapter, carrier, other, tmp_path / "merged.gguf").reasons
    assert "token_embd.weight changed and is no target" in reasons


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [("cut", "is cut off or damaged"), ("foreign", "is no GGUF file"), ("gone", "there is no file"), ("other", "a GGUF of a llama model")],
)
def test_a_base_gguf_that_cannot_be_used_gets_a_sentence(damage, sentence, tmp_path):
    carrier = tiny_carrier("qwen3")
    base = write_tiny_gguf(tiny_carrier("llama") if damage == "other" else carrier, tmp_path / "base.gguf")
    if damage == "cut":
        base.write_bytes(base.read_bytes()[:-5000])
    elif damage == "foreign":
        base.write_bytes(b"\x08\x00\x00\x00\x00\x00\x00\x00{}")
    elif damage == "gone":
        base.unlink()
    with pytest.raises(BadInput, match=sentence):
        open_gguf(base, carrier)


@pytest.mark.parametrize("where", [10, 30, 1000])
def test_a_base_gguf_cut_inside_its_header_gets_a_sentence(where, tmp_path):
    base = write_tiny_gguf(tiny_carrier("qwen3"), tmp_path / "base.gguf")
    base.write_bytes(base.read_bytes()[:where])
    with pytest.raises(BadInput, match="is cut off or damaged"):
        open_gguf(base, tiny_carrier("qwen3"))


@pytest.mark.parametrize(("quant", "tolerance"), [("f16", 0.02), ("q8_0", 0.15)])
@pytest.mark.parametrize("kind", ["qwen3", "llama"])
def test_a_merged_gguf_says_what_base_plus_adapter_says(kind, quant, tolerance, tmp_path):
    carrier = tiny_carrier(kind)
    base = write_tiny_gguf(carrier, tmp_path / "base.gguf")
    adapter = make_adapter(tmp_path / "a", carrier, strength=1.0)
    assert write_merged_gguf(adapter, carrier, base, tmp_path / "merged.gguf", quant) == 14
    weights = bind_merged_gguf(adapter, carrier, base, tmp_path / "merged.gguf")
    assert (weights.state, weights.matched, weights.total) == ("bound", 14, 14), weights
    with llama_cpp(tmp_path / "merged.gguf") as url:
        server = open_server(url)
        assert not server.has_base  # a merged model is all there is: it is compared with torch alone
        said = bind_server(server, adapter, carrier)
        other = bind_server(server, make_adapter(tmp_path / "b", carrier, strength=1.0, seed=9), carrier)
    assert said.state == "bound", said
    assert float(said.note.split("off by ")[1].split("%")[0]) < 100 * tolerance, said
    assert other.state == "not bound"
    assert "is off from base plus adapter by" in other.reasons[0]
    with llama_cpp(base) as url:
        plain = bind_server(open_server(url), adapter, carrier)
    assert (plain.state, plain.matched) == ("not bound", 0)
    assert plain.reasons[0].endswith("by 100% of what the adapter moves (at most 50%)")  # the base is what it says


def test_rows_move_between_the_two_orders():
    rows = np.arange(8, dtype=np.float32)[:, None]  # two heads of four: halves (0 1 | 2 3) become pairs (0 2 1 3)
    assert permute_rows(rows, 2)[:, 0].tolist() == [0, 2, 1, 3, 4, 6, 5, 7]


def test_rows_moved_there_and_back_are_themselves():
    rows = np.arange(64, dtype=np.float32).reshape(16, 4)
    assert np.array_equal(permuted_back(permute_rows(rows, 4), 4), rows)


@pytest.mark.slow
def test_smollm2_binds_on_the_real_server_and_four_broken_adapters_do_not(tmp_path):
    """The carrier's own GGUF (Q4_1) and exported LoRA GGUFs, asked through every depth of bind."""
    carrier = stage_carrier("smollm2-135m")
    base = next(carrier.glob("*.gguf"))
    names = gguf_names(carrier)
    good = make_adapter(tmp_path / "good", carrier, strength=0.05)
    tensors = adapter_tensors(good)
    write_adapter(tmp_path / "zero", good.config, {m: (a, torch.zeros_like(b)) for m, (a, b) in tensors.items()})
    make_adapter(tmp_path / "prefix", carrier, strength=0.05, rename=lambda path: "base." + path)
    make_adapter(tmp_path / "foreign", tiny_carrier("llama"), strength=0.05)
    make_adapter(tmp_path / "half", carrier, strength=0.05, rename=lambda path: path.replace("_proj", "_project"), part=0.5)
    write_lora_gguf(good, carrier, tmp_path / "good.gguf")
    write_lora_gguf(read_adapter(tmp_path / "zero"), carrier, tmp_path / "zero.gguf")
    # What a server that drops matrices without a module would be left with.
    kept = {module: pair for module, pair in adapter_tensors(read_adapter(tmp_path / "half")).items() if module in names}
    write_any_gguf(kept, lambda m: names[m], tmp_path / "half.gguf", "llama")
    with llama_cpp(base, tmp_path / "good.gguf", tmp_path / "zero.gguf", tmp_path / "half.gguf") as url:

        def bound(adapter, lora):
            return bind_adapter(tmp_path / adapter, str(carrier), ["transformers"], 2, open_server(url, lora))

        whole, zero = bound("good", "good"), bound("zero", "zero")
        prefix, foreign, half = bound("prefix", "zero"), bound("foreign", "zero"), bound("half", "half")
        silent = bind_server(open_server(url, "zero"), good, carrier)
        fewer = bind_server(open_server(url, "half.gguf"), good, carrier)
    assert [(b.depth, b.state, b.matched, b.total) for b in whole] == [(1, "bound", 210, 210), (2, "bound", 210, 210), (3, "bound", 3, 3)]
    assert [(b.depth, b.state) for b in zero] == [(1, "bound"), (2, "not bound"), (3, "not bound")]
    assert "model.layers.0.mlp.down_proj did not change; its lora_B is all zeros" in zero[1].reasons
    assert zero[2].reasons == ("the adapter changes nothing in torch either; its lora_B is all zeros",)
    assert silent.state == "not bound"
    assert all("the server's adapter says what its base says" in reason for reason in silent.reasons)
    assert [(b.depth, b.state, b.matched) for b in prefix] == [(1, "not bound", 0), (3, "not bound", 0)]
    missed = "base.model.layers.0.mlp.down_proj has no module of that name in transformers (it has model.layers.0.mlp.down_proj)"
    assert missed in prefix[0].reasons
    assert "210 of 210 matrices have no module of their name and shape in the carrier" in prefix[1].reasons[0]
    assert "the server's adapter says what its base says" in prefix[1].reasons[1]
    assert [(b.depth, b.state) for b in foreign] == [(1, "not bound"), (3, "not bound")]
    assert any(reason.endswith("another carrier's") for reason in foreign[0].reasons)
    assert (half[0].depth, half[0].state, half[0].matched, half[0].total) == (1, "partly bound", 105, 210)
    assert "105 of 210 matrices have no module of their name and shape" in half[1].reasons[0]
    assert fewer.state == "not bound"
    assert all("the server's adapter is off from base plus adapter by" in reason for reason in fewer.reasons)
    for broken in ("prefix", "foreign", "half"):
        with pytest.raises(BadInput, match="has no tensor of that name and shape"):
            write_lora_gguf(read_adapter(tmp_path / broken), carrier, tmp_path / "never.gguf")
    wrong = write_any_gguf(tensors, lambda m: "base." + names[m], tmp_path / "wrong.gguf", "llama")
    with pytest.raises(RuntimeError, match="Failed to init server"), llama_cpp(base, wrong):
        pass


@pytest.mark.slow
@pytest.mark.parametrize("quant", ["f16", "q8_0"])
def test_smollm2_merged_says_what_base_plus_adapter_says(quant, tmp_path):
    """The merged GGUF on the real server, against torch."""
    carrier = stage_carrier("smollm2-135m")
    base = next(carrier.glob("*.gguf"))
    adapter = make_adapter(tmp_path / "a", carrier, strength=0.05)
    assert write_merged_gguf(adapter, carrier, base, tmp_path / "merged.gguf", quant) == 210
    weights = bind_merged_gguf(adapter, carrier, base, tmp_path / "merged.gguf")
    assert (weights.state, weights.matched) == ("bound", 210), weights
    with llama_cpp(tmp_path / "merged.gguf") as url:
        said = bind_server(open_server(url), adapter, carrier)
    assert said.state == "bound", said
