"""What a title looks like."""

from __future__ import annotations

import re

_SMALL = frozenset(
    [
        "a", "an", "and", "at", "by", "for", "from", "in", "into", "of", "on", "or",
        "the", "to", "with", "is", "as", "de", "du", "la", "van", "von", "which", "that",
    ]
)  # fmt: skip


def looks_like_title(text: str) -> bool:
    """Whether a short text is set like a title: in capitals, or most of its words with a capital and no sentence's end."""
    words = re.findall(r"[^\W\d_][\w'’-]*", text)
    if not words or len(words) > 60:
        return False
    letters = [char for char in text if char.isalpha()]
    if sum(char.isupper() for char in letters) > 0.8 * len(letters):
        return True
    if text.rstrip()[-1] in ",;" or len(words) > 14:
        return False
    big = [word for word in words if word.lower() not in _SMALL]
    return words[0][0].isupper() and bool(big) and sum(word[0].isupper() for word in big) >= 0.7 * len(big)
