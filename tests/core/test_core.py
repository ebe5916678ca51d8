"""core: what every room stands on."""

from __future__ import annotations

import errno
import json
from pathlib import Path

import pytest

from penname.core import files
from penname.core.config import Config, load_config
from penname.core.errors import BadInput, PennameError, StaleInput, last_line
from penname.core.folder import open_voice
from penname.core.hashing import canonical_json, sha256_file, sha256_value
from penname.core.lock import hold
from penname.core.progress import format_count, format_seconds
from penname.core.reference import configuration_page
from penname.core.rng import CounterRng
from penname.core.stage import damaged_files, read_manifest, require_manifest, require_whole, stage_writer
from penname.core.store import load_beats, load_book, load_cast, load_copy, load_passages, save_book, save_cast, save_copy
from penname.core.values import Book, Cast, Chapter, Edit, Entity, Mention, Question, RenamedCopy, apply_edits, edits_within


def test_rng_is_the_same_everywhere():
    # Literal values: they fix the stream for every platform and Python.
    rng = CounterRng(1, "split", "jane-eyre")
    assert [rng.below(1000) for _ in range(5)] == [CounterRng(1, "split", "jane-eyre").bits64(i) * 1000 >> 64 for i in range(5)]
    assert CounterRng("x").bits64(0) == 0x51FE5534854FAF04  # printf "x\x1e0" | sha256sum
    assert CounterRng(7, "order").shuffled(range(8)) == [4, 5, 0, 3, 1, 7, 2, 6]
    assert CounterRng(1, 23).bits64() != CounterRng(12, 3).bits64()


def test_rng_refuses_an_empty_range():
    with pytest.raises(ValueError, match="must be positive"):
        CounterRng(1).below(0)


def test_what_a_manifest_names_was_synced_before_it(tmp_path, monkeypatch):
    synced = []
    monkeypatch.setattr(files.os, "fsync", lambda handle: synced.append(Path(f"/proc/self/fd/{handle}").readlink().name))
    with stage_writer(tmp_path / "shards/s", stage="s", version=1, settings={}, inputs={}) as out:
        (out / "a.txt").write_text("a")
        (out / "b").mkdir()
        (out / "b" / "c.txt").write_text("c")
    # The files, that the old manifest is gone, that the files have their names, and only then the new manifest and its name.
    assert [name.split(".json.")[0] for name in synced] == ["a.txt", "c.txt", "s", "s", "b", ".manifest", "s"]


def test_a_stage_that_is_killed_before_its_manifest_stands_is_not_done(tmp_path, monkeypatch):
    def killed(*_):
        raise KeyboardInterrupt

    write_stage(tmp_path, {"a.json": "1"})
    monkeypatch.setattr("penname.core.stage.write_text", killed)
    with pytest.raises(KeyboardInterrupt):
        write_stage(tmp_path, {"a.json": "2"})
    assert read_manifest(tmp_path) is None


def test_a_folder_that_cannot_be_written_is_one_sentence_wherever_it_is_met(tmp_path, monkeypatch):
    def refused(*_args, **_more):
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(files.tempfile, "mkstemp", refused)
    monkeypatch.setattr(files.tempfile, "mkdtemp", refused)
    told = r"cannot be written \(Permission denied\); make its folder writable and run again"
    with pytest.raises(PennameError, match=told):
        files.write_json(tmp_path / "a.json", {})
    with pytest.raises(PennameError, match=told), stage_writer(tmp_path / "s", stage="s", version=1, settings={}, inputs={}):
        pass
    monkeypatch.setattr(Path, "open", refused)
    with pytest.raises(PennameError, match=told), hold(tmp_path, "train"):
        pass


def test_a_key_that_is_not_there_names_the_file_wherever_it_is_asked_for(tmp_path):
    path = tmp_path / "run.json"
    path.write_text('{"arm": {"name": "all"}, "seeds": [{"seed": 1}]}')
    record = files.read_json(path)
    assert (record["arm"]["name"], record.get("best"), "best" in record) == ("all", None, False)
    for ask in (lambda: record["best"], lambda: record["arm"]["carrier"], lambda: record["seeds"][0]["loss"]):
        with pytest.raises(BadInput, match=r"run\.json has no \"(best|carrier|loss)\""):
            ask()
    assert json.loads(files.json_text(record)) == {"arm": {"name": "all"}, "seeds": [{"seed": 1}]}


