from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from penname.core.callings import CALLINGS, other_callings
from penname.core.errors import BadInput, NeedsPerson, ProofFailed
from penname.core.values import Cast, Edit, Entity, Mention, Question, RenamedCopy, apply_edits
from penname.renaming import prove, rename
from penname.renaming.dictionary import parse_dictionary, shape_of
from renaming.hand import hand_book, hand_cast

TEXT = """CHAPTER I. JANE EYRE.

Jane Eyre met Mr. Rochester at Thornfield Hall. "Jane," said he, "an Eyre is no Reed; the Reeds are at Gateshead."
Mrs. Reed's niece wrote to John Reed, and to John Eyre in Madeira. Jane’s letter was signed J. E. in full.

"Rochester-like," said a Rochester. Grace Poole laughed. By the grace of God, grace was hers; good grace, bad grace, and Grace
went out. Grace Poole stayed. A Mr. Poole came. Miss Abbot came too, and Abbot stayed. Lizzy Eyre is Elizabeth Eyre.

Mr. Rivers was at Rivers' End with Diana Rivers; they lived in London.
"""
PEOPLE = """
p1 female Eyre | Jane Eyre, Jane
p2 male - | Mr. Rochester, Rochester
p3 female Reed | Mrs. Reed
p4 male Reed | John Reed
p5 male Eyre | John Eyre
p6 female - | Grace Poole
p7 female - | Miss Abbot, Abbot
p8 female Eyre | Elizabeth Eyre, Lizzy Eyre, Elizabeth, Lizzy
p9 male Rivers | Mr. Rivers
p10 female Rivers | Diana Rivers
q1 place - | Thornfield Hall, Thornfield
q2 place - | Gateshead
"""


@pytest.fixture(scope="module")
def book():
    return hand_book(TEXT)


@pytest.fixture(scope="module")
def cast(book):
    return hand_cast(book, PEOPLE)


@pytest.fixture(scope="module")
def copy(book, cast):
    return rename(book, cast, seed=7, copy=1)


def became(copy, name):
    return copy.names[name]


def test_every_person_and_fictional_place_has_a_new_name_and_the_proof_holds(book, cast, copy):
    proof = prove(book, cast, copy)
    assert proof.edits == len(copy.edits)
    assert proof.words >= 14
    assert not re.search(r"Jane|Eyre|Reed|Rochester|Thornfield|Gateshead|Poole|Lizzy|Abbot|EYRE", copy.text)


def test_what_is_not_a_name_is_byte_for_byte_as_it_was(book, copy):
    assert apply_edits(book.text, copy.edits) == copy.text
    back = [Edit(0, 0, "", "")] * 0
    shift = 0
    for edit in copy.edits:
        start = edit.start + shift
        back.append(Edit(start, start + len(edit.new), book.text[edit.start : edit.end], edit.entity))
        shift += len(edit.new) - (edit.end - edit.start)
    assert apply_edits(copy.text, back) == book.text
    assert "they lived in London" in copy.text
    assert "By the grace of God, grace was hers; good grace, bad grace, and Grace" in " ".join(copy.text.split())


def test_families_share_the_new_surname_and_the_two_johns_share_theirs(copy):
    assert became(copy, "John Reed").split()[1] == became(copy, "Mrs. Reed").split()[1] == became(copy, "Reed")
    assert became(copy, "Jane Eyre").split()[1] == became(copy, "John Eyre").split()[1]
    assert became(copy, "John Reed").split()[0] == became(copy, "John Eyre").split()[0]
    assert len(set(copy.names[name] for name in ("Jane", "Eyre", "Rochester", "Reed", "John", "Poole", "p7|Abbot", "Rivers"))) == 8


def test_forms_follow_their_name(copy):
    jane, eyre, reed, rochester = (became(copy, name) for name in ("Jane", "Eyre", "Reed", "Rochester"))
    for form in (f"CHAPTER I. {jane} {eyre}.".upper(), f"the {reed}s are at", f"Mrs. {reed}'s", f"{jane}’s letter", f'"{rochester}-like'):
        assert form in copy.text
    assert f"signed {jane[0]}. {eyre[0]}. in full" in copy.text
    assert became(copy, "Thornfield Hall") == became(copy, "Thornfield") + " Hall"


