"""Names in beats: which words of a beat are names, whose they are, and which names it may not hold.

A beat is written once, on the original names, and carried into every renamed copy by its name spans. So whatever in a beat
could be a name of the cast is either a span that resolves to an entity, or a reason to refuse the beat.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable

from penname.beats.words import CAPITALISED, FUNCTION_WORDS, TITLES, WORD, base_form
from penname.core.values import Book, Cast, Entity, Mention, Passage

_NAME_WORD = re.compile(r"[^\W\d_][\w'’]*(?:-[^\W\d_][\w'’]*)*")
_SENTENCE_START = re.compile(r"(?:^|[.!?;:—–-]\s*)[\s\"'“‘(\[]*$")


def name_words(surface: str) -> list[str]:
    """The words of a surface that are names by themselves: "Mr. John Reed" has John and Reed."""
    words = (re.sub(r"['’]s?$", "", word) for word in _NAME_WORD.findall(surface))
    return [word for word in words if len(word) > 1 and word[0].isupper() and word.lower() not in TITLES]


class NameBook:
    """Every surface of one book's cast, with the entities it may mean, and the places where they are mentioned."""

    def __init__(self, book: Book, cast: Cast) -> None:
        self.entities = cast.by_id()
        self._text = book.text
        self._mentions = cast.mentions
        self._starts = [mention.start for mention in cast.mentions]
        self._count = Counter(mention.entity_id for mention in cast.mentions)
        self._owners: dict[str, set[str]] = defaultdict(set)
        self._words: dict[str, set[str]] = defaultdict(set)
        for entity in cast.entities:
            for surface in entity.names:
                self._owners[surface].add(entity.id)
                for word in name_words(surface):
                    self._words[word].add(entity.id)
        self._pattern = _alternation({*self._owners, *self._words})
        self._person_words = {
            word for entity in cast.entities if entity.kind == "person" for name in entity.names for word in name_words(name)
        }
        self._folded_words = {word.lower() for word in self._words}
        self._function_words = FUNCTION_WORDS.get(book.language.split("-")[0].lower(), frozenset())
        self.lower_counts = Counter(word for word in WORD.findall(book.text) if word[0].islower())
        self._lower_stems = {base_form(word) for word in self.lower_counts}

    def mentions_in(self, passage: Passage) -> list[Mention]:
        """The mentions that lie in the passage."""
        first, last = bisect_left(self._starts, passage.start), bisect_left(self._starts, passage.end)
        return [mention for mention in self._mentions[first:last] if mention.end <= passage.end]

    def present(self, passage: Passage) -> list[tuple[Entity, str, int]]:
        """(entity, the name it is called by most here, mentions) of everything named in the passage, most mentioned first."""
        surfaces: dict[str, Counter[str]] = defaultdict(Counter)
        first: dict[str, int] = {}
        for mention in self.mentions_in(passage):
            surfaces[mention.entity_id][self._text[mention.start : mention.end]] += 1
            first.setdefault(mention.entity_id, mention.start)
        rows = []
        for entity_id, counts in surfaces.items():
            entity = self.entities[entity_id]
            known = {surface: n for surface, n in counts.items() if surface in entity.names} or {entity.names[0]: 1}
            surface = max(known, key=lambda s: (known[s], len(s), s))
            rows.append((entity, surface, sum(counts.values())))
        return sorted(rows, key=lambda row: (-row[2], first[row[0].id]))

    def spans(self, beat: str, passage: Passage) -> tuple[Mention, ...]:
        """The names in a beat, each with the entity that it means in this passage."""
        here = self.mentions_in(passage)
        found = []
        for match in self._pattern.finditer(beat):
            surface = match.group()
            if not self._is_word_here(beat, match.start(), surface, here):
                found.append(Mention(match.start(), match.end(), self._resolve(surface, here)))
        return tuple(found)

    def refused(self, beat: str, passage: Passage) -> list[str]:
        """The words of a beat that look like names and are neither the cast's nor the passage's, or are written so that they hide one."""
        covered = [False] * len(beat)
        for span in self.spans(beat, passage):
            covered[span.start : span.end] = [True] * (span.end - span.start)
        in_passage = set(WORD.findall(self._text[passage.start : passage.end]))
        bad = []
        for match in _NAME_WORD.finditer(beat):
            word = re.sub(r"['’]s?$", "", match.group())
            if not word or covered[match.start()]:
                continue
            if word[0].islower():
                if word in self._folded_words and not self.lower_counts[word]:
                    bad.append(word)  # "jane": no copy could rename it, since names are known by their capitals
            elif not self._may_stand(beat, match.start(), word, in_passage):
                bad.append(word)
        return bad

    def _may_stand(self, beat: str, at: int, word: str, in_passage: set[str]) -> bool:
        lower = word.lower()
        at_start = bool(_SENTENCE_START.search(beat[:at]))
        if word in self._words or (word.upper() == word and len(word) > 1 and lower in self._folded_words):
            # JANE hides a name from every copy; so does Hope, even as the first word of a line on hope.
            return at_start and word in self._words and word not in self._person_words and word not in self._owners
        if lower in CAPITALISED or lower in TITLES:
            return True
        parts = word.split("-")
        if all(part in in_passage or part[:1].islower() for part in parts):
            return True
        if at_start and lower in self._function_words:
            return True
        return at_start and all(part.lower() in self.lower_counts or base_form(part.lower()) in self._lower_stems for part in parts)

    def _is_word_here(self, beat: str, at: int, surface: str, here: list[Mention]) -> bool:
        """Whether a surface that is also an ordinary word is one here: it opens a sentence and nobody here is called so."""
        if " " in surface or not self.lower_counts[surface.lower()] or not _SENTENCE_START.search(beat[:at]):
            return False
        return not any(mention.entity_id in self._words.get(surface, ()) for mention in here)

    def _resolve(self, surface: str, here: list[Mention]) -> str:
        """The entity meant: who is called exactly so here, else who here has the name, else a person before a place, and the best known."""
        exact = Counter(m.entity_id for m in here if self._text[m.start : m.end] == surface)
        present = Counter(m.entity_id for m in here)
        whole, part = self._owners.get(surface, set()), self._words.get(surface, set())

        def rank(entity_id: str) -> tuple[int, int, bool, bool, int]:
            is_person = self.entities[entity_id].kind == "person"
            return exact[entity_id], present[entity_id], is_person, entity_id in whole, self._count[entity_id]

        return max(sorted(whole | part), key=rank)


def _alternation(surfaces: Iterable[str]) -> re.Pattern[str]:
    """Matches the longest surface at a place, also before a possessive or plural s, never inside a word."""
    ordered = sorted(surfaces, key=lambda s: (-len(s), s))
    if not ordered:
        return re.compile(r"(?!)")
    return re.compile(r"(?<![\w])(?:" + "|".join(re.escape(s) for s in ordered) + r")(?=s?(?!\w))")
