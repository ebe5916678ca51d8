"""Rules that tie names by what stands around them; and names that they must leave apart."""

from __future__ import annotations

from penname.cast.context import Calls, Presence, calls, lay_out
from penname.cast.forms import Form
from penname.cast.people import Context, Person


def home(cast, text: str, name: str) -> str:
    ids = {m.entity_id for m in cast.mentions if text[m.start : m.end] == name}
    assert len(ids) == 1, (name, ids)
    return ids.pop()


def test_a_trade_before_a_surname_is_no_first_name(cast_of):
    text = "Gabriel Oak kept sheep. Then Gabriel slept. She loved Farmer Oak. She saw Oak, and Oak saw her. Mr. Oak bowed.\n\n" * 4
    cast = cast_of(text)
    assert len({home(cast, text, name) for name in ("Gabriel Oak", "Gabriel", "Farmer Oak", "Oak", "Mr. Oak")}) == 1


def test_master_stands_before_surnames_too(cast_of):
    text = "Silas Marner wove. The neighbours asked Master Marner for linen. Silas gave it. Marner was paid, and Silas was glad.\n\n" * 4
    cast = cast_of(text)
    assert len({home(cast, text, name) for name in ("Silas Marner", "Silas", "Master Marner", "Marner")}) == 1


SISTERS = """The rain fell. Elinor sat by the window with her work, and Marianne Dashwood played.

"Miss Dashwood," said Lucy Steele, "you must think me very strange."

"I do not," said Elinor. She put her work away, and Marianne played on.

"But you do, Miss Dashwood," said Lucy Steele.

"Not at all," replied Elinor, and she smiled at her. Then Marianne sighed.

"""


def test_miss_surname_is_the_sister_who_answers(cast_of):
    text = SISTERS * 6
    cast = cast_of(text)
    assert home(cast, text, "Miss Dashwood") == home(cast, text, "Elinor") != home(cast, text, "Marianne")
    assert home(cast, text, "Marianne") == home(cast, text, "Marianne Dashwood")


MAID = "Dorothea Brooke rode out. She loved her horse. Dorothea talked with Celia, and Celia laughed at her.\n\n"
WIFE = """Mr. Casaubon was in the library. He read. Dorothea stood behind the chair.

"Mrs. Casaubon," said Ladislaw, "may I come in?"

"You may," said Dorothea. She was grave.

"""


def test_a_married_name_that_begins_late_joins_the_maiden(cast_of):
    text = MAID * 12 + WIFE * 12
    cast = cast_of(text)
    assert home(cast, text, "Mrs. Casaubon") == home(cast, text, "Dorothea") == home(cast, text, "Dorothea Brooke")
    assert home(cast, text, "Mr. Casaubon") != home(cast, text, "Mrs. Casaubon")


def test_a_wife_who_was_there_first_is_somebody_else(cast_of):
    text = WIFE * 12 + MAID * 12
    cast = cast_of(text.replace("Mr. Casaubon", "Mr. Reed").replace("Mrs. Casaubon", "Mrs. Reed"))
    names = {name for entity in cast.entities for name in entity.names if entity.kind == "person" and "Mrs. Reed" in entity.names}
    assert "Dorothea" not in names


def test_who_speaks_hardly_ever_names_himself():
    text = '"Tom is late," said Ned.\n\n"Tom, come!" cried Ned.\n\n"Here," said Sam.\n\n'
    at = {name: text.index(name) for name in ("Ned", "Sam")}
    second = text.index("Tom", 5)
    rows = [(1, "Tom", True, False, False), (at["Ned"], "Ned", False, False, True), (second, "Tom", True, True, False)]
    rows += [(text.rindex("Ned"), "Ned", False, False, True), (at["Sam"], "Sam", False, False, True)]
    found = calls(lay_out(text), rows)
    assert found.speakers["Tom"] == {"Ned": 2}
    assert found.answers["Tom"] == {"Ned": 1, "Sam": 1}


def test_affinity_weighs_answers_against_being_spoken_of():
    tom, ned, sam = (Form(((), (name,))) for name in ("tom", "ned", "sam"))
    people = {form: Person([form], [form.words], presence=Presence(count=9)) for form in (tom, ned, sam)}
    found = Calls()
    found.answers[tom][sam] = 3
    found.speakers[tom][ned] = 3
    context = Context({}, found, {})
    assert round(context.affinity(people[tom], people[sam]), 2) == 3.6
    assert round(context.affinity(people[tom], people[ned]), 2) == -3.6


def test_an_uncle_is_not_the_first_who_bears_his_first_name(cast_of):
    text = "I saw George Willoughby in town. He was pale.\n\n"
    text += '"Uncle George is old," said Harry. He laughed. I loved Uncle George.\n\n' * 5
    cast = cast_of(text)
    assert home(cast, text, "Uncle George") != home(cast, text, "George Willoughby")


