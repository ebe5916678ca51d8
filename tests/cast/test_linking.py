"""Who is who: titles, families, short forms, gender; and that people are kept apart."""

from __future__ import annotations

from penname.cast import build_cast

from .conftest import book_of

TALE = """Elizabeth Harkaway was the second daughter of Mr. Harkaway. She had a sister, Joan Harkaway, and she loved her.

"Lizzy," said Mr. Harkaway, "where is Joan?" He looked at her. Elizabeth laughed. She said that Joan had gone out with her
mother. Mrs. Harkaway never stayed at home; she hated it. "Miss Elizabeth is right," said the Reverend Septimus Pole. He bowed.

Lizzy went to the window. She saw Joan and Mrs. Harkaway. Mr. Pole followed her; he saw them too. "Well, Lizzy!" said he.

Joan kissed Elizabeth. "Mr. Pole is here," said Elizabeth. She smiled at her. The Harkaways dined at six. Mr. Harkaway spoke of
his farm, and Joan listened to him. Pole ate. He praised the mutton. Elizabeth said that she had cooked it.

"""


def owner(cast, text: str, name: str) -> str:
    ids = {m.entity_id for m in cast.mentions if text[m.start : m.end] == name}
    assert len(ids) == 1, (name, ids)
    return ids.pop()


def test_people_are_linked_and_families_kept_apart(cast_of):
    text = TALE * 3
    cast = cast_of(text)
    assert (
        owner(cast, text, "Lizzy")
        == owner(cast, text, "Elizabeth")
        == owner(cast, text, "Elizabeth Harkaway")
        == owner(cast, text, "Miss Elizabeth")
    )
    assert owner(cast, text, "Joan") == owner(cast, text, "Joan Harkaway")
    assert owner(cast, text, "Pole") == owner(cast, text, "Mr. Pole")
    apart = [owner(cast, text, name) for name in ("Elizabeth", "Joan", "Mr. Harkaway", "Mrs. Harkaway", "Mr. Pole", "Harkaways")]
    assert len(set(apart)) == 6
    entities = cast.by_id()
    genders = {name: entities[owner(cast, text, name)].gender for name in ("Elizabeth", "Joan", "Mr. Harkaway", "Mrs. Harkaway", "Pole")}
    assert genders == {"Elizabeth": "female", "Joan": "female", "Mr. Harkaway": "male", "Mrs. Harkaway": "female", "Pole": "male"}
    assert {entities[owner(cast, text, name)].family for name in ("Elizabeth", "Joan", "Mr. Harkaway")} == {"Harkaway"}


def test_husband_and_wife_are_two(cast_of):
    text = "Mrs. John Dashwood came. She was proud. Mr. John Dashwood was not; he was weak. John Dashwood sighed. \n\n" * 4
    cast = cast_of(text)
    assert owner(cast, text, "Mrs. John Dashwood") != owner(cast, text, "John Dashwood") == owner(cast, text, "Mr. John Dashwood")


def test_titles_outrank_pronouns(cast_of):
    text = "Miss Thorpe met him and he bowed. Miss Thorpe saw his hat. He left Miss Thorpe. Miss Thorpe watched him go.\n\n" * 5
    cast = cast_of(text)
    assert cast.by_id()[owner(cast, text, "Miss Thorpe")].gender == "female"


def test_evidence_is_for_a_person_to_read(cast_of):
    text = TALE * 3
    cast = cast_of(text)
    evidence = cast.by_id()[owner(cast, text, "Lizzy")].evidence
    assert any("Lizzy is a short form" in line for line in evidence)


def test_same_text_same_cast(cast_of):
    assert cast_of(TALE * 2) == cast_of(TALE * 2)


def test_people_are_a_works_own_unless_it_is_a_series():
    first, second = book_of(TALE * 2, "one"), book_of(TALE.replace("Joan", "Susan") * 2, "two")
    apart = build_cast([first, second])
    assert [cast.book_id for cast in apart] == ["one", "two"]
    together = build_cast([first, second], series=True)
    for cast, book in zip(together, (first, second), strict=True):
        assert all(book.text[m.start : m.end].strip() for m in cast.mentions)
    ids = [owner(cast, book.text, "Elizabeth") for cast, book in zip(together, (first, second), strict=True)]
    assert ids[0] == ids[1]
    assert not any("Joan" in e.names for e in together[1].entities)
