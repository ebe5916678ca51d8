"""Jane Eyre with a hand-made cast, under the scorer that uses none of this code, and on another Python."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from cpu import cpu_seconds
from penname.core.hashing import sha256_bytes
from penname.renaming import prove, rename
from renaming.hand import JANE_EYRE, hand_book, hand_cast

SRC = Path(__file__).resolve().parents[2] / "src"
TEXT = "gold/litbank/original/1260_jane_eyre_an_autobiography.txt"


@pytest.fixture(scope="module")
def novel(shared):
    book = hand_book((shared / TEXT).read_text(encoding="utf-8"), "jane-eyre", "Charlotte Bronte")
    return book, hand_cast(book, JANE_EYRE)


@pytest.mark.parametrize("k", [0, pytest.param(1, marks=pytest.mark.slow), pytest.param(2, marks=pytest.mark.slow)])
def test_the_scorer_finds_nothing(shared, novel, tmp_path, k):
    book, cast = novel
    copy = rename(book, cast, 1, k)
    assert prove(book, cast, copy).edits > 2500
    (tmp_path / "book.txt").write_bytes(book.text.encode())
    (tmp_path / "copy.txt").write_bytes(copy.text.encode())
    (tmp_path / "edits.jsonl").write_text("".join(json.dumps(asdict(edit)) + "\n" for edit in copy.edits))
    people = [name for entity in cast.entities if entity.kind == "person" for name in entity.names]
    (tmp_path / "names.txt").write_text("\n".join(people))
    files = [tmp_path / "book.txt", tmp_path / "copy.txt", tmp_path / "edits.jsonl"]
    command = [sys.executable, shared / "score/score_copies.py", *files, "--names", tmp_path / "names.txt"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stdout.count("\n")) == (0, 1), run.stdout


def test_time_grows_with_the_words_and_not_faster(novel):
    book, _ = novel

    def seconds(share):
        part = hand_book(book.text[: int(len(book.text) * share)], "part")
        cast = hand_cast(part, JANE_EYRE)
        return min(cpu_seconds(lambda: rename(part, cast, 1, 1)) for _ in range(3))

    rename(book, hand_cast(book, JANE_EYRE), 1, 1)  # the dictionary is read once
    assert seconds(1.0) < 6 * seconds(0.25)  # four times the words; quadratic time would be sixteen


def other_pythons():
    """Interpreters of other supported versions on this machine."""
    found = [shutil.which(f"python3.{minor}") for minor in (11, 12, 13)]
    found += sorted(map(str, (Path.home() / ".pyenv/versions").glob("3.1[123].*/bin/python")))
    for path in filter(None, found):
        version = subprocess.run(
            [path, "-c", "import sys; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True, check=False
        )
        name = version.stdout.strip()
        if name in ("3.11", "3.12", "3.13") and name != f"{sys.version_info[0]}.{sys.version_info[1]}":
            yield name, path


SCRIPT = """
import sys
sys.path[:0] = [sys.argv[1], sys.argv[2]]
from renaming.hand import JANE_EYRE, hand_book, hand_cast
from penname.core.hashing import sha256_bytes
from penname.renaming import prove, rename
book = hand_book(open(sys.argv[3], encoding="utf-8", newline="").read().replace("\\r\\n", "\\n"), "jane-eyre", "Charlotte Bronte")
cast = hand_cast(book, JANE_EYRE)
for k in (0, 1):
    copy = rename(book, cast, 1, k)
    prove(book, cast, copy)
    print(sha256_bytes((copy.text + repr(copy.edits) + repr(copy.names)).encode()))
"""


def test_the_same_bytes_on_other_pythons_and_without_any_package(shared, novel):
    pythons = dict(other_pythons())
    if not pythons:
        pytest.skip("no other supported Python is on this machine")
    book, cast = novel
    copies = [rename(book, cast, 1, k) for k in (0, 1)]
    expected = [sha256_bytes((copy.text + repr(copy.edits) + repr(copy.names)).encode()) for copy in copies]
    for path in pythons.values():
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
        command = [path, "-S", "-c", SCRIPT, str(SRC), str(SRC.parent / "tests"), str(shared / TEXT)]
        run = subprocess.run(command, capture_output=True, text=True, check=False, env=clean)
        assert run.stdout.split() == expected, run.stderr
