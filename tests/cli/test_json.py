"""What a verb reports it can report as JSON: a verb that is added without the option is named here."""

from __future__ import annotations

import pytest

from penname.cli.app import VERBS, load_verb

REPORTS_NOTHING = ("review", "logs")  # a page, and a job's own output


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb not in REPORTS_NOTHING])
def test_every_verb_that_reports_takes_json(verb):
    command = load_verb(verb)
    commands = getattr(command, "commands", {verb: command})
    without = [name for name, one in commands.items() if not any("--json" in option.opts for option in one.params)]
    assert without == []