def test_a_name_in_s_stays_one_so_its_possessive_and_plural_stay_right(copy):
    assert became(copy, "Rivers").endswith(("s", "x", "z", "ch", "sh"))
    assert f"at {became(copy, 'Rivers')}' End" in copy.text


def test_nicknames_become_nicknames(copy):
    from penname.renaming import load_dictionary

    formal, pet = became(copy, "Elizabeth"), became(copy, "Lizzy")
    assert pet in load_dictionary().short[formal.lower()]


def test_a_name_that_is_also_a_word_changes_only_beside_a_name(copy):
    assert became(copy, "Grace Poole").split()[1] == became(copy, "Poole")
    assert "Grace" not in copy.names
    assert copy.names["p6|Grace"] == became(copy, "Grace Poole").split()[0]
    assert f"A Mr. {became(copy, 'Poole')} came." in copy.text


def test_gender_and_first_sound_stay():
    book = hand_book("Then Clementina and Bartholomew and Eustacia walked.")
    cast = hand_cast(book, "p1 female - | Clementina\np2 male - | Bartholomew\np3 female - | Eustacia")
    from penname.renaming import load_dictionary

    known = load_dictionary().known
    for k in range(5):
        names = rename(book, cast, 3, k).names
        assert known[names["Clementina"].lower()] == "f"
        assert known[names["Bartholomew"].lower()] == "m"
        assert not shape_of(names["Clementina"]).vowel


def test_the_same_seed_gives_the_same_bytes_and_copies_differ(book, cast, copy):
    assert rename(book, cast, 7, 1) == copy
    others = [rename(book, cast, 7, k) for k in (0, 2, 3, 4, 5, 6)]
    assert len({c.names["Jane Eyre"] for c in [copy, *others]}) == 7
    assert rename(book, cast, 8, 1).text != copy.text


def test_the_map_for_judging_shares_no_new_word_with_a_training_copy(book, cast):
    def new_words(k):
        names = rename(book, cast, 7, k).names
        return {word for old, new in names.items() for word in new.split() if word not in old}

    assert not new_words(0) & set().union(*(new_words(k) for k in range(1, 7)))


def test_no_new_name_stands_in_any_book_of_the_voice(book, cast):
    first = rename(book, cast, 7, 1)
    other = hand_book(f"There {first.names['Jane']} met {first.names['Rochester'].upper()}.", "other")
    again = rename(book, cast, 7, 1, all_books=[book, other])
    assert again.names["Jane"] != first.names["Jane"]
    assert again.names["Rochester"] != first.names["Rochester"]
    prove(book, cast, again, all_books=[book, other])


def test_open_questions_stop_it(book, cast):
    question = Question("q", "link", "John", ("p4", "p5"), 9, {}, "", ())
    with pytest.raises(NeedsPerson, match=r"1 names wait for a person .John"):
        rename(book, Cast(cast.book_id, cast.entities, cast.mentions, (question,)), 7, 1)


def test_a_kept_name_stays_where_it_is_meant_and_only_there():
    book = hand_book("Mary prayed to Mary. Then Mary Rivers slept.")
    cast = Cast(
        "book",
        (Entity("p1", "person", "female", ("Mary", "Mary Rivers")), Entity("p2", "person", "female", ("Mary",), fixed=True)),
        (Mention(0, 4, "p1"), Mention(15, 19, "p2"), Mention(26, 37, "p1")),
    )
    copy = rename(book, cast, 1, 1)
    assert copy.text.count("Mary") == 1
    assert copy.text[15 + len(copy.names["p1|Mary"]) - 4 :].startswith("Mary.")
    assert copy.names["p2|Mary"] == "Mary"
    assert prove(book, cast, copy).survivors_allowed == 1


