"""Staging, verifying, probing and surveying against a registry on loopback."""

from __future__ import annotations

import json

import pytest

from carriers.registry import Repo
from penname.carriers import load_model, load_tokenizer, resolve_carrier, stage_carrier, staged_carriers
from penname.carriers.hub import NoAnswer, ask, ask_with_control
from penname.carriers.probe import probe_folder, probe_remote
from penname.carriers.survey import reason_to_leave_out, survey
from penname.carriers.verify import verify_carrier
from penname.core.errors import BadInput, PennameError
from penname.core.stage import read_manifest
from tiny import tiny_carrier

REPO = "Org/Tiny-0.1M-Base"


def files_asked(registry):
    return [path.rsplit("/", 1)[-1] for method, path, _ in registry.log if "/resolve/" in path and method == "GET"]


def test_staging_pins_the_commit_and_works_offline_afterwards(registry):
    folder = stage_carrier(REPO)
    assert (folder.name, staged_carriers()) == ("tiny-0.1m-base", ["tiny-0.1m-base"])
    manifest = read_manifest(folder)
    assert (manifest.settings["repo"], manifest.settings["commit"]) == (REPO, "1" * 40)
    assert (folder / "model.safetensors").read_bytes() == (tiny_carrier() / "model.safetensors").read_bytes()
    assert all(f"/resolve/{'1' * 40}/" in path for _, path, _ in registry.log if "/resolve/" in path)
    registry.broken = True
    asked = len(registry.log)
    assert stage_carrier(REPO) == resolve_carrier("tiny-0.1m-base") == folder
    load_model(folder), load_tokenizer(folder)
    assert len(registry.log) == asked


def test_an_interruption_is_resumed_in_the_middle_of_a_file(registry, monkeypatch):
    import huggingface_hub.file_download as download

    from penname.carriers import staging

    class Interrupted(staging._reporter(None)):
        def update(self, n=1):
            self.bytes += n
            if self.bytes > 100_000:
                raise KeyboardInterrupt

    monkeypatch.setattr(download.constants, "DOWNLOAD_CHUNK_SIZE", 1000)  # what is lost at a break; 10 MB otherwise
    with monkeypatch.context() as patched:
        patched.setattr(staging, "_reporter", lambda count: Interrupted)
        with pytest.raises(KeyboardInterrupt):
            stage_carrier(REPO)
    assert staged_carriers() == []
    with pytest.raises(BadInput, match="is not staged"):
        resolve_carrier("tiny-0.1m-base")
    before = len(registry.log)
    folder = stage_carrier(REPO)
    again = [(path.rsplit("/", 1)[-1], span) for _, path, span in registry.log[before:] if "/resolve/" in path]
    assert again == [("model.safetensors", "bytes=100000-")]  # the small files were there, and so was the first part
    assert not (folder / ".parts").exists()
    assert verify_carrier("tiny-0.1m-base").good


def test_a_cut_connection_heals_by_itself(registry, monkeypatch):
    import huggingface_hub.file_download as download

    monkeypatch.setattr(download.constants, "DOWNLOAD_CHUNK_SIZE", 1000)
    registry.cut_after = 200_000
    stage_carrier(REPO)
    assert [span for _, path, span in registry.log if path.endswith("model.safetensors")] == ["", "bytes=200000-"]


def test_another_commit_does_not_mix_with_what_was_broken_off(registry):
    registry.corrupt = {"model.safetensors"}
    with pytest.raises(BadInput, match="arrived damaged"):
        stage_carrier(REPO)
    registry.corrupt = set()
    registry.repos[REPO].commit = "2" * 40
    before = len(registry.log)
    stage_carrier(REPO)
    assert "config.json" in [path.rsplit("/", 1)[-1] for _, path, _ in registry.log[before:]]


def test_a_part_that_is_longer_than_its_file_is_fetched_anew(registry, cache):
    parts = cache / "carriers/.staging-tiny-0.1m-base/.parts"
    parts.mkdir(parents=True)
    (parts / "commit").write_text("1" * 40)
    (parts / "model.safetensors").write_bytes(bytes(len(registry.repos[REPO].files["model.safetensors"]) + 1))
    stage_carrier(REPO)
    assert [span for _, path, span in registry.log if path.endswith("model.safetensors")] == [""]


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
def test_a_file_that_arrives_damaged_is_thrown_away(registry, name):
    registry.corrupt = {name}
    with pytest.raises(BadInput, match=rf"{name} .* arrived damaged .*run the same command again"):
        stage_carrier(REPO)
    assert staged_carriers() == []


def test_the_registry_tells_its_cases_apart(registry):
    assert ask(REPO).status == "there"
    assert ask(REPO, "1" * 40).status == "there"
    assert ask(REPO, "v9").status == "no such revision"
    assert ask("Org/Nothing").status == "missing"
    assert ask("Org/Closed-Base").status == "gated"
    renamed = ask("Org/Old-Name")
    assert (renamed.status, renamed.sentence) == ("renamed", "Org/Old-Name has been renamed to Org/Tiny-0.1M-Base; stage that")
    with pytest.raises(BadInput, match="no repository name"):
        ask("a/b/c")
    registry.broken = True
    assert "503" in ask(REPO).sentence and ask(REPO).status == "offline"


def test_an_unreachable_registry_is_offline_and_not_missing(registry, monkeypatch):
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")
    assert ask_with_control(REPO).status == "offline"


def test_an_answer_is_refused_where_a_phantom_exists_too(registry):
    registry.says_yes_to_all = True
    with pytest.raises(NoAnswer, match="a made-up name, that it is there"):
        ask_with_control("Org/Nothing")
    with pytest.raises(NoAnswer):
        stage_carrier(REPO)
    assert staged_carriers() == []


