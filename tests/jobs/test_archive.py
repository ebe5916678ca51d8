"""archive and restore: real folders, a real rclone remote, a real ssh server."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

from finished_run import RUN, make_run
from penname.core import files
from penname.core.errors import BadInput, PennameError, ProofFailed
from penname.jobs.adapter import zero_tensors
from penname.jobs.archive import archive_runs, read_records, restore_run, verify_archives
from penname.jobs.places import FolderPlace, SshPlace, open_place
from penname.jobs.record import exclusively


@pytest.fixture
def rclone(tmp_path, monkeypatch):
    if shutil.which("rclone") is None:
        pytest.skip("rclone is not installed")
    config = tmp_path / "rclone.conf"
    config.write_text("[second]\ntype = local\n")
    monkeypatch.setenv("RCLONE_CONFIG", str(config))
    (tmp_path / "remote").mkdir()
    return f"rclone:second:{tmp_path / 'remote'}"


@pytest.fixture
def ssh_host(tmp_path, monkeypatch):
    """A real ssh server of this test's own, reached as ``loop``."""
    sshd = shutil.which("sshd") or ("/usr/sbin/sshd" if Path("/usr/sbin/sshd").exists() else None)
    if sshd is None or shutil.which("rsync") is None or shutil.which("ssh") is None:
        pytest.skip("sshd, ssh or rsync is not installed")
    place = tmp_path / "ssh"
    place.mkdir(mode=0o700)
    for key in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", place / key], check=True)
    (place / "authorized").write_text((place / "user.pub").read_text())
    (place / "sshd_config").write_text(
        f"HostKey {place}/host\nAuthorizedKeysFile {place}/authorized\nPidFile none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\n"
    )
    if os.getuid() == 0:
        Path("/run/sshd").mkdir(exist_ok=True)
    wrapper = place / "bin"
    wrapper.mkdir()
    # One server for each connection, on a pipe: no port that another program could take first.
    options = f"-i {place}/user -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR"
    (wrapper / "ssh").write_text(
        f'#!/bin/sh\nexec {shutil.which("ssh")} {options} -o "ProxyCommand={sshd} -i -e -f {place}/sshd_config 2>/dev/null" "$@"\n'
    )
    (wrapper / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{wrapper}:{os.environ['PATH']}")
    tried = subprocess.run(["ssh", "-o", "BatchMode=yes", "loop", "true"], capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"an ssh server cannot run here: {tried.stderr.strip()}")
    return "loop"


def check_round_trip(voice, target):
    (archived,) = archive_runs(voice, target)
    assert archived.run == RUN and not archived.already_there
    assert {"adapter/adapter_model.safetensors", "adapter/adapter_config.json", "run.json", "verdict.json", "archive.json"} <= set(
        archived.files
    )
    assert not [path for path in archived.files if path.startswith(("books", "checkpoints"))]
    assert verify_archives(voice)[0].total_bytes == archived.total_bytes
    assert archive_runs(voice, target)[0].already_there
    before = (voice.runs / RUN / "adapter/adapter_model.safetensors").read_bytes()
    shutil.rmtree(voice.runs / RUN)
    restore_run(voice, target, RUN)
    assert (voice.runs / RUN / "adapter/adapter_model.safetensors").read_bytes() == before
    with pytest.raises(BadInput, match="is here already"):
        restore_run(voice, target, RUN)
    with pytest.raises(BadInput, match="holds no run-nobody"):
        restore_run(voice, target, "nobody")


def test_a_folder(voice, tmp_path):
    check_round_trip(voice, str(tmp_path / "second"))
    assert sorted(path.name for path in (tmp_path / "second").iterdir()) == [f"run-{RUN}"]


def test_two_archives_at_once_do_not_lose_each_others_record(voice, tmp_path):
    with exclusively(voice.path / "jobs/.archiving", "busy"), pytest.raises(BadInput, match="another penname archive works in this folder"):
        archive_runs(voice, str(tmp_path / "away"))
    assert archive_runs(voice, str(tmp_path / "away"))[0].run == RUN


def test_an_archive_in_a_folder_is_on_the_disk_before_it_counts(voice, tmp_path, monkeypatch):
    """What is read back at once comes from memory; a purge may delete the original next."""
    synced = []
    monkeypatch.setattr(files.os, "fsync", lambda handle: synced.append(str(Path(f"/proc/self/fd/{handle}").readlink())))
    archive_runs(voice, str(tmp_path / "second"))
    aside = f"{tmp_path}/second/.incoming-run-{RUN}/adapter"
    assert {f"{aside}/adapter_model.safetensors", f"{aside}/adapter_config.json", aside, f"{tmp_path}/second"} <= set(synced)


def test_an_rclone_remote(voice, rclone):
    check_round_trip(voice, rclone)


def test_a_host_over_ssh(voice, ssh_host, tmp_path):
    check_round_trip(voice, f"{ssh_host}:{tmp_path}/far place")
    assert (tmp_path / "far place" / f"run-{RUN}" / "adapter/adapter_config.json").exists()


@pytest.mark.parametrize("kind", ["folder", "rclone", "ssh"])
def test_a_changed_byte_in_the_second_place_is_found(voice, tmp_path, request, kind):
    root = tmp_path / "remote"
    target = (
        str(root)
        if kind == "folder"
        else request.getfixturevalue("rclone")
        if kind == "rclone"
        else f"{request.getfixturevalue('ssh_host')}:{root}"
    )
    archive_runs(voice, target)
    file = root / f"run-{RUN}/adapter/adapter_model.safetensors"
    data = bytearray(file.read_bytes())
    data[-1] ^= 1
    file.write_bytes(bytes(data))
    with pytest.raises(ProofFailed, match=r"does not read back as it was sent: adapter/adapter_model\.safetensors differs"):
        verify_archives(voice)
    with pytest.raises(PennameError, match=r"is there already and its adapter/adapter_model\.safetensors differs; nothing was overwritten"):
        archive_runs(voice, target)
    assert file.read_bytes() == bytes(data)


def test_text_goes_along_only_when_asked(voice, tmp_path):
    (archived,) = archive_runs(voice, str(tmp_path / "with"), with_text=True)
    assert "books/jane.txt" in archived.files


def refused(voice, tmp_path, sentence):
    with pytest.raises(PennameError, match=sentence):
        archive_runs(voice, str(tmp_path / "second"))
    assert not (tmp_path / "second").exists()
    assert read_records(voice) == {}


def test_an_adapter_without_its_configuration_is_refused(voice, tmp_path):
    (voice.runs / RUN / "adapter/adapter_config.json").unlink()
    refused(voice, tmp_path, "has no adapter_config.json")


def test_an_adapter_of_zeros_is_refused(voice, tmp_path):
    file = voice.runs / RUN / "adapter/adapter_model.safetensors"
    weights = load_file(file)
    save_file({**weights, "m.lora_B.weight": np.zeros((4, 2), np.float32)}, file)
    refused(voice, tmp_path, r"does nothing: m\.lora_B\.weight is all zeros")


def test_an_adapter_that_was_not_shown_to_bind_is_refused(voice, tmp_path):
    (voice.runs / RUN / "bind.json").write_text('{"state": "not bound"}')
    refused(voice, tmp_path, "was not shown to bind as it is now; run: penname bind --run")


def test_a_proof_of_another_adapter_does_not_count(voice, tmp_path):
    file = voice.runs / RUN / "adapter/adapter_model.safetensors"
    weights = load_file(file)
    save_file({name: tensor + 1 for name, tensor in weights.items()}, file)
    refused(voice, tmp_path, "was not shown to bind as it is now")


def test_a_truncated_adapter_is_refused(voice, tmp_path):
    file = voice.runs / RUN / "adapter/adapter_model.safetensors"
    file.write_bytes(file.read_bytes()[:-5])
    refused(voice, tmp_path, "is cut short")
    headers = [b"[]", b'{"lora_B": 1}', b'{"lora_B": {}}', b'{"lora_B": {"data_offsets": [1]}}']
    for data in (b"\x80\x04pickle", *(len(header).to_bytes(8, "little") + header for header in headers)):
        file.write_bytes(data)
        with pytest.raises(PennameError, match="is no safetensors file"):
            zero_tensors(file)


def test_a_link_is_never_archived(voice, tmp_path):
    (voice.runs / RUN / "adapter/extra").symlink_to("/etc/hostname")
    with pytest.raises(PennameError, match="extra is a link; an archive holds real files only"):
        archive_runs(voice, str(tmp_path / "second"))


def test_one_bad_run_stops_all_before_anything_is_copied(voice, tmp_path):
    make_run(voice.path, "tiny-all-x6-am-s2", bound=False)
    refused(voice, tmp_path, "tiny-all-x6-am-s2 was not shown to bind")


def test_a_full_second_place_leaves_nothing_half_there(voice, tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", small], capture_output=True).returncode:
        pytest.skip("mounting a small filesystem is not permitted here")
    try:
        (small / "fill").write_bytes(b"x" * 61_000)
        with pytest.raises(PennameError, match="disk is full"):
            archive_runs(voice, str(small))
        assert [path.name for path in small.iterdir()] == ["fill"]
    finally:
        subprocess.run(["umount", small], check=True)


def test_which_target_is_which_place(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(BadInput, match="needs rsync, and it is not installed"):
        open_place("host:voices")
    with pytest.raises(BadInput, match="needs rclone"):
        open_place("rclone:s3:bucket")
    monkeypatch.undo()
    assert isinstance(open_place(str(tmp_path)), FolderPlace)
    if shutil.which("rsync") and shutil.which("ssh"):
        assert isinstance(open_place("me@host:voices"), SshPlace)


def test_a_host_that_does_not_answer_is_not_one_that_holds_nothing(tool):
    tool("rsync", "exit 0")
    tool("ssh", "echo no route to host >&2; exit 255")
    place = open_place("host:voices")
    for ask in (place.holds, place.facts):
        with pytest.raises(PennameError, match="no route to host"):
            ask("run-r")


def test_a_remote_that_cannot_be_read_is_not_an_empty_one(tool):
    tool("rclone", "echo no such remote >&2; exit 1")
    with pytest.raises(PennameError, match=r"rclone cannot read s3:bucket/run-r: no such remote"):
        open_place("rclone:s3:bucket").holds("run-r")
    tool("rclone", "exit 3")  # there is no such folder
    assert not open_place("rclone:s3:bucket").holds("run-r")
    tool("rclone", '[ "$1" = cat ] && printf half && exit 1; echo \'[{"Path": "a"}]\'')
    with pytest.raises(PennameError, match="rclone cannot read s3:bucket/run-r/a back"):
        open_place("rclone:s3:bucket").facts("run-r")


def test_a_remote_that_takes_nothing_is_quoted(tool, tmp_path):
    tool("rclone", "echo ignored >&2; echo quota exceeded >&2; exit 1")
    with pytest.raises(PennameError, match=r"^rclone failed: quota exceeded$"):
        open_place("rclone:s3:bucket").put(tmp_path, "run-r")


def test_what_is_no_longer_there_is_said(voice, tmp_path):
    archive_runs(voice, str(tmp_path / "second"))
    shutil.rmtree(tmp_path / "second" / f"run-{RUN}")
    with pytest.raises(ProofFailed, match=rf"second no longer holds run-{RUN}; archive it again"):
        verify_archives(voice)
    with pytest.raises(BadInput, match="the run other was never archived from this folder"):
        verify_archives(voice, ["other"])


def test_there_must_be_something_to_verify(voice):
    with pytest.raises(BadInput, match="nothing was archived from this folder"):
        verify_archives(voice)


def test_restore_takes_the_name_of_a_run_and_no_path(voice, tmp_path):
    with pytest.raises(BadInput, match="is no name of a run"):
        restore_run(voice, str(tmp_path), "../elsewhere")


def test_restore_refuses_what_its_receipt_does_not_name(voice, tmp_path):
    archive_runs(voice, str(tmp_path / "second"))
    shutil.rmtree(voice.runs / RUN)
    (tmp_path / "second" / f"run-{RUN}" / "planted.sh").write_text("echo")
    with pytest.raises(ProofFailed, match=r"is not what was archived: planted\.sh differs; nothing was restored"):
        restore_run(voice, str(tmp_path / "second"), RUN)
    assert not (voice.runs / RUN).exists()
    assert json.loads((tmp_path / "second" / f"run-{RUN}" / "archive.json").read_text())["run"] == RUN
