"""After renaming, no beat of any copy holds an old name; and the pairs of every copy as a dataset that others can load."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from penname.beats import Gate, run_beats
from penname.beats.dataset import COLUMNS, export_dataset
from penname.beats.names import name_words
from penname.books import read_book
from penname.carriers.prompt import beat_segment, passage_segment
from penname.cast import build_cast
from penname.core.beatnames import rename_beat
from penname.core.errors import BadInput, StaleInput
from penname.core.files import read_jsonl
from penname.core.folder import VoiceFolder, open_voice
from penname.core.stage import stage_writer
from penname.core.store import load_beats, load_books, load_casts, load_copy, load_passages, save_book, save_cast
from penname.core.values import Beat, Book, Cast, RenamedCopy, apply_edits, edits_within

COPIES = 3


def make_voice(folder: Path, source: Path) -> VoiceFolder:
    folder.mkdir(parents=True)
    (folder / "voice.toml").write_text(f"[copies]\ncount = {COPIES}\n", encoding="utf-8")
    book = read_book(source)
    last = len(book.chapters) - 1
    book = replace(book, chapters=tuple(replace(c, split="heldout") if i == last else c for i, c in enumerate(book.chapters)))
    cast = replace(build_cast([book])[0], unresolved=())
    voice = open_voice(folder)
    with stage_writer(voice.books, stage="books", version=1, settings={}, inputs={}) as aside:
        save_book(aside / book.id, book)
    with stage_writer(voice.cast, stage="cast", version=1, settings={}, inputs={}) as aside:
        save_cast(aside / f"{book.id}.json", cast)
    return voice


@pytest.fixture(scope="module")
def voice(tmp_path_factory, story: Path) -> VoiceFolder:
    from penname.renaming import run_rename

    made = make_voice(tmp_path_factory.mktemp("copies") / "voice", story)
    run_rename(made)
    run_beats(made)
    return made


def old_words(book: Book, cast: Cast, copy_text: str) -> set[str]:
    """The cast's name words that stand in the book and no longer in the copy's text: no beat of that copy may hold one."""
    words = {word for entity in cast.entities for name in entity.names for word in name_words(name)}
    before, after = set(re.findall(r"[^\W\d_]+", book.text)), set(re.findall(r"[^\W\d_]+", copy_text))
    return {word for word in words if word in before and word not in after}


def holds(line: str, words: set[str]) -> list[str]:
    """The old name words that stand in a line, capitals or not; what is no name in lower case is not looked for there."""
    return [w for w in re.findall(r"[^\W\d_]+", line) if w in words or (w.isupper() and len(w) > 1 and w.title() in words)]


def all_lines(book: Book, cast: Cast, gate: Gate, passages: list, beats: list[Beat]) -> list[Beat]:
    """The beats as they are, and for every passage a sentence that uses every name of it, in full, by each word, and as a possessive."""
    lines = list(beats)
    for passage in passages:
        for entity, surface, _ in gate.names.present(passage):
            for form in {surface, *name_words(surface), *entity.names[:3]}:
                for text in (f"{form} opens the door.", f"At the door stands {form}'s brother, a fool."):
                    if gate.names.refused(text, passage):
                        continue
                    lines.append(Beat(passage.id, text, "sentence", "m", gate.names.spans(text, passage)))
    return lines


def check_copies(book: Book, cast: Cast, lines: list[Beat], copies: list[RenamedCopy]) -> None:
    for copy in copies:
        words = old_words(book, cast, copy.text)
        assert len(words) > 20 and any(holds(line.text, words) for line in lines)
        assert [(name, line.text) for line in lines for name in holds(rename_beat(line, copy.names), words)] == []


def test_no_beat_of_any_copy_of_the_story_holds_an_old_name(voice: VoiceFolder) -> None:
    book = load_books(voice.books)[0]
    cast = load_casts(voice.cast, [book])[0]
    gate = Gate(book, cast)
    passages, beats = load_passages(voice.beats / "passages.jsonl"), load_beats(voice.beats / "beats.jsonl")
    copies = [load_copy(voice.copies / str(k), book) for k in range(COPIES + 1)]
    check_copies(book, cast, all_lines(book, cast, gate, passages, beats), copies)


@pytest.mark.slow
def test_no_beat_of_any_copy_of_jane_eyre_holds_an_old_name(shared: Path) -> None:
    from penname.beats import KeywordAnnotator, cut_passages
    from penname.renaming import rename

    book = read_book(shared / "books/raw/1260.txt")
    cast = replace(build_cast([book])[0], unresolved=())
    gate, passages = Gate(book, cast), cut_passages(book)
    keywords = KeywordAnnotator([book], passages, {book.id: gate.names})
    beats = []
    for passage in passages:
        line = keywords.line(passage, book.text[passage.start : passage.end])
        beats.append(Beat(passage.id, line, "keywords", "keywords", gate.names.spans(line, passage)))
    lines = all_lines(book, cast, gate, passages, beats)
    print(f"{len(lines)} lines")
    check_copies(book, cast, lines, [rename(book, cast, seed=1, copy=k) for k in range(COPIES + 1)])


def test_a_name_without_its_span_would_be_caught(voice: VoiceFolder) -> None:
    book = load_books(voice.books)[0]
    cast = load_casts(voice.cast, [book])[0]
    copy = load_copy(voice.copies / "1", book)
    beats = load_beats(voice.beats / "beats.jsonl")
    check_copies(book, cast, beats, [copy])
    named = next(beat for beat in beats if holds(beat.text, old_words(book, cast, copy.text)))
    with pytest.raises(AssertionError):
        check_copies(book, cast, [*beats, replace(named, names=())], [copy])


# The dataset


def test_the_dataset_loads_with_datasets_and_says_what_the_copies_say(voice: VoiceFolder, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    counts = export_dataset(voice, tmp_path / "pairs", beat_segment, passage_segment)
    passages = load_passages(voice.beats / "passages.jsonl")
    train, heldout = sum(p.split == "train" for p in passages), sum(p.split == "heldout" for p in passages)
    assert (counts["train"], counts["heldout"]) == (train * COPIES, heldout) and heldout > 0
    for kind, suffix in (("json", "jsonl"), ("parquet", "parquet")):
        files = {split: str(tmp_path / f"pairs/{split}.{suffix}") for split in ("train", "heldout")}
        loaded = datasets.load_dataset(kind, data_files=files, cache_dir=str(tmp_path / f"cache-{kind}"))
        assert (len(loaded["train"]), len(loaded["heldout"])) == (train * COPIES, heldout)
        assert tuple(loaded["train"].column_names) == COLUMNS
        assert set(loaded["heldout"]["copy"]) == {0} and set(loaded["train"]["copy"]) == {1, 2, 3}
        row = loaded["train"][0]
        assert row["prompt"].startswith("[") and row["prompt"].endswith("]\n\n") and row["completion"] == row["completion"].strip() != ""
    book = load_books(voice.books)[0]
    copy = load_copy(voice.copies / "2", book)
    rows = [row for row in map(json.loads, (tmp_path / "pairs/train.jsonl").read_text("utf-8").splitlines()) if row["copy"] == 2]
    assert all(row["completion"] in copy.text for row in rows)
    assert [row["passage_id"] for row in rows] == [p.id for p in passages if p.split == "train"]


@pytest.mark.slow
def test_trl_takes_it(voice: VoiceFolder, tmp_path: Path) -> None:
    pytest.importorskip("trl")
    from datasets import load_dataset
    from trl.data_utils import is_conversational

    export_dataset(voice, tmp_path / "pairs", beat_segment, passage_segment)
    row = load_dataset("json", data_files=str(tmp_path / "pairs/heldout.jsonl"), split="train", cache_dir=str(tmp_path / "cache"))[0]
    assert {"prompt", "completion"} <= set(row) and not is_conversational(row)


def test_the_same_voice_gives_the_same_bytes(voice: VoiceFolder, tmp_path: Path) -> None:
    for name in ("a", "b"):
        export_dataset(voice, tmp_path / name, beat_segment, passage_segment)
    for path in sorted((tmp_path / "a").iterdir()):
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_a_pair_is_renamed_on_both_sides(voice: VoiceFolder, tmp_path: Path) -> None:
    book = load_books(voice.books)[0]
    copy = load_copy(voice.copies / "1", book)
    words = old_words(book, load_casts(voice.cast, [book])[0], copy.text)
    export_dataset(voice, tmp_path, beat_segment)
    rows = [row for row in read_jsonl(tmp_path / "train.jsonl") if row["copy"] == 1]
    passages = {passage.id: passage for passage in load_passages(voice.beats / "passages.jsonl") if passage.split == "train"}
    assert [row["passage_id"] for row in rows] == list(passages)
    for row in rows:
        assert holds(row["prompt"], words) == [] and holds(row["completion"], words) == []
        # The same text as the copy's own edits make of the passage.
        start, end = passages[row["passage_id"]].start, passages[row["passage_id"]].end
        assert row["completion"] == apply_edits(book.text[start:end], tuple(edits_within(copy.edits, start, end))).strip()


@pytest.mark.parametrize("name", ["", "books", "beats/pairs", "copies/1", "runs"])
def test_the_folder_of_a_stage_is_no_place_for_a_dataset(voice: VoiceFolder, name: str) -> None:
    before = sorted(path.name for path in voice.path.rglob("*"))
    with pytest.raises(BadInput, match="is where the stages of this voice write"):
        export_dataset(voice, voice.path / name, beat_segment)
    assert sorted(path.name for path in voice.path.rglob("*")) == before


def test_a_dataset_takes_the_place_of_an_earlier_one_only(voice: VoiceFolder, tmp_path: Path) -> None:
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs/train.jsonl").write_text("what a killed export left")
    export_dataset(voice, tmp_path / "pairs", beat_segment)
    (tmp_path / "pairs/novel.docx").write_text("mine")
    with pytest.raises(BadInput, match=r"holds other things than a dataset \(novel\.docx\)"):
        export_dataset(voice, tmp_path / "pairs", beat_segment)
    with pytest.raises(BadInput, match="is a file; name a folder"):
        export_dataset(voice, tmp_path / "pairs/novel.docx", beat_segment)


def test_without_copies_it_says_what_to_run(voice: VoiceFolder, tmp_path: Path) -> None:
    bare = make_voice(tmp_path / "voice", Path(__file__).parents[2] / "src/penname/voice/story/novella.txt")
    with pytest.raises(StaleInput, match="penname beat"):
        export_dataset(bare, tmp_path / "pairs", beat_segment)
    run_beats(bare)
    with pytest.raises(StaleInput, match="penname rename"):
        export_dataset(bare, tmp_path / "pairs", beat_segment)
