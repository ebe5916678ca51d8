"""Shards: exactly the template's ids, traceable to their text, with an account of what is left out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from penname.carriers.prompt import encode_document
from penname.carriers.tokenizer import load_tokenizer
from penname.core.errors import BadInput, StaleInput
from penname.core.folder import VoiceFolder, open_voice
from penname.core.store import load_passages
from penname.core.tokens import Shards, open_shards
from penname.shards import build_shards, run_shards, shards_inputs, shards_settings
from penname.shards.corpus import Pair, corpus_passages
from tiny import tiny_carrier
from voices import NEW_NAMES, reseal, settings_toml, tiny_book, tiny_voice

PAIRS = 230_000  # 100 M tokens
SMALL = settings_toml(shards={"seq_len": 200})


@pytest.fixture(scope="module")
def voice(tmp_path_factory: pytest.TempPathFactory) -> VoiceFolder:
    voice = tiny_voice(tmp_path_factory.mktemp("voice"), tiny_carrier("qwen3"), settings=SMALL)
    run_shards(voice)
    return voice


@pytest.fixture(scope="module")
def shards(voice: VoiceFolder) -> Shards:
    return open_shards(voice.current_shards)


def document_texts(voice: VoiceFolder, shards: Shards, document: int) -> list[tuple[str, str]]:
    """(beat, passage) of a document, read from the copy through its spans and from beats.jsonl."""
    row = shards.documents[document]
    book = shards.index["books"][row["book"]]
    text = (voice.copies / str(row["copy"]) / f"{book}.txt").read_text()
    beats = {b["passage_id"]: b["text"] for b in map(json.loads, (voice.beats / "beats.jsonl").read_text().splitlines())}
    found = []
    for segment in shards.document_segments(document):
        beat = beats[shards.index["passages"][segment["passage"]]].replace("Anna", NEW_NAMES[row["copy"]])
        found.append((beat, text[segment["start"] : segment["end"]]))
    return found


def test_every_document_is_what_the_template_gives(voice: VoiceFolder, shards: Shards) -> None:
    tokenizer = load_tokenizer(tiny_carrier("qwen3"))
    for document in range(len(shards.documents)):
        ids, trained = encode_document(tokenizer, document_texts(voice, shards, document))
        assert shards.document_tokens(document).tolist() == ids
        assert shards.document_trained(document).tolist() == trained


def test_documents_keep_to_one_chapter_of_one_copy_and_to_seq_len(shards: Shards) -> None:
    assert shards.documents["tokens"].max() <= 200
    for document in range(len(shards.documents)):
        numbers = [shards.index["passages"][s["passage"]].split(":") for s in shards.document_segments(document)]
        assert {chapter for _, chapter, _ in numbers} == {str(shards.documents[document]["chapter"])}
        places = [int(place) for *_, place in numbers]
        assert places == list(range(places[0], places[0] + len(places)))


def test_heldout_chapters_go_through_the_map_that_no_copy_uses(shards: Shards) -> None:
    train = int(shards.index["train_documents"])
    assert set(shards.documents["copy"][:train]) == {1, 2}
    assert set(shards.documents["copy"][train:]) == {0}
    assert set(shards.documents["chapter"][:train]) == {0, 1, 2}
    assert set(shards.documents["chapter"][train:]) == {3}


def test_every_passage_is_trained_once_a_copy(shards: Shards) -> None:
    train = int(shards.index["train_documents"])
    names = shards.index["passages"]
    seen = [(int(shards.documents[d]["copy"]), names[s["passage"]]) for d in range(train) for s in shards.document_segments(d)]
    assert len(seen) == len(set(seen)) == 2 * 18


def test_a_row_is_its_documents_one_after_another(shards: Shards) -> None:
    members = sorted(d for row in range(shards.index["rows"]) for d in shards.row_documents(row))
    assert members == list(range(shards.index["documents"]))
    row = shards.row(0)
    assert sum(row.documents) == len(row.input_ids) <= 200
    first = shards.row_documents(0)[0]
    assert row.input_ids[: row.documents[0]].tolist() == shards.document_tokens(first).tolist()


def test_about_the_set_share_of_documents_is_a_single_pair(tmp_path: Path) -> None:
    shares = []
    for share in (0.0, 0.25, 1.0):
        toml = settings_toml(shards={"seq_len": 256, "single_share": share})
        voice = tiny_voice(tmp_path / str(share), tiny_carrier("qwen3"), [tiny_book("long", 60, 12)], toml)
        run_shards(voice)
        shards = open_shards(voice.current_shards)
        # A chapter's last document can be single by itself, so look at the others: those that another pair follows.
        single = [
            len(shards.document_segments(d)) == 1
            for d in range(shards.index["train_documents"])
            if not shards.index["passages"][shards.document_segments(d)[-1]["passage"]].endswith(":11")
        ]
        shares.append(sum(single) / len(single))
    assert shares[0] < 0.02
    assert 0.2 < shares[1] < 0.3
    assert shares[2] == 1.0


def test_a_passage_too_long_is_cut_without_its_end_mark_and_accounted_for(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(tiny_carrier("qwen3"))
    text = "The rain came down over the road. " * 40
    pairs = [Pair("b:0:0", "b", 1, 0, 100, 100 + len(text), "Rain", text), Pair("b:0:1", "b", 1, 0, 2000, 2010, "Frost", "The frost.")]
    counts = build_shards(tmp_path, pairs, [], tokenizer, seq_len=64, single_share=0.0, seed=1)
    (row,) = json.loads((tmp_path / "truncation.json").read_text())["rows"]
    (tmp_path / "manifest.json").write_text("{}")
    shards = open_shards(tmp_path)
    assert len(shards.document_tokens(0)) == 64
    assert tokenizer.stop_id not in shards.document_tokens(0)
    kept = tokenizer.decode(shards.document_tokens(0)[shards.document_trained(0)].tolist())
    assert text.startswith(kept)
    assert (row["passage"], row["start"], row["end"]) == ("b:0:0", 100 + len(kept), 100 + len(text))
    whole = len(tokenizer.encode(text.strip())) + 1
    assert row["tokens"] == whole - shards.document_trained(0).sum()
    assert counts["train_documents"] == 2, "what follows a cut passage does not continue it"


@pytest.mark.parametrize("name", ["books/tale/text.txt", "beats/beats.jsonl", "beats/passages.jsonl", "copies/1/tale.txt"])
def test_what_an_earlier_stage_wrote_and_something_cut_short_is_refused(tmp_path: Path, name: str) -> None:
    voice = tiny_voice(tmp_path, tiny_carrier("qwen3"), settings=settings_toml(shards={"seq_len": 256}))
    (voice.path / name).write_bytes(b"")
    with pytest.raises(StaleInput, match=rf"{Path(name).name} is missing or not what was written .*; run: penname (book|beat|rename)$"):
        run_shards(voice)
    assert not voice.current_shards.exists()


def test_a_passage_without_a_beat_is_accounted_for_and_ends_the_run(tmp_path: Path) -> None:
    voice = tiny_voice(tmp_path, tiny_carrier("qwen3"), settings=settings_toml(shards={"seq_len": 2048, "single_share": 0.0}))
    beats = voice.beats / "beats.jsonl"
    beats.write_text("".join(line + "\n" for line in beats.read_text().splitlines() if '"tale:1:2"' not in line))
    reseal(voice.beats)
    run_shards(voice)
    truncation = json.loads((voice.current_shards / "truncation.json").read_text())
    assert [(row["passage"], row["copy"], row["why"]) for row in truncation["rows"]] == [
        ("tale:1:2", 1, "it has no beat"),
        ("tale:1:2", 2, "it has no beat"),
    ]
    shards = open_shards(voice.current_shards)
    runs = [[shards.index["passages"][s["passage"]] for s in shards.document_segments(d)] for d in range(4)]
    assert ["tale:1:0", "tale:1:1"] in runs
    assert ["tale:1:3", "tale:1:4", "tale:1:5"] in runs


def test_book_text_never_becomes_a_special_token(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(tiny_carrier("qwen3"))
    text = "He wrote <|endoftext|> and <|im_end|> and <think> upon the wall."
    pair = Pair("b:0:0", "b", 1, 0, 0, len(text), "<|im_start|>", text)
    build_shards(tmp_path, [pair], [], tokenizer, seq_len=256, single_share=0, seed=1)
    (tmp_path / "manifest.json").write_text("{}")
    ids = open_shards(tmp_path).document_tokens(0).tolist()
    assert [i for i in ids if i in tokenizer.special_ids] == [tokenizer.stop_id]
    assert ids[-1] == tokenizer.stop_id
    assert tokenizer.decode(ids[:-1]).endswith(text)


def test_corpus_words_takes_whole_chapters_and_a_part_of_the_last(voice: VoiceFolder) -> None:
    book = tiny_book()
    passages = load_passages(voice.beats / "passages.jsonl")
    words = {p.id: len(book.text[p.start : p.end].split()) for p in passages}
    chosen = corpus_passages(passages, {"tale": book}, 250, seed=1)
    assert 250 - max(words.values()) < sum(words[p.id] for p in chosen) <= 250
    assert chosen == [p for p in passages if p in chosen]
    assert {p.split for p in chosen} == {"train"}
    assert len(corpus_passages(passages, {"tale": book}, 0, seed=1)) == 18
    assert len(corpus_passages(passages, {"tale": book}, 10**6, seed=1)) == 18


def test_what_corpus_words_leaves_out_is_named_and_stands_in_shards_of_its_own(voice: VoiceFolder) -> None:
    small = open_voice(voice.path, ["shards.corpus_words=250"])
    run_shards(small)
    assert small.current_shards.name == voice.current_shards.name + "-250w"
    outside = json.loads((small.current_shards / "truncation.json").read_text())["outside_corpus_words"]
    inside = set(open_shards(small.current_shards).index["passages"])
    assert outside
    assert not inside & set(outside)
    assert json.loads((voice.current_shards / "truncation.json").read_text())["outside_corpus_words"] == []


def test_spans_are_carried_through_edits() -> None:
    from penname.core.values import CopySpans, Edit, RenamedCopy

    # "Anna met Anna." -> "Sophia met Sophia."
    copy = RenamedCopy("b", 1, "Sophia met Sophia.", (Edit(0, 4, "Sophia", "p"), Edit(9, 13, "Sophia", "p")), {})
    spans = CopySpans(copy)
    assert [spans.at(p) for p in (0, 4, 9, 13, 14)] == [0, 6, 11, 17, 18]
    assert (spans.text(0, 4), spans.text(4, 9), spans.text(9, 14)) == ("Sophia", " met ", "Sophia.")


def test_two_runs_give_the_same_bytes(tmp_path: Path) -> None:
    folders = []
    for name in "ab":
        voice = tiny_voice(tmp_path / name, tiny_carrier("qwen3"), settings=SMALL)
        run_shards(voice)
        folders.append({p.name: p.read_bytes() for p in voice.current_shards.iterdir()})
    assert folders[0] == folders[1]
    assert {"tokens.bin", "order.json", "truncation.json", "index.json", "manifest.json"} <= set(folders[0])


def test_the_key_holds_what_changes_the_meaning_and_nothing_else(voice: VoiceFolder) -> None:
    base = shards_settings(voice.config)
    for same in ("training.learning_rate=1e-5", "training.seeds=[7]", "beats.timeout_seconds=9", "carrier.threads=2", "copies.count=2"):
        assert shards_settings(open_voice(voice.path, [same]).config) == base, same
    for other in ("shards.seq_len=128", "shards.single_share=0.5", "shards.corpus_words=100", "copies.count=1", "voice.seed=2"):
        assert shards_settings(open_voice(voice.path, [other]).config) != base, other
    assert sorted(shards_inputs(voice)) == ["beats", "books", "copy 0", "copy 1", "copy 2", "tokenizer"]


def test_order_is_a_permutation_that_differs_by_seed_and_epoch_and_is_checked(voice: VoiceFolder, tmp_path: Path) -> None:
    shards = open_shards(voice.current_shards)
    orders = [shards.order(seed, epoch).tolist() for seed in (1, 2) for epoch in (0, 1)]
    assert all(sorted(order) == list(range(shards.train_rows)) for order in orders)
    assert len({tuple(order) for order in orders}) == 4
    shards.order_facts["orders"]["1/0"] = "0" * 64
    with pytest.raises(StaleInput, match="the order of seed 1, epoch 0 is not the one in"):
        shards.order(1, 0)


def test_a_file_of_another_size_is_refused(voice: VoiceFolder, tmp_path: Path) -> None:
    import shutil

    shutil.copytree(voice.current_shards, tmp_path / "s")
    with (tmp_path / "s/tokens.bin").open("ab") as file:
        file.write(b"1234")
    with pytest.raises(BadInput, match=r"tokens\.bin is missing or has not the size"):
        open_shards(tmp_path / "s")


def test_unfinished_shards_do_not_exist(tmp_path: Path) -> None:
    with pytest.raises(StaleInput, match="holds no finished shards; run: penname shard"):
        open_shards(tmp_path)


def test_a_missing_stage_is_named(tmp_path: Path) -> None:
    voice = tiny_voice(tmp_path, tiny_carrier("qwen3"))
    (voice.beats / "manifest.json").unlink()
    with pytest.raises(StaleInput, match="penname beat"):
        run_shards(voice)


def test_passages_of_a_book_that_is_gone_or_none_at_all_are_refused(tmp_path: Path) -> None:
    voice = tiny_voice(tmp_path, tiny_carrier("qwen3"))
    passages = voice.beats / "passages.jsonl"
    text = passages.read_text()
    passages.write_text(text + text.splitlines()[0].replace("tale", "gone") + "\n")
    reseal(voice.beats)
    with pytest.raises(StaleInput, match="passages name the book gone, which is not in books/; run: penname beat"):
        run_shards(voice)
    passages.write_text(text.replace('"split": "train"', '"split": "heldout"'))
    reseal(voice.beats)
    with pytest.raises(BadInput, match="there is no passage to train on"):
        run_shards(voice)


def many_pairs(count: int) -> Iterator[Pair]:
    text = " ".join(["It was a long road and the frost lay on it."] * 30)
    for n in range(count):
        yield Pair(f"b:{n // 20}:{n % 20}", "b", 1, n // 20, n * 2000, n * 2000 + len(text), "Anna goes down the road", f"{n} {text}")


def anonymous_mb() -> float:
    """Memory of this process that no file backs: mapped shards can be dropped at any time and do not count."""
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) / 1024


@pytest.mark.slow
def test_memory_stays_bounded_over_a_hundred_million_tokens(tmp_path: Path) -> None:
    tokenizer = load_tokenizer(tiny_carrier("qwen3"))
    settings = {"seq_len": 2048, "single_share": 0.25, "seed": 1}
    (tmp_path / "first").mkdir()
    build_shards(tmp_path / "first", many_pairs(64), [], tokenizer, **settings)
    before, peak = anonymous_mb(), 0.0

    def watched(pairs: Iterator[Pair]) -> Iterator[Pair]:
        nonlocal peak
        for number, pair in enumerate(pairs):
            if number % 10_000 == 0:
                peak = max(peak, anonymous_mb())
            yield pair

    counts = build_shards(tmp_path, watched(many_pairs(PAIRS)), [], tokenizer, **settings)
    peak = max(peak, anonymous_mb())
    assert counts["train_tokens"] > 430 * PAIRS
    (tmp_path / "manifest.json").write_text("{}")
    shards = open_shards(tmp_path)
    total = 0
    for row in range(shards.train_rows):
        total += shards.row(row).trained_tokens
        peak = max(peak, anonymous_mb()) if row % 1000 == 0 else peak
    assert total == counts["train_trained_tokens"]
    assert peak - before < 400, "the token file alone is 400 MB"
