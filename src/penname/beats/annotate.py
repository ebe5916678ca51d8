"""Asking for every passage's beat: bounded concurrency, the gate, asking again with the reason, and the fall to keywords.

An answer goes into the cache before the gate sees it. A later run first takes what passed, then asks only what is missing, so
it gives the same beats however often it was interrupted. Repeats are judged against the beats that stand on both sides
at that moment: no two neighbours ever repeat, whichever was answered first.
"""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from penname.beats.annotator import Annotator, Answer, Ask, Refusal, Style
from penname.beats.cache import AnswerCache, CachedAnswer, answer_key
from penname.beats.gate import Gate
from penname.beats.keywords import KEYWORD_ATTEMPTS, KeywordAnnotator
from penname.core.errors import PennameError, ProofFailed
from penname.core.progress import Progress, progress, say
from penname.core.values import Beat, Book, Passage


@dataclass(frozen=True, slots=True)
class Annotated:
    """The beats in the order of the passages, every refused answer, and what it took."""

    beats: list[Beat]
    rejected: list[dict[str, Any]]
    asked: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    fallbacks: int = 0


@dataclass(slots=True)
class _Slot:
    """One passage on its way to a beat."""

    passage: Passage
    text: str
    key: str
    answers: list[CachedAnswer]
    beat: str | None = None


