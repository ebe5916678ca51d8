"""How long a beat may be, and its two styles, told apart by form: a voice trained on one is steered worse by the other."""

from __future__ import annotations

import re

BEAT_WORDS_MAX = 20
_COUNTED = re.compile(r"[^\s—–]*\w[^\s—–]*")
_LIST = re.compile(r"\s*[,;]\s*")
_GRAMMAR = frozenset(
    ["a", "an", "the", "and", "but", "he", "she", "they", "him", "her", "his", "their", "it", "who", "to", "of", "in", "on", "at", "by"]
) | frozenset(["for", "with", "from", "as", "into", "is", "are", "not", "before", "after", "behind", "up", "out"])
_GRAMMAR_SHARE = 0.1  # a list may hold "the Swan"; a sentence of ten words has two such words or more


def count_words(line: str) -> int:
    """Words of a beat as its limit counts them: separated by spaces or dashes; a hyphenated word is one."""
    return len(_COUNTED.findall(line))


def guess_style(line: str) -> str:
    """ "keywords" for a list of names and words ("Jane, John; curtain, book"), "sentence" for a line that says what happens."""
    words = re.findall(r"[^\W\d_]+", line.lower())
    items = [item for item in _LIST.split(line.strip().rstrip(".")) if item]
    grammar = sum(word in _GRAMMAR for word in words)
    return "keywords" if len(items) >= 3 and grammar <= _GRAMMAR_SHARE * len(words) else "sentence"


def style_warning(line: str, trained_on: str) -> str | None:
    """What to say where a typed beat is of the other style than the voice's (its manifest's ``style``); None where nothing is."""
    given = guess_style(line)
    if trained_on not in ("sentence", "keywords") or given == trained_on:
        return None
    example = "Jane, John; curtain, book" if trained_on == "keywords" else "Jane hides behind the curtain with a book."
    return f'this voice was trained on {trained_on} beats ("{example}"), and this one reads as {given}; it may steer less'