def test_granny_is_a_woman_whatever_pronoun_follows(cast_of):
    text = '"I want Granny," said Ned, and he cried. Then Granny saw that he was ill, and he slept. He loved Granny and his bed.\n\n' * 5
    cast = cast_of(text)
    assert cast.by_id()[home(cast, text, "Granny")].gender == "female"


def test_a_married_name_that_is_only_likely_is_asked(cast_of):
    maid = MAID.replace("Dorothea", "Rosamond").replace("Brooke", "Vincy")
    wife = "Mr. Lydgate was in the library. He read, and Rosamond stood there with her book.\n\nHe met Mrs. Lydgate. She sat down.\n\n"
    cast = cast_of(maid * 12 + wife * 10)
    asked = [q for q in cast.unresolved if q.form == "Mrs. Lydgate"]
    assert [q.options[0]["names"] for q in asked] == [["Mrs. Lydgate", "Rosamond"]]


def test_a_bare_surname_is_no_ladys_who_is_only_known_by_her_title(cast_of):
    text = "Lady Lucas came with Sir William Lucas. Then Sir William bowed, and Lady Lucas sat. I saw Lucas. He fell.\n\n" * 5
    cast = cast_of(text)
    assert home(cast, text, "Lucas") == home(cast, text, "Sir William Lucas") != home(cast, text, "Lady Lucas")


QUIVERFUL = """Mr. Harding walked in the garden. He was old.

"Then, {called}, the place is yours," said Slope. He gave {called} his hand.

"It is too much," said Mr. Harding. He sat down.

"""


def test_a_lone_name_that_may_be_a_surname_is_nobodys_first_name(cast_of):
    text = QUIVERFUL.format(called="Quiverful") * 8
    cast = cast_of(text)
    assert home(cast, text, "Quiverful") != home(cast, text, "Mr. Harding")
    text = QUIVERFUL.format(called="Septimus") * 8
    cast = cast_of(text)
    assert home(cast, text, "Septimus") == home(cast, text, "Mr. Harding")


def test_a_bare_surname_is_not_the_sons_who_always_goes_by_his_first_name(cast_of):
    scene = "Joe Hamilton came. Joe sang. Joe ate. I saw Joe. Joe slept, and Joe rose.\n\n"
    text = (scene + "Berry Hamilton worked there. Berry Hamilton prayed.\n\nThe judge had known Hamilton for years. Hamilton wept.\n\n") * 4
    cast = cast_of(text)
    assert home(cast, text, "Hamilton") == home(cast, text, "Berry Hamilton") != home(cast, text, "Joe Hamilton")


def test_an_admiral_is_not_the_mr_of_his_name_nor_a_master_his_father(cast_of):
    text = "Henry Crawford rode out. Mr. Crawford smiled. Then Henry sat. Mr. Crawford ate. He had left Admiral Crawford in town.\n\n" * 4
    cast = cast_of(text)
    assert home(cast, text, "Admiral Crawford") != home(cast, text, "Mr. Crawford") == home(cast, text, "Henry Crawford")
    text = (
        "Edward Murdstone rode out. Mr. Murdstone rode with him, and Mr. Murdstone ate.\n\nThe boy was ill. Master Murdstone cried.\n\n" * 4
    )
    cast = cast_of(text)
    assert home(cast, text, "Master Murdstone") != home(cast, text, "Mr. Murdstone")


def test_a_first_name_is_meant_for_whom_its_chapters_name(cast_of):
    early = "Mary Ingram came with Mary Ingram's mother. The rest of them talked of the hunt and of the rain.\n\n" * 12
    between = "There was nothing to be heard in the long night but the wind over the moor and the sea beyond.\n\n" * 300
    late = "Mary Rivers worked there. The fire burned, and the old dog slept before it.\n\n" * 8 + "Mary smiled, and Mary sang.\n\n" * 12
    text = early + between + late
    cast = cast_of(text)
    assert home(cast, text, "Mary") == home(cast, text, "Mary Rivers") != home(cast, text, "Mary Ingram")


def test_an_accent_makes_nobody_else(cast_of):
    text = "Lipoti Virag sat down. Then Mr. Héger came, and Lipóti Virag rose. Mr. Heger bowed to Virag.\n\n" * 4
    cast = cast_of(text)
    assert home(cast, text, "Lipoti Virag") == home(cast, text, "Lipóti Virag")
    assert home(cast, text, "Mr. Héger") == home(cast, text, "Mr. Heger") != home(cast, text, "Lipoti Virag")
