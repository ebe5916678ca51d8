"""The held-out split: whole chapters, chosen with the seed, spread over the books."""

from __future__ import annotations

from dataclasses import replace

from penname.core.rng import CounterRng
from penname.core.values import STORY_KINDS, Book


def split_heldout(books: list[Book], seed: int, share: float, chapters_min: int) -> list[Book]:
    """The books with ``split`` set on their chapters: about ``share`` of the words held out, at least ``chapters_min`` chapters.

    Only chapters and pieces are held out, never front or back matter, and every book keeps a chapter to train on. The next
    chapter always comes from the book that is furthest behind its own share, in an order that the seed and the book fix.
    A voice with too few chapters holds out what it can.
    """
    words = [[len(book.text[c.body_start : c.end].split()) for c in book.chapters] for book in books]
    waiting = [
        CounterRng(seed, "heldout", book.id).shuffled([i for i, c in enumerate(book.chapters) if c.kind in STORY_KINDS]) for book in books
    ]
    owed = [share * sum(words[b][i] for i in waiting[b]) for b in range(len(books))]
    for queue in waiting:
        del queue[-1:]  # the one that stays in training whatever happens
    total, taken = sum(owed), 0
    chosen: set[tuple[int, int]] = set()
    while share > 0 and any(waiting):
        b = max((b for b in range(len(books)) if waiting[b]), key=lambda b: (owed[b], -b))
        size = words[b][waiting[b][0]]
        if len(chosen) >= chapters_min and abs(taken + size - total) >= abs(taken - total):
            break
        chosen.add((b, waiting[b].pop(0)))
        owed[b] -= size
        taken += size
    return [
        replace(book, chapters=tuple(replace(c, split="heldout" if (b, i) in chosen else "train") for i, c in enumerate(book.chapters)))
        for b, book in enumerate(books)
    ]
