"""Log odds from readings of two texts a side, in figures that can be worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from penname.judging.calibration import MEASURED, Calibration, NextNovel, Readings

# At 1,000 words the author's blocks read 1 and 3, others' -1 and -3: means 2 and -2, variance 1 on both sides.
LINEAR = np.array([1.0, 3.0, -1.0, -3.0])
READINGS = Readings(
    np.column_stack([LINEAR, np.zeros(4), np.zeros(4)]), np.full(4, 1000), np.array([True, True, False, False]), np.full(4, 0.5)
)
PLAIN = NextNovel(0.0, inside=1.0, one_text_shift=0.0, exponent=0.0, few_others_shift=0.0, few_others_exponent=0.0, few_others_spread=0.0)


def odds(beyond, my_texts=2, other_texts=3, reading=1.0, words=1000):
    calibration = Calibration(READINGS, my_texts, other_texts)
    return float(calibration.log_odds(np.array([[reading, 0.0, 0.0]]), np.array([words]), beyond)[0])


def test_two_normal_distributions():
    assert odds(PLAIN) == pytest.approx(4.0)  # 1 * (2 - -2) / 1
    assert odds(PLAIN, reading=0.0) == pytest.approx(0.0)


def test_novels_vary_and_blocks_vary_less_than_they_seem_to():
    assert odds(replace(PLAIN, spread=0.25)) == pytest.approx(2.0)  # the variance is 1 + (.25 * 4) ** 2
    assert odds(replace(PLAIN, inside=0.5)) == pytest.approx(8.0)


def test_the_only_text_by_the_author_is_read_too_well():
    one = replace(PLAIN, one_text_shift=0.25, exponent=-0.5)
    assert odds(one, my_texts=1) == pytest.approx(8.0)  # the shift is .25 of the way of 4
    assert odds(one, my_texts=1, words=4000) == pytest.approx(6.0)  # half of it at four times the length
    assert odds(one) == pytest.approx(4.0)


def test_one_or_two_others_say_less():
    few = replace(PLAIN, spread=0.25, few_others_shift=0.25, few_others_spread=2.0)
    assert odds(few, other_texts=1, reading=3.0) == pytest.approx(2.0)  # (3 - 1) * 4 / (1 + 1 * (1 + 2))
    assert odds(few, other_texts=2, reading=3.0) == pytest.approx((3 - 0.5) * 4 / 3)
    assert odds(few, other_texts=3, reading=3.0) == pytest.approx(6.0)


def test_what_was_measured_makes_odds_from_one_other_smaller():
    many, two, one = (abs(odds(MEASURED, other_texts=n, reading=3.0)) for n in (8, 2, 1))
    assert one < two < many
