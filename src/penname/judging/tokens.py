"""Text as the instrument sees it: one typography, lower case, names hidden.

Hidden words count towards length and never towards style. The name rule needs the texts alone: a capital inside a sentence is
a name, and a capital at its start is one unless the word is at home in lower case.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

PARAGRAPH = "\n\n"

# Typography says more about the edition than about the author: curly or straight, -- or a spaced hyphen or an em dash,
# 'single' or "double" quotes, Mr. or Mr, to-day or today. All are brought to one form or left out.
_SAME: dict[int, str | None] = {code: "'" for code in (0x2018, 0x2019, 0x201A, 0x201B, 0x02BC)}
_SAME |= {code: '"' for code in (0x201C, 0x201D, 0x201E, 0x00AB, 0x00BB)}
_SAME |= {code: " -- " for code in (0x2012, 0x2013, 0x2014, 0x2015)}
_SAME |= {0x2026: "...", 0x00A0: " ", 0x202F: " ", 0x2010: "-", 0x2011: "-", 0x00E6: "ae", 0x0153: "oe", 0x00C6: "Ae", 0x0152: "Oe"}
_SAME |= {0x00AD: None, 0x200B: None, 0xFEFF: None, ord("_"): None, ord("*"): None, ord("\r"): None}
_DASH = re.compile(r"\s-\s|--+")
_DOTS = re.compile(r"\.(?: ?\.)+")
_TITLE = re.compile(r"\b(Mr|Mrs|Ms|Dr|St|Messrs|Mme|Mlle|Rev|Capt|Col|Esq|Hon|Jr|Sr)\.")
_TODAY = re.compile(r"\b([Tt]o)-(day|night|morrow)\b")
_TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\.\.\.|--|[.,;:!?()\"']|\n[ \t]*\n\s*")
_ENDS = frozenset({".", "!", "?", ":", "--", "...", "(", ")", '"', "'", PARAGRAPH})
_ALWAYS_WORDS = frozenset(["i", "i'm", "i'll", "i've", "i'd", "o", "oh", "a"])
# Share of ordinary words with a capital inside sentences from which capitals mean a habit (as in the 18th century), not names.
_CAPITAL_HABIT = 0.02


def normalise(text: str) -> str:
    """The text in one typography, so that editions and generators are compared by words, not by quote marks."""
    text = unicodedata.normalize("NFC", text).translate(_SAME)
    text = _TITLE.sub(r"\1", _TODAY.sub(r"\1\2", text))
    return _DOTS.sub("...", _DASH.sub(" -- ", text))


@dataclass(frozen=True)
class Tokens:
    """A text as a list of distinct types and an array of indices into it (ids == -1: a hidden word)."""

    types: list[str]
    ids: np.ndarray

    def words(self) -> int:
        """Number of words, hidden ones included; punctuation and paragraph breaks are none."""
        return int(self.is_word().sum())

    def is_word(self) -> np.ndarray:
        """Which tokens are words."""
        alpha = np.array([token[0].isalpha() for token in self.types] + [True])  # index -1 takes the last: hidden
        return alpha[self.ids]

    def spelled(self) -> list[str]:
        """The tokens as strings, hidden words as "_"."""
        return [self.types[i] if i >= 0 else "_" for i in self.ids.tolist()]


def tokenise(text: str) -> Tokens:
    """Words, punctuation and paragraph breaks in order. Keeps one-letter words; an apostrophe inside a word stays in it."""
    index: dict[str, int] = {}
    ids = [index.setdefault(token, len(index)) for token in _TOKEN.findall(normalise(text))]
    return Tokens([PARAGRAPH if token[0] == "\n" else token for token in index], np.array(ids, dtype=np.int32))


class _Marks:
    """What each token of a text is: its lower-case form, and whether it has a capital, stands inside a sentence, is all capitals."""

    def __init__(self, tokens: Tokens) -> None:
        self.lower = [token.lower() for token in tokens.types]
        self.letter = np.array([token[0].isalpha() for token in tokens.types], dtype=bool)
        self.capital = np.array([token[0].isalpha() and not token[0].islower() for token in tokens.types], dtype=bool)
        self.shouted = np.array([len(token) > 1 and token.isupper() for token in tokens.types], dtype=bool)
        ends = np.array([token in _ENDS for token in tokens.types], dtype=bool)
        self.inside = np.zeros(len(tokens.ids), dtype=bool)
        self.inside[1:] = ~ends[tokens.ids[:-1]]


class Lexicon:
    """How often each word of the fitted texts stands in lower case, and with a capital inside a sentence."""

    def __init__(self, texts: Iterable[Tokens]) -> None:
        self.lower: Counter[str] = Counter()
        self.capital: Counter[str] = Counter()
        for tokens in texts:
            marks = _Marks(tokens)
            all_counts = np.bincount(tokens.ids, minlength=len(tokens.types))
            inside = np.bincount(tokens.ids[marks.inside], minlength=len(tokens.types))
            for i in np.flatnonzero(marks.letter).tolist():
                if not marks.capital[i]:
                    self.lower[marks.lower[i]] += int(all_counts[i])
                elif inside[i]:
                    self.capital[marks.lower[i]] += int(inside[i])

    def ordinary(self, word: str, factor: float) -> bool:
        """Whether a lower-case ``word`` stands in lower case more than ``factor`` times as often as with a capital."""
        return self.lower[word] > factor * self.capital[word]


def hide_names(tokens: Tokens, lexicon: Lexicon, hidden: Collection[str] = ()) -> Tokens:
    """Lower-cased tokens without quote marks (editions set them) and with names hidden (ids -1).

    hidden: lower-case words hidden wherever they stand (beat-carried words).
    """
    marks = _Marks(tokens)
    always = np.array([word in _ALWAYS_WORDS for word in marks.lower], dtype=bool)
    ordinary = np.array([lexicon.ordinary(word, 1) for word in marks.lower], dtype=bool)
    if _has_capital_habit(tokens, marks, np.array([lexicon.ordinary(word, 20) for word in marks.lower], dtype=bool) & ~always):
        name_inside = marks.capital & ~ordinary
    else:
        name_inside = marks.capital & ~(marks.shouted & ordinary)
    inside = name_inside & ~always
    start = marks.capital & ~ordinary & ~always
    gone = np.array([word in hidden for word in marks.lower], dtype=bool) & marks.letter
    masked = np.where(marks.inside, inside[tokens.ids], start[tokens.ids]) | gone[tokens.ids]
    index: dict[str, int] = {}
    lower_ids = np.array([index.setdefault(word, len(index)) for word in marks.lower], dtype=np.int32)
    kept = np.array([token not in ('"', "'") for token in tokens.types], dtype=bool)[tokens.ids]
    return Tokens(list(index), np.where(masked, np.int32(-1), lower_ids[tokens.ids])[kept])


def _has_capital_habit(tokens: Tokens, marks: _Marks, ordinary: np.ndarray) -> bool:
    seen = tokens.ids[marks.inside]
    seen = seen[ordinary[seen] & marks.letter[seen]]
    return bool((marks.capital & ~marks.shouted)[seen].sum() > _CAPITAL_HABIT * len(seen))
