"""``penname export``: each export is written aside, bound, and only then put in its place with its checksums and provenance."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penname import __version__
from penname.core.errors import BadInput, ProofFailed
from penname.core.files import disk_error, read_json, sync_folder, write_json
from penname.core.folder import VoiceFolder
from penname.core.hashing import sha256_file
from penname.core.lock import hold
from penname.core.stage import seal_files
from penname.serving.adapter import adapter_tensors, read_adapter, write_adapter
from penname.serving.bind import Binding, bind_names, bind_weights
from penname.serving.classes import FULL, TEXT, is_multimodal, serving_class
from penname.serving.serve_lines import modelfile, serve_line
from penname.serving.voices import ServedRun

RECORD = "export.json"
_ASIDE = ".writing-"
TOKENIZER_FILES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "generation_config.json")


def rekey(module: str, full: bool) -> str:
    """A module's path in the full multimodal class (``full``) or in the causal class; both directions."""
    if full and module.startswith(TEXT):
        return FULL + module.removeprefix(TEXT)
    if not full and module.startswith(FULL):
        return TEXT + module.removeprefix(FULL)
    return module


def export_adapter(run: ServedRun, out: Path, full: bool, scale: float = 1.0) -> Binding:
    """The adapter under the names of the causal class, or of the full multimodal one; ``scale`` goes into B."""
    if full and not is_multimodal(run.carrier):
        raise BadInput(f"{run.carrier.name} is a text model and serves as its causal class; leave out --full")
    tensors = {rekey(module, full): (a, scale * b) for module, (a, b) in adapter_tensors(run.adapter).items()}
    write_adapter(out, dict(run.adapter.config), tensors)
    written = read_adapter(out)
    names = bind_names(written, serving_class(run.carrier, "transformers-multimodal" if full else "transformers"))
    return bind_weights(written, run.carrier, multimodal=full) if names.state == "bound" else names


def export_merged(run: ServedRun, out: Path, scale: float) -> Binding:
    """bf16 safetensors with the adapter merged in, loadable by transformers; equality with base plus adapter is checked first."""
    import torch

    from penname.carriers.loading import load_model
    from penname.serving.merge import check_merged, merge_into, probe_ids

    base = load_model(run.carrier, "cpu", torch.float32)
    merged = load_model(run.carrier, "cpu", torch.float32)
    changed = merge_into(merged, run.adapter, scale)
    merged = merged.to(torch.bfloat16).float()  # what the file will hold
    off = check_merged(base, merged, run.adapter, probe_ids(run.carrier), scale)
    merged.to(torch.bfloat16).save_pretrained(out)
    for name in TOKENIZER_FILES:
        if (run.carrier / name).is_file():
            shutil.copyfile(run.carrier / name, out / name)
    again = load_model(out, "cpu", torch.float32)
    off = max(off, check_merged(base, again, run.adapter, probe_ids(run.carrier), scale))
    if base.config.tie_word_embeddings and again.get_output_embeddings().weight is not again.get_input_embeddings().weight:
        raise ProofFailed("the merged model's tied embeddings came apart; nothing was written")
    return Binding(2, "transformers, merged", "bound", len(changed), len(changed), (), f"logits off by {off:.2%} of the adapter's effect")


def export_gguf(run: ServedRun, out: Path, scale: float = 1.0) -> Binding:
    """The adapter as a LoRA GGUF, read back and compared tensor by tensor."""
    from penname.serving.ggufs import bind_lora_gguf, write_lora_gguf

    out.mkdir(parents=True, exist_ok=True)
    target = out / f"{run.name}.gguf"
    write_lora_gguf(run.adapter, run.carrier, target, scale)
    return bind_lora_gguf(run.adapter, run.carrier, target, scale)


def export_gguf_merged(run: ServedRun, out: Path, base: Path | None, quant: str, scale: float) -> Binding:
    """A base GGUF with the adapter merged into its tensors, read back and compared with the base."""
    from penname.serving.ggufs import bind_merged_gguf, write_merged_gguf

    found = base or next(iter(sorted(run.carrier.glob("*.gguf"))), None)
    if found is None:
        raise BadInput("a merged GGUF is made from a GGUF of the carrier, and none is staged; name it with --base FILE.gguf")
    out.mkdir(parents=True, exist_ok=True)
    target = out / f"{run.name}-{quant}.gguf"
    write_merged_gguf(run.adapter, run.carrier, found, target, quant, scale)
    return bind_merged_gguf(run.adapter, run.carrier, found, target, scale)


def finish_export(voice: VoiceFolder, run: ServedRun, kind: str, write: Callable[[Path], Binding], options: dict[str, Any]) -> Path:
    """Write aside with ``write``, refuse what does not bind, and put it at ``exports/<run>/<kind>`` with export.json.

    ProofFailed with the first reasons where it does not bind: nothing is left behind, and an earlier export stays as it was.
    """
    place = voice.path / "exports" / run.name / kind
    place.parent.mkdir(parents=True, exist_ok=True)
    with hold(place.parent, "export"), tempfile.TemporaryDirectory(dir=place.parent, prefix=_ASIDE) as scratch:
        for left in place.parent.glob(f"{_ASIDE}*"):  # by an export that was killed; the lock keeps to one writer at a time
            if left != Path(scratch):
                shutil.rmtree(left, ignore_errors=True)
        aside = Path(scratch) / kind
        try:
            binding = write(aside)
            if binding.state != "bound":
                raise ProofFailed(f"the export does not bind in {binding.where}: {'; '.join(binding.reasons[:3])}; nothing was written")
            if kind.startswith("gguf"):
                (aside / "Modelfile").write_text(modelfile(run, kind, aside, voice.config.sampling), encoding="utf-8")
            facts = {
                "kind": kind,
                "run": run.name,
                "options": options,
                "adapter": run.adapter.digest,
                "carrier": run.record["carrier"],
                "penname": __version__,
                "binding": binding.to_json(),
                "serve": serve_line(run, kind, voice.name, aside),
                "files": {path: entry["sha256"] for path, entry in seal_files(aside, filter(Path.is_file, aside.rglob("*"))).items()},
            }
            write_json(aside / RECORD, facts)
            if place.exists():
                place.rename(Path(scratch) / "old")  # goes with the scratch folder
            aside.rename(place)
            sync_folder(place.parent)
        except OSError as error:
            raise disk_error(error, place) from error
    return place


def verify_export(folder: Path) -> None:
    """BadInput where a file of an export is not the one that was written; a folder without export.json is nobody's export and passes."""
    if not (folder / RECORD).is_file():
        return
    record = read_json(folder / RECORD)
    files = record.get("files") if isinstance(record, dict) else None
    if not isinstance(files, dict) or not all(isinstance(digest, str) for digest in files.values()):
        raise BadInput(f"{folder / RECORD} is no record of an export; write it again with penname export")
    for name, digest in files.items():
        if not (folder / name).is_file():
            raise BadInput(f"{folder}/{name} is gone since it was exported; write it again with penname export")
        if sha256_file(folder / name) != digest:
            raise BadInput(f"{folder}/{name} is not the file that was exported (its checksum differs); write it again with penname export")
