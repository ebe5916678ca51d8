"""What a run is: its arm, its name, and the identity that decides whether a checkpoint or an adapter belongs to it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penname.core.config import Config
from penname.core.folder import VoiceFolder
from penname.core.hashing import sha256_value

_SHORT = {"attention+mlp": "am", "attention+mlp+linear": "aml"}
# Settings that change how a run is made or watched, and not what it is: runs that differ only here are the same run.
_NOT_MEANING = {
    "seeds", "eval_steps", "eval_rows", "sample_steps", "save_steps", "keep_checkpoints", "gradient_checkpointing", "compile",
    "attention", "track", "ask_above_hours",
}  # fmt: skip


@dataclass(frozen=True)
class Arm:
    """One way of training. Runs of an arm differ only by seed."""

    carrier: str
    corpus_words: int  # 0: all
    copies: int
    target_modules: str | tuple[str, ...]

    @property
    def id(self) -> str:
        """Twelve hex digits that are the same for all runs of the arm."""
        return sha256_value([self.carrier, self.corpus_words, self.copies, self.target_modules])[:12]

    @property
    def name(self) -> str:
        """Short and readable: "all-x6-am" is all words, six copies, attention and MLP."""
        words = f"{self.corpus_words}w" if self.corpus_words else "all"
        modules = _SHORT.get(self.target_modules) if isinstance(self.target_modules, str) else None
        return f"{words}-x{self.copies}-{modules or sha256_value(self.target_modules)[:6]}"

    def to_json(self) -> dict[str, Any]:
        """The arm as it stands in run.json."""
        targets = self.target_modules if isinstance(self.target_modules, str) else list(self.target_modules)
        return {
            "id": self.id,
            "name": self.name,
            "carrier": self.carrier,
            "corpus_words": self.corpus_words,
            "copies": self.copies,
            "target_modules": targets,
        }


def arm_of(voice: VoiceFolder) -> Arm:
    """The arm that the configuration describes."""
    config = voice.config
    return Arm(Path(config.carrier.name).name, config.shards.corpus_words, voice.copies_used, config.training.target_modules)


def run_name(arm: Arm, seed: int) -> str:
    """``<carrier>-<arm>-s<seed>``."""
    return f"{arm.carrier}-{arm.name}-s{seed}"


def train_settings(config: Config) -> dict[str, Any]:
    """The settings that change what a run is."""
    training = config.training.model_dump(mode="json", exclude=_NOT_MEANING)
    if config.training.early_stop_evals:
        # Then it decides which adapter is kept.
        training |= {"eval_steps": config.training.eval_steps, "eval_rows": config.training.eval_rows}
    return {**training, "carrier_dtype": config.carrier.dtype}
