"""What options have in common: hints name the folder wherever -C stands, and a number has an end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penname.cli.app import VERBS, load_verb
from penname.core import progress

CHECKED_BY_THE_CONFIGURATION = {"--temperature", "--top-p"}  # SamplingConfig refuses what is not finite


@pytest.fixture
def hints(monkeypatch):
    monkeypatch.setattr(progress, "_folder", Path())
    monkeypatch.setattr(progress, "_command", "")
    progress.know_verbs(["run", "carrier"])
    return progress


def test_a_folder_given_twice_is_seen_from_the_first(hints):
    assert hints.as_called("next: penname run") == "next: penname run"
    hints.be_called_in(Path("my voices"))
    assert hints.as_called("next: penname run; or penname new x") == "next: penname -C 'my voices' run; or penname new x"
    hints.be_called_in(Path("bronte"))
    assert hints.as_called("penname carrier stage") == "penname -C 'my voices/bronte' carrier stage"


def commands(verb):
    command = load_verb(verb)
    return getattr(command, "commands", {verb: command}).values()


@pytest.mark.parametrize("verb", VERBS)
def test_a_number_with_a_fraction_has_an_end(verb):
    """Infinity is a number to Python, and a day of work to a command that rounds or multiplies it."""
    endless = [
        option.opts[0]
        for command in commands(verb)
        for option in command.params
        if getattr(option, "type_descriptor", None) and option.type_descriptor.annotation is float and option.max is None
    ]
    assert set(endless) <= CHECKED_BY_THE_CONFIGURATION


@pytest.mark.parametrize("verb", ["carrier", "export"])
def test_a_verb_with_verbs_of_its_own_takes_h_and_installs_nothing(verb):
    names = [name for option in load_verb(verb).params for name in option.opts]
    assert "--install-completion" not in names
    assert load_verb(verb).context_settings["help_option_names"] == ["-h", "--help"]


def run(code, **environment):
    here = {key: value for key, value in os.environ.items() if key not in ("PYTHONIOENCODING", "PYTHONUTF8")}
    return subprocess.run([sys.executable, "-c", code], capture_output=True, env={**here, **environment}, timeout=120)


SAY = """
import sys
from penname.cli import app
app.typer.main.get_command = lambda _: lambda **_: print("\u00fcn\u00ef \u2588")
"""


def test_letters_that_the_shells_encoding_lacks_are_printed_to_a_pipe_as_utf8():
    done = run(SAY + "app.main()", PYTHONIOENCODING="ascii")
    assert (done.returncode, done.stdout.decode("utf-8"), done.stderr) == (0, "ünï █\n", b"")


def test_a_closed_stdout_is_no_fault():
    done = run(SAY + "sys.stdout = None\napp.main()")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
