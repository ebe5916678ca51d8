"""Depth 3 against the real llama.cpp server: what it says with the adapter is what torch says."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest
import torch

from penname.core.errors import BadInput
from penname.serving import ggufs
from penname.serving.adapter import adapter_tensors, read_adapter, write_adapter
from penname.serving.ggufs import permute_rows, write_lora_gguf, write_merged_gguf
from penname.serving.server import ServerTarget, bind_server
from serving_adapters import make_adapter
from tiny import tiny_carrier
from tiny_gguf import write_tiny_gguf

xllamacpp = pytest.importorskip("xllamacpp", reason="the extra gen (xllamacpp) is not installed")


@contextlib.contextmanager
def served(base, *adapters):
    """The address of a llama.cpp server with the base GGUF and LoRA GGUFs 0, 1, ..."""
    params = xllamacpp.CommonParams()
    params.model.path = str(base)
    params.hostnames, params.port = ["127.0.0.1"], 0
    params.n_ctx, params.offline, params.ui, params.verbosity = 512, True, False, 0
    loaded = []
    for path in adapters:
        info = xllamacpp.CommonAdapterLoraInfo()
        info.path, info.scale = str(path), 0.0
        loaded.append(info)
    params.lora_adapters = loaded
    server = xllamacpp.Server(params)
    try:
        yield server.listening_address
    finally:
        del server


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
    with served(base, *paths) as url:
        found = [bind_server(ServerTarget(url, "", "", lora_id=i), adapter, carrier) for i in range(len(paths))]
    assert found[0].state == "bound", found[0]
    assert found[1].state == "not bound"
    assert "the server's adapter says what its base says" in found[1].reasons[0]
    for broken in found[2:]:
        assert broken.state != "bound", broken
        assert any("is off by" in reason for reason in broken.reasons)


def test_a_wrong_prefix_and_another_carrier_get_no_gguf(tmp_path):
    carrier = tiny_carrier("qwen3")
    wrong = make_adapter(tmp_path / "w", carrier, rename=lambda path: "transformer." + path)
    with pytest.raises(BadInput, match="has no tensor in a GGUF of this carrier"):
        write_lora_gguf(wrong, carrier, tmp_path / "w.gguf")


@pytest.mark.parametrize(("quant", "tolerance"), [("f16", 0.02), ("q8_0", 0.15)])
@pytest.mark.parametrize("kind", ["qwen3", "llama"])
def test_a_merged_gguf_says_what_base_plus_adapter_says(kind, quant, tolerance, tmp_path):
    from penname.serving.server import PROMPTS, _ask, _distance, _ids, _local_logprobs

    carrier = tiny_carrier(kind)
    base = write_tiny_gguf(carrier, tmp_path / "base.gguf")
    adapter = make_adapter(tmp_path / "a", carrier, strength=1.0)
    assert write_merged_gguf(adapter, carrier, base, tmp_path / "merged.gguf", quant) == 14
    plain, local = _local_logprobs(carrier, adapter)
    with served(tmp_path / "merged.gguf") as url:
        said = [_ask(ServerTarget(url, "", "", lora_id=0), _ids(carrier, prompt), adapted=True) for prompt in PROMPTS]
    for i in range(len(PROMPTS)):
        effect = _distance(plain[i], local[i])
        assert _distance(said[i], local[i]) < tolerance * max(1.0, effect)
        assert _distance(said[i], plain[i]) > 0.5 * effect


def test_rows_move_between_the_two_orders():
    rows = np.arange(8, dtype=np.float32)[:, None]  # two heads of four: halves (0 1 | 2 3) become pairs (0 2 1 3)
    assert permute_rows(rows, 2)[:, 0].tolist() == [0, 2, 1, 3, 4, 6, 5, 7]


@pytest.mark.slow
def test_smollm2_binds_on_the_real_server(tmp_path):
    from penname.carriers import stage_carrier

    carrier = stage_carrier("smollm2-135m")
    base = next(carrier.glob("*.gguf"))
    adapter = make_adapter(tmp_path / "a", carrier, strength=0.05)
    write_lora_gguf(adapter, carrier, tmp_path / "good.gguf")
    write_adapter(tmp_path / "zero", adapter.config, {m: (a, torch.zeros_like(b)) for m, (a, b) in adapter_tensors(adapter).items()})
    write_lora_gguf(read_adapter(tmp_path / "zero"), carrier, tmp_path / "zero.gguf")
    with served(base, tmp_path / "good.gguf", tmp_path / "zero.gguf") as url:
        good = bind_server(ServerTarget(url, "", "", lora_id=0), adapter, carrier)
        zero = bind_server(ServerTarget(url, "", "", lora_id=1), adapter, carrier)
    assert good.state == "bound", good
    assert zero.state == "not bound"
