"""launch, jobs, logs, stop: each guard fires on the real thing it guards against."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from penname.core.errors import BadInput, PennameError
from penname.core.files import write_json
from penname.jobs.identity import Identity, boot_id, identity_of, is_alive, own_identity
from penname.jobs.launch import _terminate, launch, stop
from penname.jobs.record import all_jobs, find_job, lock_is_held, read_job
from penname.jobs.show import job_rows

# A job that runs until it is stopped, and costs nothing: it follows its own log.
FOREVER = ["logs", "-f"]


@pytest.fixture
def voice(tmp_path):
    folder = tmp_path / "voice"
    folder.mkdir()
    (folder / "voice.toml").write_text('[voice]\nbooks = ["a.txt"]\n')
    yield folder
    for job in all_jobs(folder / "jobs"):
        for identity in (job.watcher, job.worker):
            if identity and is_alive(identity) and identity.pid != os.getpid():
                os.kill(identity.pid, signal.SIGKILL)


def until(condition, seconds=300.0):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.05)
    return False


def launch_forever(voice):
    return launch(voice, FOREVER, floor_bytes=0)


def test_identity_of_this_process_and_of_none():
    me = own_identity()
    assert me.pid == os.getpid() and is_alive(me)
    assert me.boot_id == Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    assert not is_alive(Identity(me.pid, me.start_ticks + 1, me.boot_id))  # the pid was recycled
    assert not is_alive(Identity(me.pid, me.start_ticks, "another boot"))
    gone = subprocess.Popen(["true"])
    gone.wait()
    assert identity_of(gone.pid) is None


def test_a_process_may_call_itself_anything():
    code = "open('/proc/self/comm', 'wb').write(b'\\xc3) (Z'); print(flush=True); input()"
    named = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert named.stdout.readline() == b"\n"
    found = identity_of(named.pid)
    named.communicate(b"\n")
    assert found is not None and found.pid == named.pid


def test_a_zombie_is_no_live_process():
    child = subprocess.Popen(["true"])
    assert until(lambda: identity_of(child.pid) is None)
    assert (Path("/proc") / str(child.pid)).exists()  # not waited for: a zombie
    child.wait()


def test_a_job_runs_detached_and_ends_with_its_exit_code(voice):
    job = launch(voice, ["status", "--json"], floor_bytes=0)
    assert job.id == "status-1"
    assert until(lambda: read_job(job.folder).state == "done")
    assert json.loads(job.log.read_text())["rows"][0]["state"] == "missing"
    failed = launch(voice, ["write", "--no-such-option"], floor_bytes=0)
    assert until(lambda: read_job(failed.folder).state == "failed")
    assert read_job(failed.folder).exit["code"] == 2
    assert [row.why for row in job_rows(voice)] == ["", "No such option: --no-such-option"]


def test_a_job_that_has_ended_before_it_is_looked_at_has_run(voice, monkeypatch):
    def late(folder):
        found = read_job(folder)
        assert until(lambda: (watcher := read_job(folder).watcher) and not is_alive(watcher))
        return replace(found, worker=None)  # as it was before all that; and it had ended before it could be told from others

    monkeypatch.setattr("penname.jobs.launch.read_job", late)
    assert launch(voice, ["status"], floor_bytes=0).state == "done"


def test_a_job_that_does_not_start_in_time_never_does(voice, monkeypatch):
    before = set(psutil.Process().children(recursive=True))
    monkeypatch.setattr("penname.jobs.launch.START_SECONDS", 0.0)
    with pytest.raises(PennameError, match=r"the job did not start; its log says why: .*jobs/logs-1/log\.txt"):
        launch_forever(voice)
    assert set(psutil.Process().children(recursive=True)) <= before


def test_a_job_runs_from_the_moment_its_record_stands(voice, monkeypatch):
    states, start = [], subprocess.Popen

    def note(*words, **more):
        process = start(*words, **more)
        states.append([job.state for job in all_jobs(voice / "jobs")])  # and a look now is in nobody's way
        return process

    monkeypatch.setattr("penname.jobs.launch.subprocess.Popen", note)
    job = launch_forever(voice)
    assert states == [["running"]] and read_job(job.folder).state == "running"


def test_a_watcher_that_fails_is_not_waited_for(voice, monkeypatch):
    monkeypatch.setattr("penname.jobs.launch.START_SECONDS", float("inf"))
    monkeypatch.setattr("penname.jobs.launch.sys.executable", shutil.which("false"))
    with pytest.raises(PennameError, match="the job did not start"):
        launch_forever(voice)


def test_a_launch_wants_a_verb(voice):
    with pytest.raises(BadInput, match="launch wants the verb to start"):
        launch(voice, [], floor_bytes=0)


def test_job_has_a_session_of_its_own(voice):
    job = launch_forever(voice)
    assert os.getsid(job.worker.pid) != os.getsid(0)
    assert job.state == "running"


def test_a_second_job_is_refused_while_one_runs(voice):
    job = launch_forever(voice)
    with pytest.raises(PennameError, match=rf"the job {job.id} of this voice runs"):
        launch_forever(voice)


def test_two_launches_at_once_start_one_job(voice):
    command = [sys.executable, "-m", "penname", "launch", "-C", str(voice), "--cpu", "--disk-floor-gb", "0", *FOREVER]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    told = [process.communicate()[1] for process in both]
    assert sorted(process.returncode for process in both) == [0, 1]
    assert len([job for job in all_jobs(voice / "jobs") if job.alive]) == 1
    refusal = next(text for process, text in zip(both, told, strict=True) if process.returncode == 1)
    assert "another penname launch is starting" in refusal or "of this voice runs" in refusal


def test_killing_the_watcher_does_not_make_a_working_job_look_dead(voice):
    job = launch_forever(voice)
    os.kill(job.watcher.pid, signal.SIGKILL)
    assert until(lambda: not is_alive(job.watcher))
    assert read_job(job.folder).state == "running"
    with pytest.raises(PennameError, match="of this voice runs"):
        launch_forever(voice)
    os.kill(job.worker.pid, signal.SIGKILL)
    assert until(lambda: read_job(job.folder).state == "died")


def test_killing_the_worker_is_recorded_as_failed(voice):
    job = launch_forever(voice)
    os.kill(job.worker.pid, signal.SIGKILL)
    assert until(lambda: read_job(job.folder).state == "failed")
    assert read_job(job.folder).exit["code"] == -9


def test_a_watcher_that_is_asked_to_end_asks_its_worker_and_records_the_end(voice):
    job = launch_forever(voice)
    os.kill(job.watcher.pid, signal.SIGINT)  # the worker has heard it too, where a terminal sent it
    os.kill(job.watcher.pid, signal.SIGTERM)
    assert until(lambda: read_job(job.folder).exit == {"code": -signal.SIGTERM, "stopped": False, "why": ""})


def test_killing_both_reads_as_died_and_a_new_job_may_start(voice):
    job = launch_forever(voice)
    os.kill(job.watcher.pid, signal.SIGKILL)
    os.kill(job.worker.pid, signal.SIGKILL)
    assert until(lambda: read_job(job.folder).state == "died")
    assert launch_forever(voice).id == "logs-2"


def planted(voice, identity):
    """A record of a job whose process was ``identity``, with its lock held by somebody else: this test."""
    folder = voice / "jobs" / "train-1"
    folder.mkdir(parents=True)
    write_json(folder / "job.json", {"command": ["train"], "started": "2026-01-01T00:00:00.000+00:00", "worker": identity.to_json()})
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT)
    fcntl.flock(handle, fcntl.LOCK_EX)
    return folder, handle


@pytest.mark.parametrize("what", ["recycled pid", "rebooted"])
def test_a_recycled_pid_or_a_reboot_reads_as_died(voice, what):
    me = own_identity()
    other = Identity(me.pid, me.start_ticks - 5, me.boot_id) if what == "recycled pid" else Identity(me.pid, me.start_ticks, "f" * 36)
    folder, handle = planted(voice, other)
    try:
        assert lock_is_held(folder / "lock")
        assert read_job(folder).state == "died"
        assert launch_forever(voice).id == "logs-1"
    finally:
        os.close(handle)
    assert boot_id() != "f" * 36


def test_the_same_record_reads_as_running_when_it_is_true(voice):
    folder, handle = planted(voice, own_identity())
    try:
        assert read_job(folder).state == "running"
    finally:
        os.close(handle)
    assert read_job(folder).state == "died"


def test_a_job_that_has_ended_keeps_no_new_one_out_while_its_watcher_goes(voice):
    folder, handle = planted(voice, own_identity())
    write_json(folder / "exit.json", {"code": 0, "stopped": False, "why": ""})
    try:
        assert (read_job(folder).state, read_job(folder).alive) == ("done", True)
        assert launch_forever(voice).id == "logs-1"
    finally:
        os.close(handle)


def test_a_job_that_has_its_lock_and_not_yet_a_name_is_running(voice):
    folder, handle = planted(voice, own_identity())
    write_json(folder / "job.json", {"command": ["train"], "started": "2026-01-01T00:00:00.000+00:00"})
    assert read_job(folder).state == "running"
    os.close(handle)
    assert read_job(folder).state == "died"
    (folder / "lock").unlink()
    assert read_job(folder).state == "died"


def test_a_job_is_found_by_its_name_or_as_the_newest(voice):
    with pytest.raises(BadInput, match="no job was launched in this voice folder"):
        find_job(voice / "jobs", None)
    for name, started in (("train-1", "2026-01-02"), ("judge-1", "2026-01-01")):
        (voice / "jobs" / name).mkdir(parents=True)
        write_json(voice / "jobs" / name / "job.json", {"command": ["x"], "started": started})
    assert (find_job(voice / "jobs", None).id, find_job(voice / "jobs", "judge-1").id) == ("train-1", "judge-1")


@pytest.mark.parametrize("record", [{}, {"command": 3, "started": ""}])
def test_what_is_no_record_of_a_job_is_said(tmp_path, record):
    write_json(tmp_path / "job.json", record)
    with pytest.raises(BadInput, match=rf"the record of the job in {tmp_path} is damaged; delete that folder if nothing of it runs"):
        read_job(tmp_path)


def test_a_log_is_never_overwritten(voice, tmp_path):
    log = tmp_path / "mine.log"
    log.write_text("precious")
    with pytest.raises(BadInput, match="a log is never overwritten"):
        launch(voice, FOREVER, floor_bytes=0, log=log)
    assert log.read_text() == "precious"
    assert all_jobs(voice / "jobs") == []
    with pytest.raises(BadInput, match="cannot be made"):
        launch(voice, FOREVER, floor_bytes=0, log=tmp_path / "no-such-folder" / "x.log")
    assert all_jobs(voice / "jobs") == []


def test_a_voice_folder_that_cannot_be_written_is_one_sentence(voice, monkeypatch):
    def refused(*_):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr("penname.jobs.record.os.open", refused)
    with pytest.raises(PennameError, match=r"jobs/\.launching cannot be written \(Permission denied\)"):
        launch_forever(voice)


def test_too_little_disk_is_refused(voice):
    with pytest.raises(PennameError, match=r"this run wants \S+ TB left over; nothing was started"):
        launch(voice, FOREVER, floor_bytes=1 << 60)
    assert all_jobs(voice / "jobs") == []


def test_the_disk_must_hold_what_the_command_writes_and_the_floor(voice):
    free = shutil.disk_usage(voice).free
    with pytest.raises(PennameError, match=r"wants .* for its checkpoints and 1\.0 MB left over; nothing was started"):
        launch(voice, FOREVER, floor_bytes=1_000_000, need_bytes=free)
    assert all_jobs(voice / "jobs") == []


@pytest.mark.parametrize("verb", ["frobnicate", "launch", "--cpuu"])
def test_what_is_no_verb_to_launch_is_refused(voice, verb):
    from penname.cli.launch import launch as verb_launch

    with pytest.raises(BadInput, match=f'"{verb}" is no verb that can be launched'):
        verb_launch([verb], where=voice, cpu=True)
    assert all_jobs(voice / "jobs") == []


def test_a_busy_gpu_is_refused_before_anything_starts(voice):
    def busy():
        raise PennameError("GPU 0 is in use by pid 7")

    with pytest.raises(PennameError, match="in use by pid 7"):
        launch(voice, FOREVER, floor_bytes=0, require_gpu=busy)
    assert all_jobs(voice / "jobs") == []


@pytest.fixture
def small_disk(tmp_path):
    """A real filesystem of 4 MB; skipped where mounting is not permitted."""
    place = tmp_path / "small"
    place.mkdir()
    if (
        shutil.which("mount") is None
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "none", place], capture_output=True).returncode
    ):
        pytest.skip("mounting a small filesystem is not permitted here")
    yield place
    until(lambda: subprocess.run(["umount", place], capture_output=True).returncode == 0)


def test_a_disk_that_fills_while_a_job_runs_stops_the_job(small_disk):
    (small_disk / "voice.toml").write_text("")
    job = launch(small_disk, FOREVER, floor_bytes=2_000_000, look_seconds=0.2)
    (small_disk / "fill").write_bytes(b"x" * 3_000_000)
    assert until(lambda: read_job(job.folder).state == "stopped")
    assert "below the floor of 2.0 MB" in read_job(job.folder).exit["why"]


def test_a_full_disk_starts_nothing(small_disk):
    (small_disk / "voice.toml").write_text("")
    free = shutil.disk_usage(small_disk).free
    (small_disk / "fill").write_bytes(b"x" * free)
    with pytest.raises(PennameError, match=r"disk is full|wants|No space"):
        launch(small_disk, FOREVER, floor_bytes=1)
    assert not list(small_disk.glob("jobs/*/lock"))


def test_stop_saves_waits_and_says_what_stands(voice):
    done = voice / "runs/r-s1/checkpoints/step-000050"
    done.mkdir(parents=True)
    (done / "complete.json").write_text("{}")
    (voice / "runs/r-s1/checkpoints/step-000100").mkdir()
    launch_forever(voice)
    job, checkpoints = stop(voice)
    assert (job.state, checkpoints) == ("stopped", ["runs/r-s1/checkpoints/step-000050"])
    with pytest.raises(BadInput, match="it is stopped"):
        stop(voice)
    with pytest.raises(BadInput, match=r'no job "x"; the jobs are logs-1'):
        find_job(voice / "jobs", "x")


def test_the_signal_goes_to_the_very_process_and_to_no_other_of_its_number(monkeypatch):
    sent = []
    monkeypatch.setattr("penname.jobs.launch.signal.pidfd_send_signal", lambda handle, number: sent.append(number))
    me = own_identity()
    _terminate(Identity(me.pid, me.start_ticks + 1, me.boot_id))
    assert sent == []
    _terminate(me)
    assert sent == [signal.SIGTERM]


def test_a_job_that_is_stopped_as_it_starts_is_stopped_once_it_has_a_name(voice, monkeypatch):
    folder, handle = planted(voice, own_identity())
    record = {"command": ["train"], "started": "2026-01-01T00:00:00.000+00:00"}
    write_json(folder / "job.json", record)
    worker = subprocess.Popen(["sleep", "600"])
    named = {**record, "worker": identity_of(worker.pid).to_json()}
    monkeypatch.setattr("penname.jobs.launch.time.sleep", lambda _: write_json(folder / "job.json", named))
    try:
        stop(voice)
        assert worker.wait() == -signal.SIGTERM
    finally:
        os.close(handle)


def test_a_job_in_a_long_step_is_not_said_to_have_stopped(voice):
    job = launch_forever(voice)
    os.kill(job.worker.pid, signal.SIGSTOP)
    assert until(lambda: psutil.Process(job.worker.pid).status() == psutil.STATUS_STOPPED)  # from now on it hears nothing
    with pytest.raises(PennameError, match=r"the job logs-1 has not stopped after 0 s; it may be in a long step"):
        stop(voice, wait_seconds=0.0)
    os.kill(job.worker.pid, signal.SIGCONT)
    assert until(lambda: read_job(job.folder).state == "stopped")


def test_jobs_shows_step_loss_rate_and_time_left(voice):
    launch_forever(voice)
    run = voice / "runs/tiny-all-x6-am-s1"
    run.mkdir(parents=True)
    rows = [{"step": n, "loss": 3.0 - n / 10, "tokens": 200, "seconds": 2.0} for n in range(1, 5)]
    (run / "metrics.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"step": 5, "lo')
    (run / "run.json").write_text('{"steps": 10}')
    (row,) = job_rows(voice)
    assert (row.state, row.run, row.step, row.steps) == ("running", "tiny-all-x6-am-s1", 4, 10)
    assert (row.loss, row.tokens_per_second, row.seconds_left) == (pytest.approx(2.6), 100.0, 12.0)


def test_logs_follow_until_the_end(voice):
    job = launch(voice, ["status"], floor_bytes=0)
    done = subprocess.run([sys.executable, "-m", "penname", "logs", "-C", str(voice), "-f", job.id], capture_output=True, text=True)
    assert done.returncode == 0
    assert "next: penname run" in done.stdout
