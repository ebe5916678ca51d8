"""The instrument on made-up hands: it tells them apart, says so of thin texts, and does not read names or lengths."""

from __future__ import annotations

import math

import pytest
from threadpoolctl import threadpool_limits

from judging.prose import write
from penname.core.errors import BadInput
from penname.judging.instrument import Instrument


@pytest.fixture(scope="module")
def instrument():
    return Instrument.fit([write("ornate", 4000, seed) for seed in (1, 2)], [write("plain", 4000, seed) for seed in (3, 4)])


def test_it_tells_two_hands_apart(instrument):
    mine, other = instrument.score(write("ornate", 1000, 9)), instrument.score(write("plain", 1000, 9))
    assert mine.answered and other.answered
    assert mine.value > 2
    assert other.value < -2
    assert mine.detail["probability"] > 0.85


def test_length_matched_nulls(instrument):
    assert instrument.score(write("ornate", 1000, 9)).detail["null_share"] == 0
    assert instrument.score(write("plain", 500, 9)).detail["null_share"] > 0.05


def test_other_names_leave_the_score_alone(instrument):
    a = instrument.score(write("ornate", 1000, 9)).value
    b = instrument.score(write("ornate", 1000, 9, names=("Zillah", "Ortwin", "Pernel", "Quill"))).value
    assert a == pytest.approx(b, abs=1e-6)


def test_the_same_texts_give_the_same_score(instrument):
    again = Instrument.fit([write("ornate", 4000, seed) for seed in (1, 2)], [write("plain", 4000, seed) for seed in (3, 4)])
    assert again.score(write("ornate", 700, 9)) == instrument.score(write("ornate", 700, 9))


def test_the_number_of_threads_changes_no_bit():
    values = set()
    for threads in (1, 2):
        with threadpool_limits(threads, "blas"):
            fitted = Instrument.fit([write("ornate", 20000, seed) for seed in (1, 2)], [write("plain", 20000, seed) for seed in (3, 4)])
            values.add(fitted.score(write("ornate", 700, 9)).value)
    assert len(values) == 1


@pytest.mark.parametrize("text", ["", "   \n", "...", "Anna", "\x00\x01", "日本語", "1234 5678"])
def test_thin_text_is_unanswered_and_finite(instrument, text):
    score = instrument.score(text)
    assert not score.answered
    assert math.isfinite(score.value)


def test_a_short_text_is_unanswered(instrument):
    assert not instrument.score(write("ornate", 100, 9)).answered


def test_one_short_text_a_side_still_fits():
    tiny = Instrument.fit([write("ornate", 60, 1)], [write("plain", 60, 2)])
    assert math.isfinite(tiny.score(write("ornate", 500, 3)).value)


def test_one_text_a_side_tells_hands_apart():
    small = Instrument.fit([write("ornate", 3000, 1)], [write("plain", 3000, 2)])
    assert small.score(write("ornate", 600, 3)).value > 0 > small.score(write("plain", 600, 3)).value


def test_many_short_texts_fit_as_well():
    pieces = Instrument.fit([write("ornate", 300, seed) for seed in range(60)], [write("plain", 300, 100 + seed) for seed in range(90)])
    assert pieces.score(write("ornate", 600, 999)).value > 0 > pieces.score(write("plain", 600, 999)).value


def test_an_empty_side_is_refused():
    with pytest.raises(BadInput, match="no words by others"):
        Instrument.fit(["some words"], [])
    with pytest.raises(BadInput, match="no words by the author"):
        Instrument.fit(["", " "], ["some words"])


def test_what_drives_a_score_can_be_read(instrument):
    drivers = instrument.drivers([write("ornate", 1000, 9)], 40)
    assert any("whilst" in name or ";" in name or "sentences" in name for name, _ in drivers)
    assert abs(drivers[0][1]) >= abs(drivers[-1][1]) > 0


def test_function_words_of_a_beat_are_not_hidden(instrument):
    text = write("ornate", 1000, 9)
    assert instrument.score(text, hidden={"whilst", "thus", "the", "a"}) == instrument.score(text)


def test_words_that_a_beat_carried_do_not_count():
    rare = [f"thing{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(300)]
    filler = " ".join(rare)
    fitted = Instrument.fit([write("ornate", 3000, 1) + " " + filler], [write("plain", 3000, 2)])
    text, one, other = write("ornate", 800, 3), rare[-80:-40], rare[-40:]
    a, b = (text + " " + " ".join(words * 3) for words in (one, other))
    assert fitted.score(a, hidden=set(one)) == fitted.score(b, hidden=set(other))
    assert fitted.score(a) != fitted.score(b)
