"""Wrong input gets one clear sentence, and nothing that was there is touched."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from penname.cli.app import VERBS

STORY = Path(__file__).resolve().parents[2] / "src/penname/voice/story"


def penname(*words, cwd=None):
    done = subprocess.run([sys.executable, "-m", "penname", *map(str, words)], cwd=cwd, capture_output=True, text=True, timeout=300)
    assert "Traceback" not in done.stderr, done.stderr
    return done


def sentence(done, code=1):
    assert done.returncode == code, done.stderr
    lines = [line for line in done.stderr.strip().splitlines() if line.startswith("penname: ")]
    assert len(lines) == 1, done.stderr
    return lines[0]


def picture(folder):
    return {path: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file() and path.name != ".lock"}


@pytest.fixture
def voice(tmp_path):
    folder = tmp_path / "voice"
    assert penname("new", folder, "--book", STORY / "novella.txt").returncode == 0
    assert penname("run", "-C", folder, "--to", "books").returncode == 0
    return folder


def test_no_such_file(tmp_path):
    assert "there is no file or folder nowhere.txt" in sentence(penname("new", tmp_path / "v", "--book", "nowhere.txt"))
    assert not (tmp_path / "v").exists()


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("empty.txt", b"", "empty"),
        ("book.pdf", b"%PDF-1.7\n" + bytes(range(256)), "PDF"),
        ("binary.txt", bytes(range(256)) * 200, ""),
        ("picture.png", b"\x89PNG\r\n\x1a\n" + bytes(5000), ""),
    ],
)
def test_a_file_that_is_no_book(voice, tmp_path, name, data, said):
    before = picture(voice / "books")
    (tmp_path / name).write_bytes(data)
    toml = (voice / "voice.toml").read_text()
    (voice / "voice.toml").write_text(toml.replace("books = [", f'books = ["{tmp_path / name}", '))
    told = sentence(penname("run", "-C", voice, "--to", "books"))
    assert name in told and said in told
    assert picture(voice / "books") == before


@pytest.mark.parametrize(
    ("source", "said"),
    [("gutenberg:jane", "names no Gutenberg book"), ("", "a source is empty"), ("gutenberg:", "names no Gutenberg book")],
)
def test_new_refuses_a_source_that_can_be_none(tmp_path, source, said):
    assert said in sentence(penname("new", tmp_path / "v", "--book", source))
    assert not (tmp_path / "v").exists()


def test_check_names_a_source_that_can_be_none(voice):
    toml = (voice / "voice.toml").read_text()
    (voice / "voice.toml").write_text(toml.replace("books = [", 'books = ["gutenberg:jane", '))
    done = penname("check", "-C", voice, "--json")
    assert done.returncode == 1
    assert any('"gutenberg:jane" names no Gutenberg book' in row["what"] for row in json.loads(done.stdout) if row["level"] == "problem")
    (voice / "voice.toml").write_text(toml.replace("books = [", 'books = ["", '))
    assert "voice.books.0: string should have at least 1 character" in sentence(penname("check", "-C", voice))


def test_unknown_keys_are_named_with_the_nearest(voice):
    (voice / "voice.toml").write_text((voice / "voice.toml").read_text() + "\n[training]\nlearning_rat = 1\n[bookz]\nx = 1\n")
    told = sentence(penname("status", "-C", voice))
    assert 'did you mean "training.learning_rate"?' in told and '"bookz", did you mean "books"?' in told


def test_a_folder_that_is_no_voice_folder(tmp_path):
    told = sentence(penname("status", "-C", tmp_path))
    assert "is no voice folder (it has no voice.toml); make one with: penname new" in told


def test_new_touches_no_folder_that_holds_something(voice, tmp_path):
    before = picture(voice)
    assert "is a voice folder already" in sentence(penname("new", voice, "--book", STORY / "novella.txt"))
    (tmp_path / "full").mkdir()
    (tmp_path / "full/x").write_text("x")
    assert "is not an empty folder" in sentence(penname("new", tmp_path / "full", "--book", STORY / "novella.txt"))
    assert picture(voice) == before
    assert "at least one book" in sentence(penname("new", tmp_path / "v2"))


def test_a_wrong_override_makes_no_folder(tmp_path):
    told = sentence(penname("new", tmp_path / "v", "--book", STORY / "novella.txt", "--set", "training.seedz=[1]"))
    assert 'did you mean "training.seeds"?' in told
    assert not (tmp_path / "v").exists()


def test_an_unknown_stage_and_verb(voice):
    assert "the stages are books, cast, copies" in sentence(penname("run", "-C", voice, "--to", "boks"))
    done = penname("bok")
    assert done.returncode == 2 and "Did you mean 'book'?" in done.stderr


def test_a_full_disk_leaves_earlier_results(tmp_path):
    small = tmp_path / "small"
    small.mkdir()
    if (
        shutil.which("mount") is None
        or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=2m", "none", small], capture_output=True).returncode
    ):
        pytest.skip("mounting a small filesystem is not permitted here")
    try:
        voice = small / "voice"
        assert penname("new", voice, "--book", STORY / "novella.txt").returncode == 0
        assert penname("run", "-C", voice, "--to", "books").returncode == 0
        before = picture(voice / "books")
        free = shutil.disk_usage(small).free
        (small / "fill").write_bytes(b"x" * (free - 8192))
        told = sentence(penname("run", "-C", voice, "--to", "cast", "--decide", "auto"))
        assert "disk is full" in told or "No space left" in told
        assert picture(voice / "books") == before
        (small / "fill").unlink()
        assert penname("run", "-C", voice, "--to", "cast", "--decide", "auto").returncode == 0
    finally:
        subprocess.run(["umount", small], check=True)


def test_check_names_damaged_files_and_goes_on(voice):
    (about,) = (voice / "books").glob("*/book.json")
    about.write_text("[]")
    (voice / "cast").mkdir()
    (voice / "cast/manifest.json").write_text("{")
    done = penname("check", "-C", voice, "--json")
    said = [row["what"] for row in json.loads(done.stdout) if row["level"] == "problem"]
    assert done.returncode == 1
    assert any("book.json holds no JSON object" in what for what in said)
    assert any(what.startswith("books: ") and "book.json is not what was written" in what and "run: penname book" in what for what in said)
    assert any(what.startswith("cast: ") and "delete this one file" in what for what in said)


@pytest.mark.parametrize(
    ("verb", "says"),
    [
        (("control", "--register"), "beats is not there yet; run: penname beat"),
        (("control",), "beats is not there yet; run: penname beat"),
        (("train",), "shards/smollm2-135m is not there yet; run: penname shard"),
    ],
)
def test_a_verb_before_its_turn_names_what_it_needs(voice, verb, says):
    assert says.replace("penname", f"penname -C {voice}") in sentence(penname(*verb, "-C", voice))


def test_hints_name_the_folder_that_was_given(voice):
    assert sentence(penname("-C", voice, "rename")).endswith(f"; run: penname -C {voice} cast")
    assert f"next: penname -C {voice} run" in " ".join(penname("-C", voice, "status").stdout.split())
    assert sentence(penname("rename", "-C", voice)).endswith(f"; run: penname -C {voice} cast")
    assert json.loads(penname("status", "-C", voice, "--json").stdout)["next_command"] == f"penname -C {voice} run"
    assert f"penname -C {voice} new" not in penname("-C", voice / "books", "cast").stderr


def test_help_shows_the_table_that_a_sweep_wants():
    assert "[sweep]" in penname("sweep", "--help").stdout


def test_check_says_what_a_small_corpus_means(voice):
    done = penname("check", "-C", voice)
    assert "enough to try the tool, not to make a voice" in done.stdout
    assert "no books by other authors" in done.stdout


@pytest.mark.parametrize("verb", VERBS)
def test_every_verbs_help_has_an_example(verb):
    done = penname(verb, "--help")
    assert done.returncode == 0, done.stderr
    if verb in ("carrier", "export"):  # groups: each of their verbs has one
        names = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("│ ") and line[2:3].isalpha()]
        assert names
        for name in names:
            assert "Example" in penname(verb, name, "--help").stdout, name
    else:
        assert "Example: penname" in done.stdout
