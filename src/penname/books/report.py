"""What a reader of ``book.json`` should know: the alphabet before and after, and what is odd about the text."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np

from penname.core.values import AlphabetRow, Chapter

_ENGLISH = frozenset(
    [
        "the",
        "and",
        "of",
        "to",
        "a",
        "in",
        "that",
        "was",
        "it",
        "he",
        "his",
        "with",
        "as",
        "for",
        "had",
        "is",
        "not",
        "but",
        "you",
        "at",
        "on",
        "be",
        "her",
        "she",
    ]
)
_ENGLISH_SHARE = 0.2
_CHUNK_CHARS = 1 << 18
_DIGITS = re.compile(r"\d+")
_WITH_DIGITS = re.compile(r"(?:st|nd|rd|th|d|s|l|mo|vo|to|a|am|pm|p|lb|lbs|cwt|ft|in|x|oz|stly|ndly|rdly|thly|dly)$", re.IGNORECASE)
_STRAY = re.compile(r"[|~^¬§¤¦<>{}\\=@\ufffd]")
_MOJIBAKE = re.compile(r"Ã[©¨ªâ®´§«»¼]|â€[™œ\x9d“”˜]|Â[£§°»«\xa0]")
_LOST_APOSTROPHE = re.compile(r" (?:s|t|ll|ve|re|d) (?=[a-z])")


def alphabet(before: str, after: str) -> tuple[AlphabetRow, ...]:
    """Every character of the source or the text: counts in both, and where the text first has it."""
    old, _ = _counts(before)
    new, first = _counts(after)
    size = max(len(old), len(new))
    old, new = (np.pad(counts, (0, size - len(counts))) for counts in (old, new))
    codes = np.flatnonzero(old + new).tolist()
    return tuple(AlphabetRow(chr(code), int(old[code]), int(new[code]), int(first[code]) if new[code] else -1) for code in codes)


def _counts(text: str) -> tuple[np.ndarray, np.ndarray]:
    """By code point, up to the last that the text has: how often it stands there, and where first (-1: nowhere)."""
    counts = np.zeros(128, dtype=np.int64)
    first = np.full(128, -1, dtype=np.int64)
    for at in range(len(text) // _CHUNK_CHARS * _CHUNK_CHARS, -1, -_CHUNK_CHARS):  # in parts: the arrays are many times the text
        codes = np.frombuffer(text[at : at + _CHUNK_CHARS].encode("utf-32-le", "surrogatepass"), dtype="<u4")
        part = np.bincount(codes)
        grown = max(0, len(part) - len(counts))
        counts = np.pad(counts, (0, grown))
        first = np.pad(first, (0, grown), constant_values=-1)
        counts[: len(part)] += part
        first[codes[::-1]] = np.arange(at + len(codes) - 1, at - 1, -1)  # of several at one index the last, so the first place, stays
    return counts, first


def english_share(text: str) -> float:
    """Share of the commonest English words among the first 20,000 words; English prose has about 0.35."""
    words = re.findall(r"[^\W\d_]+", text[:120_000].lower())
    return sum(word in _ENGLISH for word in words) / len(words) if words else 0.0


def find_oddities(text: str, chapters: tuple[Chapter, ...], gaps: list[str]) -> list[str]:
    """Sentences about what looks wrong: language, missing chapters, noise of scanning and of wrong encodings."""
    odd = list(gaps)
    if english_share(text) < _ENGLISH_SHARE:
        odd.append("the text does not look like English; names, beats and the instrument are made for English prose")
    if chapters and chapters[0].kind == "piece":
        odd.append(f"no chapters were found; the text was cut by size into {len(chapters)} pieces")
    for name, found, least in (
        ("words that mix letters and digits", _mixed(text), 3),
        ("stray signs", _STRAY.findall(text), 3),
        ("signs of a wrongly decoded file", [] if text.isascii() else _MOJIBAKE.findall(text), 1),
        ("words that seem to have lost their apostrophe", _lost(text), 20),
    ):
        if len(found) >= least:
            examples = ", ".join(f'"{item}"' for item, _ in Counter(found).most_common(3))
            odd.append(f"{len(found)} {name}: {examples}")
    return odd


def _mixed(text: str) -> list[str]:
    """Words with a digit inside ("w1th"): the noise of scanning. Ordinals, sums and measures are none."""
    found = []
    for match in _DIGITS.finditer(text):
        start, end = match.span()
        while start and start > match.start() - 30 and text[start - 1].isalpha():
            start -= 1
        while end < len(text) and end < match.end() + 30 and text[end].isalpha():
            end += 1
        word = text[start:end]
        if end - start > match.end() - match.start() and not (start == match.start() and _WITH_DIGITS.match(text[match.end() : end])):
            found.append(word)
    return found


def _lost(text: str) -> list[str]:
    """Words like "don t" and "mother s": an apostrophe that some copy of the text has lost."""
    found = []
    for match in _LOST_APOSTROPHE.finditer(text):
        before = text[max(0, match.start() - 20) : match.start()].split(" ")[-1]
        if len(before) > 2 and before.isalpha():
            found.append(f"{before}{match[0].rstrip()}")
    return found