@pytest.mark.parametrize(
    ("repo", "sentence"),
    [
        ("Org/Nothing", "is not there"),
        ("Org/Closed-Base", "is gated: accept its licence"),
        ("Org/Old-Name", "has been renamed to"),
        ("Org/Pickled", "only a pickle checkpoint"),
    ],
)
def test_what_cannot_be_staged_says_why(registry, repo, sentence):
    with pytest.raises(PennameError, match=sentence):
        stage_carrier(repo)
    assert staged_carriers() == []


def test_verify_finds_a_changed_byte_and_a_registry_that_holds_other_bytes(registry):
    folder = stage_carrier(REPO)
    assert verify_carrier("tiny-0.1m-base").good
    registry.repos[REPO].files = dict(registry.repos[REPO].files, **{"model.safetensors": b"other"})
    found = verify_carrier("tiny-0.1m-base")
    assert not found.good and "is not what Org/Tiny-0.1M-Base holds" in found.problems[0]
    data = bytearray((folder / "model.safetensors").read_bytes())
    data[-5] ^= 1
    (folder / "model.safetensors").write_bytes(data)
    found = verify_carrier("tiny-0.1m-base", offline=True)
    assert found.problems == ("tiny-0.1m-base/model.safetensors is missing or not the file that was staged",)


def test_verify_of_a_staged_carrier_is_good_offline_and_bad_where_its_source_is_gone(registry):
    stage_carrier(REPO)
    registry.broken = True
    found = verify_carrier("tiny-0.1m-base")
    assert found.good and found.registry.status == "offline"
    registry.broken = False
    del registry.repos[REPO]
    found = verify_carrier("tiny-0.1m-base")
    assert not found.good and found.problems == () and found.registry.status == "missing"


def test_a_remote_probe_reads_headers_only(registry):
    remote = probe_remote("Org/Full-0.2M-Base")
    local = probe_folder(tiny_carrier("qwen3_5_full"))
    assert (remote.parameters, remote.leaves, remote.unloaded) == (local.parameters, local.leaves, local.unloaded)
    spans = [span for _, path, span in registry.log if path.endswith("model.safetensors")]
    assert spans == ["bytes=0-131071"]
    registry.ignores_ranges = True
    registry.repos["Org/Full-0.2M-Base"].files["model.safetensors"] += bytes(10)
    with pytest.raises(NoAnswer, match="does not answer to byte ranges"):
        probe_remote("Org/Full-0.2M-Base")


def listed(**extra):
    config = json.loads((tiny_carrier() / "config.json").read_text())
    return Repo({"config.json": json.dumps(config).encode()}, extra={"safetensors": {"parameters": {"BF16": 600}, "total": 600}, **extra})


def test_a_survey_keeps_carriers_and_says_why_the_rest_is_none(registry):
    template = {"config": {"tokenizer_config": {"chat_template": "x"}}}
    hybrid = json.loads((tiny_carrier("qwen3_5").joinpath("config.json")).read_text())
    registry.repos |= {
        "Lab/One-0.6B-Base": listed(),
        "Lab/One-0.6B": listed(**template, cardData={"base_model": ["Lab/One-0.6B-Base"]}),
        "Lab/Two-1B": listed(cardData={"base_model": "Other/Two"}, gated="auto"),
        "Lab/Two-1B-Hybrid-Base": listed(),
        "Lab/One-0.6B-GPTQ-Int4": listed(),
        "Lab/One-0.6B-Base-SAE": listed(tags=["sparse-autoencoder"]),
        "Lab/One-Embedding": listed(pipeline_tag="feature-extraction"),
        "Lab/See": listed(),
        "Lab/Old": Repo({"config.json": b"{}"}),
    }
    registry.repos["Lab/Two-1B-Hybrid-Base"].files["config.json"] = json.dumps(hybrid).encode()
    registry.repos["Lab/See"].files["config.json"] = json.dumps({"model_type": "clip", "num_hidden_layers": 2}).encode()
    rows, left_out = survey("Lab")
    assert {row.repo: (row.kind, row.layout, row.origin) for row in rows} == {
        "Lab/One-0.6B": ("instruct", "dense", "official"),
        "Lab/One-0.6B-Base": ("base", "dense", "official"),
        "Lab/Two-1B": ("base", "dense", "derived from Other/Two"),
        "Lab/Two-1B-Hybrid-Base": ("base", "hybrid", "official"),
    }
    assert {row.parameters for row in rows} == {600} and {row.date for row in rows} == {"2026-02-03"}
    assert dict(left_out) == {
        "Lab/Old": "no safetensors",
        "Lab/One-0.6B-Base-SAE": "a sidecar of another model",
        "Lab/One-0.6B-GPTQ-Int4": "a quantised copy",
        "Lab/One-Embedding": "made for another task (feature-extraction)",
        "Lab/See": "no causal language model (clip)",
    }
    with pytest.raises(BadInput, match="knows no models of Nobody"):
        survey("Nobody")


@pytest.mark.parametrize(
    ("repo", "reason"),
    [
        ("Qwen/Qwen3.5-0.8B-Base", None),
        ("Qwen/Qwen3-4B-Instruct-2507", None),
        ("Qwen/Qwen3-0.6B-FP8", "a quantised copy"),
        ("Qwen/Qwen3-1.7B-MLX-4bit", "a quantised copy"),
        ("Qwen/SAE-Res-Qwen3-8B-Base-W64K", "a sidecar of another model"),
        ("Qwen/Qwen3-Reranker-0.6B", "made for another task (Qwen3-Reranker-0.6B)"),
    ],
)
def test_names_of_the_registry(repo, reason):
    assert reason_to_leave_out(repo, [], None, "transformers", True) == reason
