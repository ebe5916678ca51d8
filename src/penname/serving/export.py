"""``penname export``: each export is written aside, bound, and only then put in its place with its checksums and provenance."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from penname.core.errors import BadInput, ProofFailed
from penname.core.files import disk_error, json_text
from penname.core.folder import VoiceFolder
from penname.core.hashing import sha256_file
from penname.serving.adapter import adapter_tensors, read_adapter, write_adapter
from penname.serving.bind import Binding, bind_names
from penname.serving.classes import FULL, TEXT, serving_class
from penname.serving.voices import ServedRun

KINDS = ("adapter", "adapter-full", "merged", "gguf", "gguf-merged")


def rekey(module: str, full: bool) -> str:
    """A module's path in the full multimodal class (``full``) or in the causal class; both directions."""
    if full and module.startswith(TEXT):
        return FULL + module.removeprefix(TEXT)
    if not full and module.startswith(FULL):
        return TEXT + module.removeprefix(FULL)
    return module


def export_adapter(run: ServedRun, out: Path, full: bool) -> Binding:
    """The adapter under the names of the causal class, or of the full multimodal one."""
    tensors = {rekey(module, full): pair for module, pair in adapter_tensors(run.adapter).items()}
    write_adapter(out, dict(run.adapter.config), tensors)
    name = "transformers-multimodal" if full else "transformers"
    return bind_names(read_adapter(out), serving_class(run.carrier, name))


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
    for name in ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "generation_config.json"):
        if (run.carrier / name).is_file():
            shutil.copyfile(run.carrier / name, out / name)
    again = load_model(out, "cpu", torch.float32)
    off = max(off, check_merged(base, again, run.adapter, probe_ids(run.carrier), scale))
    if base.config.tie_word_embeddings and again.get_output_embeddings().weight is not again.get_input_embeddings().weight:
        raise ProofFailed("the merged model's tied embeddings came apart; nothing was written")
    return Binding(2, "transformers, merged", "bound", len(changed), len(changed), (), f"logits off by {off:.2%} of the adapter's effect")


def export_gguf(run: ServedRun, out: Path) -> Binding:
    """The adapter as a LoRA GGUF, read back and compared tensor by tensor."""
    import gguf
    import numpy as np

    from penname.serving.ggufs import write_lora_gguf

    out.mkdir(parents=True, exist_ok=True)
    target = out / f"{run.name}.gguf"
    count = write_lora_gguf(run.adapter, run.carrier, target)
    names = {tensor.name: tensor for tensor in gguf.GGUFReader(target).tensors}
    good = sum(bool(np.isfinite(tensor.data).all()) and bool(np.any(tensor.data)) for tensor in names.values())
    reasons = () if good == count else (f"{count - good} of {count} tensors are zero or not finite",)
    names_bound = bind_names(run.adapter, serving_class(run.carrier, "llama.cpp"))
    state = names_bound.state if not reasons else "not bound"
    return Binding(1, "llama.cpp", state, names_bound.matched, names_bound.total, (*names_bound.reasons, *reasons), names_bound.note)


def export_gguf_merged(run: ServedRun, out: Path, base: Path | None, quant: str, scale: float) -> Binding:
    """A base GGUF with the adapter merged into its tensors."""
    from penname.serving.ggufs import write_merged_gguf

    found = base or next(iter(sorted(run.carrier.glob("*.gguf"))), None)
    if found is None or not found.is_file():
        raise BadInput("a merged GGUF is made from a GGUF of the carrier; name it with --base FILE.gguf")
    out.mkdir(parents=True, exist_ok=True)
    changed = write_merged_gguf(run.adapter, run.carrier, found, out / f"{run.name}-{quant}.gguf", quant, scale)
    return Binding(2, "llama.cpp, merged", "bound", changed, len(run.adapter.pairs))


def finish_export(voice: VoiceFolder, run: ServedRun, kind: str, write: Callable[[Path], Binding], options: dict[str, Any]) -> Path:
    """Write aside with ``write``, refuse what does not bind, and put it at ``exports/<run>/<kind>`` with export.json.

    ProofFailed with the first reasons where it does not bind: nothing is left behind.
    """
    place = voice.path / "exports" / run.name / kind
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent, prefix=".writing-") as scratch:
        aside = Path(scratch) / kind
        try:
            binding = write(aside)
            if binding.state != "bound":
                raise ProofFailed(f"the export does not bind in {binding.where}: {'; '.join(binding.reasons[:3])}; nothing was written")
            files = {p.relative_to(aside).as_posix(): sha256_file(p) for p in sorted(aside.rglob("*")) if p.is_file()}
            facts = {
                "kind": kind,
                "run": run.name,
                "options": options,
                "adapter": run.adapter.digest,
                "carrier": run.record["carrier"],
                "binding": binding.to_json(),
                "files": files,
                "serve": serve_line(voice, run, kind),
            }
            (aside / "export.json").write_text(json_text(facts), encoding="utf-8")
            if kind.startswith("gguf"):
                (aside / "Modelfile").write_text(modelfile(run, kind, aside), encoding="utf-8")
            if place.exists():
                shutil.rmtree(place)
            aside.rename(place)
        except OSError as error:
            raise disk_error(error, place) from error
    return place


def serve_line(voice: VoiceFolder, run: ServedRun, kind: str) -> str:
    """The command that serves it, paths relative to the voice folder."""
    folder = f"exports/{run.name}/{kind}"
    source = run.record["carrier"]["source"].split(" at ")[0]
    if kind == "merged":
        return f"vllm serve {folder}"
    if kind.startswith("adapter"):
        rank = run.adapter.lora_rank
        return f"vllm serve {source} --enable-lora --max-lora-rank {rank} --lora-modules {voice.name}={folder} --return-tokens-as-token-ids"
    if kind == "gguf":
        return f"llama-server -m BASE.gguf --lora {folder}/{run.name}.gguf"
    return f"llama-server -m {folder}/*.gguf"


def modelfile(run: ServedRun, kind: str, folder: Path) -> str:
    """An Ollama Modelfile: plain completion with the one template, stopping where training stopped."""
    from penname.carriers.tokenizer import load_tokenizer

    tokenizer = load_tokenizer(run.carrier)
    gguf = next(folder.glob("*.gguf")).name
    source = f"FROM ./{gguf}" if kind == "gguf-merged" else f"FROM BASE.gguf\nADAPTER ./{gguf}"
    return f'{source}\nTEMPLATE """[{{{{ .Prompt }}}}]\n\n"""\nPARAMETER stop "{tokenizer.token(tokenizer.stop_id)}"\n'
