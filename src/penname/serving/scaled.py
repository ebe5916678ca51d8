"""``penname export arm``: a run's adapter at another strength as a run of its own, which ``judge`` scores as an arm of its own.

``runs/<run>@0.5`` holds the adapter with its B scaled, the run's record with its parent named, and no checkpoints: it was not trained.
"""

from __future__ import annotations

from typing import Any

from penname.core.errors import BadInput, ProofFailed
from penname.core.files import json_text
from penname.core.folder import VoiceFolder
from penname.core.hashing import ADAPTER_WEIGHTS, sha256_file, sha256_value
from penname.core.stage import require_manifest, stage_writer
from penname.serving.check import bind_run
from penname.serving.export import export_adapter
from penname.serving.voices import ServedRun


def export_arm(voice: VoiceFolder, run: ServedRun, scale: float) -> str:
    """Write ``runs/<run>@<scale>``, bound like any run; its name. BadInput for a scale of 1 or 0, or a run that is scaled already."""
    if "scaled" in run.record:
        raise BadInput(f"{run.name} is scaled already; scale {run.record['scaled']['from']} instead")
    if scale in (0.0, 1.0):
        raise BadInput(f"an arm at scale {scale:g} is the {'base model' if scale == 0 else 'run itself'}; give another with --scale")
    manifest = require_manifest(run.folder, "train")
    name = f"{run.name}@{scale:g}"
    with stage_writer(
        voice.runs / name,
        stage="train",
        version=manifest.version,
        settings={**manifest.settings, "scale": scale},
        inputs={"run": manifest.digest},
    ) as out:
        binding = export_adapter(run, out / "adapter", False, scale)
        if binding.state != "bound":
            raise ProofFailed(f"the scaled adapter does not bind: {'; '.join(binding.reasons[:3])}; nothing was written")
        record = _record(run, name, scale) | {"adapter_sha256": sha256_file(out / "adapter" / ADAPTER_WEIGHTS)}
        (out / "run.json").write_text(json_text(record), encoding="utf-8")
    bind_run(voice, name, ["transformers"])
    return name


def _record(run: ServedRun, name: str, scale: float) -> dict[str, Any]:
    """The parent's record under the new name: its arm has an id of its own, and no best loss, since this one was not measured."""
    arm = dict(run.record["arm"])
    arm |= {"id": sha256_value([arm.get("id"), "scale", scale])[:12], "name": f"{arm.get('name', run.name)}@{scale:g}", "scale": scale}
    return {**run.record, "run": name, "arm": arm, "best": None, "heldout": [], "scaled": {"from": run.name, "scale": scale}}
