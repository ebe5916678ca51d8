"""Where mentions stand to each other: sentences, quotations, blocks; who is called and who answers."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from penname.cast.vocabulary import ABBREVIATED

_PARAGRAPH = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE = re.compile(r"[.!?][\"”’')\]]*\s+(?=[\"“‘'(]?[A-Z])")
_ABBREVIATION = re.compile(rf"\b(?:{'|'.join(word.capitalize() for word in sorted(ABBREVIATED - {'no'}))}|[A-HJ-Z])\.\s+$")
_PRONOUN = re.compile(r"\b(?:(he|him|his|himself)|(she|her|hers|herself))\b|[.!?][\"”’']?\s", re.IGNORECASE)
_BLOCK_CHARS = 1200
_SPEECH_CHARS = 5000  # a longer paragraph is no speech of one person: the text has lost its paragraphs


@dataclass(slots=True)
class Layout:
    """Paragraph starts, sentence ends and quotations of a text, each sorted."""

    text: str
    paragraphs: list[int]
    sentences: list[int]
    quote_starts: list[int]
    quote_ends: list[int]

    def paragraph(self, at: int) -> int:
        """Index of the paragraph that holds the offset."""
        return bisect_right(self.paragraphs, at) - 1

    def paragraph_chars(self, index: int) -> int:
        """Length of a paragraph."""
        return ([*self.paragraphs[index + 1 : index + 2], len(self.text)])[0] - self.paragraphs[index]

    def sentence(self, at: int) -> int:
        """Index of the sentence that holds the offset; paragraphs end sentences too."""
        return bisect_right(self.sentences, at)

    def quoted(self, at: int) -> bool:
        """Whether the offset lies within a quotation."""
        k = bisect_right(self.quote_starts, at) - 1
        return k >= 0 and at < self.quote_ends[k]


def lay_out(text: str) -> Layout:
    """Find paragraphs, sentences and quotations."""
    paragraphs = [0, *(m.end() for m in _PARAGRAPH.finditer(text))]
    breaks = (m.end() for m in _SENTENCE.finditer(text))
    sentences = sorted({*(end for end in breaks if not _ABBREVIATION.search(text, max(0, end - 12), end)), *paragraphs})
    starts, ends = _quotations(text, paragraphs)
    return Layout(text, paragraphs, sentences, starts, ends)


def _quotations(text: str, paragraphs: list[int]) -> tuple[list[int], list[int]]:
    single = text.count("‘") > 2 * (text.count("“") + text.count('"') / 2) or (
        text.count('"') + text.count("“") < len(text) / 5000 and len(re.findall(r"(?:^|\s)'\w", text)) > len(text) / 2500
    )
    marks = re.compile(r"(?<!\w)['‘](?=\w)|(?<=[.,!?;\-—])['’](?!\w)" if single else r"[\"“”]")
    starts: list[int] = []
    ends: list[int] = []
    opened = -1
    limits = iter([*paragraphs[1:], len(text) + 1])
    limit = next(limits)
    for match in marks.finditer(text):
        at = match.start()
        while at >= limit:
            if opened >= 0:  # a quotation that goes on in the next paragraph is not closed at the end of this one
                starts.append(opened)
                ends.append(limit)
                opened = -1
            limit = next(limits)
        c = match.group()
        if opened >= 0 and c not in "“‘" and not (single and c == "'" and text[at - 1].isspace()):
            starts.append(opened)
            ends.append(at)
            opened = -1
        elif opened < 0 and c not in "”’":
            opened = at
    return starts, ends


@dataclass(slots=True)
class Presence:
    """Where the mentions of one form or person stand."""

    sentences: set[int] = field(default_factory=set)  # sentences outside quotations
    blocks: Counter[int] = field(default_factory=Counter)
    count: int = 0
    quoted: int = 0

    def merge(self, other: Presence) -> None:
        """Add another presence to this one."""
        self.sentences |= other.sentences
        self.blocks += other.blocks
        self.count += other.count
        self.quoted += other.quoted


@dataclass(slots=True)
class Calls:
    """Who is called by a name, who then speaks, and who speaks of whom; keys are forms."""

    answers: dict[Hashable, Counter[Hashable]] = field(
        default_factory=lambda: defaultdict(Counter)
    )  # called -> speaks next, or spoke before
    speakers: dict[Hashable, Counter[Hashable]] = field(default_factory=lambda: defaultdict(Counter))  # named -> speaks the quotation


def presences(layout: Layout, mentions: Sequence[tuple[int, Hashable]]) -> dict[Hashable, Presence]:
    """Presence by form, from (offset, form) pairs in order."""
    found: dict[Hashable, Presence] = defaultdict(Presence)
    for at, form in mentions:
        presence = found[form]
        presence.count += 1
        presence.blocks[at // _BLOCK_CHARS] += 1
        if layout.quoted(at):
            presence.quoted += 1
        else:
            presence.sentences.add(layout.sentence(at))
    return found


def calls(layout: Layout, mentions: Sequence[tuple[int, Hashable, bool, bool, bool]]) -> Calls:
    """Read calls and answers off (offset, form, in a quotation, called there, named as a speaker) rows in order."""
    called: dict[int, list[Hashable]] = defaultdict(list)
    named: dict[int, list[Hashable]] = defaultdict(list)
    speaker: dict[int, Hashable] = {}
    for at, form, is_quoted, is_called, speaks in mentions:
        paragraph = layout.paragraph(at)
        if layout.paragraph_chars(paragraph) > _SPEECH_CHARS:
            continue
        if is_quoted:
            named[paragraph].append(form)
        if is_called:
            called[paragraph].append(form)
        elif speaks:
            speaker.setdefault(paragraph, form)
    result = Calls()
    for paragraph, forms in named.items():
        for form in dict.fromkeys(forms):
            if paragraph in speaker:
                result.speakers[form][speaker[paragraph]] += 1
    for paragraph, forms in called.items():
        for form in dict.fromkeys(forms):
            for near in (paragraph + 1, paragraph - 1):
                if near in speaker and near not in called:
                    result.answers[form][speaker[near]] += 1
    return result


def pronoun_after(text: str, start: int, stop: int) -> str:
    """The gender of the first pronoun between ``start`` and ``stop`` within this sentence and the next, or nothing."""
    sentence_ends = 0
    for match in _PRONOUN.finditer(text, start, stop):
        if match.group(1) or match.group(2):
            return "male" if match.group(1) else "female"
        if sentence_ends:
            break
        sentence_ends = 1
    return ""
