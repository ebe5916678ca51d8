"""backup --check, against a real restic with a local repository."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from finished_run import RUN, make_run
from penname.core.errors import BadInput, PennameError
from penname.jobs.backup import BackupPlan, carve_out, check_backup, read_profile


@pytest.fixture
def repository(tmp_path, monkeypatch):
    if shutil.which("restic") is None:
        pytest.skip("restic is not installed")
    monkeypatch.setenv("RESTIC_PASSWORD", "loopback")
    monkeypatch.setenv("RESTIC_CACHE_DIR", str(tmp_path / "restic-cache"))
    place = tmp_path / "repository"
    subprocess.run(["restic", "init", "--repo", place], check=True, capture_output=True)
    return str(place)


def test_exactly_the_adapters(voice, repository):
    make_run(voice.path, "tiny two's")
    sources = tuple(str(path) for path in voice.path.glob("runs/*/adapter"))
    found = check_backup(voice, BackupPlan(repository, sources))
    assert found.exact
    assert len(found.wanted) == 4
    assert str(voice.path / "runs" / RUN / "adapter/adapter_model.safetensors") in found.wanted
    # The carve-out, pasted into a shell, backs up exactly these.
    command = found.carve_out.splitlines()[0].replace("restic ", "restic --json -vv ", 1)
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=True)
    assert all(path in done.stdout for path in found.wanted)


def test_it_still_holds_after_a_backup_was_made(voice, repository):
    sources = tuple(str(path) for path in voice.path.glob("runs/*/adapter"))
    subprocess.run(["restic", "--repo", repository, "backup", *sources], check=True, capture_output=True)
    assert check_backup(voice, BackupPlan(repository, sources)).exact


def test_a_whole_folder_takes_too_much(voice, repository):
    found = check_backup(voice, BackupPlan(repository, (str(voice.path),)))
    assert not found.exact
    assert found.missing == ()
    assert str(voice.path / "runs" / RUN / "checkpoints/step-000050/optimizer.safetensors") in found.extra


def test_an_exclude_that_matches_nothing_is_named(voice, repository):
    patterns = ("checkpoints", "checkpoint-*", "*.json", "*.toml", "*.txt")
    found = check_backup(voice, BackupPlan(repository, (str(voice.path),), patterns))
    assert found.idle_excludes == ("checkpoint-*",)
    assert [path.rsplit("/", 1)[-1] for path in found.missing] == ["adapter_config.json"]


def test_a_link_in_or_for_an_adapter_folder_is_no_exact_backup(voice, repository, tmp_path):
    (voice.runs / RUN / "adapter/linked").symlink_to(tmp_path)
    (voice.runs / "other").mkdir()
    (voice.runs / "other/adapter").symlink_to(voice.runs / RUN / "checkpoints/step-000050")
    found = check_backup(voice, BackupPlan(repository, (str(voice.runs / RUN / "adapter"),)))
    assert (found.missing, found.extra, found.exact) == ((), (), False)
    assert found.links == (str(voice.path / "runs/other/adapter"), str(voice.path / "runs" / RUN / "adapter/linked"))


def test_a_source_that_is_not_there_is_missing_files(voice, repository):
    other = make_run(voice.path, "tiny-two")
    found = check_backup(voice, BackupPlan(repository, (str(voice.runs / RUN / "adapter"),)))
    assert all(path.startswith(str(other)) for path in found.missing) and len(found.missing) == 2


def test_a_resticprofile_with_inheritance(voice, repository, tmp_path):
    profile = tmp_path / "profiles.toml"
    profile.write_text(
        f'[base]\nrepository = "local:{repository}"\n[base.backup]\nexclude = ["checkpoints"]\nsource = ["voice"]\n'
        f'[default]\ninherit = "base"\n[default.backup]\nsource = ["voice/runs/{RUN}/adapter"]\n'
    )
    plan = read_profile(profile)
    assert plan.sources == (str(tmp_path / f"voice/runs/{RUN}/adapter"),)
    assert plan.excludes == ("checkpoints",)
    assert check_backup(voice, plan).exact
    with pytest.raises(BadInput, match='no profile "nightly"; it has base, default'):
        read_profile(profile, "nightly")
    (tmp_path / "profiles.yaml").write_text("default:\n")
    with pytest.raises(BadInput, match="is not TOML"):
        read_profile(tmp_path / "profiles.yaml")
    profile.write_text('[a]\ninherit = "b"\n[b]\ninherit = "a"\n')
    with pytest.raises(BadInput, match="the profile a inherits from itself"):
        read_profile(profile, "a")
    profile.write_text("[a")
    with pytest.raises(BadInput, match=r"profiles\.toml is not TOML: "):
        read_profile(profile, "a")


def test_what_a_backup_is_checked_against_must_be_named(voice, repository):
    for plan in (BackupPlan("", ("s",)), BackupPlan(repository, ())):
        with pytest.raises(BadInput, match="wants a repository and at least one source"):
            check_backup(voice, plan)
    shutil.rmtree(voice.runs)
    with pytest.raises(BadInput, match="there is no adapter in this voice folder yet"):
        check_backup(voice, BackupPlan(repository, ("s",)))


def test_restic_that_refuses_is_quoted(voice, repository, monkeypatch):
    monkeypatch.setenv("RESTIC_PASSWORD", "wrong")
    with pytest.raises(PennameError, match=r"restic refuses: .*wrong password"):
        check_backup(voice, BackupPlan(repository, (str(voice.path),)))


def test_without_restic(voice, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BadInput, match="restic is not installed"):
        check_backup(voice, BackupPlan("r", ("s",)))
    assert "[default.backup]" in carve_out(voice, "r")


@pytest.mark.parametrize("name", ["profiles.toml", "profiles.conf"])
def test_a_profile_that_is_not_there_is_told_as_that(tmp_path, name):
    with pytest.raises(BadInput, match=f"there is no file .*{name}"):
        read_profile(tmp_path / name)
