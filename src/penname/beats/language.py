"""Whether a line is in the language of its book: by script, by function words, and by the book's own vocabulary."""

from __future__ import annotations

from collections import Counter

from penname.beats.words import FUNCTION_WORDS, base_form, folded, script
from penname.core.values import Book

_FOREIGN_LETTERS = 0.2
_STRANGE_WORDS = 0.6  # a model's own words are often not the book's; a line in another language hardly has any of them


class LanguageRule:
    """What the lines of one book may look like."""

    def __init__(self, book: Book) -> None:
        self.language = book.language.split("-")[0].lower()
        letters = Counter(script(char) for char in book.text[:20_000] if char.isalpha())
        self._scripts = {name for name, n in letters.items() if n >= 0.05 * sum(letters.values())} or {"LATIN"}
        self._stems = {base_form(word) for word in folded(book.text)}

    def refuses(self, line: str) -> str | None:
        """What is wrong with the language of a line, as a sentence; None where nothing is."""
        letters = [char for char in line if char.isalpha()]
        foreign = [char for char in letters if script(char) not in self._scripts]
        if letters and len(foreign) > _FOREIGN_LETTERS * len(letters):
            return f"it is written in another script ({script(foreign[0]).title()})"
        words = folded(line)
        own = _hits(words, self.language)
        for language in FUNCTION_WORDS:
            if language != self.language and _hits(words, language) >= max(2, own + 2):
                return f'it is not in the language of the text ("{self.language}")'
        # Names are in every language; only words that could be looked up count here.
        plain = [word for word in _plain(line) if len(word) > 2]
        strange = [word for word in plain if base_form(word) not in self._stems]
        if own == 0 and len(plain) >= 3 and len(strange) > _STRANGE_WORDS * len(plain):
            return f'its words are not those of the language of the text ("{self.language}")'
        return None


def _hits(words: list[str], language: str) -> int:
    listed = FUNCTION_WORDS.get(language, frozenset())
    return sum(word in listed or word.split("'")[0] in listed for word in words)


def _plain(line: str) -> list[str]:
    return [word.lower() for word in line.replace("-", " ").split() if word[:1].islower() for word in [word.strip(".,;:!?\"'()")] if word]
