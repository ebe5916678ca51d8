"""Looking at a cast: its entities as rows, who appears with whom, and passages as a renamed copy has them."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from itertools import combinations
from typing import Any

from penname.core.values import Book, Cast, RenamedCopy, edits_within

NAMES_SHOWN = 40
PARAGRAPH_CHARS = 1200  # longer paragraphs are no quick look


def entity_rows(cast: Cast) -> list[dict[str, Any]]:
    """The entities of a cast as table rows, in their order."""
    counts = Counter(mention.entity_id for mention in cast.mentions)
    return [
        {
            "names": list(entity.names),
            "kind": entity.kind,
            "gender": entity.gender,
            "family": entity.family or "",
            "count": counts[entity.id],
            "evidence": list(entity.evidence[:6]),
        }
        for entity in cast.entities
    ]


def together(book: Book, cast: Cast) -> list[tuple[str, str, int]]:
    """Pairs of people and the number of paragraphs that name both, most first."""
    people = {entity.id: entity.names[0] for entity in cast.entities if entity.kind == "person"}
    pairs: Counter[tuple[str, str]] = Counter()
    at, mentions = 0, cast.mentions
    start = 0
    while start <= len(book.text):
        end = book.text.find("\n\n", start)
        end = len(book.text) if end < 0 else end
        present = set()
        while at < len(mentions) and mentions[at].start < end:
            if mentions[at].entity_id in people:
                present.add(mentions[at].entity_id)
            at += 1
        pairs.update(combinations(sorted(present), 2))
        start = end + 2
    return [(people[a], people[b], n) for (a, b), n in sorted(pairs.items(), key=lambda item: (-item[1], item[0]))]


def busiest(book: Book, cast: Cast) -> list[tuple[int, int]]:
    """The three paragraphs of a book with the most mentions, in its order."""
    starts = [0, *(match.end() for match in re.finditer("\n\n+", book.text))]
    counts = Counter(bisect_right(starts, mention.start) - 1 for mention in cast.mentions)
    ends = [*starts[1:], len(book.text)]
    short = [place for place, _ in counts.most_common() if ends[place] - starts[place] < PARAGRAPH_CHARS][:3]
    return [(starts[place], ends[place]) for place in sorted(short)]


def renamed(book: Book, copy: RenamedCopy, start: int, end: int) -> dict[str, Any]:
    """A passage before and after, each with the spans that differ."""
    before, after, at, length = [], [], 0, 0
    parts: list[str] = []
    text = book.text[start:end]
    for edit in edits_within(copy.edits, start, end):
        parts += (text[at : edit.start], edit.new)
        length += edit.start - at
        before.append((edit.start, edit.end))
        after.append((length, length + len(edit.new)))
        at, length = edit.end, length + len(edit.new)
    return {"old": text, "old_spans": before, "new": "".join(parts) + text[at:], "new_spans": after}


def new_names(cast: Cast, copy: RenamedCopy) -> list[dict[str, Any]]:
    """What the copy calls the most frequent entities: (old, new) pairs, up to four an entity."""
    counts = Counter(mention.entity_id for mention in cast.mentions)
    rows = []
    for entity in sorted(cast.entities, key=lambda e: -counts[e.id])[:NAMES_SHOWN]:
        pairs = [(name, copy.names.get(f"{entity.id}|{name}", copy.names.get(name, name))) for name in entity.names[:4]]
        rows.append({"kind": entity.kind, "pairs": pairs})
    return rows
