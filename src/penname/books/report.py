"""What a reader of ``book.json`` should know: the alphabet before and after, and what is odd about the text."""

from __future__ import annotations

import re
from collections import Counter

from penname.core.values import AlphabetRow, Chapter

_ENGLISH = frozenset("the and of to a in that was it he his with as for had is not but you at on be her she".split())
_ENGLISH_SHARE = 0.2
_MIXED = re.compile(r"\b(?=\w*[a-z])(?=\w*\d)(?!\d+(?:st|nd|rd|th|d|s|l|mo|vo|to|a|am|pm|p|lb|cwt|ft|in|x)\b)[^\W_]+\b")
_STRAY = re.compile(r"[|~^¬§¤¦<>{}\\=@\ufffd]")
_MOJIBAKE = re.compile(r"Ã[©¨ªâ®´§«»¼]|â€[™œ\x9d“”˜]|Â[£§°»«\xa0]")
_LOST_APOSTROPHE = re.compile(r"\b[A-Za-z]{3,} (?:s|t|ll|ve|re|d) [a-z]")


def alphabet(before: str, after: str) -> tuple[AlphabetRow, ...]:
    """Every character of the source or the text: counts in both, and where the text first has it."""
    old, new = Counter(before), Counter(after)
    return tuple(AlphabetRow(char, old[char], new[char], after.find(char) if char in new else -1) for char in sorted(old.keys() | new.keys()))


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
    for name, pattern, least in (
        ("words that mix letters and digits", _MIXED, 3),
        ("stray signs", _STRAY, 3),
        ("signs of a wrongly decoded file", _MOJIBAKE, 1),
        ("words that seem to have lost their apostrophe", _LOST_APOSTROPHE, 20),
    ):
        found = [match[0] for match in pattern.finditer(text)]
        if len(found) >= least:
            examples = ", ".join(f'"{item}"' for item, _ in Counter(found).most_common(3))
            odd.append(f"{len(found)} {name}: {examples}")
    return odd
