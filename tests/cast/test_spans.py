"""Where a name begins and ends, beside words that are none by themselves: kinds of place, numbers, offices, abbreviations."""

from __future__ import annotations

from penname.cast.detect import classify_words, find_spans
from penname.cast.lexicon import load_lexicon
from penname.cast.names import part_name
from penname.cast.scan import INITIAL, MID, scan_text


def found(text: str) -> list[str]:
    scan = scan_text(text)
    lexicon = load_lexicon()
    return [span.surface for span in find_spans(scan, classify_words(scan, lexicon), lexicon)]


def kinds_of(cast, text: str) -> dict[str, str]:
    kinds = {e.id: e.kind for e in cast.entities}
    return {text[m.start : m.end]: kinds[m.entity_id] for m in cast.mentions}


def test_only_what_is_cut_short_goes_on_behind_its_point():
    scan = scan_text("He spoke of Mrs. Dean. Was she there? They prayed to the Lord. Whether he heard, Lt. Hook knew not.")
    assert {t.key: t.place for t in scan.tokens if t.key in ("was", "whether", "hook")} == {"was": INITIAL, "whether": INITIAL, "hook": MID}
    assert found("A rough fellow, rather, Mrs. Dean. Is not that so?") == ["Mrs. Dean"]


def test_a_title_word_is_a_surname_behind_a_first_name_and_no_name_as_an_office():
    assert found("We asked Nelly Dean for it. They saw the Hereditary Prince at dinner.") == ["Nelly Dean"]
    assert found("They called Miss Abbot. Bessie came with her maid Abbot, and Abbot was cross.") == [
        "Miss Abbot",
        "Bessie",
        "Abbot",
        "Abbot",
    ]
    assert found("They called Mr. Dean. Bessie came with Dean, and Dean was cross.") == ["Mr. Dean", "Bessie"]


def test_esquire_stays_outside_and_the_name_before_it_is_found():
    assert found("Here lies Redmond Barry, Esquire, of Barryville.") == ["Redmond Barry", "Barryville"]
    assert found("He met Alice, the Hon. Alice Rutherford.") == ["Alice", "Hon. Alice Rutherford"]


def test_numbers_of_chapters_beyond_forty_are_no_names():
    assert found("CHAPTER XLIV\n\nWe saw nobody.\n\nCHAPTER LII\n\nWe went home.") == []


def test_a_king_is_told_by_his_number_and_it_is_not_his_surname():
    assert found("He read that Rudolf the Third was crowned. It was under Frederick the Great then.") == [
        "Rudolf the Third",
        "Frederick the Great",
    ]
    assert found("We saw Rudolf the day before.") == ["Rudolf"]
    name = part_name((), ("rudolf", "the third"))
    assert (name.first, name.last, name.suffix) == (("rudolf",), "", "the third")


def test_a_kind_of_place_goes_with_the_name_before_it():
    assert found("I went to Emanuel College then. He was of Lowood School.") == ["Emanuel College", "Lowood School"]
    assert found("She saved at the Savings Bank.") == ["Savings"]
    assert found("The road goes by Lynde's Hollow. He saw Van Diemen's Land again.") == ["Lynde's Hollow", "Van Diemen's Land"]
    assert found("The road goes by Mrs. Lynde's Hollow. He went to Lynde's House.") == ["Mrs. Lynde", "Hollow", "Lynde", "House"]


def test_who_is_asked_for_is_owned_by_nobody(cast_of):
    text = '"Where\'s Hall?" asked the man. "Where\'s Hall gone?" said the girl. They went for Lynde\'s Grange.\n\n'
    assert kinds_of(cast_of(text), text).get("Hall") != "place"
    assert kinds_of(cast_of(text), text)["Lynde's Grange"] == "place"
    text = '"Where\'s Kit Small, then?" asked the man. A small boy laughed.\n\n'
    assert kinds_of(cast_of(text), text)["Kit Small"] == "person"


def test_small_towns_of_the_period_are_known(cast_of):
    text = "I do not know where to sell it nearer than Carnarvon. He spoke of Badajos and left.\n\n"
    assert kinds_of(cast_of(text), text) == {"Carnarvon": "place", "Badajos": "place"}


def test_dialect_leaves_no_names():
    assert found('"We\'se going," he said. "They think I\'M blind, and I\'LL go."') == []


def test_words_that_are_only_stressed_are_no_names():
    assert found("He took them for the surly INDIGENAE of that land, and he made a low CONGE, and went.") == []
    assert found("She was NOT ELINOR, he said to JANE then.") == ["ELINOR", "JANE"]


def test_a_place_and_a_whole_name_side_by_side_are_two(cast_of):
    text = (
        "John Clayton laughed. They were at Freetown in May. John Clayton came from Freetown. He went to Freetown with John Clayton.\n\n"
        * 3
        + "On the second day out from Freetown John Clayton and his wife saw land.\n\n"
    )
    assert kinds_of(cast_of(text), text) == {"John Clayton": "person", "Freetown": "place"}


def test_a_family_may_have_a_particle(cast_of):
    text = "You come of an old established family in the land, the Van Rensselaers, and that is much.\n\n"
    assert kinds_of(cast_of(text), text) == {"Van Rensselaers": "person"}


def test_one_of_a_known_family_is_a_person(cast_of):
    text = "Now I met the Elphbergs, and they feared the Elphbergs. They know that house of Elphberg. It was said of Elphberg.\n\n"
    assert kinds_of(cast_of(text), text)["Elphberg"] == "person"


def test_a_relation_follows_the_name():
    assert found("It is the grave of Georgiana Wife of him.") == ["Georgiana"]


def test_an_adjective_before_a_known_land_is_no_first_name(cast_of):
    text = "It lay in the rich plain of what we call Merry England, and held farms. The merry farmer called it so.\n\n"
    assert kinds_of(cast_of(text), text) == {"Merry England": "place"}
