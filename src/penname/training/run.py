"""One run, from a voice folder to ``runs/<run>/adapter``: identity, proofs, loop, and the record of all of it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peft import PeftModel

from penname.carriers.loading import resolve_device
from penname.carriers.store import weight_hashes
from penname.carriers.tokenizer import CarrierTokenizer, load_tokenizer
from penname.core.errors import NeedsPerson, StaleInput
from penname.core.files import json_text, read_json, read_text, write_bytes, write_json, write_text
from penname.core.folder import VoiceFolder
from penname.core.hashing import ADAPTER_CONFIG, ADAPTER_WEIGHTS, sha256_file, sha256_value
from penname.core.progress import be_quiet, format_seconds, say
from penname.core.stage import MANIFEST, Manifest, require_manifest, require_whole, seal_files
from penname.core.tokens import Shards, open_shards
from penname.training.arm import arm_of, run_name, train_settings
from penname.training.card import write_card
from penname.training.carrier import LoadedCarrier, compile_layers, load_carrier
from penname.training.checkpoint import complete_checkpoints
from penname.training.estimate import seconds_per_token
from penname.training.fused import fuse_model
from penname.training.loop import Position, RunFiles, order_hashes, total_steps, train
from penname.training.lora import adapted_modules, adapter_parameters, attach_lora, save_adapter
from penname.training.parallel import World, join_world
from penname.training.preflight import prove_adapter, prove_before
from penname.training.provenance import library_versions
from penname.training.samples import Sampler
from penname.training.signals import StopFlag
from penname.training.stage import VERSION, train_inputs


@dataclass(frozen=True)
class RunResult:
    """What a finished run left."""

    folder: Path
    position: Position
    record: dict[str, Any]


def train_run(
    voice: VoiceFolder,
    seed: int,
    *,
    yes: bool = False,
    anyway: bool = False,
    confirm: Callable[[str], bool] | None = None,
) -> RunResult:
    """Train one seed of the voice's arm, or go on with it from its newest checkpoint.

    Raises StaleInput where shards or carrier are not what was recorded, ProofFailed where a preflight fails, NeedsPerson where the
    plan is above ``training.ask_above_hours`` and neither ``yes`` nor ``confirm`` allows it, Stopped after SIGTERM or Ctrl-C.
    """
    config, arm = voice.config, arm_of(voice)
    name = run_name(arm, seed)
    shards = _verified_shards(voice)
    world = join_world(resolve_device(config.carrier.device).type)
    if not world.first:
        be_quiet()
    carrier = load_carrier(config)
    tokenizer = load_tokenizer(carrier.folder)
    _same_tokenizer(shards, tokenizer)
    inputs, settings = train_inputs(voice), train_settings(config)
    run_id = sha256_value({"inputs": inputs, "settings": settings, "seed": seed, "version": VERSION})
    files = RunFiles(voice.runs / name)
    record = _open_run(voice, files, run_id, world)
    peft_model = attach_lora(carrier.model, config.training, seed, base_name=carrier.facts.name)
    # One or the other: the compiler fuses by itself.
    carrier.resolved.update(compile_layers(carrier.model) if config.training.compile else fuse_model(carrier.model))
    record |= _facts(voice, carrier, peft_model, shards, seed, inputs, run_id)
    record["anyway"] = anyway
    say(f"{name}: proving isolation, mask, reach and sampling parity on this model")
    record["preflight"] = prove_before(peft_model, shards, tokenizer, config.training, CopyTexts(voice))
    if not complete_checkpoints(files.checkpoints, run_id):  # a run that has begun was agreed to then
        hours = _planned_hours(peft_model, shards, voice, world)
        record["hours"] = {"planned": round(hours, 4)}
        _ask(hours, name, voice, yes, confirm)
    if world.first:
        write_json(files.folder / "run.json", record)
    sampler = Sampler(carrier.model, tokenizer, shards, config.sampling, seed, files.folder / "samples.jsonl")
    with StopFlag() as stop:
        at = train(
            peft_model,
            shards,
            config.training,
            seed=seed,
            run_id=run_id,
            files=files,
            world=world,
            should_stop=stop,
            on_samples=sampler if world.first else None,
        )
    if world.first:
        _finish(voice, files, peft_model, carrier, at, record, sampler, inputs, settings)
    world.wait()
    return RunResult(files.folder, at, record)


class CopyTexts:
    """Passages as they stand in the copies: (copy, book id, start, end) -> text."""

    def __init__(self, voice: VoiceFolder) -> None:
        self._copies = voice.copies
        self._texts: dict[tuple[int, str], str] = {}

    def __call__(self, copy: int, book: str, start: int, end: int) -> str:
        """The text of a span of a book in a copy."""
        if (copy, book) not in self._texts:
            self._texts[copy, book] = read_text(self._copies / str(copy) / f"{book}.txt")
        return self._texts[copy, book][start:end]


def _verified_shards(voice: VoiceFolder) -> Shards:
    folder = voice.current_shards
    require_whole(folder, "shard")
    shards = open_shards(folder)
    if shards.rows_hash() != shards.order_facts["rows_sha256"]:
        raise StaleInput(f"{folder / 'order.json'} belongs to other rows; run: penname shard")
    return shards


def _same_tokenizer(shards: Shards, tokenizer: CarrierTokenizer) -> None:
    if shards.index["tokenizer_sha256"] != tokenizer.sha256:
        raise StaleInput("the shards were made with another tokenizer than the carrier's; run: penname shard")


def _open_run(voice: VoiceFolder, files: RunFiles, run_id: str, world: World) -> dict[str, Any]:
    """The record of this run so far. A run of another identity under the same name is moved aside, never overwritten."""
    path = files.folder / "run.json"
    before = read_json(path) if world.first and path.is_file() else None
    if world.first:
        if before is not None and before.get("run_id") != run_id:
            kept = _free_name(voice.runs / "replaced" / f"{files.folder.name}-{str(before.get('run_id'))[:8]}")
            kept.parent.mkdir(parents=True, exist_ok=True)
            files.folder.rename(kept)
            say(f"{files.folder.name} was made from other inputs or settings; it is kept as {kept.relative_to(voice.path)}")
            before = None
        files.folder.mkdir(parents=True, exist_ok=True)
        (files.folder / MANIFEST).unlink(missing_ok=True)
    world.wait()
    if before is not None and before.get("run_id") == run_id:
        return {"started_unix": before["started_unix"], "hours": before.get("hours", {})}
    return {"started_unix": int(time.time()), "hours": {}}


def _free_name(path: Path) -> Path:
    number = 1
    while (found := path if number == 1 else path.with_name(f"{path.name}-{number}")).exists():
        number += 1
    return found


def _facts(
    voice: VoiceFolder, carrier: LoadedCarrier, peft_model: PeftModel, shards: Shards, seed: int, inputs: dict[str, str], run_id: str
) -> dict[str, Any]:
    config, arm = voice.config, arm_of(voice)
    shard_manifest = require_manifest(voice.current_shards, "shard")
    parameters = adapter_parameters(peft_model)
    return {
        "version": VERSION,
        "run": run_name(arm, seed),
        "run_id": run_id,
        "state": "running",
        "seed": seed,
        "arm": arm.to_json(),
        "inputs": inputs,
        "hashes": {**shard_manifest.inputs, "order": order_hashes(shards, config.training, seed)},
        "carrier": {
            "name": carrier.facts.name,
            "source": carrier.facts.source,
            "kind": carrier.facts.kind,
            "layout": carrier.facts.layout,
            "quantised": carrier.facts.quantised,
            "files": weight_hashes(carrier.folder),
        },
        "settings": config.model_dump(mode="json"),
        "lora": {
            "modules": len(adapted_modules(peft_model)),
            "parameters": sum(p.numel() for p in parameters.values()),
            "dtype": config.training.adapter_dtype,
        },
        "device": str(carrier.device),
        "dtype": str(carrier.dtype).removeprefix("torch."),
        "threads": carrier.threads,
        "resolved": carrier.resolved,
        "libraries": library_versions(),
        "steps": total_steps(shards, config.training),
        "stop_token": shards.index["stop_token"],
    }


def _planned_hours(peft_model: PeftModel, shards: Shards, voice: VoiceFolder, world: World) -> float:
    tokens = int(shards.index["train_tokens"]) * voice.config.training.epochs
    steps = total_steps(shards, voice.config.training)
    share = min(1.0, steps * voice.config.training.grad_accum_steps / max(1.0, voice.config.training.epochs * shards.train_rows))
    seconds = world.sum_number(seconds_per_token(peft_model.get_base_model(), shards)) / world.size  # the same for all processes
    return seconds * tokens * share / world.size / 3600


def _ask(hours: float, name: str, voice: VoiceFolder, yes: bool, confirm: Callable[[str], bool] | None) -> None:
    limit = voice.config.training.ask_above_hours
    say(f"{name}: the plan for this machine is {format_seconds(hours * 3600)} (a projection from a measured step)")
    if hours <= limit or yes:
        return
    question = f"{name} takes about {hours:.1f} hours on this machine, above training.ask_above_hours = {limit:g}"
    if confirm is None or not confirm(f"{question}. Train now?"):
        raise NeedsPerson(
            f"{question}; nothing was trained. Say yes with: penname train --yes, or price other carriers with: penname carrier plan"
        )


def _finish(
    voice: VoiceFolder,
    files: RunFiles,
    peft_model: PeftModel,
    carrier: LoadedCarrier,
    at: Position,
    record: dict[str, Any],
    sampler: Sampler,
    inputs: dict[str, str],
    settings: dict[str, Any],
) -> None:
    adapter = files.folder / "adapter"
    save_adapter(adapter, peft_model)
    record["proof_after"] = prove_adapter(peft_model, adapter)
    sampler(at.step)
    # Without held-out chapters there is no best step, and nothing to stop early by.
    used = at.best_step if voice.config.training.early_stop_evals and at.best_step else at.step
    if used != at.step:
        # Early stopping means that the last adapter is past its best: the best one is what is used, the last one is kept beside it.
        _keep(adapter, files.folder / "last")
        _keep(files.best, adapter)
    record |= {
        "state": "complete",
        "finished_unix": int(time.time()),
        "steps_done": at.step,
        "adapter_step": used,
        "tokens": at.tokens,
        "trained_tokens": at.trained_tokens,
        "hours": {**record["hours"], "actual": round(at.seconds / 3600, 4)},
        "heldout": [{"step": step, "loss": round(loss, 6)} for step, loss in at.history],
        "best": {"step": at.best_step, "loss": round(at.best_loss, 6)} if at.best_step else None,
        "adapter_sha256": sha256_file(adapter / ADAPTER_WEIGHTS),
    }
    write_card(adapter / "README.md", record)
    write_json(files.folder / "run.json", record)
    write_text(files.folder / "config.json", json_text(voice.config.model_dump(mode="json")))
    entries = seal_files(files.folder, [adapter / ADAPTER_WEIGHTS, adapter / ADAPTER_CONFIG])
    counts = {"steps": at.step, "trained_tokens": at.trained_tokens}
    manifest = Manifest("train", VERSION, settings, inputs, entries, counts)
    write_text(files.folder / MANIFEST, json_text(manifest.to_json()))


def _keep(source: Path, target: Path) -> None:
    for name in (ADAPTER_WEIGHTS, ADAPTER_CONFIG):
        write_bytes(target / name, (source / name).read_bytes())