class Annotation:
    """One run of an annotator over the passages of a voice."""

    def __init__(
        self,
        passages: Sequence[Passage],
        books: Mapping[str, Book],
        gates: Mapping[str, Gate],
        keywords: KeywordAnnotator,
        *,
        attempts: int,
        max_fallback_share: float,
        workers: int,
        written: Mapping[str, str] | None = None,
    ) -> None:
        self.passages, self.books, self.gates, self.keywords = passages, books, gates, keywords
        self.attempts, self.max_fallback_share, self.workers = attempts, max_fallback_share, workers
        self.written = written or {}  # passage id -> the beat that a person wrote
        self.asked = 0
        self.tokens = [0, 0]
        self._failed: set[int] = set()

    def prepare(self, cache: AnswerCache, asked_with: Mapping[str, Any], style: Style) -> list[int]:
        """Take what the cache holds; the indices of the passages that must still be asked for."""
        seen: Counter[str] = Counter()
        self.slots = []
        for passage in self.passages:
            text = self.books[passage.book_id].text[passage.start : passage.end]
            key = answer_key(asked_with, text, seen[text])
            seen[text] += 1
            self.slots.append(_Slot(passage, text, key, cache.answers(key), self.written.get(passage.id)))
        self.style, self._cache = style, cache
        for index, slot in enumerate(self.slots):  # what passed before comes first: a repeat is then refused as it was then
            if slot.beat is None and slot.answers and not slot.answers[-1].rule:
                self._judge_again(index, slot.answers[-1:])
        for index, slot in enumerate(self.slots):
            if slot.beat is None:
                self._judge_again(index, slot.answers)
        without = [i for i, slot in enumerate(self.slots) if slot.beat is None]
        self._failed = {i for i in without if len(self.slots[i].answers) >= self.attempts}
        return [i for i in without if i not in self._failed]

    def ask(self, annotator: Annotator, missing: Sequence[int]) -> None:
        """Ask for the missing beats. Answers are kept even where this is interrupted."""
        self.check_falls()
        with progress("beats", len(missing)) as count:
            try:
                asyncio.run(self._ask_all(annotator, missing, count))
            except KeyboardInterrupt:
                say(f"{count.done} of {len(missing)} beats are settled")
                raise

    def check_falls(self) -> None:
        """PennameError where more beats than the set share have used up their attempts."""
        share = len(self._failed) / max(1, len(self.slots))
        if share > self.max_fallback_share:
            rules = Counter(row.rule for i in self._failed for row in self.slots[i].answers if row.rule)
            most = ", ".join(f"{rule} {n}" for rule, n in rules.most_common(4))
            raise PennameError(
                f"{len(self._failed)} of {len(self.slots)} beats fell to keywords, more than the share of {self.max_fallback_share:g} that "
                f"beats.max_fallback_share allows (refused by rule: {most}); use a better model or raise it. The answers are kept"
            )

    def finish(self, model: str) -> Annotated:
        """Let what is still missing fall to keywords, and give the beats."""
        fallen = [i for i, slot in enumerate(self.slots) if slot.beat is None]
        beats: list[Beat | None] = [None] * len(self.slots)
        for index, slot in enumerate(self.slots):
            if slot.beat is not None:
                by_person = slot.passage.id in self.written
                beats[index] = self._beat(slot, slot.beat, "sentence" if by_person else self.style, "person" if by_person else model)
        for index in fallen:
            slot = self.slots[index]
            slot.beat = self._keyword_line(index)
            beats[index] = self._beat(slot, slot.beat, "keywords", self.keywords.model)
        rejected = [
            {
                "passage_id": slot.passage.id,
                "attempt": row.attempt,
                "rule": row.rule,
                "reason": row.reason,
                "text": row.text,
                "raw": row.raw,
            }
            for slot in self.slots
            for row in slot.answers
            if row.rule
        ]
        return Annotated([b for b in beats if b is not None], rejected, self.asked, self.tokens[0], self.tokens[1], len(fallen))

    async def _ask_all(self, annotator: Annotator, missing: Sequence[int], count: Progress) -> None:
        waiting = deque(missing)

        async def work() -> None:
            while waiting:
                await self._ask_until_settled(annotator, waiting.popleft())
                count.advance()
                tokens = sum(self.tokens)
                of_about = f" of about {tokens * len(missing) // count.done:,}" if count.done < len(missing) else ""
                count.note(f"{tokens:,} tokens{of_about}, {len(self._failed)} fell to keywords")

        tasks = [asyncio.create_task(work()) for _ in range(min(self.workers, len(missing)))]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await annotator.close()

    async def _ask_until_settled(self, annotator: Annotator, index: int) -> None:
        slot = self.slots[index]
        while slot.beat is None and len(slot.answers) < self.attempts:
            answer = await annotator.answer(self._question(slot))
            self.asked += 1
            self.tokens[0] += answer.prompt_tokens
            self.tokens[1] += answer.completion_tokens
            refusal = answer.fault or self._check(index, answer.text)
            self._keep(slot, len(slot.answers), answer, refusal)
            if refusal is None:
                slot.beat = answer.text
        if slot.beat is None:
            self._failed.add(index)
            self.check_falls()

    def _question(self, slot: _Slot) -> Ask:
        names = tuple(surface for _, surface, _ in self.gates[slot.passage.book_id].names.present(slot.passage))
        refused = tuple((row.text, Refusal(row.rule, row.reason)) for row in slot.answers)
        return Ask(slot.passage, slot.text, names, len(slot.answers), refused, self.books[slot.passage.book_id].language)

    def _keep(self, slot: _Slot, attempt: int, answer: Answer, refusal: Refusal | None) -> None:
        rule, reason = (refusal.rule, refusal.reason) if refusal else ("", "")
        row = CachedAnswer(attempt, answer.text, answer.raw, rule, reason, answer.prompt_tokens, answer.completion_tokens)
        self._cache.put(slot.key, row)
        slot.answers.append(row)

    def _judge_again(self, index: int, rows: Sequence[CachedAnswer]) -> None:
        """Take the first cached answer that passes the gate as it is today; what failed as a repeat stays refused."""
        slot = self.slots[index]
        for row in list(rows):
            if row.rule == "repeat" or not row.text:
                continue
            refusal = self._check(index, row.text)
            if (refusal.rule if refusal else "") != row.rule:
                new = replace(row, rule=refusal.rule if refusal else "", reason=refusal.reason if refusal else "")
                self._cache.put(slot.key, new)
                slot.answers[slot.answers.index(row)] = new
            if refusal is None:
                slot.beat = row.text
                return

    def _check(self, index: int, line: str) -> Refusal | None:
        slot = self.slots[index]
        return self.gates[slot.passage.book_id].check(line, slot.passage, self.style, self._neighbours(index))

    def _neighbours(self, index: int) -> list[str]:
        """The beats that stand before and after, within the chapter."""
        here = self.passages[index]
        beside = [i for i in (index - 1, index + 1) if 0 <= i < len(self.slots)]
        found = [self.slots[i].beat for i in beside if (self.passages[i].book_id, self.passages[i].chapter) == (here.book_id, here.chapter)]
        return [beat for beat in found if beat is not None]

    def _keyword_line(self, index: int) -> str:
        slot = self.slots[index]
        gate, language = self.gates[slot.passage.book_id], self.books[slot.passage.book_id].language
        for attempt in range(KEYWORD_ATTEMPTS):
            line = self.keywords.line(slot.passage, slot.text, language, attempt)
            refusal = gate.check(line, slot.passage, "keywords", self._neighbours(index))
            if refusal is None:
                return line
        raise ProofFailed(
            f'no keyword line of passage {slot.passage.id} passes the gate ("{line}": {refusal.reason if refusal else ""}); '
            f'write its beat yourself: penname beat --edit {slot.passage.id} "..."'
        )

    def _beat(self, slot: _Slot, line: str, style: Style, source: str) -> Beat:
        return Beat(slot.passage.id, line, style, source, self.gates[slot.passage.book_id].names.spans(line, slot.passage))
