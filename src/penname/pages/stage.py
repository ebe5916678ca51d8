"""The report stage: reads every finished folder, writes ``report.html``."""

from __future__ import annotations

from typing import Any

from penname.core.config import Config
from penname.core.folder import VoiceFolder
from penname.core.hashing import sha256_file
from penname.core.stage import Manifest, read_manifest, stage_writer
from penname.pages.copied import copied_spans
from penname.pages.gather import finished_stages, gather
from penname.pages.report import report_page

VERSION = 1
MANIFEST = ".report.json"


def report_settings(config: Config) -> dict[str, Any]:
    """The whole configuration: the page shows it."""
    return config.model_dump(mode="json")


def report_inputs(voice: VoiceFolder) -> dict[str, str]:
    """Digests of everything that is there to be shown."""
    inputs = {name: manifest.digest for name, manifest in finished_stages(voice).items()}
    for record in sorted(voice.runs.glob("*/run.json")):
        for name in ("run.json", "metrics.jsonl", "samples.jsonl"):
            path = record.with_name(name)
            if path.is_file():
                inputs[f"{record.parent.name}/{name}"] = sha256_file(path)
    for path in sorted(voice.judging.glob("curve-*.json")):
        inputs[path.name] = sha256_file(path)
    return inputs


def run_report(voice: VoiceFolder) -> Manifest:
    """Write the page from what is there; stages that are missing are shown as missing."""
    inputs, facts = report_inputs(voice), gather(voice)
    page = report_page(facts, copied_spans(voice, facts))
    with stage_writer(
        voice.path,
        stage="report",
        version=VERSION,
        settings=report_settings(voice.config),
        inputs=inputs,
        counts={"runs": len(facts.runs), "bytes": len(page.encode())},
        name=MANIFEST,
    ) as out:
        (out / "report.html").write_text(page, encoding="utf-8")
    manifest = read_manifest(voice.path, MANIFEST)
    assert manifest is not None
    return manifest
