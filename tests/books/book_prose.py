"""Plain invented prose, so that tests of structure need no real book."""

from __future__ import annotations

import textwrap

SENTENCES = (
    "The rain had not stopped since morning, and the lane below the mill stood under water.",
    "She put the letter back in its drawer and said nothing of it to anybody in the house.",
    "There was a lamp in the upper window, though nobody had slept in that room for years.",
    "He walked as far as the bridge, counted the boats, and came home by the longer road.",
    "It was an honest answer, and she was sorry for it afterwards, as one is for honest answers.",
    "The dog lay across the door and watched them with the look of a creature who forgives.",
    "Nothing in the parlour had been moved, and that was the strangest part of the whole affair.",
)


def paragraph(n: int, sentences: int = 6) -> str:
    """One paragraph; different for each ``n``."""
    return f"Number {n} began on a cold day. " + " ".join(SENTENCES[(n + i) % len(SENTENCES)] for i in range(sentences))


def prose(start: int, paragraphs: int = 3, width: int = 70) -> str:
    """Hard-wrapped paragraphs with a blank line between."""
    return "\n\n".join(textwrap.fill(paragraph(start + i), width) for i in range(paragraphs))


def chapters(headings: list[str], paragraphs: int = 3) -> str:
    """A text with prose under each heading."""
    return "\n\n\n".join(f"{heading}\n\n\n{prose(10 * n, paragraphs)}" for n, heading in enumerate(headings)) + "\n"
