"""A small town, small enough to know every name in it."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from penname.beats import Gate, cut_passages
from penname.core.config import BeatsConfig
from penname.core.values import Book, Cast, Chapter, Entity, Mention, Passage

sys.path.insert(0, str(Path(__file__).resolve().parent))  # synthetic.py, which the fault server reads as well

PARAGRAPHS = (
    "There was no candle in the pantry, and Jane Reed felt along the shelf until her hand met the cold neck of the bottle. "
    "She heard her brother John upon the stair, and pushed the bottle behind the flour. The door opened, and the light came in.",
    "Mr. Hope stood at the gate with his hat in his hand. He would not come in, he said, while there was hope of finding the boat "
    "before dark; and Jane, who had no hope at all, fetched him the lantern and the long rope from the Swan.",
    "Old Gilbert Sallow counted the coins twice. Gilbert, his son, watched him from the window and said nothing about the hole in "
    "the bag, which he had made that morning with his mother's scissors, and which grew wider while they spoke.",
)
ENTITIES = (
    Entity("p1", "person", "female", ("Jane", "Jane Reed"), "Reed"),
    Entity("p2", "person", "male", ("John", "John Reed"), "Reed"),
    Entity("p3", "person", "male", ("Mr. Hope",)),
    Entity("p4", "person", "male", ("Old Gilbert Sallow", "Gilbert Sallow", "Gilbert"), "Sallow"),
    Entity("p5", "person", "male", ("Gilbert",), "Sallow"),
    Entity("o1", "other", "unknown", ("the Swan", "Swan")),
    Entity("l1", "place", "unknown", ("Saltmarrow",)),
)


@pytest.fixture(scope="session")
def town() -> tuple[Book, Cast, list[Passage], Gate]:
    head = "CHAPTER I\n\n"
    text = head + "\n\n".join(PARAGRAPHS)
    book = Book("town", "Town", "Nobody", text, (Chapter("chapter", 1, "CHAPTER I", 0, len(text), len(head)),))
    owner = {"Jane Reed": "p1", "Jane": "p1", "John": "p2", "Mr. Hope": "p3", "Old Gilbert Sallow": "p4", "Gilbert": "p5", "the Swan": "o1"}
    pattern = re.compile("|".join(sorted(map(re.escape, owner), key=len, reverse=True)))
    cast = Cast("town", ENTITIES, tuple(Mention(m.start(), m.end(), owner[m.group()]) for m in pattern.finditer(text)))
    passages = cut_passages(book, BeatsConfig(passage_words_min=30, passage_words_max=50))
    assert len(passages) == 3
    return book, cast, passages, Gate(book, cast)
