"""``carrier bench``: forward, backward and AdamW step of the trainer's own path on one carrier, measured.

Each row is measured in a process of its own, so its peak memory is its own and running out of memory is a row, not a crash.
"""

from __future__ import annotations

import json
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from penname.carriers.facts import layer_types, read_config, text_config
from penname.carriers.kernels import cpp_compiler, kernel_versions
from penname.carriers.known import known_configuration
from penname.carriers.loading import load_model, resolve_device, resolve_dtype, set_threads
from penname.carriers.random_init import random_model
from penname.carriers.store import resolve_carrier
from penname.core.config import TrainingConfig
from penname.core.errors import BadInput, PennameError, first_line, last_line
from penname.training.batch import Batch, make_batch
from penname.training.carrier import prepare_model
from penname.training.fused import fuse_model
from penname.training.lora import adapted_modules, adapter_parameters, attach_lora
from penname.training.optimizer import make_optimizer
from penname.training.provenance import library_versions
from penname.training.step import forward_backward

_TRAINED_SHARE = 0.9  # of a document: what beats leave of the bundled story's documents
_KILLED = (-9, 137)  # how a process ends that the kernel stopped for memory


@dataclass(frozen=True)
class BenchSpec:
    """What to measure. ``batch``: packed rows of ``seq_len`` tokens an optimizer step; ``document_tokens``: length of their documents."""

    carrier: str
    random_init: bool = False
    seq_len: int = 2048
    batch: int = 1
    document_tokens: int = 512
    gradient_checkpointing: bool = False
    attention: str = "auto"
    dtype: str = "bf16"
    device: str = "auto"
    threads: int = 0
    target_modules: str | tuple[str, ...] = "attention+mlp"
    lora_rank: int = 32
    lora_alpha: int = 64
    adapter_dtype: str = "fp32"
    fused: bool = True
    warmup_steps: int = 3
    steps: int = 10

    def training(self) -> TrainingConfig:
        """The trainer's settings that it stands for."""
        return TrainingConfig(
            lora_rank=self.lora_rank,
            lora_alpha=self.lora_alpha,
            target_modules=self.target_modules,
            adapter_dtype=self.adapter_dtype,
        )


def bench_row(spec: BenchSpec) -> dict[str, Any]:
    """``bench_step`` in a process of its own. BadInput or PennameError as it raised them; out of memory is ``{"out_of_memory": true}``."""
    check_spec(spec)
    command = [sys.executable, "-m", "penname.training.bench"]
    done = subprocess.run(command, input=json.dumps(asdict(spec)), capture_output=True, text=True)
    if done.returncode in _KILLED:
        return _out_of_memory(spec, "the system stopped the process for memory")
    lines = done.stdout.strip().splitlines()
    if done.returncode != 0 or not lines:
        raise PennameError(f"the bench of {spec.carrier} ended with exit code {done.returncode}: {last_line(done.stderr)}")
    row: dict[str, Any] = json.loads(lines[-1])
    if "error" in row:
        raise BadInput(row["error"])
    return row


def check_spec(spec: BenchSpec) -> None:
    """BadInput for sizes that cannot be measured."""
    for name in ("seq_len", "batch", "document_tokens", "steps", "lora_rank"):
        if getattr(spec, name) < 1:
            raise BadInput(f"{name} must be at least 1 (it is {getattr(spec, name)})")
    if spec.seq_len < 2:
        raise BadInput("seq_len must be at least 2: a row of one token has nothing to learn")
    known_configuration(spec.carrier) if spec.random_init else resolve_carrier(spec.carrier)


def bench_step(spec: BenchSpec) -> dict[str, Any]:
    """Measure in this process: the row of ``carrier bench``. Running out of memory gives a row that says so."""
    try:
        return _measure(spec)
    except (RuntimeError, MemoryError) as error:
        known = isinstance(error, (torch.OutOfMemoryError, MemoryError))
        if not known and "allocate memory" not in str(error) and "out of memory" not in str(error):
            raise
        return _out_of_memory(spec, first_line(error))