def test_real_places_stay_unless_all_are_asked_for():
    book = hand_book("Jane left Thornfield for London.")
    cast = Cast(
        "book",
        (
            Entity("p1", "person", "female", ("Jane",)),
            Entity("q1", "place", "unknown", ("Thornfield",)),
            Entity("q2", "place", "unknown", ("London",), real=True),
        ),
        (Mention(0, 4, "p1"), Mention(10, 20, "q1"), Mention(25, 31, "q2")),
    )
    assert rename(book, cast, 1, 1).text.endswith("for London.")
    assert "London" not in rename(book, cast, 1, 1, places="all").text


def test_an_article_follows_where_only_the_other_sound_is_left():
    names = "Walden\ts\nBristow\ts\nMabel\tf\nStella\tf\nZachary\tm\n"
    book = hand_book("She was an Eyre, an honest Eyre. AN EYRE! An Eyre came; a “Rochester” too.")
    cast = hand_cast(book, "p1 female Eyre | Eyre, Miss Eyre\np2 male - | Mr. Rochester, Rochester")
    copy = rename(book, cast, 1, 3, dictionary=parse_dictionary(names))
    new = copy.names["Eyre"]
    assert copy.text.startswith(f"She was a {new}, an honest {new}. A {new.upper()}! A {new} came; a “")
    prove(book, cast, copy)


def test_a_dictionary_that_runs_out_says_so(book, cast):
    with pytest.raises(BadInput, match="no name left"):
        rename(book, cast, 1, 1, dictionary=parse_dictionary("Walden\ts\nMabel\tf\n"))


@pytest.mark.parametrize(
    ("old", "pattern"),
    [("O’Malley", "O’[A-Z]"), ("McLeod", "Mc[A-Z]"), ("MacDuff", "Mac[A-Z]"), ("D'Arblay", "D'[A-Z]"), ("Zélie", r"\w*[^\x00-\x7f]")],
)
def test_the_shape_of_a_name_stays(old, pattern):
    book = hand_book(f"Then Miss {old} spoke; {old} was here.")
    cast = hand_cast(book, f"p1 female - | Miss {old}, {old}")
    assert re.match(pattern, rename(book, cast, 1, 2).names[old])


WORDS = [
    "Jane",
    "Eyre",
    "Mr. Reed",
    "the Reeds",
    "JANE EYRE",
    "Grace",
    "grace",
    "an",
    "a",
    "walked",
    "Jane's",
    "St. John",
    "J. E.",
    "Rivers'",
    "—",
    "\n",
    "\n\n",
    "“",
    "”",
    "_Jane_",
    "Mary-Ann",
    "O'Neil",
    "sir",
    "Will",
    "will",
]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.sampled_from(WORDS), max_size=60), st.integers(0, 10), st.integers(0, 6))
@example(["Will"], 4, 1)  # "John" is a name in the cast that no mention carries: no new name may be it
def test_any_text_of_names_and_words_inverts_and_is_proved(words, seed, k):
    book = hand_book(" ".join(words))
    cast = hand_cast(
        book,
        "p1 female Eyre | Jane Eyre, Jane\np2 male Reed | Mr. Reed, Reed\np3 female - | Grace\np4 male Rivers | St. John, John Rivers\n"
        "p5 female - | Mary-Ann\np6 male - | O'Neil\np7 male - | Will",
    )
    copy = rename(book, cast, seed, k)
    assert prove(book, cast, copy).edits == len(copy.edits)
    assert apply_edits(book.text, copy.edits) == copy.text


def test_dialect_and_spelling_variants_are_respellings_of_the_new_name():
    book = hand_book(
        "Katharine Ashdown came. Katharine sat. Katharine! “Miss Kath'rine,” said he. Mr. Pettifer and Pettifer and Muster Pettyfer."
    )
    cast = hand_cast(book, "p1 female - | Katharine Ashdown, Katharine, Miss Kath'rine\np2 male - | Mr. Pettifer, Pettifer, Pettyfer")
    copy = rename(book, cast, 1, 1)
    names = copy.names
    plain, elided = names["Katharine"], names["Kath'rine"]
    at = elided.index("'")
    assert (elided[:at], elided[at + 1 :]) == (plain[:at], plain[at + 1 :])
    assert sum(a != b for a, b in zip(names["Pettifer"], names["Pettyfer"], strict=True)) == 1
    prove(book, cast, copy)


