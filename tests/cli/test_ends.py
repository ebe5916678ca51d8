"""How a call ends: its exit code, its one sentence, and that no verb works in a folder in which another does."""

from __future__ import annotations

import errno
import fcntl
import io
import json
import os
import subprocess
import sys

import pytest
import typer

from penname.cli import app
from penname.core.errors import BadInput, JudgeSaysNo, NeedsPerson
from penname.core.files import write_json
from penname.jobs.backup import BackupCheck
from penname.jobs.sweep import Outcome
from penname.voice import doctor


@pytest.fixture
def voice(tmp_path):
    (tmp_path / "voice.toml").write_text('[carrier]\nname = "nowhere"\n')
    return tmp_path


def verb_that(monkeypatch, does):
    """Put a verb that does this in the place of every verb."""
    single = typer.Typer(add_completion=False)
    single.command()(does)
    monkeypatch.setattr(app, "load_verb", lambda verb: typer.main.get_command(single))


def ended(monkeypatch, *words):
    monkeypatch.setattr("sys.argv", ["penname", *words])
    with pytest.raises(SystemExit) as caught:
        app.main()
    return caught.value.code


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (BadInput("no such book"), 1, "penname: no such book\n"),
        (NeedsPerson("who is Tom?"), 3, "penname: who is Tom?\n"),
        (JudgeSaysNo("the verdict is failed"), 4, "penname: the verdict is failed\n"),
        (KeyboardInterrupt(), 130, "penname: interrupted; what was finished is kept, run the same command again to go on\n"),
        (
            PermissionError(errno.EACCES, "Permission denied", "/a"),
            1,
            "penname: /a: Permission denied; change its permissions, or work in another folder\n",
        ),
        (OSError(errno.EIO, "Input/output error", "/a"), 1, "penname: /a: Input/output error\n"),
        (
            KeyError("x"),
            1,
            "penname: this is a fault of Penname, please report it: KeyError: 'x' (PENNAME_DEBUG=1 shows where)\n",
        ),
    ],
)
def test_each_kind_of_error_has_its_code_and_sentence(monkeypatch, capsys, error, code, said):
    def fails():
        raise error

    monkeypatch.delenv("PENNAME_DEBUG", raising=False)
    verb_that(monkeypatch, fails)
    assert ended(monkeypatch, "status") == code
    assert capsys.readouterr() == ("", said)


@pytest.mark.parametrize("error", [OSError(errno.EIO, "Input/output error", "/a"), KeyError("x")])
def test_whoever_debugs_sees_where(monkeypatch, error):
    def fails():
        raise error

    monkeypatch.setenv("PENNAME_DEBUG", "1")
    verb_that(monkeypatch, fails)
    monkeypatch.setattr("sys.argv", ["penname", "status"])
    with pytest.raises(type(error)):
        app.main()


