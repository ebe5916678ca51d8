"""Loading a carrier's weights. Nothing is downloaded, no pickle is opened, no code of the checkpoint runs."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, Literal

import torch

from penname.carriers.facts import carrier_facts
from penname.carriers.headers import read_checkpoint
from penname.core.errors import BadInput, first_line
from penname.core.progress import say
from penname.core.workers import core_count


def resolve_device(wanted: str = "auto") -> torch.device:
    """``auto`` takes CUDA where it is. BadInput where CUDA is asked for and absent."""
    if wanted == "cuda" and not torch.cuda.is_available():
        raise BadInput("carrier.device is cuda, and torch sees no CUDA device here; set carrier.device to auto or cpu")
    return torch.device("cuda" if wanted != "cpu" and torch.cuda.is_available() else "cpu")


def resolve_dtype(wanted: Literal["bf16", "fp32"] | str, device: torch.device | str) -> torch.dtype:
    """bf16 where it is wanted and the device computes in it; a CPU without AVX512-BF16 or AMX emulates it and takes fp32."""
    if wanted != "bf16":
        return torch.float32
    if torch.device(device).type == "cuda":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float32
    return torch.bfloat16 if cpu_has_bf16() else torch.float32


def cpu_has_bf16() -> bool:
    """Whether this CPU multiplies bf16 matrices in hardware."""
    flags = torch.cpu.get_capabilities()
    return any(flags.get(name, False) for name in ("avx512_bf16", "amx_bf16", "bf16", "arm_bf16"))


def set_threads(threads: int) -> int:
    """Use so many CPU threads, 0 for OMP_NUM_THREADS or else all cores; gives the number in use, which belongs into the record."""
    given = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()  # OpenMP takes a list, one number a level of nesting
    torch.set_num_threads(threads or (int(given) if given.isdecimal() else 0) or core_count())
    return torch.get_num_threads()


def load_model(
    folder: Path,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
    *,
    attention: str = "sdpa",
    multimodal: bool = False,
) -> Any:
    """The carrier as its causal class (or, with ``multimodal``, the full class its config names), in eval mode.

    Raises BadInput where the checkpoint is a pickle, damaged or foreign, or where config.json and weights belong to
    different models: a tensor that is missing or has another shape would be random numbers, silently.
    """
    facts = carrier_facts(folder)
    read_checkpoint(folder)
    if facts.warning:
        say(facts.warning)
    model, info = _from_pretrained(folder, dtype, attention, multimodal)
    wrong = [f"{name} is missing" for name in sorted(info["missing_keys"])]
    wrong += [f"{name} is of another shape" for name, *_ in info["mismatched_keys"]]
    if wrong:
        raise BadInput(
            f"{folder}: config.json ({facts.model_type}) and the weights are not of one model: {wrong[0]} "
            f"({len(wrong)} tensors do not fit); stage the carrier again"
        )
    if info["unexpected_keys"]:
        first = sorted(info["unexpected_keys"])[0]
        raise BadInput(f"{folder}: the weights hold {first}, which a {facts.model_type} model has no place for; stage the carrier again")
    return model.to(device).eval()


def _from_pretrained(folder: Path, dtype: torch.dtype, attention: str, multimodal: bool) -> tuple[Any, dict[str, Any]]:
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText
    from transformers.utils import logging

    quiet_transformers()
    auto = AutoModelForImageTextToText if multimodal else AutoModelForCausalLM
    level = logging.get_verbosity()
    logging.set_verbosity_error()  # its load report is a table of keys; ours is one sentence
    try:
        loaded: Any = auto.from_pretrained(
            folder,
            dtype=dtype,
            attn_implementation=attention,
            local_files_only=True,
            use_safetensors=True,
            trust_remote_code=False,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
        )
        return loaded
    except (ValueError, KeyError, OSError, TypeError, AttributeError, RuntimeError) as error:
        raise BadInput(f"{folder} cannot be loaded as a carrier: {first_line(error)}") from error
    finally:
        logging.set_verbosity(level)


def quiet_transformers() -> None:
    """Its progress bars would mix with ours."""
    from transformers.utils import logging

    logging.disable_progress_bar()
