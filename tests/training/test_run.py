"""A whole run on tiny carriers: what it leaves, when it asks, and when it stops early."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
import torch

from penname.carriers.generation import Sample
from penname.carriers.tokenizer import load_tokenizer
from penname.core.config import Config, SamplingConfig
from penname.core.errors import BadInput, NeedsPerson, PennameError, StaleInput
from penname.core.files import read_jsonl
from penname.core.folder import VoiceFolder, open_voice
from penname.core.hashing import sha256_file
from penname.core.stage import require_manifest
from penname.core.tokens import open_shards
from penname.shards import run_shards
from penname.training.carrier import load_carrier
from penname.training.loop import RunFiles, train
from penname.training.run import train_run
from penname.training.samples import Sampler
from penname.training.stage import planned_runs, run_train
from tiny import tiny_carrier
from tiny_training import SETTINGS, Tiny, make_tiny_voice, toml
from voices import tiny_book, tiny_voice


@pytest.fixture(scope="module", params=["qwen3", "qwen3_5", "llama"])
def finished(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict]:
    voice = make_tiny_voice(tmp_path_factory.mktemp(request.param), request.param)
    result = train_run(voice, 1)
    return result.folder, json.loads((result.folder / "run.json").read_text())


def test_metrics_hold_every_step_and_evaluation(finished: tuple[Path, dict]) -> None:
    rows = [json.loads(line) for line in (finished[0] / "metrics.jsonl").read_text().splitlines()]
    assert [(row["step"], "loss" in row) for row in rows] == [
        (0, False), (1, True), (2, True), (2, False), (3, True), (4, True), (4, False), (5, True), (6, True), (6, False),
    ]  # fmt: skip
    assert rows[-2]["loss"] < rows[1]["loss"]
    assert rows[-1]["heldout_loss"] < rows[0]["heldout_loss"]


def test_the_record_says_how_the_run_was_made(finished: tuple[Path, dict]) -> None:
    folder, record = finished
    assert record["state"] == "complete"
    assert record["arm"]["corpus_words"] == 0
    assert record["arm"]["copies"] == 2
    assert record["arm"]["target_modules"] == "attention+mlp"
    assert record["steps_done"] == 6
    assert set(record["hashes"]) == {"books", "beats", "copy 0", "copy 1", "copy 2", "tokenizer", "order"}
    assert "model.safetensors" in record["carrier"]["files"]
    assert record["resolved"]["attention"]
    assert ("scan" in record["resolved"]) == (record["carrier"]["layout"] == "hybrid")
    assert {"torch", "transformers", "peft", "python", "penname"} <= set(record["libraries"])
    assert set(record["hours"]) == {"planned", "actual"}
    assert record["threads"] == 1
    assert record["settings"]["training"]["learning_rate"] == SETTINGS["learning_rate"]
    assert record["best"] == {"step": 6, "loss": record["heldout"][-1]["loss"]}
    assert str(folder.parent) not in json.dumps({k: v for k, v in record.items() if k != "settings"}), "no path of this machine"


def test_peft_loads_the_adapter_as_it_stands(finished: tuple[Path, dict]) -> None:
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    folder, record = finished
    base = AutoModelForCausalLM.from_pretrained(Path(record["settings"]["carrier"]["name"]))
    ids = torch.arange(20, 40)[None]
    with torch.no_grad():
        before = base(input_ids=ids).logits
        after = PeftModel.from_pretrained(base, folder / "adapter")(input_ids=ids).logits
    assert float((before - after).abs().max()) > 1e-3
    assert (folder / "adapter/README.md").read_text().startswith("---\nbase_model: ")
    assert (folder / "adapter").is_dir()
    assert not (folder / "adapter").is_symlink()


def test_samples_are_of_heldout_beats(finished: tuple[Path, dict]) -> None:
    rows = [json.loads(line) for line in (finished[0] / "samples.jsonl").read_text().splitlines()]
    assert rows
    assert {row["step"] for row in rows} == {6}
    assert all(row["passage"].startswith("tale:3:") for row in rows)
    assert all(row["beat"].startswith("Sophia goes on, ") for row in rows)


def test_samples_may_hold_any_line_separator(dense: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A carrier may write U+2028 or U+0085, which end a line for str.splitlines and not for JSONL."""
    written = "one\u2028two\x85three"
    answer = lambda model, tokenizer, prefixes, *_: [Sample(i, (), written, "stop") for i in range(len(prefixes))]  # noqa: E731
    monkeypatch.setattr("penname.carriers.generation.generate", answer)
    path = tmp_path / "samples.jsonl"
    sampler = Sampler(dense.model(), load_tokenizer(dense.folder), dense.shards, SamplingConfig(), 1, path, count=1)
    for step in (2, 4, 4):
        sampler(step)
    assert [(row["step"], row["text"]) for row in read_jsonl(path)] == [(2, written), (4, written)]


