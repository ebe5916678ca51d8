"""What a line must be to steer: short, one line, about what happens and not about text, in its own words, with names that can be renamed.

Every rule gives a reason that an annotator can act on: a refused line is asked for again with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from penname.beats.annotator import Refusal, Style
from penname.beats.inverse_prompt import prompt_words
from penname.beats.language import LanguageRule
from penname.beats.names import NameBook
from penname.beats.words import folded
from penname.core.beatstyle import BEAT_WORDS_MAX, count_words
from penname.core.values import Book, Cast, Passage

GATE_VERSION = 1
WORDS_MIN = 3
COPIED_WORDS_MAX = 4
_REPEAT_SHARE = 0.8
RULES = ("empty", "lines", "words", "meta", "refusal", "names", "copied", "repeat", "language")

_META = re.compile(
    r"\b(?:(?:the|this|that|our) (?:passage|scene|excerpt|extract|snippet|paragraph|narrator|narration|narrative|author|readers?"
    r"|text|chapter|novel|protagonist|speaker|dialogue|(?:main )?characters?|beat|summary|story (?:opens|begins|continues|ends|tells))"
    r"|describ(?:es|ed|ing)|depict(?:s|ed|ing)|portrays?|first[- ]person|third[- ]person|as an ai|foreshadow(?:s|ing)?"
    r"|that cannot be used|the answer was|line only|write (?:the beat|one line|exactly one)|names allowed"
    r"|(?:passage|excerpt|paragraph|beat|summary|line)\s*(?:\d+\s*)?:)",
    re.IGNORECASE,
)
_REFUSAL = re.compile(
    r"\b(?:I(?:'m| am) (?:sorry|unable|not able)|I (?:can(?:not|'t)|won't) (?:assist|help|provide|comply|write|continue|summari[sz]e)"
    r"|as an? (?:AI|language model|assistant)|I apologi[sz]e|unable to (?:assist|provide|comply)|content (?:policy|filter)|against my)\b",
    re.IGNORECASE,
)


class Gate:
    """The rules for the beats of one book."""

    def __init__(self, book: Book, cast: Cast, names: NameBook | None = None) -> None:
        self.names = names or NameBook(book, cast)
        self._text = book.text
        self._language = LanguageRule(book)

    def check(self, line: str, passage: Passage, style: Style = "sentence", neighbours: Iterable[str] = ()) -> Refusal | None:
        """Why the line may not be the beat of the passage, or None. ``neighbours`` are the beats before and after it."""
        line = line.strip()
        if count_words(line) < WORDS_MIN and not (style == "keywords" and line):
            return Refusal("empty", "it says nothing; write one line of what happens")
        if "\n" in line or "\r" in line:
            return Refusal("lines", "it has more than one line; write exactly one")
        if style == "sentence" and (match := _REFUSAL.search(line.replace("’", "'"))):
            return Refusal("refusal", f'it refuses ("{match.group()}") instead of saying what happens')
        if match := _META.search(line):
            return Refusal("meta", f'it talks about the text ("{match.group()}"); say what happens, not how it is written')
        if (words := count_words(line)) > BEAT_WORDS_MAX:
            return Refusal("words", f"it has {words} words; at most {BEAT_WORDS_MAX} are allowed")
        if style == "sentence" and (why := self._language.refuses(line)):
            return Refusal("language", why)
        if bad := self.names.refused(line, passage):
            return Refusal("names", f'it uses "{bad[0]}", which is no name of this passage, or not as it is written there')
        if style == "sentence" and (echo := shared_run(folded(line), _PROMPT_RUNS)):
            return Refusal("meta", f'it hands back the instructions ("{echo}"); say what happens')
        if copied := shared_run(folded(line), runs_of(folded(self._text[passage.start : passage.end]))):
            return Refusal("copied", f'it copies "{copied}"; use your own words')
        if style == "sentence" and (loop := _repeats_itself(folded(line))):
            return Refusal("repeat", f'it repeats itself ("{loop}"); say each thing once')
        if repeated := _repeats(line, neighbours):
            return Refusal("repeat", f'it says the same as the line beside it ("{repeated}"); say what is new here')
        return None


def runs_of(words: list[str]) -> set[tuple[str, ...]]:
    """Every run of one word more than may be copied."""
    n = COPIED_WORDS_MAX + 1
    return {tuple(words[i : i + n]) for i in range(len(words) - n + 1)}


def shared_run(words: list[str], runs: set[tuple[str, ...]]) -> str | None:
    """The first run of the words that is among the runs."""
    n = COPIED_WORDS_MAX + 1
    for i in range(len(words) - n + 1):
        if tuple(words[i : i + n]) in runs:
            return " ".join(words[i : i + n])
    return None


_PROMPT_RUNS = {run for words in prompt_words() for run in runs_of(words)}


def _repeats_itself(words: list[str]) -> str | None:
    # What small models do when they have nothing to say.
    seen: set[tuple[str, ...]] = set()
    for i in range(len(words) - 3):
        run = tuple(words[i : i + 4])
        if run in seen:
            return " ".join(run)
        seen.add(run)
    return None


def _repeats(line: str, neighbours: Iterable[str]) -> str | None:
    words = set(folded(line))
    for other in neighbours:
        others = set(folded(other))
        if words and len(words & others) > _REPEAT_SHARE * len(words | others):
            return other
    return None