def _measure(spec: BenchSpec) -> dict[str, Any]:
    device = resolve_device(spec.device)
    dtype = resolve_dtype(spec.dtype, device)
    threads = set_threads(spec.threads)
    name = str(dtype).removeprefix("torch.")
    if spec.random_init:
        config = known_configuration(spec.carrier)
        model = random_model(config, device, dtype)
    else:
        config = read_config(resolve_carrier(spec.carrier))
        model = load_model(resolve_carrier(spec.carrier), device, dtype)
    settings = spec.training()
    resolved = prepare_model(model, spec.attention)
    if spec.gradient_checkpointing:
        model.activation_checkpointing_enable({"use_reentrant": False})
    peft_model = attach_lora(model, settings, seed=1)
    resolved |= fuse_model(model) if spec.fused else {"fused": "none"}
    model.train()
    parameters = adapter_parameters(peft_model)
    optimizer = make_optimizer(parameters, settings)
    batches = [bench_batch(spec, model.config.get_text_config().vocab_size, row, device) for row in range(spec.batch)]
    trained = sum(len(batch.targets) for batch in batches)

    def step() -> None:
        for batch in batches:
            forward_backward(model, batch, 1.0 / trained)
        torch.nn.utils.clip_grad_norm_(parameters.values(), settings.clip_norm)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats()
    seconds = [_timed(step, device) for _ in range(spec.warmup_steps + spec.steps)][spec.warmup_steps :]
    tokens = spec.seq_len * spec.batch
    median = statistics.median(seconds)
    flops = step_flops(model, config, batches)
    peak = torch.cuda.max_memory_allocated() if device.type == "cuda" else _host_peak()
    rate = matmul_rate(dtype, device)
    return _row_head(spec) | {
        "tokens_per_second": round(tokens / median, 2),
        "spread": round((max(seconds) - min(seconds)) / median, 4),
        "step_seconds": [round(s, 5) for s in seconds],
        "peak_bytes": peak,
        "host_bytes": _host_peak(),
        "flops_per_step": flops,
        "achieved_flops": round(flops / median),
        "matmul_flops": round(rate),
        "matmul_share": round(flops / median / rate, 4),
        "lora_modules": len(adapted_modules(peft_model)),
        "lora_parameters": sum(p.numel() for p in parameters.values()),
        "parameters": sum(p.numel() for p in model.parameters()),
        "dtype": name,
        "device": "cpu" if device.type == "cpu" else torch.cuda.get_device_name(device),
        "threads": threads,
        "resolved": resolved,
        "kernels": kernel_versions() | {"c++ compiler": cpp_compiler()},
        "libraries": library_versions(),
    }


def _row_head(spec: BenchSpec) -> dict[str, Any]:
    head = asdict(replace(spec, carrier=Path(spec.carrier).name))
    return head | {"trained_share": _TRAINED_SHARE, "out_of_memory": False}


def _out_of_memory(spec: BenchSpec, why: str) -> dict[str, Any]:
    return _row_head(spec) | {"out_of_memory": True, "tokens_per_second": None, "why": why}


def _timed(step: Callable[[], None], device: torch.device) -> float:
    started = time.perf_counter()
    step()
    if device.type == "cuda":
        torch.cuda.synchronize()
    return time.perf_counter() - started


def bench_batch(spec: BenchSpec, vocab_size: int, row: int, device: torch.device | str) -> Batch:
    """One packed row of random tokens: documents of ``document_tokens``, each with a masked beat before what is learned."""
    draw = np.random.default_rng(row)
    ids = draw.integers(0, vocab_size, spec.seq_len)
    whole, rest = divmod(spec.seq_len, spec.document_tokens)
    documents = (spec.document_tokens,) * whole + ((rest,) if rest else ())
    places = np.concatenate([np.arange(length) / length for length in documents])
    return make_batch(ids, places >= 1 - _TRAINED_SHARE, documents, device)


def step_flops(model: torch.nn.Module, config: Any, batches: list[Batch]) -> int:
    """Floating-point operations of a step: 4 a parameter and token (forward and the gradient of the input; a frozen weight has none),
    6 for a LoRA parameter, the head at trained positions only, no embedding look-up; causal attention of each document, forward and
    twice that backward. What is computed twice (checkpointing) is not counted; neither are scans and convolutions.
    """
    tokens = sum(batch.tokens for batch in batches)
    heads = sum(len(batch.targets) for batch in batches)
    body = lora = 0
    for name, parameter in model.named_parameters():
        if ".lora_" in name:
            lora += parameter.numel()
        elif name.startswith("model.layers.") and parameter.dim() == 2:
            body += parameter.numel()
    text = text_config(config)
    full = sum(kind != "linear_attention" for kind in layer_types(text))
    width = int(text["num_attention_heads"]) * int(text.get("head_dim") or text["hidden_size"] // text["num_attention_heads"])
    squares = sum(length * length for batch in batches for length in batch.documents)
    attention = 3 * full * 2 * squares * width  # QK^T and PV, 2 FLOP a multiply-add each, half of the square
    head = 4 * heads * int(text["hidden_size"]) * int(text["vocab_size"])
    return 4 * body * tokens + 6 * lora * tokens + head + attention


def matmul_rate(dtype: torch.dtype, device: torch.device, repeats: int = 5) -> float:
    """FLOP/s of a large matrix product in ``dtype`` on this machine now: the best of a few."""
    size = 8192 if device.type == "cuda" else 1024
    a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    out = torch.empty(size, size, dtype=dtype, device=device)

    def product() -> None:
        torch.mm(a, b.t(), out=out)

    return 2 * size**3 / min(_timed(product, device) for _ in range(repeats + 1))


def _host_peak() -> int:
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def _main() -> None:
    spec = json.load(sys.stdin)
    if isinstance(spec["target_modules"], list):
        spec["target_modules"] = tuple(spec["target_modules"])
    try:
        print(json.dumps(bench_step(BenchSpec(**spec))))
    except PennameError as error:
        print(json.dumps({"error": str(error)}))


if __name__ == "__main__":
    _main()
