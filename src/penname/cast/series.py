"""Books in which the same people recur: one cast over all of them, then cut back into one a book, ids shared."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from penname.core.values import Book, Cast, Mention, Question

_JOINT = "\n\n\n\n"


def series_book(books: Sequence[Book]) -> Book:
    """All the texts as one."""
    return Book("series", "series", "", _JOINT.join(book.text for book in books), ())


def parts_of_series(whole: Cast, books: Sequence[Book]) -> list[Cast]:
    """A Cast for each book out of the Cast of all texts joined. An entity has the same id in every book that names it."""
    casts, start = [], 0
    for book in books:
        casts.append(_part(whole, book, start))
        start += len(book.text) + len(_JOINT)
    return casts


def _part(whole: Cast, book: Book, start: int) -> Cast:
    end = start + len(book.text)
    mentions = tuple(Mention(m.start - start, m.end - start, m.entity_id) for m in whole.mentions if start <= m.start and m.end <= end)
    names: dict[str, Counter[str]] = {}
    for mention in mentions:
        names.setdefault(mention.entity_id, Counter())[" ".join(book.text[mention.start : mention.end].split())] += 1
    entities = tuple(replace(e, names=_most_frequent(names[e.id])) for e in whole.entities if e.id in names)
    questions = (_moved(question, start, end) for question in whole.unresolved)
    return Cast(book.id, entities, mentions, tuple(q for q in questions if q), whole.decided)


def _most_frequent(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(sorted(counts, key=lambda name: (-counts[name], name)))


def _moved(question: Question, start: int, end: int) -> Question | None:
    """The question with its snippets in this book; it is asked in the book of its first snippet, and only there."""
    if not start <= question.snippets[0][0] < end:
        return None
    inside = tuple((low - start, high - start) for low, high in question.snippets if start <= low and high <= end)
    return replace(question, snippets=inside)
