"""write: the same draw streamed or batched, context that fits, beats that are beats, and where a passage may come from."""

from __future__ import annotations

import json

import pytest

from penname.core.config import CarrierConfig, SamplingConfig
from penname.core.errors import BadInput
from penname.core.files import write_json
from penname.serving.export import export_merged, finish_export
from penname.serving.pens import LocalPen, Unfolding, merged_pen
from penname.serving.voices import open_run
from penname.serving.write import check_beat, pens, read_beats, sampling, stream_passage, with_cast, write_passages
from serving_adapters import add_run, make_adapter
from tiny import tiny_carrier

SETTINGS = SamplingConfig(max_tokens=24)
CPU = CarrierConfig(device="cpu", dtype="fp32", threads=1)


@pytest.fixture(scope="module")
def pen():
    return LocalPen(tiny_carrier("qwen3"), "base", None, CPU)


def first(pen, seed=5):
    return "".join(stream_passage(pen, "Jane waits.", SETTINGS, seed))


def test_streaming_and_batches_write_the_same(pen):
    streamed = first(pen).strip()
    ((_, (whole,)),) = list(write_passages(pen, ["Jane waits."], SETTINGS, 5))
    assert streamed == whole and whole
    assert streamed != first(pen, 6).strip()


def test_candidates_differ_and_a_scene_goes_on(pen):
    rows = list(write_passages(pen, ["Jane waits.", "John comes."], SETTINGS, 5, candidates=2))
    assert [beat for beat, _ in rows] == ["Jane waits.", "John comes."]
    assert rows[0][1][0] != rows[0][1][1]


def test_an_adapter_changes_what_is_written_and_scale_0_does_not(pen, tmp_path):
    adapter = make_adapter(tmp_path / "a", tiny_carrier("qwen3"), strength=1.0)
    assert first(LocalPen(tiny_carrier("qwen3"), "v", adapter, CPU)) != first(pen)
    assert first(LocalPen(tiny_carrier("qwen3"), "v", adapter, CPU, scale=0.0)) == first(pen)


def test_an_adapter_of_another_carrier_is_refused(tmp_path):
    adapter = make_adapter(tmp_path / "a", tiny_carrier("qwen3_5"))
    with pytest.raises(BadInput, match="matrices have no module of their name and shape in this carrier"):
        LocalPen(tiny_carrier("qwen3"), "v", adapter, CPU)


def test_context_that_does_not_fit_loses_its_oldest_part(pen):
    text = "".join(stream_passage(pen, "Jane waits.", SETTINGS, 5, [("", "word " * 4000)]))
    assert text == first(pen)
    with pytest.raises(BadInput, match="the beat alone has"):
        list(stream_passage(pen, "Jane waits.", SamplingConfig(max_tokens=10**6), 5))


def test_a_character_of_several_tokens_is_said_when_it_is_whole(pen):
    ids = pen.tokenizer.encode("Zürich — é")
    text = Unfolding(pen.tokenizer)
    pieces = [text.add([token]) for token in ids]
    assert "".join(pieces) == "Zürich — é"
    assert "" in pieces and not any("\N{REPLACEMENT CHARACTER}" in piece for piece in pieces)


def test_beats_are_one_line_of_twenty_words(tmp_path):
    assert check_beat(" Jane\n waits. ") == "Jane waits."
    with pytest.raises(BadInput, match="has 21 words, and a beat has at most 20"):
        check_beat("word " * 21)
    dashed = "One – " + "word " * 19  # a dash is no word, here as at the gate that let such beats be trained on
    assert check_beat(dashed) == dashed.strip()
    with pytest.raises(BadInput, match="wants a beat"):
        check_beat("  ")
    file = tmp_path / "scene.txt"
    file.write_text("# a scene\nJane waits.\n\nJohn comes.\n")
    assert read_beats(file) == ["Jane waits.", "John comes."]
    file.write_text("# nothing\n")
    with pytest.raises(BadInput, match="holds no beat"):
        read_beats(file)


