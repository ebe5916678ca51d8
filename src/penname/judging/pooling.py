"""Passages pooled to blocks of a registered length, generated and real alike: a style cannot be read off 200 words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Block:
    """Consecutive passages pooled: their text, the words their beats carried, and the cluster (chapter) they come from."""

    text: str
    hidden: frozenset[str]
    cluster: str

    @property
    def words(self) -> int:
        """Whitespace-separated words."""
        return len(self.text.split())


def pool(passages: Sequence[tuple[str, str, str]], block_words: int) -> list[Block]:
    """Blocks of at least ``block_words`` words from (text, beat, cluster) in their order, clusters kept together.

    What is left over at the end joins the last block; with less than one block's worth of words in all there is no block.
    """
    ordered = sorted(range(len(passages)), key=lambda i: (passages[i][2], i))
    blocks: list[list[int]] = []
    current: list[int] = []
    count = 0
    for i in ordered:
        current.append(i)
        count += len(passages[i][0].split())
        if count >= block_words:
            blocks.append(current)
            current, count = [], 0
    if current and blocks:
        blocks[-1] = [*blocks[-1], *current]
    return [_block([passages[i] for i in rows]) for rows in blocks]


def pool_text(text: str, block_words: int, cluster: str) -> list[Block]:
    """Blocks of a running text, cut at paragraph ends; inside a paragraph only where one is longer than a block."""
    pieces = []
    for paragraph in text.split("\n\n"):
        words = paragraph.split()
        if len(words) <= block_words:
            pieces.append(paragraph)
        else:
            pieces += [" ".join(words[i : i + block_words]) for i in range(0, len(words), block_words)]
    return pool([(piece, "", cluster) for piece in pieces if piece.strip()], block_words)


def _block(rows: Sequence[tuple[str, str, str]]) -> Block:
    hidden = frozenset(word.strip(".,;:!?\"'").lower() for _, beat, _ in rows for word in beat.split())
    return Block("\n\n".join(text for text, _, _ in rows), hidden - {""}, rows[0][2])
