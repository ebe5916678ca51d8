"""Where names stand to each other: sentences, who is called, who answers."""

from __future__ import annotations

from penname.cast.context import lay_out


def test_a_title_with_a_point_ends_no_sentence():
    text = "Then Mr. Bingley and Mr. J. Darcy came. They sat down. No. So said I. Mrs. Hurst slept."
    ends = [text[end:].split(" ")[0] for end in lay_out(text).sentences]
    assert ends == ["Then", "They", "No.", "So", "Mrs."]
