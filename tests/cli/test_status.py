"""What ``penname status`` says a stage holds."""

from __future__ import annotations

import pytest

from penname.cli.status import _holds, status


@pytest.mark.parametrize(
    ("stage", "counts", "told"),
    [
        ("books", {"books": 1, "words": 10566, "chapters": 12, "heldout_words": 9}, "1 book, 10,566 words, 12 chapters"),
        ("cast", {"people": 51, "places": 37, "unresolved": 0}, "51 people, 37 places"),
        ("cast", {"people": 51, "places": 37, "unresolved": 12}, "51 people, 37 places, 12 unresolved"),
        ("control", {"samples": 16, "passed": 0}, "16 samples, failed"),
        ("shards", {"rows": 88, "learned_tokens": 71899, "tokens": 1}, "88 rows, 71,899 learned tokens"),
        ("control", {}, ""),
        ("train", {}, ""),
    ],
)
def test_two_or_three_figures(stage, counts, told):
    assert _holds(stage, counts) == told


@pytest.mark.parametrize(("columns", "headings"), [(40, ["stage", "state", "holds"]), (80, ["stage", "state", "holds", "size", "took"])])
def test_a_narrow_terminal_gets_no_column_that_would_cut_words(tmp_path, monkeypatch, capsys, columns, headings):
    (tmp_path / "voice.toml").write_text("")
    monkeypatch.setattr("penname.cli.tables.PIPE_COLUMNS", columns)
    status(tmp_path)
    assert next(line for line in capsys.readouterr().out.splitlines() if line.startswith("stage")).split() == headings
