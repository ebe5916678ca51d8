"""The three stages of judging: register, control (both before training) and judge. They share ``judging/``, each with its manifest."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from penname.carriers.store import carrier_digest
from penname.core.config import Config
from penname.core.errors import BadInput, JudgeSaysNo, StaleInput
from penname.core.files import json_text, jsonl_text, read_json, read_jsonl
from penname.core.folder import VoiceFolder
from penname.core.hashing import sha256_file
from penname.core.progress import say
from penname.core.stage import Manifest, read_manifest, require_manifest, require_whole, stage_writer
from penname.judging.heldout import JUDGING_COPY, HeldOut, Material, load_material
from penname.judging.registration import registration, registration_fault, too_little_text, unix_now

VERSION = 4
REGISTER, CONTROL, JUDGE = "manifest-register.json", "manifest-control.json", "manifest-judge.json"
SENSITIVITY_PASSAGES = 16  # held-out passages on which beat sensitivity and perplexity are measured
PASSAGES_SHOWN = 4


def register_settings(config: Config) -> dict[str, Any]:
    """What is registered, and the carrier it is for."""
    return {
        "judging": config.judging.model_dump(mode="json"),
        "sampling": config.sampling.model_dump(mode="json", exclude={"batch_size"}),
        "seeds": list(config.training.seeds),
        "carrier": config.carrier.name,
        "seed": config.voice.seed,
    }


control_settings = register_settings
judge_settings = register_settings


def register_inputs(voice: VoiceFolder) -> dict[str, str]:
    """The beats fix the held-out passages."""
    return {"beats": require_manifest(voice.beats, "beat").digest}


def control_inputs(voice: VoiceFolder) -> dict[str, str]:
    """Held-out text under the judging names, other authors, the registration, and the carrier that writes."""
    inputs = {
        "beats": require_manifest(voice.beats, "beat").digest,
        "copy 0": require_manifest(voice.copies / str(JUDGING_COPY), "rename").digest,
        "registration": read_registration(voice)["hash"],
        "carrier": carrier_digest(voice.config.carrier.name),
    }
    others = read_manifest(voice.others)
    return {**inputs, "others": others.digest} if others else inputs


def judge_inputs(voice: VoiceFolder) -> dict[str, str]:
    """The controls, the registration, and the adapter of every run of the configured carrier."""
    inputs = {
        "control": require_manifest(voice.judging, "control", CONTROL).digest,
        "registration": sha256_file(voice.judging / "registration.json"),
    }
    return inputs | {f"run {run['run']}": run["adapter_sha256"] for run in finished_runs(voice)}


def read_registration(voice: VoiceFolder) -> dict[str, Any]:
    """The registration. StaleInput where there is none."""
    path = voice.judging / "registration.json"
    if not path.is_file():
        raise StaleInput("nothing is registered yet; run: penname control --register")
    registration: dict[str, Any] = read_json(path)
    return registration


def finished_runs(voice: VoiceFolder) -> list[dict[str, Any]]:
    """run.json of every complete run of the configured carrier, by name."""
    records = [read_json(voice.runs / run / "run.json") for run in voice.finished_runs()]
    name = voice.config.carrier.name.rstrip("/").rsplit("/", 1)[-1]
    return [record for record in records if record["arm"]["carrier"] == name]


def run_register(voice: VoiceFolder, anyway: bool = False) -> Manifest:
    """Write registration.json, before the first run starts. One that already says the same is kept with its time.

    BadInput where the controls could not have two blocks of a side; with ``anyway`` that is only said, as what is merely likely is.
    """
    material = load_material(voice)
    cannot, may_not = too_little_text(voice.config, material.heldout)
    if cannot and not anyway:
        raise BadInput("; ".join(cannot))
    for sentence in (*cannot, *may_not):
        say(sentence)
    new = registration(voice.config, material.heldout, unix_now())
    path = voice.judging / "registration.json"
    old = read_json(path) if path.is_file() else None
    kept = old if old and old.get("hash") == new["hash"] and not registration_fault(old, new, []) else new
    with stage_writer(
        voice.judging,
        stage="register",
        version=VERSION,
        settings=register_settings(voice.config),
        inputs=register_inputs(voice),
        counts={"passages": len(set(new["passages"])), "samples": new["samples"]},
        name=REGISTER,
    ) as out:
        (out / "registration.json").write_text(json_text(kept), encoding="utf-8")
    return require_manifest(voice.judging, "control --register", REGISTER)


def registered_prompts(voice: VoiceFolder, material: Material) -> list[HeldOut]:
    """The held-out passages that the registration names, in its order."""
    by_id = {one.passage_id: one for one in material.heldout}
    try:
        return [by_id[passage] for passage in read_registration(voice)["passages"]]
    except KeyError as error:
        raise StaleInput(
            f"the registration names the passage {error}, which is not held out any more; run: penname control --register"
        ) from None


def run_control(voice: VoiceFolder) -> Manifest:
    """Let the base model write from the registered beats, and see whether the instrument sees. The result stands either way."""
    from penname.judging.controls import fit_and_score, judge_controls, lay_traps
    from penname.judging.judge import write_base

    inputs = control_inputs(voice)
    registered = read_registration(voice)
    material = load_material(voice)
    prompts = registered_prompts(voice, material)
    texts, found = write_base(voice, material, prompts)
    sighted = fit_and_score(material, prompts, texts, registered["block_words"])
    seed, thresholds = voice.config.voice.seed, registered["thresholds"]
    traps = lay_traps(material, prompts, texts, registered["block_words"], seed)
    controls = judge_controls(sighted, traps, thresholds["auc_floor"], thresholds["null_ceiling"], seed)
    controls["likelihood"] = asdict(found)
    rows = [{"passage": one.passage_id, "beat": one.beat, "text": text} for one, text in zip(prompts, texts, strict=True)]
    with stage_writer(
        voice.judging,
        stage="control",
        version=VERSION,
        settings=control_settings(voice.config),
        inputs=inputs,
        counts={"samples": len(rows), "passed": int(controls["passed"])},
        name=CONTROL,
    ) as out:
        (out / "controls.json").write_text(json_text(controls), encoding="utf-8")
        (out / "base.jsonl").write_text(jsonl_text(rows), encoding="utf-8")
    return require_manifest(voice.judging, "control", CONTROL)


def run_judge(voice: VoiceFolder) -> Manifest:
    """Let every run write from the registered beats, measure, and write verdict.json with each run's samples."""
    from penname.judging.judge import judge_runs

    inputs = judge_inputs(voice)
    records = finished_runs(voice)
    if not records:
        raise StaleInput("there is no finished run of this carrier to judge; run: penname train")
    require_whole(voice.judging, "control", CONTROL)
    for record in records:
        require_whole(voice.runs / record["run"], "train")
    registered = read_registration(voice)
    material = load_material(voice)
    now = registration(voice.config, material.heldout, unix_now())
    fault = registration_fault(registered, now, [record["started_unix"] for record in records])
    base = [row["text"] for row in read_jsonl(voice.judging / "base.jsonl")]
    controls = read_json(voice.judging / "controls.json")
    controls["anyway"] = any(record.get("anyway") for record in records)
    verdict, samples = judge_runs(voice, material, registered_prompts(voice, material), base, controls, registered, fault, records)
    with stage_writer(
        voice.judging,
        stage="judge",
        version=VERSION,
        settings=judge_settings(voice.config),
        inputs=inputs,
        counts={"runs": len(records), "samples": sum(map(len, samples.values()))},
        name=JUDGE,
    ) as out:
        (out / "verdict.json").write_text(json_text(asdict(verdict)), encoding="utf-8")
        for run, rows in samples.items():
            (out / "samples").mkdir(exist_ok=True)
            (out / "samples" / f"{run}.jsonl").write_text(jsonl_text(rows), encoding="utf-8")
    return require_manifest(voice.judging, "judge", JUDGE)


def require_sight(voice: VoiceFolder) -> None:
    """JudgeSaysNo, with the reasons, where a control failed."""
    controls = read_json(voice.judging / "controls.json")
    if not controls["passed"]:
        raise JudgeSaysNo("the instrument cannot see this voice: " + "; ".join(controls["reasons"]))
