"""Best-fit packing of documents into rows."""

from __future__ import annotations

from collections.abc import Sequence


def pack(lengths: Sequence[int], seq_len: int) -> list[list[int]]:
    """Indices of documents, row by row, so that no row is longer than ``seq_len``; documents in a row keep their order.

    Best-fit decreasing: the longest document first, each into the row with the least space that still takes it (Ding et al. 2024,
    "Fewer Truncations Improve Language Modeling"). Time is linear in documents: free space is looked up in one integer's bits.
    """
    rows: list[list[int]] = []
    open_rows: list[list[int]] = [[] for _ in range(seq_len + 1)]  # by free tokens
    occupied = 0  # bit n is set where a row with n free tokens is open
    for index in sorted(range(len(lengths)), key=lambda i: (-lengths[i], i)):
        length = lengths[index]
        if not 0 < length <= seq_len:
            raise ValueError(f"document {index} has {length} tokens; a row takes 1 to {seq_len}")
        fitting = occupied >> length << length
        if fitting:
            free = (fitting & -fitting).bit_length() - 1
            row = open_rows[free].pop()
            if not open_rows[free]:
                occupied &= ~(1 << free)
        else:
            free, row = seq_len, len(rows)
            rows.append([])
        rows[row].append(index)
        left = free - length
        if left:
            open_rows[left].append(row)
            occupied |= 1 << left
    return [sorted(row) for row in rows]
