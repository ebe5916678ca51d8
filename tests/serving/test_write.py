"""write: the same draw streamed or batched, context that fits, beats that are beats."""

from __future__ import annotations

import pytest

from penname.core.config import SamplingConfig
from penname.core.errors import BadInput
from penname.serving.write import check_beat, open_pen, read_beats, stream_passage, with_cast, write_passages
from serving_adapters import make_adapter
from tiny import tiny_carrier

SETTINGS = SamplingConfig(max_tokens=24)


@pytest.fixture(scope="module")
def pen():
    return open_pen(tiny_carrier("qwen3"), "base", dtype="fp32", device="cpu")


def test_streaming_and_batches_write_the_same(pen):
    streamed = "".join(stream_passage(pen, "Jane waits.", SETTINGS, 5)).strip()
    ((_, (whole,)),) = list(write_passages(pen, ["Jane waits."], SETTINGS, 5))
    assert streamed == whole and whole
    assert streamed != "".join(stream_passage(pen, "Jane waits.", SETTINGS, 6)).strip()


def test_candidates_differ_and_a_scene_goes_on(pen):
    rows = list(write_passages(pen, ["Jane waits.", "John comes."], SETTINGS, 5, candidates=2))
    assert [beat for beat, _ in rows] == ["Jane waits.", "John comes."]
    assert rows[0][1][0] != rows[0][1][1]


def test_an_adapter_changes_what_is_written_and_scale_0_does_not(pen, tmp_path):
    adapter = make_adapter(tmp_path / "a", tiny_carrier("qwen3"), strength=1.0)
    base = "".join(stream_passage(pen, "Jane waits.", SETTINGS, 5))
    voiced = open_pen(tiny_carrier("qwen3"), "v", adapter, dtype="fp32", device="cpu")
    assert "".join(stream_passage(voiced, "Jane waits.", SETTINGS, 5)) != base
    silent = open_pen(tiny_carrier("qwen3"), "v", adapter, dtype="fp32", device="cpu", scale=0.0)
    assert "".join(stream_passage(silent, "Jane waits.", SETTINGS, 5)) == base


def test_context_that_does_not_fit_loses_its_oldest_part(pen):
    long = "word " * 4000
    text = "".join(stream_passage(pen, "Jane waits.", SETTINGS, 5, [("", long)]))
    assert text == "".join(stream_passage(pen, "Jane waits.", SETTINGS, 5))
    with pytest.raises(BadInput, match="the beat alone has"):
        list(stream_passage(pen, "Jane waits.", SamplingConfig(max_tokens=10**6), 5))


def test_beats_are_one_line_of_twenty_words(tmp_path):
    assert check_beat(" Jane\n waits. ") == "Jane waits."
    with pytest.raises(BadInput, match="has 21 words, and a beat has at most 20"):
        check_beat("word " * 21)
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
