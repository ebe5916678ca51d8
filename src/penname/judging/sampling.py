"""The base model and its adapters, loaded once, writing from the registered beats."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penname.carriers.generation import Sample, generate
from penname.carriers.loading import load_model, resolve_device, resolve_dtype, set_threads
from penname.carriers.prompt import encode_prefix
from penname.carriers.store import resolve_carrier
from penname.carriers.tokenizer import CarrierTokenizer, load_tokenizer
from penname.core.config import Config, SamplingConfig
from penname.judging.heldout import HeldOut


@dataclass
class Writer:
    """A model that writes passages: the carrier, or the carrier with one adapter on it."""

    model: Any
    tokenizer: CarrierTokenizer
    settings: SamplingConfig
    seed: int

    def write(self, prompts: Sequence[HeldOut], label: str) -> list[Sample]:
        """One passage a prompt, the same draw for the same place in the list whoever writes."""
        prefixes = [encode_prefix(self.tokenizer, one.beat) for one in prompts]
        return generate(self.model, self.tokenizer, prefixes, self.settings, self.seed, label=label)


def base_writer(config: Config) -> Writer:
    """The carrier by itself."""
    folder = resolve_carrier(config.carrier.name)
    device = resolve_device(config.carrier.device)
    set_threads(config.carrier.threads)
    model = load_model(folder, device, resolve_dtype(config.carrier.dtype, device))
    return Writer(model, load_tokenizer(folder), config.sampling, config.voice.seed)


def with_adapter(base: Writer, adapter: Path) -> Writer:
    """The base writer's model with an adapter on it; drop it with ``without_adapter`` before the next one."""
    from peft import PeftModel

    model = PeftModel.from_pretrained(base.model, str(adapter), is_trainable=False)
    return Writer(model.eval(), base.tokenizer, base.settings, base.seed)


def without_adapter(base: Writer, adapted: Writer) -> Writer:
    """The base model again, its modules as they were."""
    base.model = adapted.model.unload()
    gc.collect()
    return base