def test_two_runs_give_the_same_bits(tmp_path: Path) -> None:
    files = []
    for name in "ab":
        voice = make_tiny_voice(tmp_path / name, "qwen3_5", max_steps=3)
        folder = train_run(voice, 1).folder
        files.append([(folder / "adapter" / n).read_bytes() for n in ("adapter_model.safetensors", "adapter_config.json")])
        files[-1].append(require_manifest(folder, "train").digest)
    assert files[0] == files[1]


def test_a_plan_above_the_limit_asks_first(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    voice = make_tiny_voice(tmp_path, "qwen3", max_steps=1, ask_above_hours=0)
    with pytest.raises(NeedsPerson, match=r"takes about 0\.0 hours on this machine, above training\.ask_above_hours = 0"):
        train_run(voice, 1)
    assert "the plan for this machine is" in capsys.readouterr().err
    asked = []
    with pytest.raises(NeedsPerson):
        train_run(voice, 1, confirm=lambda question: bool(asked.append(question)))
    assert "Train now?" in asked[0]
    assert not list(voice.runs.glob("*/adapter"))
    assert planned_runs(voice)[0].state != "fresh"
    train_run(voice, 1, yes=True)
    assert planned_runs(voice)[0].state == "fresh"


def test_early_stop_keeps_the_best_adapter_and_the_last(tmp_path: Path) -> None:
    """A rate far too high makes the held-out loss grow."""
    voice = make_tiny_voice(
        tmp_path, "qwen3", learning_rate=0.3, schedule="constant", eval_steps=1, early_stop_evals=2, max_steps=50, epochs=9.0
    )
    folder = train_run(voice, 1).folder
    record = json.loads((folder / "run.json").read_text())
    assert record["steps_done"] < 50
    losses = [row["loss"] for row in record["heldout"][1:]]
    assert record["best"]["loss"] == min(losses)
    assert record["adapter_step"] == record["best"]["step"] == record["steps_done"] - 2
    weights = "adapter_model.safetensors"
    assert (folder / "adapter" / weights).read_bytes() == (folder / "best" / weights).read_bytes()
    assert (folder / "last" / weights).read_bytes() != (folder / "best" / weights).read_bytes()


def without_heldout(folder: Path, **changes: object) -> VoiceFolder:
    book = tiny_book()
    chapters = tuple(replace(chapter, split="train") for chapter in book.chapters)
    voice = tiny_voice(folder, tiny_carrier("qwen3"), settings=toml(**changes), books=[replace(book, chapters=chapters)])
    run_shards(voice)
    return voice


@pytest.mark.parametrize("early_stop_evals", [0, 1])
def test_without_heldout_chapters_a_run_ends_with_its_last_adapter(tmp_path: Path, early_stop_evals: int) -> None:
    result = train_run(without_heldout(tmp_path, max_steps=2, early_stop_evals=early_stop_evals), 1)
    assert (result.record["best"], result.record["heldout"], result.record["adapter_step"]) == (None, [], 2)
    assert (result.folder / "adapter/adapter_model.safetensors").is_file()
    assert not (result.folder / "samples.jsonl").exists()


def test_a_step_of_more_rows_than_there_are_takes_them_all(dense: Tiny, tmp_path: Path) -> None:
    peft_model, settings = dense.attached(grad_accum_steps=10_000)
    at = train(peft_model, dense.shards, settings, seed=1, run_id="x", files=RunFiles(tmp_path))
    epochs = round(settings.epochs * dense.shards.train_rows) / dense.shards.train_rows
    assert (at.step, at.trained_tokens) == (1, dense.shards.index["train_trained_tokens"] * epochs)


def test_no_number_for_a_heldout_loss_stops_the_run(dense: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from penname.core.errors import ProofFailed

    losses = iter([2.0, float("nan")])
    monkeypatch.setattr("penname.training.loop.heldout_loss", lambda *_: next(losses))
    peft_model, settings = dense.attached()
    with pytest.raises(ProofFailed, match="after step 2 the held-out loss is nan"):
        train(peft_model, dense.shards, settings, seed=1, run_id="x", files=RunFiles(tmp_path))


def test_early_stop_holds_after_a_resume(dense: Tiny, tmp_path: Path) -> None:
    changes = {"learning_rate": 0.3, "schedule": "constant", "eval_steps": 1, "early_stop_evals": 2, "max_steps": 50, "epochs": 9.0}
    ends = []
    for _ in range(2):
        peft_model, settings = dense.attached(**changes)
        ends.append(train(peft_model, dense.shards, settings, seed=1, run_id="x", files=RunFiles(tmp_path)).step)
    assert ends[0] == ends[1] < 50


def test_every_variant_trains(tmp_path: Path) -> None:
    for number, change in enumerate(
        [
            {"adapter_dtype": "bf16"},
            {"gradient_checkpointing": True},
            {"target_modules": "attention+mlp+linear"},
            {"target_modules": ["q_proj", "in_proj_qkv"]},
            {"schedule": "constant", "weight_decay": 0.1, "clip_norm": 0.01},
        ]
    ):
        voice = make_tiny_voice(tmp_path / str(number), "qwen3_5", **{"max_steps": 2, **change})
        record = train_run(voice, 1).record
        assert record["state"] == "complete", change
        assert record["heldout"][-1]["loss"] < 7


def test_gradient_checkpointing_changes_nothing_but_memory(tmp_path: Path) -> None:
    losses = []
    for checkpointing in (False, True):
        voice = make_tiny_voice(tmp_path / str(checkpointing), "qwen3_5", max_steps=3, gradient_checkpointing=checkpointing)
        losses.append([row["loss"] for row in train_run(voice, 1).record["heldout"]])
    assert losses[0] == pytest.approx(losses[1], abs=1e-5)


def test_the_head_is_never_adapted(tmp_path: Path) -> None:
    voice = make_tiny_voice(tmp_path, "qwen3", target_modules=["q_proj", "lm_head"])
    with pytest.raises(BadInput, match="names lm_head, which no layer of this carrier's text model has"):
        train_run(voice, 1)


def test_no_number_for_a_loss_stops_the_run(dense: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from penname.core.errors import ProofFailed

    monkeypatch.setattr("penname.training.loop.heldout_loss", lambda *_: None)
    peft_model, settings = dense.attached()
    with torch.no_grad():
        peft_model.get_base_model().model.norm.weight.fill_(float("nan"))
    with pytest.raises(ProofFailed, match="step 1: the loss is nan"):
        train(peft_model, dense.shards, settings, seed=1, run_id="x", files=RunFiles(tmp_path))


def test_shards_of_another_tokenizer_are_refused(tmp_path: Path) -> None:
    carrier = tmp_path / "carrier"
    shutil.copytree(tiny_carrier("qwen3"), carrier)
    voice = tiny_voice(tmp_path / "v", carrier, settings=toml())
    run_shards(voice)
    tokenizer = carrier / "tokenizer.json"
    tokenizer.write_text(tokenizer.read_text() + "\n")
    with pytest.raises(StaleInput, match="made with another tokenizer than the carrier's; run: penname shard"):
        train_run(voice, 1)


def test_an_order_of_other_rows_is_refused(tmp_path: Path) -> None:
    voice = make_tiny_voice(tmp_path, "qwen3")
    path = voice.current_shards / "order.json"
    path.write_text(path.read_text().replace(open_shards(voice.current_shards).rows_hash(), "0" * 64))
    manifest = json.loads((voice.current_shards / "manifest.json").read_text())
    manifest["files"]["order.json"] = {"sha256": sha256_file(path), "bytes": path.stat().st_size}
    (voice.current_shards / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(StaleInput, match=r"order\.json belongs to other rows; run: penname shard"):
        train_run(voice, 1)


def test_a_staged_carrier_that_has_changed_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from penname.carriers import stage_carrier

    monkeypatch.setenv("PENNAME_CACHE", str(tmp_path / "cache"))
    staged = stage_carrier("tiny", source=tiny_carrier("qwen3"))
    (staged / "generation_config.json").write_text("{}\n")
    with pytest.raises(
        StaleInput, match=r"generation_config\.json is missing or not the file that was staged; run: penname carrier stage tiny"
    ):
        load_carrier(Config.model_validate({"carrier": {"name": "tiny"}}))


def test_a_plan_of_a_run_says_what_made_it_stale(tmp_path: Path) -> None:
    voice = make_tiny_voice(tmp_path, "qwen3", max_steps=1, seeds=[1])
    train_run(voice, 1)
    path = next(voice.runs.glob("*/manifest.json"))
    manifest = json.loads(path.read_text())
    for change, why in (({"version": 0}, "made by another version of training"), ({"inputs": {"shards": "x"}}, "carrier, shards changed")):
        path.write_text(json.dumps({**manifest, **change}))
        assert [(row.state, row.why) for row in planned_runs(voice)] == [("stale", why)]


def test_without_shards_the_command_that_makes_them_is_named(tmp_path: Path) -> None:
    voice = tiny_voice(tmp_path, tiny_carrier("qwen3"))
    with pytest.raises(StaleInput, match="run: penname shard"):
        run_train(voice)


def test_the_stage_trains_each_seed_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    voice = make_tiny_voice(tmp_path, "qwen3", max_steps=1)
    assert [row.state for row in planned_runs(voice)] == ["missing", "missing"]
    made = run_train(voice)
    assert [manifest.counts["steps"] for manifest in made] == [1, 1]
    capsys.readouterr()
    assert run_train(voice) == []
    assert "trained already" in capsys.readouterr().err
    with pytest.raises(BadInput, match=r"seed 9 is not among training\.seeds"):
        run_train(voice, 9)
    assert [row.why for row in planned_runs(open_voice(tmp_path, ["training.lora_rank=2"]))] == ["its settings have changed"] * 2


def test_a_run_has_one_writer_whichever_verb_started_it(tmp_path: Path) -> None:
    voice = make_tiny_voice(tmp_path, "qwen3")
    held = voice.runs / ".locks" / planned_runs(voice)[0].name
    held.mkdir(parents=True)
    code = "import sys; from pathlib import Path; from penname.core.lock import hold\n"
    code += "with hold(Path(sys.argv[1]), 'train'): print('held', flush=True); sys.stdin.read()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code, str(held)], stdin=pipe, stdout=pipe, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        with pytest.raises(PennameError, match=rf"another penname works in .* \(pid {other.pid}, train\)"):
            run_train(voice)
    assert not (held.parent.parent / held.name).exists()


def test_compile_without_a_compiler_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    voice = make_tiny_voice(tmp_path, "qwen3", compile=True)
    monkeypatch.delenv("CXX", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(BadInput, match=r"training\.compile needs a C\+\+ compiler"):
        train_run(voice, 1)


@pytest.mark.slow
def test_compile_gives_the_losses_of_the_plain_run(tmp_path: Path) -> None:
    if not shutil.which("g++"):
        pytest.skip("there is no C++ compiler here")
    losses = []
    for compiled in (False, True):
        voice = make_tiny_voice(tmp_path / str(compiled), "qwen3_5", max_steps=3, compile=compiled)
        record = train_run(voice, 1).record
        losses.append([row["loss"] for row in record["heldout"]])
    assert record["resolved"]["compiled"] == "6 modules"
    assert losses[0] == pytest.approx(losses[1], abs=1e-4)


@pytest.mark.parametrize("track", ["trackio", "tensorboard"])
def test_a_tracker_that_is_not_installed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, track: str) -> None:
    import sys

    from penname.training.metrics import MetricsLog

    for name in ("trackio", "torch.utils.tensorboard"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(BadInput, match=f"needs the package {track}; install it"):
        MetricsLog(tmp_path / "metrics.jsonl", 0, track)


def test_a_full_disk_under_metrics_is_one_sentence(tmp_path: Path) -> None:
    from penname.core.errors import PennameError
    from penname.training.metrics import MetricsLog

    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full here")
    log = MetricsLog(tmp_path / "metrics.jsonl", 0)
    with pytest.raises(PennameError, match="the disk is full"), log:
        log._file = Path("/dev/full").open("w")  # noqa: SIM115 (the log closes it)
        log.heldout(1, 2.0)


def test_heldout_loss_is_the_mean_over_tokens_of_the_rows_it_takes(dense: Tiny) -> None:
    from penname.training.batch import batch_of
    from penname.training.heldout import heldout_loss
    from penname.training.step import loss_sum

    model = dense.model()
    rows = list(dense.shards.heldout_rows)
    assert len(rows) == 3
    with torch.no_grad():
        batches = [batch_of(dense.shards.row(row)) for row in rows]
        sums = [float(loss_sum(model, batch)) for batch in batches]
    counts = [len(batch.targets) for batch in batches]
    assert heldout_loss(model, dense.shards) == pytest.approx(sum(sums) / sum(counts), abs=1e-6)
    assert heldout_loss(model, dense.shards, limit=2) == pytest.approx((sums[0] + sums[1]) / (counts[0] + counts[1]), abs=1e-6)
    assert heldout_loss(model, dense.shards, limit=3) == heldout_loss(model, dense.shards)
