"""Telling the two styles of beat apart."""

from __future__ import annotations

import pytest

from penname.core.beatstyle import guess_style, style_warning


@pytest.mark.parametrize(
    "line, style",
    [
        ("Jane, John Reed, Mrs. Reed; curtain, window-seat, volume, hurled, bled", "keywords"),
        ("Thornfield; mystery, carpets, vases", "keywords"),
        ("taking, shrubbery, dined, raw", "keywords"),
        ("Jane hides behind the curtain with a book; John finds her and throws it.", "sentence"),
        ("A child, left among the preserves, steals hidden money; Mrs. Tansley walks in, notices nothing, and offers bread.", "sentence"),
        ("Tom buries it before Ann can see.", "sentence"),
        ("Snow falls, and nobody comes.", "sentence"),
    ],
)
def test_styles(line: str, style: str) -> None:
    assert guess_style(line) == style


def test_a_warning_only_for_the_other_style() -> None:
    assert style_warning("Tom buries it.", "sentence") is None
    assert style_warning("Tom buries it.", "mixed") is None
    assert "trained on keywords" in style_warning("Tom buries it before Ann can see.", "keywords")
    assert "trained on sentence" in style_warning("Tom, Ann; spade, night", "sentence")
