"""The offline annotator: the people present and the passage's most telling words, in the order in which they fall.

    Jane, John Reed, Mrs. Reed; curtain, window-seat, volume, hurled, bled

A word tells by how often it stands in the passage against how few passages of the work hold it (tf-idf; Sparck Jones 1972,
doi 10.1108/eb026526), with words of a single passage held back: they are oddities more often than they are what happens.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from penname.beats.annotator import Answer, Ask, Style
from penname.beats.names import NameBook
from penname.beats.words import FUNCTION_WORDS, base_form
from penname.core.beatstyle import BEAT_WORDS_MAX
from penname.core.values import Book, Passage

_WORD_CHOICES = 30  # choices of words that are tried before the gate
# Names that stand side by side in the passage ("M. Pelet, Mr. Crimsworth, ...") are a copied run in any choice of words.
_NAMES_TRIED = (4, 1, 0)
KEYWORD_ATTEMPTS = _WORD_CHOICES * len(_NAMES_TRIED)
_PEOPLE_MAX = 3
_PLACES_MAX = 1
_CONTENT_WORDS = 9
_CONTENT_WORDS_MIN = 3
_EVERYWHERE_SHARE = 0.2  # a word in more than this share of the passages tells nothing of any of them
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_RARE_SHARE = 0.01  # below this share of the passages, rarer is not more telling
# Manner, quality and abstraction steer less than things and deeds.
_SOFT_ENDINGS = ("ly", "ness", "ment", "tion", "ance", "ence", "ible", "able", "ity", "ous", "ive", "ful", "less", "ary", "ory", "ic", "al")


class KeywordAnnotator:
    """Deterministic and offline. Each further attempt leaves out the words that the last one led with; in the end names go as well."""

    model = "keywords"
    style: Style = "keywords"

    def __init__(self, books: Sequence[Book], passages: Sequence[Passage], names: dict[str, NameBook]) -> None:
        self._names = names
        text_of = {book.id: book.text for book in books}
        self._passages_with: Counter[str] = Counter()
        for passage in passages:
            self._passages_with.update({base_form(word) for word in _plain_words(text_of[passage.book_id][passage.start : passage.end])})
        self._passages = max(1, len(passages))

    async def answer(self, ask: Ask) -> Answer:
        """The keyword line of a passage."""
        return Answer(self.line(ask.passage, ask.text, ask.language, ask.attempt))

    async def close(self) -> None:
        """Nothing is open."""

    def line(self, passage: Passage, text: str, language: str = "en", attempt: int = 0) -> str:
        """At most 20 words: names, then content words in the order of the passage."""
        present = self._names[passage.book_id].present(passage)
        people = [surface for entity, surface, _ in present if entity.kind == "person"][:_PEOPLE_MAX]
        # A ship or an inn counts where the passage keeps to it; a single "Vulcan" is a figure of speech.
        places = [surface for entity, surface, n in present if entity.kind == "place" or (entity.kind == "other" and n > 1)][:_PLACES_MAX]
        names_tried, attempt = divmod(attempt, _WORD_CHOICES)
        names = (people + places)[: _NAMES_TRIED[names_tried]]
        room = BEAT_WORDS_MAX - sum(len(name.split()) for name in names)
        ranked = self._ranked(text, language, {word.lower() for name in names for word in _TOKEN.findall(name)})
        count = max(1, min(_CONTENT_WORDS, room))
        skipped = min(attempt, max(0, len(ranked) - _CONTENT_WORDS_MIN))
        chosen = sorted(ranked[skipped : skipped + count], key=lambda row: row[1])
        content = ", ".join(word for word, _ in chosen)
        return "; ".join(part for part in (", ".join(names), content) if part)

    def _ranked(self, text: str, language: str, leave_out: set[str]) -> list[tuple[str, int]]:
        """(word, first place) of the passage's content words, most telling first."""
        function_words = FUNCTION_WORDS.get(language, frozenset())
        forms: dict[str, Counter[str]] = {}
        first: dict[str, int] = {}
        for match in _TOKEN.finditer(text):
            word = match.group()
            if word != word.lower() or len(word) < 3 or "'" in word or "’" in word or word in function_words or word in leave_out:
                continue
            stem = base_form(word)
            if len(stem) < 3 or stem in function_words:
                continue
            forms.setdefault(stem, Counter())[word] += 1
            first.setdefault(stem, match.start())
        ranked = sorted(forms, key=lambda stem: (-self._weight(stem, forms[stem]), first[stem]))
        return [(max(forms[stem], key=lambda w: (forms[stem][w], -len(w), w)), first[stem]) for stem in ranked]

    def _weight(self, stem: str, forms: Counter[str]) -> float:
        inside = self._passages_with[stem]
        if inside > _EVERYWHERE_SHARE * self._passages and self._passages >= 20:
            return 0.0
        rarity = math.log(1 + self._passages / max(2.0, inside, _RARE_SHARE * self._passages))
        single = 0.6 if inside <= 1 and self._passages >= 20 else 1.0
        soft = 0.5 if next(iter(forms)).endswith(_SOFT_ENDINGS) else 1.0
        return (1 + math.log(sum(forms.values()))) * rarity * single * soft


def _plain_words(text: str) -> list[str]:
    return [word for word in _TOKEN.findall(text) if word == word.lower()]
