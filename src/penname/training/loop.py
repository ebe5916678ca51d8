"""The training loop: read it from top to bottom."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from peft import PeftModel

from penname.core.config import TrainingConfig
from penname.core.errors import PennameError, ProofFailed, StaleInput
from penname.core.progress import progress
from penname.core.tokens import Row, Shards, order_hash
from penname.training.batch import batch_of
from penname.training.checkpoint import newest_checkpoint, save_checkpoint
from penname.training.heldout import heldout_loss
from penname.training.lora import adapter_parameters, adapter_tensors, load_adapter_tensors, save_adapter
from penname.training.metrics import MetricsLog
from penname.training.optimizer import learning_rate, load_optimizer_tensors, make_optimizer, optimizer_tensors
from penname.training.parallel import World
from penname.training.step import forward_backward


class Stopped(PennameError):
    """Training was asked to stop; what was done is in a checkpoint."""

    exit_code = 130


@dataclass
class Position:
    """How far a run is; part of every checkpoint."""

    step: int = 0
    tokens: int = 0
    trained_tokens: int = 0
    seconds: float = 0.0
    best_loss: float = math.inf
    best_step: int = 0
    worse_evals: int = 0
    history: list[tuple[int, float]] = field(default_factory=list)  # (step, held-out loss)


@dataclass(frozen=True)
class RunFiles:
    """Where a run writes."""

    folder: Path

    @property
    def checkpoints(self) -> Path:
        """checkpoints/step-N/."""
        return self.folder / "checkpoints"

    @property
    def best(self) -> Path:
        """The adapter with the lowest held-out loss so far."""
        return self.folder / "best"

    @property
    def metrics(self) -> Path:
        """metrics.jsonl."""
        return self.folder / "metrics.jsonl"


def total_steps(shards: Shards, settings: TrainingConfig) -> int:
    """Optimizer steps of a whole run."""
    rows = max(1, round(settings.epochs * shards.train_rows))
    steps = math.ceil(rows / settings.grad_accum_steps)
    return min(steps, settings.max_steps) if settings.max_steps else steps


def step_rows(shards: Shards, settings: TrainingConfig, seed: int, first_step: int = 0) -> Iterator[list[int]]:
    """The rows of each optimizer step from ``first_step`` on: the epochs' orders one after another, cut by ``grad_accum_steps``."""
    rows = max(1, round(settings.epochs * shards.train_rows))
    orders: dict[int, Any] = {}
    for step in range(first_step, total_steps(shards, settings)):
        positions = range(step * settings.grad_accum_steps, min(rows, (step + 1) * settings.grad_accum_steps))
        picked = []
        for position in positions:
            epoch, place = divmod(position, shards.train_rows)
            if epoch not in orders:
                orders = {epoch: shards.order(seed, epoch)} | ({epoch - 1: orders[epoch - 1]} if epoch - 1 in orders else {})
            picked.append(int(orders[epoch][place]))
        yield picked


def order_hashes(shards: Shards, settings: TrainingConfig, seed: int) -> dict[str, str]:
    """Hash of the order of every epoch that the run takes rows from."""
    rows = min(max(1, round(settings.epochs * shards.train_rows)), total_steps(shards, settings) * settings.grad_accum_steps)
    return {str(epoch): order_hash(shards.order(seed, epoch)) for epoch in range(math.ceil(rows / shards.train_rows))}


