"""Tiny voices with finished shards, made once a session and never written to."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penname.carriers.loading import load_model
from penname.carriers.tokenizer import CarrierTokenizer, load_tokenizer
from penname.core.config import TrainingConfig
from penname.core.folder import VoiceFolder
from penname.core.tokens import Shards, open_shards
from penname.shards import run_shards
from penname.training.carrier import prepare_model
from penname.training.lora import attach_lora
from penname.training.run import CopyTexts
from tiny import tiny_carrier
from voices import settings_toml, tiny_voice

SETTINGS = {
    "max_steps": 6,
    "grad_accum_steps": 2,
    "eval_steps": 2,
    "save_steps": 2,
    "lora_rank": 4,
    "lora_alpha": 8,
    "warmup_steps": 0,
    "learning_rate": 0.005,
}
SHARDS = {"seq_len": 200}


def toml(**changes: Any) -> str:
    """voice.toml sections for a run of seconds; ``changes`` go into [training]."""
    return settings_toml(shards=SHARDS, training={**SETTINGS, **changes}, sampling={"max_tokens": 8})


@dataclass
class Tiny:
    """A voice and what a test needs to look into its training."""

    voice: VoiceFolder
    folder: Path
    shards: Shards
    tokenizer: CarrierTokenizer

    def model(self) -> Any:
        """A fresh carrier, prepared for packed rows."""
        model = load_model(self.folder)
        prepare_model(model)
        return model

    def attached(self, seed: int = 1, **changes: Any) -> tuple[Any, TrainingConfig]:
        """A fresh carrier with LoRA, and its settings."""
        settings = TrainingConfig(**{**SETTINGS, **changes})
        return attach_lora(self.model(), settings, seed), settings

    @property
    def texts(self) -> CopyTexts:
        """Passages as they stand in the copies."""
        return CopyTexts(self.voice)


def make_tiny_voice(folder: Path, kind: str, **changes: Any) -> VoiceFolder:
    """A voice with shards, which a test may train in."""
    voice = tiny_voice(folder, tiny_carrier(kind), settings=toml(**changes))
    run_shards(voice)
    return voice


def make_tiny(folder: Path, kind: str) -> Tiny:
    voice = make_tiny_voice(folder, kind)
    return Tiny(voice, tiny_carrier(kind), open_shards(voice.current_shards), load_tokenizer(tiny_carrier(kind)))