def test_a_mention_that_runs_over_a_blank_line_becomes_two_edits():
    text = "CHAPTER X\n\nMrs. Lowe slept."
    book = hand_book(text)
    cast = Cast("book", (Entity("p1", "person", "female", ("X Mrs. Lowe", "Mrs. Lowe")),), (Mention(8, 20, "p1"),))
    copy = rename(book, cast, 1, 1)
    assert copy.text.startswith("CHAPTER X\n\nMrs. ")
    assert "Lowe" not in copy.text
    prove(book, cast, copy)


def test_words_with_a_capital_that_are_no_names_stay():
    book = hand_book("The English girl, English Celine, met Mr. French on Monday at Christmas; the English laughed.")
    cast = hand_cast(book, "p1 female - | English Celine, Celine\np2 male - | Mr. French")
    copy = rename(book, cast, 1, 1)
    assert copy.text.count("English") == 3
    assert "French" not in copy.text
    assert "on Monday at Christmas" in copy.text


def test_a_plural_of_a_first_name_follows_it():
    book = hand_book("Gilbert Sallow and Gilbert the younger: the two Gilberts. Gilbert bowed.")
    copy = rename(book, hand_cast(book, "p1 male - | Gilbert Sallow, Gilbert"), 1, 1)
    assert f"the two {copy.names['Gilbert']}s." in copy.text


def test_a_kind_of_place_that_is_a_persons_name_changes_in_places_too():
    book = hand_book("Mr. Grange left Mayfield Grange. Grange slept. They drove to the West Coast.")
    cast = hand_cast(book, "p1 male - | Mr. Grange, Grange\nq1 place - | Mayfield Grange\nq2 place - | West Coast")
    copy = rename(book, cast, 1, 1)
    assert "Grange" not in copy.text
    assert copy.text.endswith("to the West Coast.")
    prove(book, cast, copy)


def test_a_calling_becomes_another_calling_of_its_kind_wherever_it_stands():
    book = hand_book("They met the Coroner. The Coroner's jury sat, and the Coroner rose.")
    cast = hand_cast(book, "p1 unknown - | Coroner")
    seen = set()
    for k in range(7):
        copy = rename(book, cast, 1, k)
        assert prove(book, cast, copy).words == 1
        new = copy.names["Coroner"]
        assert copy.text == f"They met the {new}. The {new}'s jury sat, and the {new} rose."
        assert new.lower() in other_callings("coroner")[0]
        seen.add(new)
    assert len(seen) > 3


def test_a_title_that_is_somebodys_only_name_changes_and_a_surname_is_no_calling():
    book = hand_book("Whose house is that, Constable? Miss Miller knew. Miller had gone.")
    copy = rename(book, hand_cast(book, "p1 unknown - | Constable\np2 female Miller | Miss Miller, Miller"), 1, 1)
    assert copy.names["Constable"].lower() in other_callings("constable")[0]
    assert copy.names["Miller"].lower() not in CALLINGS


def test_kin_and_women_stay_what_they_are():
    near, far = other_callings("granny")
    assert {"nana", "gran"} <= set(near) and "nanny" in far and "vicar" not in near + far
    assert "butler" not in other_callings("governess")[0] + other_callings("governess")[1]
    assert other_callings("jane")[0] == []


SIGNED = """Jane Eyre, John Reed, Edward Rochester, Georgiana Reed, Clara Reed and Cecilia Burns wrote. Six letters lay there: J. E. was
under one, J. R. under another, E. R., G. R., C. R. and C. B. under the rest. Cissy Burns is Cecilia; C. Burns is she as well.
"""
SIGNERS = """
p1 female Eyre | Jane Eyre
p2 male Reed | John Reed
p3 male - | Edward Rochester
p4 female Reed | Georgiana Reed
p5 female Reed | Clara Reed
p6 female Burns | Cecilia Burns, Cissy Burns, Cecilia, C. Burns
"""


