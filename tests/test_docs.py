"""What the README, docs/ and the help texts tell a reader to type is there to be typed: make targets, verbs, their options, files."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from penname.cli.app import VERBS, load_verb

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMAND = re.compile(r"(?:^|`|&& |^ +)penname ([a-z][^`\n]*)", re.MULTILINE)
GLOBAL = {"-C", "--dir", "-q", "--quiet", "-h", "--help"}


def targets() -> set[str]:
    return set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def faults(line: str) -> list[str]:
    """What of one command, without its leading penname, there is not."""
    words = shlex.split(line.split("#")[0].split("  ")[0].split(" | ")[0].split(" && ")[0].rstrip("\\ "), posix=True)
    words = words[2:] if words[0] == "-C" else words
    if words[0] not in VERBS:
        return [f"no verb {words[0]}"]
    command, options = load_verb(words[0]), words[1:]
    if words[0] == "launch":  # behind its own options stands a command of its own
        at = next((place for place, word in enumerate(options) if word in VERBS), len(options))
        return [*_unknown("launch", command, options[:at]), *(faults(shlex.join(options[at:])) if options[at:] else [])]
    if hasattr(command, "commands") and options:
        if options[0] not in command.commands:
            return [f"no {words[0]} {options[0]}"]
        command = command.commands[options[0]]
    return _unknown(words[0], command, options)


def _unknown(verb: str, command: Any, words: list[str]) -> list[str]:
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)} | GLOBAL
    return [f"{verb} has no {word}" for word in words if word.startswith("-") and word.split("=")[0] not in known]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_of_a_page_are_there(page):
    text = page.read_text(encoding="utf-8")
    wrong = {line: found for line in COMMAND.findall(text) if (found := faults(line.replace("\\|", "|")))}
    assert wrong == {}
    made = set(re.findall(r"(?:^|`)make ([a-z-]+)", text, re.MULTILINE))
    assert made <= targets()
    named = set(re.findall(r"\b(?:tests|benchmarks|docs|src)/[\w/.-]+\.(?:py|md|json|png|toml)\b", text))
    assert [name for name in sorted(named) if not (ROOT / name).exists()] == []


def test_every_make_target_that_is_declared_has_a_rule():
    declared = set(re.findall(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[0].split())
    assert declared == targets() - {name for name in targets() if name.startswith(".")}


@pytest.mark.parametrize("verb", VERBS)
def test_examples_of_a_verbs_help_are_there(verb):
    command = load_verb(verb)
    for one in getattr(command, "commands", {verb: command}).values():
        examples = re.findall(r"Example: penname (.*)", one.help)
        assert examples
        assert [found for example in examples for found in faults(example)] == []


def test_the_check_fires():
    assert faults("jugde --json") == ["no verb jugde"]
    assert faults("judge --cruve words") == ["judge has no --cruve"]
    assert faults("-C bronte export daataset") == ["no export daataset"]
    assert faults("launch run --decid auto") == ["run has no --decid"]
    assert faults('write "BEAT" --seed 3   # another') == []
