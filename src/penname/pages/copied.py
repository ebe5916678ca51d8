"""Which spans of a sample stand word for word in the training text: what the report marks."""

from __future__ import annotations

import re
from collections.abc import Iterable

from penname.core.files import read_text
from penname.core.folder import VoiceFolder
from penname.pages.gather import Facts

MIN_WORDS = 9  # spans of more than 8 words
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def copied_spans(voice: VoiceFolder, facts: Facts) -> dict[str, list[tuple[int, int]]]:
    """Sample text -> its copied spans, against the books. Empty where nothing was trained.

    Against the books and not each copy of them: copies differ in names alone, and the verdict's own figures count those.
    """
    samples = {row["text"] for run in facts.runs for row in run.samples}
    samples |= {text for row in (facts.verdict or {}).get("passages", []) for who, text in row["texts"].items() if who != "author"}
    if not samples:
        return {}
    texts = [read_text(path) for path in sorted(voice.books.glob("*/text.txt"))]
    wanted = {gram for sample in samples for gram in _grams([word for word, _, _ in _words(sample)])}
    found: set[tuple[str, ...]] = set()
    for text in texts:
        found |= wanted.intersection(_grams(_WORD.findall(_folded(text))))
    return {sample: _spans(sample, found) for sample in samples}


def _spans(sample: str, found: set[tuple[str, ...]]) -> list[tuple[int, int]]:
    words = _words(sample)
    spans: list[tuple[int, int]] = []
    for i in range(len(words) - MIN_WORDS + 1):
        if tuple(word for word, _, _ in words[i : i + MIN_WORDS]) in found:
            start, end = words[i][1], words[i + MIN_WORDS - 1][2]
            if spans and start <= spans[-1][1]:
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
    return spans


def _grams(words: list[str]) -> Iterable[tuple[str, ...]]:
    return zip(*(words[i:] for i in range(MIN_WORDS)), strict=False)


def _words(text: str) -> list[tuple[str, int, int]]:
    return [(_folded(match.group()), match.start(), match.end()) for match in _WORD.finditer(text)]


def _folded(text: str) -> str:
    return text.lower().replace("’", "'")
