"""The negative controls: a copy with one thing wrong is refused, and the refusal says what."""

from __future__ import annotations

from dataclasses import replace

import pytest

from penname.core.errors import ProofFailed
from penname.core.values import Cast, Edit, Entity, Mention, RenamedCopy, apply_edits
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


def test_a_copy_that_has_another_name_than_its_edit_says_is_refused(made):
    book, cast, copy = made
    name = copy.names["Helen Burns"]
    other = "Q" * len(name)
    with pytest.raises(ProofFailed, match=rf"does not hold its edit at \d+ \('{other}', not '{name}'\)"):
        prove(book, cast, replace(copy, text=copy.text.replace(name, other)))


def test_a_paragraph_that_an_edit_opens_with_the_line_before_it_is_refused():
    book = hand_book("He met\nReed.")
    edits = (Edit(7, 11, "\nQuill", "p1"),)
    with pytest.raises(ProofFailed, match="the number of paragraphs changed"):
        prove(book, hand_cast(book, "p1 male - | Reed"), RenamedCopy("book", 1, "He met\n\nQuill.", edits, {}))


@pytest.mark.parametrize(
    ("new", "says"),
    [
        ({"Miss Eyre": "Miss Quill Feather"}, "'Miss Eyre' became 'Miss Quill Feather', which has another number of words"),
        ({"Miss Eyre": "Miss Quill", "Jane Eyre": "Ada Feather"}, "the word 'eyre' of p1 became 'feather' and 'quill'"),
        ({"Jane Eyre": "Ada Eyre"}, "the word 'eyre' of p1 became"),
    ],
)
def test_a_name_that_changes_in_one_place_and_not_in_the_other_is_refused(made, new, says):
    book, cast, copy = made
    edits = [replace(edit, new=new.get(book.text[edit.start : edit.end], edit.new)) for edit in copy.edits]
    with pytest.raises(ProofFailed, match=says):
        prove(book, cast, tampered(book, copy, edits))


def test_a_word_that_two_people_share_has_one_new_word():
    book = hand_book("Eliza Reed met John Reed.")
    cast = hand_cast(book, "p1 female Reed | Eliza Reed\np2 male Reed | John Reed")
    edits = (Edit(0, 10, "Ada Quill", "p1"), Edit(15, 24, "Tom Feather", "p2"))
    with pytest.raises(ProofFailed, match="the word 'reed' became both 'quill' and 'feather'"):
        prove(book, cast, RenamedCopy("book", 1, "Ada Quill met Tom Feather.", edits, {}))


def test_a_refusal_names_three_faults_and_counts_the_others():
    names = ["Ada Quill", "Tom Feather", "Eve Harrow", "Sam Pitcher"]
    book = hand_book(", ".join(names) + ".")
    cast = hand_cast(book, "\n".join(f"p{n} male - | {name}" for n, name in enumerate(names)))
    with pytest.raises(ProofFailed) as refusal:
        prove(book, cast, RenamedCopy("book", 1, book.text, (), {}))
    assert refusal.value.args[0].count("survives") == 3 and "(and 9 more)" in refusal.value.args[0]


def test_an_article_at_a_sentence_s_beginning_is_proved_too():
    book = hand_book("A Reed came.")
    cast = hand_cast(book, "p1 male - | Reed")
    with pytest.raises(ProofFailed, match="A 'Orme' at 0 has the wrong article"):
        prove(book, cast, RenamedCopy("book", 1, "A Orme came.", (Edit(2, 6, "Orme", "p1"),), {}))


def test_an_article_that_the_author_had_wrong_is_no_fault():
    book = hand_book("It was an Reed.")
    cast = hand_cast(book, "p1 male - | Reed")
    assert prove(book, cast, RenamedCopy("book", 1, "It was an Quill.", (Edit(10, 14, "Quill", "p1"),), {})).edits == 1


def test_a_kept_name_may_stand_where_it_was_meant_however_much_longer_the_text_before_it_became():
    book = hand_book("Reed met Reed and Mary saw it.")
    people = Entity("p1", "person", "male", ("Reed",)), Entity("p2", "person", "female", ("Mary",))
    kept = Entity("p3", "person", "female", ("Mary",), fixed=True)
    cast = Cast("book", (*people, kept), (Mention(0, 4, "p1"), Mention(9, 13, "p1"), Mention(18, 22, "p3")))
    edits = (Edit(0, 4, "Quillfeather", "p1"), Edit(9, 13, "Quillfeather", "p1"))
    copy = RenamedCopy("book", 1, "Quillfeather met Quillfeather and Mary saw it.", edits, {})
    assert prove(book, cast, copy).survivors_allowed == 1
    with pytest.raises(ProofFailed, match="'Mary' survives"):
        prove(book, replace(cast, mentions=cast.mentions[:2]), copy)


def test_real_places_may_stay_and_are_no_people_who_keep_their_names():
    book = hand_book("Jane left London. London was large. Nobody liked London.")
    cast = hand_cast(book, "p1 female - | Jane\nq1 place - | London")
    cast = replace(cast, entities=(cast.entities[0], replace(cast.entities[1], real=True)))
    copy = rename(book, cast, 1, 1)
    assert prove(book, cast, copy).unchanged == ()
    with pytest.raises(ProofFailed, match="'London' survives"):
        prove(book, cast, copy, places="all")


def test_a_kind_of_place_is_what_must_not_survive_of_a_person_and_may_of_a_place():
    book = hand_book("Mr. Grange went to Mayfield Grange.")
    cast = hand_cast(book, "p1 male - | Mr. Grange\nq1 place - | Mayfield Grange")
    edits = (Edit(4, 10, "Quill", "p1"), Edit(19, 34, "Harrow Quill", "q1"))
    assert prove(book, cast, RenamedCopy("book", 1, "Mr. Quill went to Harrow Quill.", edits, {})).edits == 2
    with pytest.raises(ProofFailed, match=r"'Mr\. Grange' survives"):
        prove(book, cast, RenamedCopy("book", 1, "Mr. Grange went to Harrow Quill.", (), {}))
