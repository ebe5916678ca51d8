"""Text as HTML, tables and plots by themselves."""

from __future__ import annotations

import math

import pytest
from jinja2 import UndefinedError

from penname.pages.markup import Table, marked, plain, table_of, templates
from penname.pages.svg import Dot, Series, bar_chart, line_chart, pair_map, scatter, strip_chart


def test_control_characters_are_shown_by_their_codes():
    assert plain("a\u0000b\u202ec\ud800\ufeff\n\t\u200dd") == "a\ufffdU+0000b\ufffdU+202Ec\ufffdU+D800\ufffdU+FEFF\n\t\u200dd"


def test_a_name_that_a_template_is_not_given_is_an_error():
    with pytest.raises(UndefinedError, match="'left' is undefined"):
        templates().from_string("{{ left }} left").render()


def test_marked_spans_are_escaped_inside_and_out():
    assert marked("<a> & <b>", [(4, 5)]) == "&lt;a&gt; <mark>&amp;</mark> &lt;b&gt;"


def test_a_table_says_its_numbers():
    source = table_of(Table(("who", "n"), [("<i>", 12345), (None, 0.123456), (True, 1.0)], frozenset({1}), "A & B"))
    assert "<caption>A &amp; B</caption>" in source
    assert '<td>&lt;i&gt;</td><td class="n">12,345</td>' in source
    assert '<td></td><td class="n">0.1235</td>' in source
    assert "<td>yes</td>" in source


def test_an_empty_table_is_nothing():
    assert table_of(Table(("who",), [])) == ""


def test_plots_without_values_are_nothing():
    assert line_chart([Series("a", [])], "x", "y", "t") == ""
    assert line_chart([Series("a", [(1, math.nan)])], "x", "y", "t") == ""
    assert strip_chart({"a": []}, "x", "t") == ""
    assert scatter([], "t") == ""
    assert bar_chart([], "n", "t") == ""
    assert pair_map([], "t") == ""


def test_a_line_chart_passes_over_what_is_not_finite():
    plot = line_chart([Series("loss", [(0, 4.0), (1, math.inf), (2, 2.0)])], "step", "loss", "Loss")
    assert "<desc>loss: from 4 to 2</desc>" in plot
    assert "inf" not in plot
    assert "nan" not in plot


def test_equal_values_still_make_a_plot():
    assert "<desc>a: median 3 of 2</desc>" in strip_chart({"a": [3.0, 3.0]}, "x", "t")
    assert "<desc>g: 1 texts</desc>" in scatter([Dot(1.0, 1.0, "g")], "t")


def test_names_in_plots_are_escaped():
    for plot in (
        line_chart([Series("<i>\u0007", [(0, 1.0)])], "x", "y", "t"),
        strip_chart({"<i>\u0007": [1.0]}, "x", "t"),
        scatter([Dot(0, 0, "<i>\u0007", "<i>")], "t"),
        bar_chart([("<i>\u0007", 1.0)], "n", "t"),
        pair_map([("<i>\u0007", "b", 2)], "t"),
    ):
        assert "<i>" not in plot
        assert "\u0007" not in plot
        assert "&lt;i&gt;\ufffdU+0007" in plot
