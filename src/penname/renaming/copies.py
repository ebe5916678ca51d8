"""From a book and its cast to a renamed copy: edits on spans, everything else byte for byte as it was."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from penname.core.beatnames import fitting_article
from penname.core.errors import NeedsPerson
from penname.core.letters import without_accents
from penname.core.values import Book, Cast, Edit, RenamedCopy, apply_edits
from penname.renaming.dictionary import Dictionary, bare, load_dictionary
from penname.renaming.namewords import NameWord
from penname.renaming.plan import draw_names
from penname.renaming.survey import Piece, Survey, survey_book
from penname.renaming.words import WORD


def rename(
    book: Book,
    cast: Cast,
    seed: int = 1,
    copy: int = 0,
    *,
    dictionary: Dictionary | None = None,
    all_books: Sequence[Book] | None = None,
    places: str = "fictional",
) -> RenamedCopy:
    """One renamed copy of a book. The same book, cast, seed and copy number give the same bytes.

    ``all_books`` are the books of the voice: no new name occurs in any of them. ``places`` "all" renames real places too.
    Raises NeedsPerson while the cast has open questions.
    """
    dictionary = dictionary or load_dictionary()
    check_decided(cast)
    survey = survey_book(book, cast, dictionary, places)
    return copy_from(book, survey, draw_names(survey.words, dictionary, taken_words([book, *(all_books or ())]), seed, copy, book.id), copy)


def check_decided(cast: Cast) -> None:
    """NeedsPerson where the cast still has questions: a wrong link would go into every copy."""
    if cast.unresolved:
        forms = ", ".join(question.form for question in cast.unresolved[:3])
        raise NeedsPerson(
            f"{cast.book_id}: {len(cast.unresolved)} names wait for a person ({forms}, ...); decide with: penname review, "
            "or take the proposals with: penname cast --decide auto"
        )


def taken_words(books: Iterable[Book]) -> frozenset[str]:
    """Every word of the books and of their authors' names, bare: what no new name may be."""
    taken: set[str] = set()
    for book in books:
        text = f"{book.text}\n{book.author}\n{book.title}"
        taken.update(map(bare, set(WORD.findall(text))), map(bare, set(re.findall(r"[^\W\d_]+", text))))
    return frozenset(taken)


def merged_words(surveys: Sequence[Survey]) -> dict[str, NameWord]:
    """The name words of several books as one, for a series whose people recur."""
    merged: dict[str, NameWord] = {}
    for survey in surveys:
        for key, word in survey.words.items():
            if key not in merged:
                merged[key] = NameWord(key, word.text, stem_of=word.stem_of)
            into = merged[key]
            into.count += word.count
            for name in ("roles", "genders", "languages", "owners"):
                counts: Counter[str] = getattr(into, name)
                counts.update(getattr(word, name))
            into.initial |= word.initial
            into.stem_of = into.stem_of and word.stem_of
    return merged


def copy_from(book: Book, survey: Survey, new: Mapping[str, str], copy: int) -> RenamedCopy:
    """The copy in which each old name word of ``new`` has become its new one."""
    edits = []
    for slot in survey.slots:
        text = spell(slot.pieces, new)
        if slot.article:
            start, end, article, first = slot.article
            word = WORD.search(text)
            fitting = fitting_article(article, first, word.group() if word else first)
            if fitting != article:
                edits.append(Edit(start, end, fitting, slot.entity))
        edits.append(Edit(slot.start, slot.end, text, slot.entity))
    return RenamedCopy(book.id, copy, apply_edits(book.text, edits), tuple(edits), names_map(survey, new))


def spell(pieces: Iterable[str | Piece], new: Mapping[str, str]) -> str:
    """The new text of a slot or a surface."""
    return "".join(piece if isinstance(piece, str) else _written(piece, new[piece.key]) for piece in pieces)


def _written(piece: Piece, name: str) -> str:
    if piece.form == "initial":
        return name[0].upper()
    if piece.form == "flat":
        name = without_accents(name)
    return (name.upper() if piece.form == "upper" else name) + piece.ending


def names_map(survey: Survey, new: Mapping[str, str]) -> dict[str, str]:
    """Old surface -> new surface, for beats and for reading: every name of every renamed entity and each name word in it.

    "<entity id>|<surface>" is always there. The bare "<surface>" is there where it may be replaced wherever it stands
    capitalised: not for "Grace" or "Will" in a book that uses them as words too.
    """
    names: dict[str, str] = {}
    for (entity_id, surface), pieces in survey.surfaces.items():
        flat = " ".join(surface.split())
        changed = [piece for piece in pieces if isinstance(piece, Piece)]
        if not changed:
            names[f"{entity_id}|{flat}"] = flat  # a kept name, so that a beat keeps it even where another person's word is the same
            continue
        became = " ".join(spell(pieces, new).split())
        names[f"{entity_id}|{flat}"] = became
        if " " in flat or not survey.words[changed[0].key].ordinary:
            names[flat] = became
        for piece in changed:
            word = survey.words[piece.key]
            text = word.text.title() if word.text.isupper() and len(word.text) > 1 else word.text
            text = without_accents(text) if piece.form == "flat" else text
            form = Piece(piece.key, "flat" if piece.form == "flat" else "plain", piece.ending.lower())
            if piece.form != "initial":
                names[f"{entity_id}|{text}{form.ending}"] = spell([form], new)
                if not word.ordinary:
                    names[text + form.ending] = spell([form], new)
    return dict(sorted(names.items()))