@pytest.mark.parametrize("words", [("jobs", "--json"), ("status",)])
def test_a_reader_that_has_gone_is_no_failure(voice, words):
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run([sys.executable, "-m", "penname", *words], cwd=voice, stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (done.returncode, done.stderr) == (0, b"")


def test_a_folder_that_is_not_there(monkeypatch, tmp_path, capsys):
    assert ended(monkeypatch, "-C", str(tmp_path / "v"), "status") == 1
    assert f"there is no folder {tmp_path}/v; make a voice with: penname new" in capsys.readouterr().err


def test_quiet_leaves_the_result_and_the_errors(monkeypatch, voice, capsys):
    assert ended(monkeypatch, "--quiet", "new", str(voice / "v"), "--book", __file__) == 0
    assert capsys.readouterr() == (f"{voice}/v\n", "")
    assert ended(monkeypatch, "--quiet", "new", str(voice / "v"), "--book", __file__) == 1
    assert capsys.readouterr().err.startswith("penname: ")


@pytest.mark.parametrize(
    "words",
    [
        ("book",), ("cast",), ("rename",), ("beat",), ("beat", "--edit", "b:0:0", "Tom waits."), ("shard",), ("control",),
        ("control", "--register"), ("train",), ("judge",), ("judge", "--curve", "steps"), ("report",), ("purge",), ("run",),
    ],
)  # fmt: skip
def test_no_verb_works_in_a_folder_in_which_another_does(monkeypatch, voice, capsys, words):
    with (voice / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        before = sorted(voice.iterdir())
        assert ended(monkeypatch, *words, "-C", str(voice)) == 1
    assert f"another penname works in {voice}" in capsys.readouterr().err
    assert sorted(voice.iterdir()) == before


def test_one_seed_trains_beside_another(monkeypatch, voice, capsys):
    with (voice / ".lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        assert ended(monkeypatch, "train", "--seed", "1", "-C", str(voice)) == 1
    assert "another penname works" not in capsys.readouterr().err


def test_doctor_says_what_is_absent(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setitem(doctor.EXTRAS, "no-such-package", "none")
    assert ended(monkeypatch, "doctor", "--json") == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["libraries"]["torch"].startswith("2.")
    assert facts["extras"]["no-such-package (penname[none])"] is None
    assert set(facts["tools"].values()) == {None}


VERDICT = {"runs": [], "sentence": "It covers a third of the way.", "reasons": [], "claims": []}


@pytest.mark.parametrize(("verdict", "code"), [("passed", 0), ("failed", 4), ("inconclusive", 4), ("refused", 4), ("unregistered", 4)])
def test_only_a_verdict_that_passed_ends_well(monkeypatch, voice, capsys, verdict, code):
    monkeypatch.setattr(
        "penname.judging.stage.run_judge", lambda voice: write_json(voice.judging / "verdict.json", {**VERDICT, "verdict": verdict})
    )
    for words in ((), ("--json",)):
        assert ended(monkeypatch, "judge", "-C", str(voice), *words) == code
        printed = capsys.readouterr()
        assert "It covers a third of the way." in printed.out
        assert printed.err == (f"penname: the verdict is {verdict}\n" if code else "")


@pytest.mark.parametrize(("differs", "code"), [({}, 0), ({"missing": ("a",)}, 1), ({"extra": ("a",)}, 1), ({"links": ("a",)}, 1)])
def test_a_backup_that_is_not_exact_does_not_end_well(monkeypatch, voice, differs, code):
    found = BackupCheck(**{"wanted": (), "missing": (), "extra": (), "idle_excludes": (), "links": (), "carve_out": "", **differs})
    monkeypatch.setattr("penname.jobs.backup.check_backup", lambda voice, plan: found)
    for words in ((), ("--json",)):
        assert ended(monkeypatch, "backup", "-C", str(voice), *words) == code


@pytest.fixture
def swept(monkeypatch, voice):
    """A sweep of two runs whose trainer is this test; gives the codes with which the runs end."""
    (voice / "sizes.toml").write_text("[sweep]\nseeds = [1, 2]\n")
    codes: list[int] = []
    monkeypatch.setattr("penname.jobs.sweep.make_shards", lambda voice, sweep: None)
    monkeypatch.setattr(
        "penname.jobs.sweep.run_task", lambda voice, task, threads: Outcome(task, codes[task.seed - 1], f"seed {task.seed} ended")
    )
    return codes


def test_a_sweep_with_a_failed_run_does_not_end_well(monkeypatch, voice, capsys, swept):
    table = ("sweep", str(voice / "sizes.toml"), "-C", str(voice), "--yes")
    swept[:] = [0, 0]
    assert ended(monkeypatch, *table) == 0
    assert capsys.readouterr().out == "2 of 2 runs done; judge them with: penname judge\n"
    swept[:] = [7, 0]
    assert ended(monkeypatch, *table) == 1
    printed = capsys.readouterr()
    assert printed.out == "1 of 2 runs done; judge them with: penname judge\n"
    assert "FAILED: seed=1: seed 1 ended" in printed.err and "done: seed=2: seed 2 ended" in printed.err


def test_a_sweep_that_nobody_can_be_asked_about_wants_a_yes(monkeypatch, voice, capsys, swept):
    monkeypatch.setattr("sys.stdin", io.StringIO())
    assert ended(monkeypatch, "sweep", str(voice / "sizes.toml"), "-C", str(voice)) == 3
    told = capsys.readouterr().err
    assert f"a sweep of 2 runs wants a yes; say it with: penname -C {voice} sweep {voice}/sizes.toml --yes" in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("archive",), "archive wants a place"),
        (("run", "--decide", "maybe"), '--decide takes "auto" or "ask", and "maybe" is neither'),
        (("judge", "--curve", "loss"), 'there is no curve "loss"; the curves are words'),
        (("beat", "Tom waits."), "a beat is given without its passage"),
        (("beat", "--show", "b", "--sample", "2"), "three things to do; give one of them"),
        (("cast", "--show", "Tom", "--drop", "Tom"), "--show only shows, and nothing was decided"),
    ],
)
def test_options_that_contradict_are_refused(monkeypatch, voice, capsys, words, said):
    assert ended(monkeypatch, words[0], "-C", str(voice), *words[1:]) == 1
    assert said in capsys.readouterr().err
