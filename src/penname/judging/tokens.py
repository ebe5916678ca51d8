"""Text as the instrument sees it: one typography, lower case, names hidden.

Hidden words become HIDDEN tokens, which count towards length and never towards style. The name rule needs the texts alone:
a capital inside a sentence is a name, and a capital at its start is one unless the word is at home in lower case.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Iterable

from penname.core.values import Cast

HIDDEN = "\x00"
PARAGRAPH = "\n\n"

# Typography says more about the edition than about the author: curly or straight, -- or a spaced hyphen or an em dash,
# 'single' or "double" quotes, Mr. or Mr, to-day or today. All are brought to one form or left out.
_SAME = {0x2018: "'", 0x2019: "'", 0x201A: "'", 0x201B: "'", 0x02BC: "'", 0x201C: '"', 0x201D: '"', 0x201E: '"', 0x00AB: '"', 0x00BB: '"'}
_SAME |= {0x2026: "...", 0x2014: " -- ", 0x2013: " -- ", 0x2015: " -- ", 0x2012: " -- ", 0x00A0: " ", 0x202F: " ", 0x2010: "-", 0x2011: "-"}
_SAME |= {0x00AD: None, 0x200B: None, 0xFEFF: None, 0x00E6: "ae", 0x0153: "oe", 0x00C6: "Ae", 0x0152: "Oe", ord("_"): None, ord("*"): None}
_DASH = re.compile(r"\s-\s|-{2,}")
_DOTS = re.compile(r"(?:\. ?){2,}\.|\.{2,}")
_TITLE = re.compile(r"\b(Mr|Mrs|Ms|Dr|St|Messrs|Mme|Mlle|Rev|Capt|Col|Esq|Hon|Jr|Sr)\.")
_TODAY = re.compile(r"\b([Tt]o)-(day|night|morrow)\b")
_TOKEN = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*|\.\.\.|--|[.,;:!?()]|[\"']|\n[ \t]*\n\s*")
_ENDS = frozenset({".", "!", "?", ":", "--", "...", "(", ")", '"', "'", PARAGRAPH})
_ALWAYS_WORDS = frozenset(["i", "i'm", "i'll", "i've", "i'd", "o", "oh", "a"])
# Share of ordinary words with a capital inside sentences from which capitals mean a habit (as in the 18th century), not names.
_CAPITAL_HABIT = 0.02


def normalise(text: str) -> str:
    """The text in one typography, so that editions and generators are compared by words, not by quote marks."""
    text = unicodedata.normalize("NFC", text.replace("\r\n", "\n")).translate(_SAME)
    text = _TITLE.sub(r"\1", _TODAY.sub(r"\1\2", text))
    return _DOTS.sub("...", _DASH.sub(" -- ", text))


def tokenise(text: str) -> list[str]:
    """Words, punctuation and paragraph breaks in order. Keeps one-letter words; an apostrophe inside a word stays in it."""
    return [PARAGRAPH if token[0] == "\n" else token for token in _TOKEN.findall(normalise(text))]


class Lexicon:
    """How often each word of the fitted texts stands in lower case, and with a capital inside a sentence."""

    def __init__(self, texts: Iterable[list[str]]) -> None:
        self.lower: Counter[str] = Counter()
        self.capital: Counter[str] = Counter()
        for tokens in texts:
            before = "."
            for token in tokens:
                if token[0].islower():
                    self.lower[token] += 1
                elif before not in _ENDS and token[0].isalpha():
                    self.capital[token.lower()] += 1
                before = token

    def ordinary(self, word: str, factor: float) -> bool:
        """Whether a lower-case ``word`` stands in lower case more than ``factor`` times as often as with a capital."""
        return self.lower[word] > factor * self.capital[word]


def hide_names(tokens: list[str], lexicon: Lexicon, hidden: Collection[str] = ()) -> list[str]:
    """Lower-cased tokens with names, and the lower-case words in ``hidden``, as HIDDEN. Quote marks are dropped: editions set them."""
    habit = _capital_habit(tokens, lexicon)
    out: list[str] = []
    before = "."
    for token in tokens:
        if not token[0].isalpha():
            if token not in "\"'":
                out.append(token)
        else:
            word = token.lower()
            out.append(HIDDEN if word in hidden or _is_name(token, word, before, lexicon, habit) else word)
        before = token
    return out


def _is_name(token: str, word: str, before: str, lexicon: Lexicon, habit: bool) -> bool:
    if token[0].islower() or word in _ALWAYS_WORDS:
        return False
    if before in _ENDS or (len(token) > 1 and token.isupper()):  # a sentence start, or EMPHASIS
        return not lexicon.ordinary(word, 1)
    return not (habit and lexicon.ordinary(word, 1))


def _capital_habit(tokens: list[str], lexicon: Lexicon) -> bool:
    ordinary = capital = 0
    before = "."
    for token in tokens:
        if token[0].isalpha() and before not in _ENDS and lexicon.ordinary(word := token.lower(), 20) and word not in _ALWAYS_WORDS:
            ordinary += 1
            capital += token[0].isupper() and not token.isupper()
        before = token
    return capital > _CAPITAL_HABIT * ordinary


def cast_words(casts: Iterable[Cast]) -> frozenset[str]:
    """Every single word of every name in the casts, lower-cased: what a fit may hide beyond what capitals give away."""
    names = (name for cast in casts for entity in cast.entities for name in entity.names)
    return frozenset(token.lower() for name in names for token in tokenise(name) if token[0].isupper() and len(token) > 1)