def test_a_line_that_is_no_object_is_named(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 1}\nnull\n')
    with pytest.raises(BadInput, match=r"metrics\.jsonl, line 2, holds no JSON object"):
        list(files.read_jsonl(path))
    path.write_text('{"step": 1}\n{"st')
    assert list(files.read_jsonl(path, growing=True)) == [{"step": 1}]


def test_a_folder_in_the_place_of_a_file_is_told(tmp_path):
    with pytest.raises(BadInput, match="is a folder, and a file is wanted there"):
        files.read_text(tmp_path)
    (tmp_path / "a").write_text("")
    with pytest.raises(BadInput, match=r"there is no file .*a/b"):
        files.read_text(tmp_path / "a/b")
    with pytest.raises(PennameError, match="b cannot be written: a file stands where a folder is wanted"):
        files.write_text(tmp_path / "a/b", "")


@pytest.mark.parametrize("part", ['"files": null', '"files": {"a.txt": 3}', '"files": {"a.txt": {"sha256": "0"}}', '"counts": []'])
def test_a_manifest_whose_parts_are_of_another_kind_is_damaged(tmp_path, part):
    whole = '"stage": "s", "version": 1, "settings": {}, "inputs": {}, "counts": {}, "files": {}'
    (tmp_path / "manifest.json").write_text(f"{{{whole}}}")
    assert read_manifest(tmp_path).files == {}
    (tmp_path / "manifest.json").write_text(f"{{{whole}, {part}}}")
    with pytest.raises(StaleInput, match=r"manifest\.json is damaged"):
        read_manifest(tmp_path)


@pytest.mark.parametrize("text", ["{", "[]", "null", "{}"])
def test_a_damaged_manifest_goes_and_not_its_folder(tmp_path, text):
    """Decisions and checkpoints stand beside manifests: a person must never be told to delete the folder."""
    (tmp_path / "manifest.json").write_text(text)
    with pytest.raises(StaleInput, match=r"manifest\.json is damaged.*; delete this one file and run: penname run"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    ("name", "load"),
    [
        ("book.json", lambda path: load_book(path.parent)),
        ("cast.json", load_cast),
        ("p.jsonl", load_passages),
        ("beats.jsonl", load_beats),
        ("b.edits.jsonl", lambda path: load_copy(path.parent, BOOK)),
    ],
)
def test_a_file_of_another_shape_is_told_in_a_sentence(tmp_path, name, load):
    (tmp_path / name).write_text('{"chapters": 3}')
    with pytest.raises(BadInput, match=rf"{name} (is damaged or of another version|has no ).*penname check names the verb"):
        load(tmp_path / name)


@pytest.mark.parametrize("damage", [lambda path: path.write_text("cut"), Path.unlink])
def test_what_a_stage_reads_is_what_the_stage_before_it_wrote(tmp_path, damage):
    write_stage(tmp_path / "books", {"a/text.txt": "whole", "b.txt": "other"})
    assert require_whole(tmp_path / "books", "book").stage == "books"
    damage(tmp_path / "books/a/text.txt")
    with pytest.raises(StaleInput, match=r"books/a/text\.txt is missing or not what was written .*; run: penname book$"):
        require_whole(tmp_path / "books", "book")


def write_stage(folder, content, **more):
    with stage_writer(folder, stage="books", version=1, settings={"a": 1}, inputs={}, **more) as out:
        for name, text in content.items():
            (out / name).parent.mkdir(parents=True, exist_ok=True)
            (out / name).write_text(text)


def test_stage_writer_replaces_its_own_files_and_no_others(tmp_path):
    folder = tmp_path / "cast"
    files = {"a.json": "1", "sub/b.json": "2", "sub/c.json": "3", "mixed/d.json": "4"}
    write_stage(folder, files)
    for mine in ("decisions.toml", "mixed/mine.txt"):
        (folder / mine).write_text("mine")
    first = require_manifest(folder, "cast").digest
    write_stage(folder, {"a.json": "1"})
    left = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*"))
    assert left == ["a.json", "decisions.toml", "manifest.json", "mixed", "mixed/mine.txt"]
    assert read_manifest(folder).digest != first
    write_stage(folder, files)
    assert read_manifest(folder).digest == first


