"""A made-up book of many short passages, and the lines a good annotator gives for them; the fault server reads the same text."""

from __future__ import annotations

import re
from pathlib import Path

from penname.core.rng import CounterRng
from penname.core.stage import stage_writer
from penname.core.store import save_book, save_cast
from penname.core.values import Book, Cast, Chapter, Entity, Mention

_THINGS = (
    "anchor apple apron barrel basket beacon bell blanket boat bonnet book bottle branch bridge broom bucket button candle "
    "carpet cart chain chair chest clock coat coin collar cradle cup curtain door drum feather fence fiddle flag flask fork "
    "fountain gate glass glove hammer harness hat hook horn jar kettle key knife ladder lamp lantern latch ledger letter lock "
    "map mirror mitten nail needle oar oven paddle pail pan parcel pen picture pillow pipe plate plough pocket purse quilt "
    "rail rake ribbon ring rope saddle sail saw scarf shawl shoe shovel sledge spade spoon stool stove table thimble ticket "
    "trunk vase violin wagon wheel whistle window wreath"
)
NOUNS = _THINGS.split()
PER_CHAPTER = 50
_SYLLABLES = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
_MARK = re.compile(r"marked ([a-z]+)")


def mark(index: int) -> str:
    """A word that stands in one passage only."""
    first, rest = divmod(index, len(_SYLLABLES) ** 2)
    middle, last = divmod(rest, len(_SYLLABLES))
    return _SYLLABLES[first] + _SYLLABLES[middle] + _SYLLABLES[last] + "k"


MARKS = {mark(index): index for index in range(20_000)}


def things(index: int) -> list[str]:
    """The eight nouns of a passage."""
    return CounterRng("things", index).shuffled(NOUNS)[:8]


def paragraph(index: int) -> str:
    """34 words."""
    a, b, c, d, e, f, g, _ = things(index)
    return (
        f"Tom Hale carried the {a} marked {mark(index)} past the {b} while Ann waited by the {c}; nobody in Harrow had "
        f"seen the {d} or any {e} since, and the {f} stood near the {g}."
    )


def good_line(index: int, variant: int = 0) -> str:
    """A beat that passes the gate; each variant is another one."""
    words = things(index)
    a, b = words[variant % 7], words[(variant + 3) % 7]
    return f"Tom hides {mark(index)}, the {a}, from Ann under a {b}."


def index_in(prompt: str) -> int:
    """Which passage a prompt asks about: the last one in it."""
    return MARKS[_MARK.findall(prompt)[-1]]


def synthetic_book(passages: int) -> tuple[Book, Cast]:
    """A book of so many passages, fifty a chapter, with Tom Hale, Ann and Harrow as its cast."""
    text, chapters = "", []
    for first in range(0, passages, PER_CHAPTER):
        start = len(text)
        heading = f"CHAPTER {first // PER_CHAPTER + 1}\n\n"
        text += heading + "".join(paragraph(i) + "\n\n" for i in range(first, min(passages, first + PER_CHAPTER)))
        chapters.append(Chapter("chapter", 1, heading.strip(), start, len(text), start + len(heading)))
    entities = (
        Entity("p1", "person", "male", ("Tom Hale", "Tom"), "Hale"),
        Entity("p2", "person", "female", ("Ann",)),
        Entity("l1", "place", "unknown", ("Harrow",)),
    )
    owner = {"Tom Hale": "p1", "Ann": "p2", "Harrow": "l1"}
    mentions = tuple(Mention(m.start(), m.end(), owner[m.group()]) for m in re.finditer(r"Tom Hale|\bAnn\b|Harrow", text))
    return Book("made-up", "Made Up", "Nobody", text, tuple(chapters)), Cast("made-up", entities, mentions)


def synthetic_voice(folder: Path, passages: int, toml: str = "") -> Path:
    """A voice folder with the book and its cast done."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "voice.toml").write_text(f"[beats]\npassage_words_min = 20\npassage_words_max = 40\n{toml}", encoding="utf-8")
    book, cast = synthetic_book(passages)
    with stage_writer(folder / "books", stage="books", version=1, settings={}, inputs={}) as aside:
        save_book(aside / book.id, book)
    with stage_writer(folder / "cast", stage="cast", version=1, settings={}, inputs={}) as aside:
        save_cast(aside / f"{book.id}.json", cast)
    return folder
