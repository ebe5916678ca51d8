"""Tiny random carriers for the tests of every room: two layers, and a small tokenizer trained on the bundled story.

    from tiny import tiny_carrier
    folder = tiny_carrier("qwen3")        # dense
    folder = tiny_carrier("qwen3_5")      # hybrid: one linear-attention layer, one full
    folder = tiny_carrier("qwen3_5_full") # the multimodal class with a vision tower, and mtp.* tensors beside it
    folder = tiny_carrier("llama")

Each is made once a machine (a second or two) and read-only after that: copy the folder before you change it.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

KINDS = ("qwen3", "qwen3_5", "qwen3_5_full", "llama")
VOCAB = 512
_STORY = Path(__file__).resolve().parent.parent / "src/penname/voice/story/novella.txt"
_SPECIAL = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
_OWN_TEXT = """The lamp had burned low before anyone thought to speak of the letter. It lay on the table between them, its seal
broken, and the rain went on at the window as though nothing had been decided. "You will not go," said the elder sister; and then,
more quietly, "You will not go alone." He laughed at that, and took up his hat, and found that his hand was not steady.

In the morning the road was white with frost. A cart came over the hill, slowly, with one lantern swinging under it, and the man who
drove it did not look up until he was nearly at the gate. There were four of them in the yard by then. Nobody had slept.
"""


def tiny_carrier(kind: str = "qwen3", seed: int = 0) -> Path:
    """The folder of a tiny random carrier; byte-identical for the same kind and seed."""
    assert kind in KINDS, f"kind is one of {KINDS}"
    text = story_text()
    key = hashlib.sha256(Path(__file__).read_bytes() + text.encode()).hexdigest()[:12]
    folder = Path(tempfile.gettempdir()) / f"penname-tiny-{os.getuid()}" / key / f"{kind}-s{seed}"
    if not folder.is_dir():
        aside = Path(tempfile.mkdtemp(prefix="penname-tiny-"))
        make_tiny(aside, kind, seed, text)
        folder.parent.mkdir(parents=True, exist_ok=True)
        try:
            aside.rename(folder)
        except OSError:  # another test process was first, or /tmp is another file system
            if not folder.is_dir():
                shutil.copytree(aside, folder)
            shutil.rmtree(aside, ignore_errors=True)
    return folder


def story_text() -> str:
    """What the tokenizer is trained on: the bundled story, or a page of its own where that is not there."""
    return _STORY.read_text(encoding="utf-8") if _STORY.is_file() else _OWN_TEXT


def make_tiny(folder: Path, kind: str = "qwen3", seed: int = 0, text: str | None = None) -> Path:
    """Write a tiny carrier into ``folder``."""
    import torch
    from transformers import AutoModelForCausalLM, Qwen3_5ForConditionalGeneration
    from transformers.utils import logging

    folder.mkdir(parents=True, exist_ok=True)
    write_tokenizer(folder, text or story_text())
    config = tiny_config(kind)
    logging.disable_progress_bar()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        if kind == "qwen3_5_full":
            model: Any = Qwen3_5ForConditionalGeneration(config)
        else:
            model = AutoModelForCausalLM.from_config(config)
    model.save_pretrained(folder)
    if kind == "qwen3_5_full":
        add_mtp(folder, seed)
    return folder


def tiny_config(kind: str) -> Any:
    """The configuration of a tiny carrier."""
    from transformers import LlamaConfig, Qwen3_5Config, Qwen3_5TextConfig, Qwen3Config

    common = {
        "vocab_size": VOCAB,
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "max_position_embeddings": 4096,
        "tie_word_embeddings": True,
        "bos_token_id": None,
        "eos_token_id": 0,
        "pad_token_id": 0,
        "dtype": "float32",
    }
    if kind == "qwen3":
        return Qwen3Config(**common)
    if kind == "llama":
        return LlamaConfig(**common)
    hybrid = common | {
        "layer_types": ["linear_attention", "full_attention"],
        "linear_num_key_heads": 2,
        "linear_num_value_heads": 4,
        "linear_key_head_dim": 16,
        "linear_value_head_dim": 16,
        # Rotary parameters as the published Qwen3.5 configurations have them, scaled to a head of 16: 2 * (1+1+0) of 16 turn.
        "rope_parameters": {
            "rope_type": "default",
            "rope_theta": 10_000_000.0,
            "partial_rotary_factor": 0.25,
            "mrope_interleaved": True,
            "mrope_section": [1, 1, 0],
        },
    }
    if kind == "qwen3_5":
        return Qwen3_5TextConfig(**hybrid)
    vision = {
        "depth": 1,
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_heads": 2,
        "out_hidden_size": 64,
        "num_position_embeddings": 16,
        "patch_size": 4,
    }
    return Qwen3_5Config(text_config=hybrid, vision_config=vision, tie_word_embeddings=True)


def write_tokenizer(folder: Path, text: str) -> None:
    """A byte-level BPE of 512 entries, as Qwen's is built, with its special tokens and one added token that is not special."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCAB - 1, special_tokens=list(_SPECIAL), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(text.split("\n\n"), trainer)
    tokenizer.add_tokens([AddedToken("<think>", normalized=False)])
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "eos_token": "<|endoftext|>",
        "pad_token": "<|endoftext|>",
        "bos_token": None,
        "model_max_length": 4096,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2), encoding="utf-8")


def add_mtp(folder: Path, seed: int) -> None:
    """Write ``mtp.*`` tensors beside the model's, as the published checkpoints hold them; no class loads them."""
    import torch
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    draw = torch.Generator().manual_seed(seed)
    for key, shape in {
        "mtp.fc.weight": (64, 128),
        "mtp.layers.0.self_attn.q_proj.weight": (128, 64),
        "mtp.layers.0.mlp.gate_proj.weight": (128, 64),
        "mtp.norm.weight": (64,),
    }.items():
        tensors[key] = torch.randn(shape, generator=draw) * 0.02
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