def train(
    peft_model: PeftModel,
    shards: Shards,
    settings: TrainingConfig,
    *,
    seed: int,
    run_id: str,
    files: RunFiles,
    world: World | None = None,
    should_stop: Callable[[], bool] = lambda: False,
    on_samples: Callable[[int], None] | None = None,
) -> Position:
    """Train the attached adapter to the end of its steps, from the newest checkpoint that verifies where there is one.

    ``on_samples(step)`` is called every ``sample_steps``. Stopped after ``should_stop`` turned true and a checkpoint was written.
    ProofFailed where the loss is no number, StaleInput where the rows would come in another order than before.
    """
    world = world or World()
    model = peft_model.get_base_model()
    device = next(model.parameters()).device
    parameters = adapter_parameters(peft_model)
    optimizer = make_optimizer(parameters, settings)
    steps = total_steps(shards, settings)
    orders = order_hashes(shards, settings, seed)
    at = _resume(peft_model, optimizer, parameters, files, run_id, orders)
    log = MetricsLog(files.metrics, at.step, settings.track if world.first else "none", active=world.first)

    def save() -> None:
        if world.first:
            state = {"position": asdict(at), "orders": orders, "torch_rng": torch.get_rng_state().tolist(), "seed": seed}
            tensors = adapter_tensors(peft_model), optimizer_tensors(optimizer, parameters)
            save_checkpoint(files.checkpoints, at.step, *tensors, _finite(state), run_id=run_id, keep=settings.keep_checkpoints)
        world.wait()

    def past_best() -> bool:
        return bool(settings.early_stop_evals) and at.worse_evals >= settings.early_stop_evals

    with log, progress("train", steps) as bar:
        bar.advance(at.step)
        if at.step == 0:
            _evaluate(peft_model, shards, settings, at, files, log, world)  # the carrier's own loss, where the curve begins
        for rows in [] if past_best() else step_rows(shards, settings, seed, at.step):
            started = time.monotonic()
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(at.step, steps, settings)
            loaded = [shards.row(row) for row in rows]
            trained = sum(row.trained_tokens for row in loaded)  # over all processes: each one knows every row's count
            loss = _accumulate(model, loaded[world.rank :: world.size], device, 1.0 / trained)
            world.sum_gradients(parameters.values())
            loss = world.sum_number(loss) / trained
            grad_norm = float(torch.nn.utils.clip_grad_norm_(parameters.values(), settings.clip_norm))
            if not math.isfinite(loss) or not math.isfinite(grad_norm):
                raise ProofFailed(
                    f"step {at.step + 1}: the loss is {loss} and the gradient norm {grad_norm}; nothing after the last checkpoint was kept"
                )
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
            at.step += 1
            at.tokens += sum(len(row.input_ids) for row in loaded)
            at.trained_tokens += trained
            seconds = time.monotonic() - started
            at.seconds += seconds
            log.step(at.step, loss, trained, sum(len(r.input_ids) for r in loaded), optimizer.param_groups[0]["lr"], grad_norm, seconds)
            bar.advance()
            bar.note(f"loss {loss:.3f}")

            last = at.step == steps
            if at.step % settings.eval_steps == 0 or last:
                _evaluate(peft_model, shards, settings, at, files, log, world)
            if on_samples and settings.sample_steps and at.step % settings.sample_steps == 0 and not last:
                on_samples(at.step)
            stop = world.any(should_stop())
            if at.step % settings.save_steps == 0 or last or past_best() or stop:
                save()
            if past_best():
                break
            if stop and not last:
                raise Stopped(f"stopped after step {at.step} of {steps} and saved it; go on with: penname train")
    return at


def _accumulate(model: torch.nn.Module, rows: list[Row], device: torch.device, scale: float) -> float:
    model.train()
    return sum(forward_backward(model, batch_of(row, device), scale) for row in rows)


def _evaluate(
    peft_model: PeftModel, shards: Shards, settings: TrainingConfig, at: Position, files: RunFiles, log: MetricsLog, world: World
) -> None:
    found = heldout_loss(peft_model.get_base_model(), shards, world, settings.eval_rows)
    if found is None:
        return
    if not math.isfinite(found):
        raise ProofFailed(f"after step {at.step} the held-out loss is {found}; nothing after the last checkpoint was kept")
    at.history.append((at.step, found))
    log.heldout(at.step, found)
    if at.step == 0:
        return
    if found < at.best_loss:
        at.best_loss, at.best_step, at.worse_evals = found, at.step, 0
        if world.first:
            save_adapter(files.best, peft_model)
    else:
        at.worse_evals += 1


def _resume(
    peft_model: PeftModel,
    optimizer: torch.optim.AdamW,
    parameters: dict[str, torch.nn.Parameter],
    files: RunFiles,
    run_id: str,
    orders: dict[str, str],
) -> Position:
    found = newest_checkpoint(files.checkpoints, run_id)
    if found is None:
        return Position()
    if found.state["orders"] != orders:
        raise StaleInput(
            f"{files.checkpoints} goes with another order of the rows than the shards give now; delete that folder to begin this run anew"
        )
    load_adapter_tensors(peft_model, found.adapter)
    load_optimizer_tensors(optimizer, parameters, found.optimizer)
    torch.set_rng_state(torch.tensor(found.state["torch_rng"], dtype=torch.uint8))
    saved = dict(found.state["position"])
    saved["best_loss"] = math.inf if saved["best_loss"] is None else saved["best_loss"]
    saved["history"] = [tuple(row) for row in saved["history"]]
    return Position(**saved)


def _finite(state: dict[str, Any]) -> dict[str, Any]:
    position = dict(state["position"])
    if not math.isfinite(position["best_loss"]):
        position["best_loss"] = None  # JSON has no infinity
    return {**state, "position": position}
