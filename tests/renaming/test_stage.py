from __future__ import annotations

import json
import subprocess
import sys

import pytest

from penname.core.errors import NeedsPerson, StaleInput
from penname.core.folder import open_voice
from penname.core.stage import read_manifest, stage_writer
from penname.core.store import load_copy, save_book, save_cast
from penname.core.values import Cast, Question
from penname.renaming.dictionary import load_dictionary
from penname.renaming.stage import VERSION, rename_inputs, rename_settings, run_rename
from renaming.hand import hand_book, hand_cast

ONE = "Jane Eyre met Mr. Rochester. Jane sat down by the fire of Thornfield."
TWO = "William Crimsworth met Mr. Hunsden. Jane wrote to William about the mill."


@pytest.fixture
def voice(tmp_path):
    (tmp_path / "voice.toml").write_text("[voice]\nseed = 5\n[copies]\ncount = 2\n")
    books = [hand_book(ONE, "one"), hand_book(TWO, "two")]
    casts = [
        hand_cast(books[0], "p1 female Eyre | Jane Eyre, Jane\np2 male - | Mr. Rochester\nq1 place - | Thornfield"),
        hand_cast(books[1], "p1 male - | William Crimsworth, William\np2 male - | Mr. Hunsden\np3 female - | Jane"),
    ]
    put(open_voice(tmp_path), books, casts)
    return open_voice(tmp_path)


def put(voice, books, casts):
    with stage_writer(voice.books, stage="book", version=1, settings={}, inputs={}) as folder:
        for book in books:
            save_book(folder / book.id, book)
    with stage_writer(voice.cast, stage="cast", version=1, settings={}, inputs={}) as folder:
        for cast in casts:
            save_cast(folder / f"{cast.book_id}.json", cast)


def test_it_writes_a_map_for_judging_and_the_copies_each_with_its_proof(voice):
    manifest = run_rename(voice)
    assert sorted(path.name for path in voice.copies.iterdir() if path.is_dir()) == ["0", "1", "2"]
    for k in range(3):
        copy = load_copy(voice.copies / str(k), hand_book(ONE, "one"))
        assert copy.copy == k
        assert "Jane" not in copy.text
        assert copy.names["Jane Eyre"] in copy.text
        proof = json.loads((voice.copies / str(k) / "proof.json").read_text())
        assert proof["one"]["edits"] == len(copy.edits) == 4
        assert read_manifest(voice.copies / str(k)).inputs == manifest.inputs
    assert manifest.counts["edits"] == 3 * (4 + 4)
    assert manifest.settings["dictionary"] == load_dictionary().sha256
    assert (manifest.version, manifest.settings, manifest.inputs) == (VERSION, rename_settings(voice.config), rename_inputs(voice))


def test_who_keeps_every_name_is_told(voice, capsys):
    book = hand_book("Mum came with Jane Eyre. Mum sat. Then Mum went.", "mum")
    put(voice, [book], [hand_cast(book, "p1 female Eyre | Jane Eyre\np2 female - | Mum")])
    run_rename(voice)
    assert "mum: named in every copy as in the book, by a title and no name: Mum" in capsys.readouterr().err
    assert json.loads((voice.copies / "1" / "proof.json").read_text())["mum"]["unchanged"] == ["Mum"]


def test_people_are_a_books_own_unless_the_books_are_a_series(voice, tmp_path):
    run_rename(voice)
    apart = json.loads((voice.copies / "1" / "names.json").read_text())
    run_rename(open_voice(tmp_path, ["voice.series=true"]))
    series = json.loads((voice.copies / "1" / "names.json").read_text())
    assert apart["one"]["Jane"] != apart["two"]["Jane"]
    assert series["one"]["Jane"] == series["two"]["Jane"]


def test_two_runs_give_the_same_bytes(voice):
    first = run_rename(voice)
    assert run_rename(voice).files == first.files


def test_open_questions_stop_it_and_leave_the_earlier_copies(voice):
    before = run_rename(voice)
    books = [hand_book(ONE, "one"), hand_book(TWO, "two")]
    casts = [hand_cast(books[0], "p1 female - | Jane"), hand_cast(books[1], "p1 female - | Jane")]
    question = Question("q", "gender", "Jane", ("p1",), 9, {}, "", ())
    put(voice, books, [casts[0], Cast("two", casts[1].entities, casts[1].mentions, (question,))])
    with pytest.raises(NeedsPerson, match="two: 1 names wait"):
        run_rename(voice)
    assert read_manifest(voice.copies) == before


def test_without_a_cast_it_says_what_to_run(tmp_path):
    (tmp_path / "voice.toml").write_text("")
    with pytest.raises(StaleInput, match="books is not there yet; run: penname book"):
        run_rename(open_voice(tmp_path))


def test_the_verb_prints_what_was_made(voice):
    code = "from penname.cli.app import main; main()"
    run = subprocess.run(
        [sys.executable, "-c", code, "rename", "-C", str(voice.path), "--json"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["edits"] == 24