def test_stage_that_fails_leaves_the_earlier_result(tmp_path):
    folder = tmp_path / "cast"
    write_stage(folder, {"a.json": "1"})
    with pytest.raises(RuntimeError), stage_writer(folder, stage="books", version=1, settings={}, inputs={}) as out:
        (out / "a.json").write_text("2")
        raise RuntimeError
    assert (folder / "a.json").read_text() == "1"
    assert damaged_files(folder, read_manifest(folder)) == []
    assert sorted(p.name for p in folder.iterdir()) == ["a.json", "manifest.json"]


def test_a_disk_that_fills_while_a_stage_writes_is_one_sentence(tmp_path):
    with (
        pytest.raises(PennameError, match=r"the disk is full.*free some space"),
        stage_writer(tmp_path, stage="s", version=1, settings={}, inputs={}),
    ):
        raise OSError(errno.ENOSPC, "no space left")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_stage_left_goes_with_the_next(tmp_path):
    (tmp_path / ".writing-abc").mkdir()
    (tmp_path / ".writing-abc/half.txt").write_text("half")
    with stage_writer(tmp_path, stage="s", version=1, settings={}, inputs={}) as out:
        (out / "a.txt").write_text("a")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "manifest.json"]


def test_damaged_files_are_found(tmp_path):
    write_stage(tmp_path / "s", {"a": "1", "b": "2", "c": "3"})
    (tmp_path / "s/a").write_text("x")
    (tmp_path / "s/b").unlink()
    assert sorted(damaged_files(tmp_path / "s", read_manifest(tmp_path / "s"))) == ["a", "b"]


def test_missing_stage_names_its_command(tmp_path):
    with pytest.raises(StaleInput, match="run: penname cast"):
        require_manifest(tmp_path / "cast", "cast")


def test_config_reports_all_problems_at_once_with_the_nearest_key(tmp_path):
    path = tmp_path / "voice.toml"
    path.write_text('[training]\nlearning_rte = 1e-4\n[shards]\nseq_len = "long"\n[shrads]\nx = 1\n')
    with pytest.raises(BadInput) as caught:
        load_config(path)
    text = str(caught.value)
    assert 'no setting "training.learning_rte", did you mean "training.learning_rate"?' in text
    assert "shards.seq_len: input should be a valid integer" in text
    assert 'no setting "shrads", did you mean "shards"?' in text


def test_set_overrides_and_is_checked(tmp_path):
    path = tmp_path / "voice.toml"
    path.write_text("[training]\nmax_steps = 5\n")
    config = load_config(path, ["training.max_steps=9", "carrier.name=qwen3-0.6b", "training.seeds=[3, 4]"])
    assert (config.training.max_steps, config.carrier.name, config.training.seeds) == (9, "qwen3-0.6b", (3, 4))
    with pytest.raises(BadInput, match=r"--set wants section\.key=value"):
        load_config(path, ["max_steps=9"])
    with pytest.raises(BadInput, match="training\\.max_stps"):
        load_config(path, ["training.max_stps=9"])


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("training.seeds=1,2", r"with --set: training\.seeds: input should be a list, as \[1, 2\] \(it is '1,2'\)"),
        ("training.epochs=inf", r"training\.epochs: input should be a finite number"),
        ("training.seeds=[-1]", r"training\.seeds\.0: input should be greater than or equal to 0"),
        ("training.target_modules=[]", r"training\.target_modules: list should have at least 1 item"),
        ("training.target_modules=foo", r"training\.target_modules: input should be 'attention\+mlp' or"),
        ("carrier.name=", r"carrier\.name: string should have at least 1 character"),
        ("training.seeds=[]", r"training\.seeds: list should have at least 1 item"),
        ("training.seeds=[2, 2]", r"training\.seeds: a seed stands twice"),
        ("beats.passage_words_min=500", r"beats: passage_words_min \(500\) is above passage_words_max \(350\)"),
    ],
)
def test_settings_that_cannot_be_are_refused_in_the_words_of_toml(tmp_path, override, told):
    path = tmp_path / "voice.toml"
    path.write_text("")
    with pytest.raises(BadInput, match=told):
        load_config(path, [override])
    path.write_text("beats = 3")
    with pytest.raises(BadInput, match=r"beats: input should be a section"):
        load_config(path)


