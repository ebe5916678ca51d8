"""A tiny dense carrier as GGUF, so that the real llama.cpp can serve it."""

from __future__ import annotations

import json
from pathlib import Path

import gguf
import numpy as np
from safetensors.torch import load_file

from penname.serving.ggufs import permute_rows


def write_tiny_gguf(carrier: Path, target: Path) -> Path:
    """F32 GGUF of a tiny Qwen3 or Llama carrier."""
    config = json.loads((carrier / "config.json").read_text())
    kind = config["model_type"]
    writer = gguf.GGUFWriter(target, kind)
    heads, kv = config["num_attention_heads"], config["num_key_value_heads"]
    head_dim = config.get("head_dim") or config["hidden_size"] // heads
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv)
    writer.add_key_length(head_dim)
    writer.add_value_length(head_dim)
    writer.add_rope_dimension_count(head_dim)
    writer.add_layer_norm_rms_eps(config["rms_norm_eps"])
    rope = config.get("rope_parameters") or {}
    writer.add_rope_freq_base(float(rope.get("rope_theta", config.get("rope_theta", 10000.0))))
    writer.add_vocab_size(config["vocab_size"])
    _write_tokenizer(writer, carrier, config["vocab_size"])
    names = gguf.get_tensor_name_map(getattr(gguf.MODEL_ARCH, kind.upper()), config["num_hidden_layers"])
    for file in sorted(carrier.glob("*.safetensors")):
        for key, tensor in sorted(load_file(file).items()):
            values = tensor.float().numpy()
            if kind == "llama" and key.endswith(("q_proj.weight", "k_proj.weight")):
                values = permute_rows(values, heads if "q_proj" in key else kv)
            name = names.get_name(key, try_suffixes=(".weight", ".bias"))
            assert name, key
            writer.add_tensor(name, np.ascontiguousarray(values, np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return target


def _write_tokenizer(writer: gguf.GGUFWriter, carrier: Path, size: int) -> None:
    data = json.loads((carrier / "tokenizer.json").read_text())
    tokens = {index: token for token, index in data["model"]["vocab"].items()}
    tokens |= {row["id"]: row["content"] for row in data["added_tokens"]}
    special = {row["id"] for row in data["added_tokens"]}
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre("gpt-2")
    writer.add_token_list([tokens.get(i, f"[unused{i}]") for i in range(size)])
    writer.add_token_types([gguf.TokenType.CONTROL if i in special or i not in tokens else gguf.TokenType.NORMAL for i in range(size)])
    writer.add_token_merges([" ".join(pair) if isinstance(pair, list) else pair for pair in data["model"]["merges"]])
    writer.add_eos_token_id(min(special))
    writer.add_bos_token_id(min(special))
    writer.add_add_bos_token(False)
