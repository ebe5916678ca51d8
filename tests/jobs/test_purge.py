"""purge: nothing outside the listed paths changes, ever."""

from __future__ import annotations

import hashlib
import json
import mmap
import os
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from finished_run import RUN, make_run
from penname.core.errors import PennameError, ProofFailed
from penname.jobs import inuse
from penname.jobs.archive import archive_runs
from penname.jobs.inuse import Uses, current_uses, mounted_elsewhere
from penname.jobs.purge import delete, plan_purge
from penname.jobs.purging import look, purge

STEP = Path("runs") / RUN / "checkpoints/step-000050"


@pytest.fixture
def archived(voice, tmp_path):
    archive_runs(voice, str(tmp_path / "second"))
    return voice


def picture(*folders):
    """Every path below the folders with its kind and content hash: what must not change."""
    seen = {}
    for folder in folders:
        for path in sorted(folder.rglob("*")):
            content = str(path.readlink()) if path.is_symlink() else hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else ""
            seen[str(path)] = (path.is_symlink(), path.is_dir(), content)
    return seen


def going(plan):
    return [str(candidate.path) for candidate in plan.going]


def reason(plan, path):
    return next(candidate.refused for candidate in plan.candidates if candidate.path == path)


def test_checkpoints_go_and_nothing_else(archived, tmp_path):
    before = picture(tmp_path)
    plan = look(archived)
    assert going(plan) == [f"runs/{RUN}/checkpoints/step-000050", f"runs/{RUN}/checkpoints/step-000100"]
    assert plan.candidates[0].size == 203_002
    done = purge(archived, plan)
    gone = {path for path in before if "/checkpoints/step-" in path}
    assert picture(tmp_path) == {path: what for path, what in before.items() if path not in gone}
    assert (len(done.result.deleted), done.result.skipped) == (8, [])