def test_configuration_is_frozen():
    with pytest.raises(Exception, match="frozen"):
        Config().training.max_steps = 3


def test_a_folder_that_is_no_voice_folder_is_refused(tmp_path):
    with pytest.raises(BadInput, match="is no voice folder"):
        open_voice(tmp_path)


BOOK = Book("b", "T", "A", "CHAPTER I\n\nJane met Mr. Reed.", (Chapter("chapter", 1, "CHAPTER I", 0, 29, 11),))


def test_book_cast_and_copy_come_back_from_disk(tmp_path):
    save_book(tmp_path / "b", BOOK)
    assert load_book(tmp_path / "b") == BOOK
    question = Question("q1", "link", "Reed", ("p2",), 9, {"action": "keep"}, "two bear it", ((11, 28),))
    cast = Cast("b", (Entity("p1", "person", "female", ("Jane",)),), (Mention(11, 15, "p1"),), (question,), ("q0",))
    save_cast(tmp_path / "b.json", cast)
    assert load_cast(tmp_path / "b.json") == cast
    assert json.loads((tmp_path / "b.json").read_text())["mentions"] == [[11, 15, "p1"]]
    copy = RenamedCopy("b", 3, "CHAPTER I\n\nAnne met Mr. Reed.", (Edit(11, 15, "Anne", "p1"),), {"Jane": "Anne"})
    save_copy(tmp_path / "3", copy)
    files.write_json(tmp_path / "3/names.json", {"b": dict(copy.names)})
    assert load_copy(tmp_path / "3", BOOK) == copy
    for names in ({}, {"b": 3}):
        files.write_json(tmp_path / "3/names.json", names)
        with pytest.raises(BadInput, match="has no names of b; run: penname rename"):
            load_copy(tmp_path / "3", BOOK)
    (tmp_path / "3/b.txt").write_text("CHAPTER I\n\nAnna met Mr. Reed.")
    with pytest.raises(BadInput, match="not its book with its edits"):
        load_copy(tmp_path / "3", BOOK)


def test_edits_apply_and_shift():
    edits = (Edit(0, 4, "Anne", "p1"), Edit(9, 17, "Mr. Lowe", "p2"))
    assert apply_edits("Jane met Mr. Reed.", edits) == "Anne met Mr. Lowe."
    assert list(edits_within(edits, 5, 18)) == [Edit(4, 12, "Mr. Lowe", "p2")]


def test_hashes_are_of_content(tmp_path):
    (tmp_path / "f").write_bytes(b"abc")
    assert sha256_file(tmp_path / "f") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert canonical_json({"b": 1, "a": "é"}) == '{"a":"é","b":1}'
    assert sha256_value({"a": 1, "b": 2}) == sha256_value({"b": 2, "a": 1})
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical_json(float("nan"))


@pytest.mark.parametrize(
    ("printed", "said"),
    [
        ("one\ntwo \n\n", "two"),
        ("Usage: penname\n╭─ Error ─────────────╮\n│ No such option: --x │\n╰─────────────────────╯\n", "No such option: --x"),
        ("", "no reason given"),
        ("---\n", "no reason given"),
    ],
)
def test_a_reason_is_the_last_line_with_words_in_it(printed, said):
    assert last_line(printed) == said


def test_seconds_read_well():
    assert [format_seconds(s) for s in (42.2, 190, 9000)] == ["42 s", "3 min 10 s", "2.5 h"]


def test_counts_read_well():
    counted = [format_count(1, "book"), format_count(0, "run"), format_count(2, "copy"), format_count(1204, "key")]
    assert counted == ["1 book", "0 runs", "2 copies", "1,204 keys"]


def test_configuration_page_is_up_to_date():
    page = Path(__file__).resolve().parents[2] / "docs/configuration.md"
    assert page.read_text(encoding="utf-8") == configuration_page(), "run: python -m penname.core.reference > docs/configuration.md"
