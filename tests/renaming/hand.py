"""Casts made by hand: a list of people and places, found in a text longest first."""

from __future__ import annotations

import re

from penname.core.values import Book, Cast, Entity, Mention

JANE_EYRE = """
p1 female Eyre | Jane Eyre, Miss Eyre, Jane, Janet, Miss Jane, Eyre
p2 male Rochester | Edward Fairfax Rochester, Edward Rochester, Mr. Rochester, Rochester, Edward
p3 female Reed | Mrs. Reed, Aunt Reed
p4 male Reed | John Reed, Master Reed, Master John
p5 female Reed | Eliza Reed, Eliza, Miss Reed
p6 female Reed | Georgiana Reed, Georgiana, Georgy, Miss Georgiana
p7 female - | Bessie Lee, Bessie, Bessie Leaven
p8 male - | Mr. Brocklehurst, Brocklehurst
p9 female - | Helen Burns, Helen, Burns
p10 female - | Miss Temple, Maria Temple
p11 female - | Grace Poole, Grace, Mrs. Poole
p12 female - | Adèle Varens, Adèle, Adela, Miss Adela, Mademoiselle Adela
p13 female - | Mrs. Fairfax, Alice Fairfax
p14 female Ingram | Blanche Ingram, Blanche, Miss Ingram
p15 male Rivers | St. John Rivers, St. John, Mr. Rivers
p16 female Rivers | Diana Rivers, Diana
p17 female Rivers | Mary Rivers, Mary
p18 female - | Bertha Mason, Bertha Antoinetta Mason, Bertha
p19 male - | Richard Mason, Mr. Mason, Mason, Dick
p20 female - | Rosamond Oliver, Miss Oliver, Rosamond
q1 place - | Thornfield Hall, Thornfield
q2 place - | Gateshead Hall, Gateshead
q3 place - | Lowood
q4 place - | Moor House, Marsh End
q5 place - | Millcote
"""


def hand_book(text: str, id: str = "book", author: str = "") -> Book:
    return Book(id=id, title="", author=author, text=text, chapters=())


def hand_cast(book: Book, people: str) -> Cast:
    """One line an entity: id, gender (or "place"), family (or "-"), "|", names with commas between."""
    entities, owner = [], {}
    for line in people.strip().splitlines():
        head, names_text = line.split("|")
        id, gender, family = head.split()
        names = tuple(name.strip() for name in names_text.split(","))
        kind = "place" if gender == "place" else "person"
        entities.append(Entity(id, kind, "unknown" if kind == "place" else gender, names, None if family == "-" else family))  # type: ignore[arg-type]
        for name in names:
            owner.setdefault(name, id)
    longest = sorted(owner, key=len, reverse=True)
    pattern = re.compile(r"(?<![\w-])(?:" + "|".join(r"\s+".join(map(re.escape, name.split())) for name in longest) + r")(?!\w)")
    mentions = tuple(Mention(m.start(), m.end(), owner[" ".join(m.group().split())]) for m in pattern.finditer(book.text))
    return Cast(book.id, tuple(entities), mentions)