@pytest.mark.parametrize("k", range(1, 7))
def test_signatures_stay_apart_and_each_letter_becomes_one_other_letter(k):
    book = hand_book(SIGNED)
    copy = rename(book, hand_cast(book, SIGNERS), seed=3, copy=k)
    letters = {
        (old, new)
        for edit in copy.edits
        for old, new in zip(re.findall(r"\b[A-Z]\.", book.text[edit.start : edit.end]), re.findall(r"\b[A-Z]\.", edit.new), strict=True)
    }
    assert len(letters) == len({old for old, _ in letters}) == len({new for _, new in letters}) == 6  # J, E, R, G, C, B
    assert all(old != new for old, new in letters)
    assert prove(book, hand_cast(book, SIGNERS), copy).edits == len(copy.edits)


def test_letters_after_a_name_say_what_somebody_is_and_sign_nothing():
    book = hand_book("Cissy Caffrey came. The Rev. Thomas Waters, C. C., went. C. C. was all that her letter said.")
    copy = rename(book, hand_cast(book, "p1 female - | Cissy Caffrey\np2 male - | Thomas Waters"), seed=1, copy=1)
    assert ", C. C., went. " in copy.text and copy.text.count("C. C.") == 1


def test_a_name_in_s_changes_where_the_word_without_s_is_a_word():
    text = "He will, you will, they will, I will. Mr. Will came; Mr. Wills came. The black Wills, that villain."
    book = hand_book(text)
    cast = hand_cast(book, "p1 male Will | Mr. Will\np2 male Wills | Mr. Wills")
    copy = rename(book, cast, seed=1, copy=1)
    assert "Wills" not in copy.text and "He will, you will" in copy.text
    assert prove(book, cast, copy).survivors_allowed == 0


def test_a_surname_that_is_a_word_of_address_changes_with_the_person():
    text = "Captain John Good sat. Good looked up. “Good morning, good Peter!” said he to Peter Young, a young man. Captain Good went."
    book = hand_book(text)
    cast = hand_cast(book, "p1 male Good | Captain John Good, Captain Good\np2 male Young | Peter Young\np3 male - | Peter")
    mentions = [*cast.mentions, Mention(23, 27, "p1")]  # "Good looked up": the cast found it, "Good morning" is none
    cast = Cast(cast.book_id, cast.entities, tuple(sorted(mentions)))
    copy = rename(book, cast, seed=1, copy=1)
    good = copy.names["p1|Captain Good"].split()[1]
    assert copy.text.count(good) == 3 and "Good morning, good " in copy.text and "a young man" in copy.text
    assert "Young" not in copy.text and prove(book, cast, copy).edits == 5
    kept = [edit for edit in copy.edits if "Captain Good" not in book.text[edit.start : edit.end]]
    with pytest.raises(ProofFailed, match="'Captain Good' survives"):
        prove(book, cast, RenamedCopy(book.id, 1, apply_edits(book.text, kept), tuple(kept), copy.names))


def test_a_particle_that_is_all_of_somebodys_name_changes_in_his_names_and_in_no_others():
    book = hand_book("Van laughed. Then Van Jennings met Mrs. Van Rensselaer, and Van went home.")
    cast = hand_cast(book, "p1 male Jennings | Van Jennings, Van\np2 female - | Mrs. Van Rensselaer")
    copy = rename(book, cast, seed=1, copy=1)
    new = copy.names["p1|Van"]
    assert new != "Van" and copy.text.count(new) == 3 and copy.names["p1|Van Jennings"].startswith(new + " ")
    assert copy.names["p2|Mrs. Van Rensselaer"].startswith("Mrs. Van ")
    assert prove(book, cast, copy).edits == 4
