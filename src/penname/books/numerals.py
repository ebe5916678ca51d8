"""Numbers as headings write them: VII, 7, Seven, Seventh, twenty-first, Last."""

from __future__ import annotations

import re

_ROMAN = re.compile(r"M{0,3}(?:CM|CD|D?C{0,4})(?:XC|XL|L?X{0,4})(?:IX|IV|V?I{0,4})", re.IGNORECASE)
_VALUES = {"I": 1, "V": 5, "X": 10, "L": 50, "C": 100, "D": 500, "M": 1000}
_CARDINAL = [
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
_ORDINAL = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
]
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90}
_TENTHS = {ten[:-1] + "ieth": value for ten, value in _TENS.items()}


def _number_words() -> dict[str, int]:
    words = {word: n for n, word in enumerate(_CARDINAL, 1)} | {word: n for n, word in enumerate(_ORDINAL, 1)} | _TENS | _TENTHS
    for ten, value in _TENS.items():
        for n in range(9):
            for joint in ("-", " ", ""):
                words[f"{ten}{joint}{_CARDINAL[n]}"] = words[f"{ten}{joint}{_ORDINAL[n]}"] = value + n + 1
    return words | {"hundred": 100, "hundredth": 100, "last": LAST}


LAST = -1  # "Chapter the Last": one more than the number before it
WORDS = _number_words()
WORD_PATTERN = "|".join(sorted((re.escape(word) for word in WORDS), key=len, reverse=True))


def roman(text: str) -> int | None:
    """The value of a roman numeral, additive forms (IIII, XXXX) too, or None: "CIVIL" and "MIX I" are none.

    The case must be even: "Mi" is no numeral. Old printers' final j (viij) is read as i.
    """
    if text != text.upper() and text != text.lower():
        return None
    text = text.upper()
    if text.endswith("J"):
        text = text[:-1] + "I"
    if not text or not _ROMAN.fullmatch(text):
        return None
    total = 0
    for letter, following in zip(text, text[1:] + " ", strict=True):
        value = _VALUES[letter]
        total += -value if _VALUES.get(following, 0) > value else value
    return total


def number(text: str) -> int | None:
    """The value of a number as a heading writes it; LAST for "last", None for anything else."""
    text = text.strip()
    if text.isascii() and text.isdigit():
        return int(text) if len(text) <= 4 else None
    return WORDS.get(text.lower()) or roman(text)
