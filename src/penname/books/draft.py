"""A text on its way from source to clean, which never forgets where its characters came from.

A step is a list of rewrites ``(start, end, new, rule)`` on the text as it stands, sorted and apart. Each step keeps a map
back to the text before it, so at the end every character of the source is accounted for: it stands in the text as it was,
a named rule rewrote it, or it is in ``removed``.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable

import numpy as np

from penname.core.values import Removed

Rewrite = tuple[int, int, str, str]

_PARTS = 8192


class Draft:
    """``text`` is the text so far. ``marks`` are positions in it that every step carries along (chapter starts, say)."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.text = source
        self.marks: list[int] = []
        self._maps: list[_StepMap] = []
        self._removed: list[tuple[int, np.ndarray, np.ndarray, list[str]]] = []

    def rewrite(self, rewrites: Iterable[Rewrite]) -> None:
        """Apply one step. A rewrite to "" removes, and is recorded under its rule; an empty step costs nothing.

        A character that another one replaces keeps its place, so the step's map leaves it out.
        """
        old = self.text
        chunks: list[str] = []
        parts: list[str] = []
        moved, gone = array("i"), array("i")  # (start, end, size) and (start, end) one behind the other
        rules: list[str] = []
        at = 0
        for start, end, new, rule in rewrites:
            if old[start:end] == new:
                continue
            assert at <= start <= end, f"rewrites overlap or are not sorted at {start} ({rule})"
            parts += (old[at:start], new)
            at = end
            if len(new) != 1 or end - start != 1:
                moved.extend((start, end, len(new)))
            if not new:
                gone.extend((start, end))
                rules.append(rule)
            if len(parts) > _PARTS:  # joined now and then: a list of all parts is many times the text
                chunks.append("".join(parts))
                parts.clear()
        if not chunks and not parts:
            return
        chunks += (*parts, old[at:])
        parts.clear()
        old = self.text = ""  # let go before the join: three texts at once are the peak of a whole reading
        self.text = "".join(chunks)
        if rules:
            starts, ends = np.array(gone).reshape(-1, 2).T
            self._removed.append((len(self._maps), starts, ends, rules))
        if moved:
            self._push(_StepMap(*np.array(moved).reshape(-1, 3).T))

    def replace_all(self, old: str, new: str) -> None:
        """Replace every ``old`` by a non-empty ``new``: one cheap step, however many there are."""
        count = self.text.count(old)
        if not count:
            return
        starts = np.fromiter((m.start() for m in re.finditer(re.escape(old), self.text)), dtype=np.int32, count=count)
        self.text = self.text.replace(old, new)
        self._push(_StepMap(starts, starts + len(old), np.full(count, len(new), dtype=np.int32)))

    def _push(self, step: _StepMap) -> None:
        self._maps.append(step)
        if self.marks:
            self.marks = step.forward(np.array(self.marks, dtype=np.int64)).tolist()

    def removed(self) -> tuple[Removed, ...]:
        """Every removed span of the source, sorted and apart; each keeps the rule that took it first."""
        rows: list[tuple[int, int, str]] = []
        for depth, starts, ends, rules in self._removed:
            sources = self._to_source(starts, ends, depth)
            rows = _spread(rows, list(zip(*sources, rules, strict=True)))
        return tuple(Removed(start, end, rule, self.source[start:end]) for start, end, rule in rows)

    def source_spans(self, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """The source spans of non-empty spans of the text as it stands."""
        if not spans:
            return []
        starts, ends = np.array(spans, dtype=np.int64).T
        return list(zip(*self._to_source(starts, ends, len(self._maps)), strict=True))

    def _to_source(self, starts: np.ndarray, ends: np.ndarray, depth: int) -> tuple[list[int], list[int]]:
        for step in reversed(self._maps[:depth]):
            starts, ends = step.back(starts, ends)
        return starts.tolist(), ends.tolist()


class _StepMap:
    """Where the characters of one step's result came from."""

    def __init__(self, starts: np.ndarray, ends: np.ndarray, sizes: np.ndarray) -> None:
        self.old_starts, self.old_ends = np.ascontiguousarray(starts), np.ascontiguousarray(ends)
        growth = np.cumsum(sizes - (ends - starts), dtype=np.int32)  # length gained up to and with each rewrite
        self.new_ends = ends + growth
        self.new_starts = self.new_ends - sizes

    def back(self, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Old spans of new spans: a rewritten character stands for all that it replaced."""
        return self._origin(starts)[0], self._origin(ends - 1)[1]

    def _origin(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        # The last rewrite that begins at or before the character; of several at one place (removals) the last.
        index = np.searchsorted(self.new_starts, at, side="right") - 1
        inside = (index >= 0) & (at < self.new_ends[index])
        shifted = np.where(index >= 0, at - self.new_ends[index] + self.old_ends[index], at)
        return np.where(inside, self.old_starts[index], shifted), np.where(inside, self.old_ends[index], shifted + 1)

    def forward(self, at: np.ndarray) -> np.ndarray:
        """New positions of old positions; one inside a rewritten span goes to where its replacement begins."""
        index = np.searchsorted(self.old_ends, at, side="right") - 1  # the last rewrite that ends at or before
        moved = np.where(index >= 0, at - self.old_ends[index] + self.new_ends[index], at)
        following = np.minimum(index + 1, len(self.old_starts) - 1)
        inside = (index + 1 < len(self.old_starts)) & (self.old_starts[following] < at)
        return np.where(inside, self.new_starts[following], moved)


def _spread(earlier: list[tuple[int, int, str]], later: list[tuple[int, int, str]]) -> list[tuple[int, int, str]]:
    """Both lists in order; a later span goes around the earlier ones that lie inside it."""
    out: list[tuple[int, int, str]] = []
    i = 0
    for start, end, rule in later:
        while i < len(earlier) and earlier[i][0] < start:
            out.append(earlier[i])
            i += 1
        while i < len(earlier) and earlier[i][0] < end:
            if earlier[i][0] > start:
                out.append((start, earlier[i][0], rule))
            out.append(earlier[i])
            start = earlier[i][1]
            i += 1
        if end > start:
            out.append((start, end, rule))
    return out + earlier[i:]
