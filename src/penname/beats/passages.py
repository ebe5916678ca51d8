"""Cutting chapters into passages: whole paragraphs, of a length that a beat can steer, at the places where prose pauses.

The cut points of a chapter are chosen together, by dynamic programming over its paragraphs: each passage pays for a length
outside the limits, and each cut pays for falling inside an exchange of dialogue, a speech that runs on, or a letter.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from penname.core.config import BeatsConfig
from penname.core.values import STORY_KINDS, Book, Chapter, Passage

_OUT_OF_LIMITS = 1000.0  # above anything that all other costs of a chapter's choice between two cuts could add up to
_IN_EXCHANGE = 3.0
_IN_SPEECH = 5.0  # a quotation that the next paragraph goes on with
_IN_LETTER = 5.0
_AT_BREAK = -3.0
_LETTER_PARAGRAPHS_MAX = 40

_PARAGRAPH = re.compile(r"\S(?:[^\n]|\n(?![ \t]*\n))*")
_BREAK = re.compile(r"^[\s*_.#~•·—–-]+$")
_SENTENCE_END = re.compile(r"[.!?]['\"”’)\]]*\s+(?=['\"“‘(\[]?[A-ZÀ-Þ])")
_ABBREVIATION = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Ste?|Messrs|Mme|Mlle|Mdlle|Rev|Hon|Esq|Capt|Col|Gen|Prof|No|vol|viz|[A-Z])\.['\"”’]*\s+$")
_SALUTATION = re.compile(
    r"^['\"“‘]?(?:My (?:dear|own|beloved|good|darling)|Dear(?:est)?|Sir|Madam|To (?:Mr|Mrs|Miss|M|Lady|Sir)\b)[^.!?]{0,60}[,:;.—–-]"
)
_SIGNATURE = re.compile(
    r"(?:^|\n)\s*['\"“‘]?(?:Yours|Believe me|I (?:am|remain),"
    r"|Your (?:\w+ ){0,3}(?:servant|friend|brother|sister|son|daughter|father|mother|wife|husband|cousin))"
    r"|^['\"“‘(]*(?:\(?Signed\)?\s*)?(?:[A-Z][\w.'’-]*[ ,]*){1,5}[.\"”’)]*$"
)


@dataclass(frozen=True, slots=True)
class _Paragraph:
    start: int
    end: int
    words: int
    speech: bool
    runs_on: bool
    in_letter: bool
    scene_break: bool
    whole: bool  # False for a piece of a paragraph that was too long: a cut after it falls at a sentence end only


def cut_passages(book: Book, settings: BeatsConfig | None = None) -> list[Passage]:
    """The passages of a book in reading order; every word of every story chapter's body lies in exactly one of them.

    Lengths are in whitespace-separated words. A chapter shorter than the least length is one passage; a paragraph longer than
    the most is cut at sentence ends.
    """
    settings = settings or BeatsConfig()
    passages = []
    for number, chapter in enumerate(book.chapters):
        if chapter.kind in STORY_KINDS:
            for n, (start, end) in enumerate(_cut_chapter(book.text, chapter, settings)):
                passages.append(Passage(f"{book.id}:{number}:{n}", book.id, number, start, end, chapter.split))
    return passages


def _cut_chapter(text: str, chapter: Chapter, settings: BeatsConfig) -> list[tuple[int, int]]:
    least, most = settings.passage_words_min, settings.passage_words_max
    paragraphs = _paragraphs(text, chapter.body_start, chapter.end, most)
    if not paragraphs:
        return []
    words_before = [0]
    for paragraph in paragraphs:
        words_before.append(words_before[-1] + paragraph.words)
    best: list[tuple[float, int]] = [(0.0, -1)]  # best[j]: (cost of cutting the first j paragraphs, where the last passage starts)
    for j in range(1, len(paragraphs) + 1):
        after = _cut_cost(paragraphs, j) if j < len(paragraphs) else 0.0
        choices = []
        for i in range(j - 1, -1, -1):
            words = words_before[j] - words_before[i]
            if words > most and i < j - 1:
                break
            choices.append((best[i][0] + _length_cost(words, least, most) + after, i))
        best.append(min(choices))
    spans = []
    j = len(paragraphs)
    while j > 0:
        i = best[j][1]
        spans.append((paragraphs[i].start, paragraphs[j - 1].end))
        j = i
    return spans[::-1]


def _length_cost(words: int, least: int, most: int) -> float:
    if words < least:
        return _OUT_OF_LIMITS + (least - words)
    if words > most:
        return _OUT_OF_LIMITS + (words - most)
    middle, half = (least + most) / 2, max(1.0, (most - least) / 2)
    return ((words - middle) / half) ** 2


def _cut_cost(paragraphs: list[_Paragraph], j: int) -> float:
    """The cost of a cut between paragraphs j-1 and j."""
    before, after = paragraphs[j - 1], paragraphs[j]
    if after.scene_break:
        return -2 * _AT_BREAK  # the mark of a break belongs to what it ends
    if before.scene_break:
        return _AT_BREAK
    cost = 0.0 if before.whole else _IN_SPEECH
    if before.in_letter and after.in_letter:
        cost += _IN_LETTER
    if before.runs_on:
        cost += _IN_SPEECH
    elif before.speech and after.speech:
        cost += _IN_EXCHANGE
    return cost


def _paragraphs(text: str, start: int, end: int, most: int) -> list[_Paragraph]:
    spans = [(m.start(), m.start() + len(m.group().rstrip())) for m in _PARAGRAPH.finditer(text, start, end)]
    letters = _letter_paragraphs([text[a:b] for a, b in spans])
    found = []
    for (a, b), in_letter in zip(spans, letters, strict=True):
        pieces = _pieces(text, a, b, most)
        for number, (piece_start, piece_end) in enumerate(pieces):
            piece = text[piece_start:piece_end]
            last = number == len(pieces) - 1
            found.append(
                _Paragraph(
                    piece_start,
                    piece_end,
                    len(piece.split()),
                    _is_speech(piece),
                    last and _runs_on(text[a:b]),
                    in_letter,
                    bool(_BREAK.match(piece)),
                    last,
                )
            )
    return found


def _pieces(text: str, start: int, end: int, most: int) -> list[tuple[int, int]]:
    """The paragraph as it is, or cut at sentence ends into the fewest pieces of about one length where it has too many words."""
    words = len(text[start:end].split())
    if words <= most:
        return [(start, end)]
    ends = [m.end() for m in _SENTENCE_END.finditer(text, start, end) if not _ABBREVIATION.search(text, max(start, m.end() - 12), m.end())]
    target = words / -(-words // most)
    cuts, at, sentence_start, held = [], start, start, 0
    for sentence_end in [*ends, end]:
        length = len(text[sentence_start:sentence_end].split())
        # Close the piece where one more sentence would break the limit or take it further from the target.
        if held and (held + length > most or held + length / 2 > target):
            cuts.append((at, sentence_start))
            at, held = sentence_start, 0
        held += length
        sentence_start = sentence_end
    cuts.append((at, end))
    return [(a, a + len(text[a:b].rstrip())) for a, b in cuts]


def _is_speech(paragraph: str) -> bool:
    opening = paragraph.lstrip("_ ")[:1]
    if opening in ("“", '"', "‘", "—", "–", "«"):
        return True
    if opening == "'" and not re.match(r"'(?:t|T)(?:is|was|were|will|would)\b", paragraph):
        return True
    return paragraph.count('"') >= 2 or "“" in paragraph


def _runs_on(paragraph: str) -> bool:
    """True where a quotation is open at the end, as when a speaker goes on in the next paragraph."""
    if "“" in paragraph or "”" in paragraph:
        return paragraph.rfind("“") > paragraph.rfind("”")
    return paragraph.count('"') % 2 == 1


def _letter_paragraphs(paragraphs: list[str]) -> list[bool]:
    """For each paragraph, whether it belongs to a letter: from a salutation on its own to the signature."""
    inside = [False] * len(paragraphs)
    for i, paragraph in enumerate(paragraphs):
        if inside[i] or not _SALUTATION.match(paragraph):
            continue
        for j in range(i + 1, min(len(paragraphs), i + _LETTER_PARAGRAPHS_MAX)):
            if len(paragraphs[j].split()) <= 25 and _SIGNATURE.search(paragraphs[j]):
                inside[i : j + 1] = [True] * (j + 1 - i)
                break
    return inside