def test_the_writers_names_stand_before_the_beat():
    assert with_cast("The storm breaks over Mr. Lowe.", "Anne Hart, Mr. Lowe") == "Anne Hart; The storm breaks over Mr. Lowe."
    assert with_cast("Anne waits.", "") == "Anne waits."


def test_settings_of_the_command_line_stand_before_those_of_the_voice(voice):
    assert sampling(voice, None, None) == voice.config.sampling
    assert sampling(voice, 0.0, 0.5) == SamplingConfig(temperature=0.0, top_p=0.5, max_tokens=24)
    with pytest.raises(BadInput, match="--top-p is a share above 0 and at most 1"):
        sampling(voice, None, 1.5)


def test_a_merged_folder_writes_what_the_run_writes(voice):
    run = open_run(voice)
    folder = finish_export(voice, run, "merged", lambda out: export_merged(run, out, 1.0), {"scale": 1.0})
    (own,) = pens(voice)
    (merged,) = pens(voice, merged=folder)
    assert merged.name == "merged"
    greedy = SamplingConfig(temperature=0, max_tokens=12)
    texts = ["".join(stream_passage(one, "Jane waits.", greedy, 5)) for one in (own, merged)]
    assert texts[0] == texts[1]


def test_a_merged_folder_that_cannot_be_used_gets_a_sentence(voice, tmp_path):
    run = open_run(voice)
    folder = finish_export(voice, run, "merged", lambda out: export_merged(run, out, 1.0), {"scale": 1.0})
    with pytest.raises(BadInput, match="has the adapter merged in at its own strength"):
        merged_pen(folder, CPU, 0.5)
    with pytest.raises(BadInput, match="is no merged model"):
        merged_pen(tmp_path, CPU)
    config = json.loads((folder / "config.json").read_text())
    weights = folder / "model.safetensors"
    data = weights.read_bytes()
    weights.write_bytes(data[:-8] + bytes(8))
    with pytest.raises(BadInput, match=r"model\.safetensors is not the file that was exported \(its checksum differs\)"):
        merged_pen(folder, CPU)
    weights.unlink()
    with pytest.raises(BadInput, match=r"model\.safetensors is gone since it was exported"):
        merged_pen(folder, CPU)
    (folder / "export.json").unlink()
    weights.write_bytes(data[:-100])
    with pytest.raises(BadInput, match="is cut off"):
        merged_pen(folder, CPU)
    write_json(folder / "config.json", {**config, "quantization_config": {"format": "nvfp4-pack-quantized"}})
    with pytest.raises(BadInput, match="is quantised, which only a server runs"):
        merged_pen(folder, CPU)


def test_compare_is_the_base_and_every_run_each_on_its_carrier(voice):
    add_run(voice.path, tiny_carrier("qwen3"), "tiny-all-x6-am-s2", seed=7)
    assert [one.name for one in pens(voice, compare=True)] == ["base model", "tiny-all-x6-am-s1", "tiny-all-x6-am-s2"]
    assert [one.name for one in pens(voice, compare=True, run="tiny-all-x6-am-s2")] == ["base model", "tiny-all-x6-am-s2"]
    add_run(voice.path, tiny_carrier("llama"), "other-s1")
    names = [one.name for one in pens(voice, compare=True)]
    llama, qwen = tiny_carrier("llama").name, tiny_carrier("qwen3").name
    assert names == [f"base model {llama}", "other-s1", f"base model {qwen}", "tiny-all-x6-am-s1", "tiny-all-x6-am-s2"]


def test_sources_that_exclude_each_other_are_said(voice, tmp_path):
    with pytest.raises(BadInput, match="--merged is one model by itself"):
        list(pens(voice, merged=tmp_path, compare=True))
    with pytest.raises(BadInput, match="--model names a model of a server"):
        list(pens(voice, model="x"))
