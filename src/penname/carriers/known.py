"""Carriers that Penname knows by a short name: where they are staged from, and their public configurations.

The configurations let ``bench --random-init`` and ``probe`` size up a machine before anything is staged. Sources: the
``config.json`` of the repositories named here (Apache-2.0); of Qwen3.5 only the text model is described.
"""

from __future__ import annotations

import difflib
from typing import Any

from penname.core.errors import BadInput

REPOS = {
    "qwen3-0.6b": "Qwen/Qwen3-0.6B-Base",
    "qwen3-1.7b": "Qwen/Qwen3-1.7B-Base",
    "qwen3-4b": "Qwen/Qwen3-4B-Base",
    "qwen3-8b": "Qwen/Qwen3-8B-Base",
    "qwen3-14b": "Qwen/Qwen3-14B-Base",
    "qwen3.5-0.8b": "Qwen/Qwen3.5-0.8B-Base",
    "qwen3.5-2b": "Qwen/Qwen3.5-2B-Base",
    "qwen3.5-4b": "Qwen/Qwen3.5-4B-Base",
}


def _qwen3(hidden_size: int, intermediate_size: int, layers: int, heads: int, tied: bool) -> dict[str, Any]:
    return {
        "architectures": ["Qwen3ForCausalLM"],
        "model_type": "qwen3",
        "vocab_size": 151936,
        "hidden_size": hidden_size,
        "intermediate_size": intermediate_size,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "hidden_act": "silu",
        "max_position_embeddings": 32768,
        "rms_norm_eps": 1e-6,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1_000_000.0},
        "attention_bias": False,
        "tie_word_embeddings": tied,
        "bos_token_id": 151643,
        "eos_token_id": 151643,
        "dtype": "bfloat16",
    }


def _qwen3_5(hidden_size: int, intermediate_size: int, layers: int, heads: int, kv_heads: int, value_heads: int) -> dict[str, Any]:
    return {
        "architectures": ["Qwen3_5ForCausalLM"],
        "model_type": "qwen3_5_text",
        "vocab_size": 248320,
        "hidden_size": hidden_size,
        "intermediate_size": intermediate_size,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "head_dim": 256,
        "hidden_act": "silu",
        "max_position_embeddings": 262144,
        "rms_norm_eps": 1e-6,
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10_000_000.0,
            "partial_rotary_factor": 0.25,
            "mrope_interleaved": True,
            "mrope_section": [11, 11, 10],
        },
        "layer_types": ["full_attention" if (i + 1) % 4 == 0 else "linear_attention" for i in range(layers)],
        "linear_num_key_heads": 16,
        "linear_num_value_heads": value_heads,
        "linear_key_head_dim": 128,
        "linear_value_head_dim": 128,
        "linear_conv_kernel_dim": 4,
        "attention_bias": False,
        "tie_word_embeddings": True,
        "eos_token_id": 248044,
        "dtype": "bfloat16",
    }


CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "qwen3-0.6b": _qwen3(1024, 3072, 28, 16, tied=True),
    "qwen3-1.7b": _qwen3(2048, 6144, 28, 16, tied=True),
    "qwen3-4b": _qwen3(2560, 9728, 36, 32, tied=True),
    "qwen3-8b": _qwen3(4096, 12288, 36, 32, tied=False),
    "qwen3-14b": _qwen3(5120, 17408, 40, 40, tied=False),
    "qwen3.5-0.8b": _qwen3_5(1024, 3584, 24, 8, 2, value_heads=16),
    "qwen3.5-2b": _qwen3_5(2048, 6144, 24, 8, 2, value_heads=16),
    "qwen3.5-4b": _qwen3_5(2560, 9216, 32, 16, 4, value_heads=32),
}


def known_configuration(name: str) -> dict[str, Any]:
    """A copy of the built-in configuration of ``name``. BadInput with the nearest name where there is none."""
    if name not in CONFIGURATIONS:
        near = difflib.get_close_matches(name, CONFIGURATIONS, n=1, cutoff=0.5)
        hint = f', did you mean "{near[0]}"?' if near else "; there are " + ", ".join(CONFIGURATIONS)
        raise BadInput(f'there is no built-in configuration "{name}"{hint}')
    return dict(CONFIGURATIONS[name])


def short_name(repo: str) -> str:
    """What a repository is called once it is staged: its short name, or its own in lower case."""
    return next((name for name, known in REPOS.items() if known == repo), repo.rsplit("/", 1)[-1].lower())
