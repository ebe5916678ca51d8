"""The negative controls: a copy with one thing wrong is refused, and the refusal says what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penname.core.errors import ProofFailed
from penname.core.values import Edit, apply_edits
from penname.renaming import prove, rename
from renaming.hand import hand_book, hand_cast

TEXT = (
    "Miss Eyre met a Reed. Then Jane Eyre met John Reed at Thornfield Hall.\n\nMiss Eyre, a friend of Helen Burns, slept; John Reed woke."
)
PEOPLE = "p1 female Eyre | Jane Eyre, Miss Eyre\np2 male Reed | John Reed, Reed\np3 female - | Helen Burns\nq1 place - | Thornfield Hall"


@pytest.fixture(scope="module")
def made():
    book = hand_book(TEXT)
    cast = hand_cast(book, PEOPLE)
    return book, cast, rename(book, cast, 1, 1)


def tampered(book, copy, edits):
    return replace(copy, text=apply_edits(book.text, tuple(edits)), edits=tuple(edits))


def test_the_copy_itself_is_proved(made):
    book, cast, copy = made
    assert prove(book, cast, copy).words == 7


def test_a_planted_survivor_is_refused(made):
    book, cast, copy = made
    with pytest.raises(ProofFailed, match="'Helen Burns' survives"):
        prove(book, cast, tampered(book, copy, [edit for edit in copy.edits if edit.entity != "p3"]))


def test_a_survivor_that_the_cast_missed_is_refused_as_well(made):
    book, cast, copy = made
    longer = replace(book, text=book.text + " Eyre-like Eyre!")
    with pytest.raises(ProofFailed, match=r"'Eyre' survives: .*Eyre-like Eyre!"):
        prove(longer, cast, replace(copy, text=copy.text + " Eyre-like Eyre!"))


def test_a_planted_collision_is_refused(made):
    book, cast, copy = made
    eyre, reed = copy.names["Eyre"], copy.names["Reed"]
    edits = [replace(edit, new=edit.new.replace(reed, eyre)) for edit in copy.edits]
    with pytest.raises(ProofFailed, match=f"both became '{eyre.lower()}'"):
        prove(book, cast, tampered(book, copy, edits))


def test_two_new_names_for_one_old_name_are_refused(made):
    book, cast, copy = made
    first = next(edit for edit in copy.edits if book.text[edit.start : edit.end] == "Miss Eyre")
    edits = [replace(edit, new="Miss Quillfeather") if edit is first else edit for edit in copy.edits]
    with pytest.raises(ProofFailed, match="'Miss Eyre' became both 'Miss Quillfeather' and"):
        prove(book, cast, tampered(book, copy, edits))


def test_a_wrong_article_is_refused(made):
    book, cast, copy = made
    at = TEXT.index("a Reed")
    edits = sorted([*copy.edits, Edit(at, at + 1, "an", "p2")])
    with pytest.raises(ProofFailed, match=r"an '[A-Z][a-z]+' at .* has the wrong article"):
        prove(book, cast, tampered(book, copy, edits))


def test_a_new_name_that_stands_in_another_book_is_refused(made):
    book, cast, copy = made
    other = hand_book(f"Old {copy.names['Reed']} was never here.", "other")
    with pytest.raises(ProofFailed, match="already stands in other"):
        prove(book, cast, copy, all_books=[book, other])


def test_text_changed_outside_the_edits_is_refused(made):
    book, cast, copy = made
    with pytest.raises(ProofFailed, match="undoing the edits does not give the book back"):
        prove(book, cast, replace(copy, text=copy.text.replace("slept", "wept!")))


def test_a_joined_paragraph_is_refused(made):
    book, cast, copy = made
    at = TEXT.index("\n\n")
    edits = sorted([*copy.edits, Edit(at, at + 2, " ", "p1")])
    with pytest.raises(ProofFailed, match="crosses a paragraph"):
        prove(book, cast, tampered(book, copy, edits))


def test_edits_out_of_order_are_refused(made):
    book, cast, copy = made
    with pytest.raises(ProofFailed, match="out of order"):
        prove(book, cast, replace(copy, edits=copy.edits[::-1]))


def test_a_planted_calling_is_refused():
    book = hand_book("They met the Constable. The Constable sat.")
    cast = hand_cast(book, "p1 unknown - | Constable")
    copy = rename(book, cast, 1, 1)
    assert prove(book, cast, copy).edits == 2
    with pytest.raises(ProofFailed, match="'Constable' survives"):
        prove(book, cast, tampered(book, copy, copy.edits[:1]))
