"""How an export is served: the exact command line, and a Modelfile for Ollama.

vLLM: docs/features/lora.md and vllm/config/lora.py (MaxLoRARanks) of 0.27. Ollama: docs/modelfile.mdx.
"""

from __future__ import annotations

import shlex
from pathlib import Path

from penname.core.config import SamplingConfig
from penname.core.errors import BadInput
from penname.serving.classes import is_multimodal
from penname.serving.voices import ServedRun

VLLM_RANKS = (1, 8, 16, 32, 64, 128, 256, 320, 512)  # the only values that --max-lora-rank takes


def serve_line(run: ServedRun, kind: str, name: str, folder: Path) -> str:
    """The command that serves ``exports/<run>/<kind>``, to be called in the voice folder. ``name`` is what the server calls the voice."""
    place = f"exports/{run.name}/{kind}"
    if kind in ("merged", "nvfp4a16"):
        return shlex.join(["vllm", "serve", place, "--served-model-name", name])
    if kind.startswith("adapter"):
        if kind == "adapter" and is_multimodal(run.carrier):
            return "none by vLLM, which serves this carrier as its full class: penname export adapter --full"
        lora = ["--enable-lora", "--max-lora-rank", str(vllm_rank(run.adapter.lora_rank)), "--lora-modules", f"{name}={place}"]
        return shlex.join(["vllm", "serve", *_carrier_source(run), *lora])
    gguf = next(path.name for path in sorted(folder.glob("*.gguf")))
    if kind == "gguf":
        return shlex.join(["llama-server", "-m", _base_gguf(run), "--lora", f"{place}/{gguf}"])
    return shlex.join(["llama-server", "-m", f"{place}/{gguf}"])


def vllm_rank(lora_rank: int) -> int:
    """The least value of --max-lora-rank that holds the adapter."""
    fitting = next((rank for rank in VLLM_RANKS if rank >= lora_rank), None)
    if fitting is None:
        raise BadInput(f"vLLM takes adapters up to rank {VLLM_RANKS[-1]}, and this one has {lora_rank}; export it merged")
    return fitting


def _carrier_source(run: ServedRun) -> list[str]:
    """The carrier's repository at its commit, or its folder where it has none."""
    repo, _, commit = str(run.record["carrier"].get("source", "")).partition(" at ")
    if "/" not in repo:
        return [str(run.carrier)]
    return [repo, "--revision", commit] if commit else [repo]


def _base_gguf(run: ServedRun) -> str:
    staged = next(iter(sorted(run.carrier.glob("*.gguf"))), None)
    return str(staged) if staged else "BASE.gguf"


def modelfile(run: ServedRun, kind: str, folder: Path, sampling: SamplingConfig) -> str:
    """An Ollama Modelfile: plain completion with the one template, sampled as the voice is judged, stopping where training stopped."""
    from penname.carriers.prompt import beat_segment
    from penname.carriers.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(run.carrier)
    gguf = next(path.name for path in sorted(folder.glob("*.gguf")))
    head = [f"FROM ./{gguf}"]
    if kind == "gguf":
        base = _base_gguf(run)
        note = ["# Put the carrier's GGUF in the place of BASE.gguf."] if base == "BASE.gguf" else []
        head = [*note, f"FROM {base}", f"ADAPTER ./{gguf}"]
    lines = [
        *head,
        f'TEMPLATE """{beat_segment("{{ .Prompt }}")}{{{{ .Response }}}}"""',
        f"PARAMETER temperature {sampling.temperature:g}",
        f"PARAMETER top_p {sampling.top_p:g}",
        "PARAMETER top_k 0",  # Ollama's own 40 would cut what Penname's sampling leaves in
        "PARAMETER min_p 0",
        "PARAMETER repeat_penalty 1",
        f"PARAMETER num_predict {sampling.max_tokens}",
        f'PARAMETER stop "{tokenizer.token(tokenizer.stop_id)}"',
    ]
    return "\n".join(lines) + "\n"
