"""The stage and the verb."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from book_prose import chapters
from typer.testing import CliRunner

from penname.books.stage import books_inputs, books_settings, run_books
from penname.core.errors import BadInput
from penname.core.folder import VoiceFolder, open_voice
from penname.core.stage import damaged_files, read_manifest
from penname.core.store import load_books
from penname.voice.check import check_voice
from penname.voice.graph import stage_named, stage_state

HEADS = [f"CHAPTER {n}" for n in ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X")]


def make(folder: Path, extra: str = "") -> VoiceFolder:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "mill.txt").write_text(f"THE MILL\n\nby Ann Nobody\n\n\n\n{chapters(HEADS, 5)}")
    (folder / "mill copy.txt").write_text(f"THE MILL\n\nby Ann Nobody\n\n\n\n{chapters(HEADS[:6], 4).replace('Number', 'Page')}")
    (folder / "lamp.txt").write_text(f"THE LAMP\n\nby Sam Other\n\n\n\n{chapters(HEADS[:5], 4).replace('Number', 'Row')}")
    (folder / "voice.toml").write_text(f'[voice]\nbooks = ["mill.txt", "mill copy.txt"]\nothers = ["lamp.txt"]\n{extra}')
    return open_voice(folder)


def test_it_writes_books_and_others_with_their_account(tmp_path: Path) -> None:
    voice = make(tmp_path / "v")
    manifest = run_books(voice)
    assert {path.name for path in voice.books.iterdir()} == {"the-mill", "the-mill-2", "manifest.json"}
    assert {path.name for path in voice.others.iterdir()} == {"the-lamp", "manifest.json"}
    assert manifest.counts["books"] == 2
    assert manifest.counts["chapters"] == 16
    assert manifest.counts["heldout_chapters"] >= 2
    assert damaged_files(voice.books, manifest) == []
    books = load_books(voice.books)
    assert [b.author for b in books] == ["Ann Nobody", "Ann Nobody"]
    assert sum(c.split == "heldout" for b in books for c in b.chapters) == manifest.counts["heldout_chapters"]
    assert all(c.split == "train" for b in load_books(voice.others) for c in b.chapters)
    removed = [json.loads(line) for line in (voice.books / "the-mill/removed.jsonl").read_text().splitlines()]
    assert removed[0] == {"start": 0, "end": 27, "rule": "title-page", "text": "THE MILL\n\nby Ann Nobody\n\n\n\n"}


def test_it_is_fresh_until_a_source_or_a_setting_changes(tmp_path: Path) -> None:
    def state(voice: VoiceFolder) -> str:
        return stage_state(voice, stage_named("books")).state

    voice = make(tmp_path / "v")
    assert state(voice) == "missing"
    manifest = run_books(voice)
    assert state(voice) == "fresh"
    assert dict(manifest.inputs) == books_inputs(voice)
    assert dict(manifest.settings) == books_settings(voice.config)
    assert state(make(tmp_path / "v", '[books]\ntypography = "curly"\n')) == "stale"
    make(tmp_path / "v")
    (tmp_path / "v/lamp.txt").write_text("CHAPTER I\n\nAnother lamp.\n")
    assert state(open_voice(tmp_path / "v")) == "stale"


def test_check_looks_for_a_source_where_the_stage_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    voice = make(tmp_path / "v")
    (tmp_path / "v/mill.txt").rename(tmp_path / "mill.txt")
    (tmp_path / "v/voice.toml").write_text('[voice]\nbooks = ["~/mill.txt", "Gutenberg:99", "none.txt"]\n')
    lost = [finding.what for finding in check_voice(open_voice(voice.path)) if "no such file" in finding.what]
    assert lost == ["voice.books names none.txt, and there is no such file; correct voice.toml"]


def test_the_same_input_gives_the_same_bytes_anywhere(tmp_path: Path) -> None:
    one, two = make(tmp_path / "a"), make(tmp_path / "b/c")
    run_books(one)
    run_books(two)
    files = sorted(path.relative_to(one.path) for path in one.path.rglob("*") if path.is_file())
    assert len(files) == 4 + 9 + 2
    for file in files:
        assert (one.path / file).read_bytes() == (two.path / file).read_bytes()


def test_a_bad_source_leaves_the_earlier_result(tmp_path: Path) -> None:
    voice = make(tmp_path / "v")
    before = run_books(voice).digest
    (voice.path / "mill copy.txt").write_bytes(b"%PDF-1.7")
    with pytest.raises(BadInput, match="convert it first"):
        run_books(voice)
    manifest = read_manifest(voice.books)
    assert manifest is not None and manifest.digest == before
    assert damaged_files(voice.books, manifest) == []


def test_one_work_in_two_files_is_refused(tmp_path: Path) -> None:
    voice = make(tmp_path / "v")
    prose = (voice.path / "mill.txt").read_text()
    (voice.path / "mill copy.txt").write_text(prose.replace("THE MILL", "MILLS").replace(",", ";").upper())  # another edition
    with pytest.raises(BadInput, match=r'names one work twice: "The Mill" \(mill.txt\) and "Mills" \(mill copy.txt\)'):
        run_books(voice)
    assert not voice.books.exists()
    (voice.path / "voice.toml").write_text('[voice]\nbooks = ["mill.txt"]\nothers = ["mill.txt"]\n')
    with pytest.raises(BadInput, match=r'names one work twice: "The Mill" \(mill.txt\); what is held out'):
        run_books(open_voice(voice.path))


def test_a_voice_without_books_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "voice.toml").write_text("")
    with pytest.raises(BadInput, match=r"names no books; add them under \[voice\]"):
        run_books(open_voice(tmp_path))


def test_the_verb_shows_a_book(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import typer

    from penname.cli.book import book

    app = typer.Typer()
    app.command()(book)
    make(tmp_path / "v")
    said = CliRunner().invoke(app, ["-C", str(tmp_path / "v")])
    assert said.exit_code == 0
    assert "2 books, 8,163 words, 16 chapters, 2 of them held out (990 words)" in said.stdout and "held out" in said.stdout
    said = CliRunner().invoke(app, ["-C", str(tmp_path / "v"), "--show"])
    assert "The Mill, Ann Nobody (the-mill, from mill.txt)" in said.stdout
    assert "CHAPTER VII" in said.stdout and "title-page" in said.stdout and "nothing odd found" in said.stdout
    said = CliRunner().invoke(app, [str(tmp_path / "v/lamp.txt"), "--json"])
    facts = json.loads(said.stdout)
    assert facts["title"] == "The Lamp"
    said = CliRunner().invoke(app, [str(tmp_path / "v/lamp.txt"), "--set", "books.typografy=curly"])  # no voice folder here
    assert isinstance(said.exception, BadInput) and str(said.exception).startswith('--set: there is no setting "books.typografy"')
    assert [row["heading"] for row in facts["chapters"]] == HEADS[:5]
    assert (
        {row["character"]: row["after"] for row in facts["alphabet"]}["—"] == 0
        if "—" in {r["character"] for r in facts["alphabet"]}
        else True
    )