def test_the_dry_run_changes_nothing_and_names_literal_paths(archived, tmp_path):
    before = picture(tmp_path)
    command = [sys.executable, "-m", "penname", "purge", "-C", str(archived.path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert f"would delete  {STEP}/optimizer.safetensors  200000\n" in done.stdout
    assert f"delete them with: penname -C {archived.path} purge --delete" in done.stderr
    assert {path: what for path, what in picture(tmp_path).items() if not path.endswith(".lock")} == before


def test_without_a_verified_archive_nothing_goes(voice):
    plan = look(voice)
    assert going(plan) == []
    assert "is not archived and verified; run: penname archive" in reason(plan, STEP)
    with pytest.raises(PennameError, match="nothing can be purged"):
        purge(voice, plan)


def test_a_damaged_archive_counts_as_none(archived, tmp_path):
    file = tmp_path / "second" / f"run-{RUN}" / "run.json"
    file.write_text(file.read_text() + " ")
    assert going(look(archived)) == []


def test_an_adapter_that_changed_since_is_not_archived(archived):
    file = archived.runs / RUN / "adapter/adapter_config.json"
    file.write_text('{"r": 3}')
    assert going(look(archived)) == []


def test_keep(archived):
    plan = plan_purge(archived, [RUN], keep=[str(STEP)])
    assert going(plan) == [f"runs/{RUN}/checkpoints/step-000100"]
    assert reason(plan, STEP) == "kept, as asked"
    assert going(plan_purge(archived, [RUN], keep=["*-s1"])) == []


def test_links_in_and_out_are_refused_and_their_targets_untouched(archived, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("p")
    checkpoints = archived.runs / RUN / "checkpoints"
    (checkpoints / "step-000150").symlink_to(outside)
    (checkpoints / "step-000050/link-out").symlink_to(outside / "precious")
    (outside / "checkpoints/step-000050").mkdir(parents=True)
    (archived.runs / "linked-run").symlink_to(outside)
    (archived.runs / "half-linked").mkdir()
    (archived.runs / "half-linked/checkpoints").symlink_to(outside / "checkpoints")
    before = picture(outside)
    plan = look(archived)
    assert reason(plan, Path("runs") / RUN / "checkpoints/step-000150") == "it is a link"
    assert reason(plan, STEP) == f"{STEP}/link-out in it is a link"
    assert reason(plan, Path("runs/linked-run/checkpoints")) == "a folder above it is a link"
    assert reason(plan, Path("runs/half-linked/checkpoints")) == "it is a link"
    assert going(plan) == [f"runs/{RUN}/checkpoints/step-000100"]
    purge(archived, plan)
    assert picture(outside) == before
    assert (checkpoints / "step-000050/link-out").is_symlink()


def test_what_is_no_checkpoint_or_no_plain_file_is_refused(archived):
    (archived.runs / RUN / "checkpoints/notes.txt").write_text("mine")
    os.mkfifo(archived.path / STEP / "pipe")
    plan = look(archived)
    assert reason(plan, Path("runs") / RUN / "checkpoints/notes.txt") == "it is no folder that Penname made"
    assert reason(plan, STEP) == f"{STEP}/pipe in it is no plain file"
    assert going(plan) == [f"runs/{RUN}/checkpoints/step-000100"]


def test_a_hard_link_elsewhere_keeps_its_content(archived, tmp_path):
    other = tmp_path / "other-name"
    os.link(archived.path / STEP / "optimizer.safetensors", other)
    purge(archived, look(archived))
    assert other.read_bytes() == b"o" * 200_000
    assert not (archived.path / STEP).exists()


@pytest.mark.parametrize("how", ["open", "mapped", "working folder"])
def test_what_a_process_uses_is_refused(archived, how):
    target = archived.path / STEP / "optimizer.safetensors"
    code = {
        "open": "f = open(sys.argv[1])",
        # As C maps it: Python's own mmap keeps a descriptor beside the mapping.
        "mapped": "f = open(sys.argv[1]); assert ctypes.CDLL(None).mmap(None, 4096, 1, 2, f.fileno(), 0) != -1; f.close()",
        "working folder": "os.chdir(os.path.dirname(sys.argv[1]))",
    }[how]
    user = subprocess.Popen(
        [sys.executable, "-c", f"import ctypes, os, sys; {code}; print('ready', flush=True); sys.stdin.read()", str(target)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert user.stdout.readline() == "ready\n"
        plan = look(archived)
        assert f"pid {user.pid} has it open" in reason(plan, STEP)
        assert str(STEP) not in going(plan)
    finally:
        user.stdin.close()
        user.wait()


def test_a_file_mapped_by_this_very_process_counts(archived):
    with (archived.path / STEP / "adapter.safetensors").open("rb") as file:
        view = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    assert f"pid {os.getpid()} has it open" in reason(look(archived), STEP)
    view.close()


def test_processes_that_cannot_be_read_count_as_users(archived):
    with (archived.path / STEP / "optimizer.safetensors").open("rb"):  # only the kernel knows: no listing names it
        plan = plan_purge(archived, [RUN], uses=Uses({}, (4242,)))
        assert "optimizer.safetensors: the open files of pid 4242 cannot be read, so it counts as in use" in reason(plan, STEP)
        assert str(STEP) not in going(plan)
    assert str(STEP) in going(plan_purge(archived, [RUN], uses=Uses({}, (4242,))))


def test_a_filesystem_that_gives_no_lease_counts_as_in_use(archived, monkeypatch):
    def refuse(*_):
        raise OSError("no leases here")

    monkeypatch.setattr(inuse.fcntl, "fcntl", refuse)
    assert going(plan_purge(archived, [RUN], uses=Uses({}, (4242,)))) == []


def test_a_mount_inside_is_refused(archived):
    place = archived.path / STEP / "mnt"
    place.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", place], capture_output=True).returncode:
        pytest.skip("mounting is not permitted here")
    try:
        assert reason(look(archived), STEP) == f"{place} is a mount point"
    finally:
        subprocess.run(["umount", place], check=True)


def test_a_bind_mount_elsewhere_is_refused(archived, tmp_path):
    place = tmp_path / "shown"
    place.mkdir()
    if subprocess.run(["mount", "--bind", archived.path / STEP, place], capture_output=True).returncode:
        pytest.skip("mounting is not permitted here")
    try:
        assert reason(look(archived), STEP) == f"a bind mount shows it at {place}"
    finally:
        subprocess.run(["umount", place], check=True)


def test_a_container_that_has_it_mounted_is_found(archived, tmp_path):
    place = tmp_path / "container"
    place.mkdir()
    command = ["unshare", "--mount", "sh", "-c", f"mount --bind '{archived.path}' '{place}' && echo ready && cat"]
    try:
        inside = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    except FileNotFoundError:
        pytest.skip("unshare is not here")
    try:
        if inside.stdout.readline() != "ready\n":
            pytest.skip("a mount namespace is not permitted here")
        assert "a container (pid" in mounted_elsewhere(archived.path / STEP)
        assert going(look(archived)) == []
    finally:
        inside.stdin.close()
        inside.wait()
    assert mounted_elsewhere(archived.path / STEP) is None


def test_unicode_and_newline_names_are_one_line_each_and_go(archived):
    odd = archived.path / STEP / "naïve\nname —\x1b[31m"
    odd.write_text("x")
    command = [sys.executable, "-m", "penname", "purge", "-C", str(archived.path)]
    listing = subprocess.run([*command], capture_output=True, text=True, check=True).stdout
    assert "na\\xefve\\nname" in listing
    assert "\x1b" not in listing
    subprocess.run([*command, "--delete"], capture_output=True, text=True, check=True)
    assert not (archived.path / STEP).exists()


@pytest.mark.parametrize("swap", ["the folder", "a file", "a folder above", "a folder above, by a link to itself"])
def test_a_link_swapped_in_between_look_and_deletion(archived, tmp_path, swap):
    outside = tmp_path / "outside"
    (outside / "step-000050").mkdir(parents=True)
    for name in ("adapter.safetensors", "optimizer.safetensors", "complete.json"):
        (outside / name).write_text("precious")
        (outside / "step-000050" / name).write_text("precious")
    plan = look(archived)
    checkpoints = archived.runs / RUN / "checkpoints"
    target = {
        "the folder": checkpoints / "step-000050",
        "a file": checkpoints / "step-000050/optimizer.safetensors",
    }.get(swap, checkpoints)
    target.rename(tmp_path / "moved")
    target.symlink_to({"a file": outside / "optimizer.safetensors"}.get(swap, tmp_path / "moved" if "itself" in swap else outside))
    before = picture(outside, tmp_path / "moved") if swap != "a file" else picture(outside)
    result = delete(plan)
    assert (picture(outside, tmp_path / "moved") if swap != "a file" else picture(outside)) == before
    assert any("no longer" in why for _, why in result.skipped)
    assert target.is_symlink()


def test_a_file_opened_between_look_and_deletion_stays(archived):
    plan = look(archived)
    file = archived.path / STEP / "optimizer.safetensors"
    with file.open("rb"):
        result = delete(plan)
    assert file.exists()
    assert (STEP / "optimizer.safetensors", f"pid {os.getpid()} has opened it since") in result.skipped


def test_a_file_that_an_unreadable_process_may_have_opened_since_stays(archived, monkeypatch):
    plan = look(archived)
    monkeypatch.setattr("penname.jobs.purge.current_uses", lambda: Uses({}, (4242,)))
    with (archived.path / STEP / "optimizer.safetensors").open("rb"):
        result = delete(plan)
    assert (STEP / "optimizer.safetensors", "a process has opened it since, or may have") in result.skipped
    assert [path.name for path in (archived.path / STEP).iterdir()] == ["optimizer.safetensors"]


def test_what_went_or_came_between_look_and_deletion_is_said(archived):
    plan = look(archived)
    later = STEP.with_name("step-000100")
    (archived.path / STEP / "adapter.safetensors").unlink()
    (archived.path / later / "mine.txt").write_text("new")
    assert delete(plan).skipped == [(STEP / "adapter.safetensors", "it is gone already"), (later, "directory not empty")]
    assert [path.name for path in (archived.path / later).iterdir()] == ["mine.txt"]


def test_merged_models_go_and_other_exports_stay(archived):
    for kind in ("merged", "adapter"):
        folder = archived.path / "exports" / RUN / kind
        folder.mkdir(parents=True)
        (folder / "model.safetensors").write_bytes(b"m" * 1000)
        (folder / "export.json").write_text(json.dumps({"kind": kind, "run": RUN}))
    assert going(look(archived))[-1] == f"exports/{RUN}/merged"
    purge(archived, look(archived))
    assert not (archived.path / "exports" / RUN / "merged").exists()
    assert (archived.path / "exports" / RUN / "adapter/model.safetensors").exists()


def test_scripts_that_name_a_purged_path_are_retired(archived):
    script = archived.path / "serve.sh"
    rest = b"# Bront\xeb\n" + f"vllm serve {STEP}\n".encode()  # no UTF-8: what somebody else wrote is kept byte for byte
    script.write_bytes(b"#!/bin/sh\n" + rest)
    script.chmod(0o755)
    other = archived.path / "other.sh"
    other.write_text("#!/bin/sh\ntrue\n")
    done = purge(archived, look(archived))
    assert script.read_bytes() == f"#!/bin/sh\n# RETIRED by penname purge: {STEP} is gone\n".encode() + rest
    assert script.stat().st_mode & 0o777 == 0o755
    assert other.read_text() == "#!/bin/sh\ntrue\n"
    assert done.retired == [Path("serve.sh")]


def test_a_second_run_that_is_not_archived_stays(archived):
    make_run(archived.path, "tiny-all-x6-am-s2")
    purge(archived, look(archived))
    assert (archived.runs / "tiny-all-x6-am-s2/checkpoints/step-000050/complete.json").exists()


def test_an_adapter_that_differs_afterwards_is_said(archived):
    plan = look(archived)
    (archived.runs / RUN / "adapter/adapter_config.json").write_text("{}")
    with pytest.raises(ProofFailed, match="is not the one its archive recorded"):
        purge(archived, plan)


class Server(BaseHTTPRequestHandler):
    """The two calls that the probe makes."""

    answers = 1
    keys: ClassVar[set[str | None]] = set()

    def do_GET(self):
        self.keys.add(self.headers["authorization"])
        self._send({"data": [{"id": "m"}]})

    def do_POST(self):
        self.keys.add(self.headers["authorization"])
        self.rfile.read(int(self.headers["content-length"]))
        type(self).answers -= 1
        self._send({"choices": [{"text": " a" if type(self).answers >= 0 else ""}]})

    def _send(self, value):
        body = json.dumps(value).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.mark.parametrize(("answers", "passes"), [(2, True), (1, False), (0, False)])
def test_a_live_server_is_asked_before_and_after(archived, monkeypatch, answers, passes):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-1")
    Server.answers = answers
    Server.keys.clear()
    server = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        if passes:
            purge(archived, look(archived), probe=f"http://127.0.0.1:{server.server_port}/v1")
        else:
            with pytest.raises(PennameError, match="empty completion"):
                purge(archived, look(archived), probe=f"http://127.0.0.1:{server.server_port}")
        assert (archived.path / STEP).exists() == (answers == 0)
        assert Server.keys == {"Bearer sk-1"}
    finally:
        server.shutdown()
        server.server_close()


def test_a_server_that_is_not_there_stops_a_purge_before_it_begins(archived):
    with socket.socket() as deaf:  # bound, and nobody listens
        deaf.bind(("127.0.0.1", 0))
        with pytest.raises(PennameError, match="gives no completion"):
            purge(archived, look(archived), probe=f"http://127.0.0.1:{deaf.getsockname()[1]}")
    assert (archived.path / STEP).exists()


def test_uses_names_this_process(tmp_path):
    file = tmp_path / "f"
    file.write_text("x")
    with file.open() as handle:
        info = os.fstat(handle.fileno())
        assert current_uses().files[info.st_dev, info.st_ino] == os.getpid()
    assert (info.st_dev, info.st_ino) not in current_uses().files
