"""The same books and seed give the same bytes: whatever the order in which Python hashes, and on every Python that Penname supports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from renaming.test_real_book import other_pythons

SRC = Path(__file__).resolve().parents[2] / "src"
SCRIPT = """
import sys
sys.path.insert(0, sys.argv[1])
from penname.cast.build import Readings
from penname.cast.decisions import Decisions
from penname.cast.stage import take_proposals
from penname.core.config import CastConfig
from penname.core.hashing import sha256_bytes
from penname.core.values import Book
from penname.renaming import prove, rename
text = open(sys.argv[2], encoding="utf-8", newline="").read()
book = Book("story", "story", "", text, ())
cast = take_proposals(Readings([book], CastConfig(), series=False), Decisions())[0][0]
print(sha256_bytes(repr(cast).encode()))
for k in (0, 1):
    copy = rename(book, cast, 1, k)
    prove(book, cast, copy)
    print(sha256_bytes((copy.text + repr(copy.edits) + repr(copy.names)).encode()))
"""


def digests(python: str, story: Path, hash_seed: str) -> list[str]:
    """Digests of the story's cast and of two of its copies."""
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    run = subprocess.run(
        [python, "-c", SCRIPT, str(SRC), str(story)], capture_output=True, text=True, check=False, env=environment, timeout=300
    )
    assert run.returncode == 0, run.stderr
    return run.stdout.split()


def test_cast_and_copies_do_not_hang_on_the_order_of_hashes(story):
    first = digests(sys.executable, story, "1")
    assert len(set(first)) == 3
    assert digests(sys.executable, story, "2") == first


def test_cast_and_copies_are_the_same_on_other_pythons(story):
    needs = "import pydantic, tomlkit"
    pythons = {
        name: path for name, path in other_pythons() if not subprocess.run([path, "-c", needs], capture_output=True, check=False).returncode
    }
    if not pythons:
        pytest.skip("no other supported Python with pydantic and tomlkit is on this machine")
    expected = digests(sys.executable, story, "0")
    for path in pythons.values():
        assert digests(path, story, "3") == expected
