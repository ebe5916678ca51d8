"""Which words are found as names, in what spans, of what kind."""

from __future__ import annotations

from collections import defaultdict

from penname.cast.detect import classify_words, find_spans
from penname.cast.evidence import mention_signs
from penname.cast.lexicon import load_lexicon
from penname.cast.names import part_name, short_of
from penname.cast.scan import INITIAL, MID, scan_text

PLAIN = """Mr. Harkaway walked to Norwich with his sister. "Good morning, Miss Harkaway," said Colonel Brandon Monday week.

Miss King laughed. Poor Jane said nothing. Then Jane went home with O'Brien and Mme. de Bourgh to Thorley Hall.
"""


def spans_of(text: str) -> list[tuple[tuple[str, ...], str]]:
    scan = scan_text(text)
    lexicon = load_lexicon()
    return [(s.titles, s.surface) for s in find_spans(scan, classify_words(scan, lexicon), lexicon)]


def surfaces(cast, text: str, kind: str) -> set[str]:
    kinds = {e.id: e.kind for e in cast.entities}
    return {text[m.start : m.end] for m in cast.mentions if kinds[m.entity_id] == kind}


def test_titles_belong_to_the_name_and_neighbours_do_not():
    found = spans_of(PLAIN)
    assert (("mr",), "Mr. Harkaway") in found
    assert (("miss",), "Miss King") in found  # a title word borne as a surname
    assert (("colonel",), "Colonel Brandon") in found  # and not "Colonel Brandon Monday"
    assert ((), "Jane") in found
    assert ((), "Poor Jane") not in found and ((), "Then Jane") not in found
    assert ((), "O'Brien") in found
    assert (("mme",), "Mme. de Bourgh") in found
    assert ((), "Thorley Hall") in found


def test_possessives_stay_outside_the_span():
    assert spans_of("We saw Brocklehurst's carriage.") == [((), "Brocklehurst")]
    assert spans_of("And I'se going, and I'll go. We met I'Anson there.") == [((), "I'Anson")]


def test_capitals_know_what_forces_them():
    scan = scan_text('He met Tom. Tom ran. "Tom!" he said; Tom stopped, and Mr. Tom went.')
    assert [t.place for t in scan.tokens if t.key == "tom"] == [MID, INITIAL, INITIAL, MID, MID]


def test_initials_and_particles_join(cast_of):
    assert spans_of("It was Annie P. Miller herself.")[0][1] == "Annie P. Miller"
    assert part_name(("lady",), ("catherine", "de", "bourgh")).last == "de bourgh"
    assert part_name((), ("st", "john", "rivers")).first == ("st john",)


def test_months_days_nations_and_interjections_are_no_names(cast_of):
    text = "In March the French came on Monday. Oh, Heaven! said the Englishman in June. May they go by Friday. " * 6
    cast = cast_of(text)
    assert surfaces(cast, text, "person") == set()


def test_people_and_places_are_told_apart(cast_of):
    text = (
        'Harkaway said nothing. He lived in Lowthorpe. "I think," said Harkaway, "that Lowthorpe is dull." They went to Lowthorpe '
        "with Harkaway, who laughed. Harkaway had come from Lowthorpe in London. He asked Harkaway. In Lowthorpe all was quiet.\n\n"
    ) * 3
    cast = cast_of(text)
    assert "Harkaway" in surfaces(cast, text, "person")
    assert surfaces(cast, text, "place") >= {"Lowthorpe", "London"}
    real = {name: e.real for e in cast.entities for name in e.names}
    assert real["London"] and not real["Lowthorpe"]


def test_mentions_are_sorted_and_do_not_overlap(cast_of, story):
    cast = cast_of(story.read_text(encoding="utf-8"))
    ends = 0
    for mention in cast.mentions:
        assert ends <= mention.start < mention.end
        ends = mention.end
    by_id = defaultdict(int)
    for mention in cast.mentions:
        by_id[mention.entity_id] += 1
    assert set(by_id) == {e.id for e in cast.entities}


def test_short_forms():
    lexicon = load_lexicon()
    assert short_of("lizzy", "elizabeth", lexicon) == 1.0
    assert short_of("skaggsy", "skaggs", lexicon) > 0
    assert short_of("meg", "josephine", lexicon) == 0.0


def kinds_of(cast, text: str) -> dict[str, str]:
    kinds = {e.id: e.kind for e in cast.entities}
    return {text[m.start : m.end]: kinds[m.entity_id] for m in cast.mentions}


def test_a_calling_that_always_has_a_capital_is_somebodys_name(cast_of):
    text = (
        'They met the Coroner. "Sit down," said the Coroner, and the jury sat. Then Granny came in with the Coroner. He saw Granny.\n\n' * 3
    )
    assert {name: kinds_of(cast_of(text), text).get(name) for name in ("Coroner", "Granny")} == {"Coroner": "person", "Granny": "person"}
    word = text + "A coroner is a coroner. " * 4
    assert "Coroner" not in kinds_of(cast_of(word), word)
    titled = 'He met Inspector Lowick. "Well," said the Inspector, and Inspector Lowick sat down by the Inspector.\n\n' * 3
    assert set(kinds_of(cast_of(titled), titled)) == {"Inspector Lowick"}


def test_numbers_and_epithets_with_a_capital_of_their_own_are_part_of_the_name():
    assert ((), "Charles II") in spans_of("It was in the reign of Charles II. of England.")
    assert ((), "Black Michael") in spans_of("We feared Black Michael then. They say Black Michael is here.")
    assert ((), "Poor Jane") not in spans_of("We saw Poor Jane then. They say Poor Jane is here.")


def test_a_nation_is_a_surname_after_a_first_name():
    found = spans_of("He looked for Jane Finn. Nobody had seen Jane Finn since May.")
    assert found.count(((), "Jane Finn")) == 2
    assert spans_of("The hut belonged to a Finn. We saw the Finn again.") == []


def test_a_word_that_may_be_a_title_is_none_where_it_stands_alone(cast_of):
    text = "They came from Mars in ships. He looked at Mars. The light of Mars was red, and Mars was near.\n\n" * 2
    assert kinds_of(cast_of(text), text)["Mars"] == "place"
    assert (("mis",), "Mis' Watson") in spans_of("He told Mis' Watson so.")
    assert (("mars",), "Mars Julius") in spans_of("I asked Mars Julius. And Mars Julius laughed.")


def test_a_lone_kind_of_place_is_a_place_where_it_has_an_owner_or_a_share_of_the_text(cast_of):
    text = "They rode to the Grange. We were at the Grange. He saw Mrs. Lynde's Hollow. It was dark by Mrs. Lynde's Hollow.\n\n"
    found = kinds_of(cast_of(text), text)
    assert (found["Grange"], found["Hollow"]) == ("place", "place")


def test_a_known_surname_is_known_in_older_spellings():
    lexicon = load_lexicon()
    assert lexicon.knows_surname("Chamberlayne") and lexicon.knows_surname("Smith")
    assert not lexicon.knows_surname("Thornfield")


def test_whose_name_is_said_is_a_person_even_with_the_name_of_a_place(cast_of):
    text = (
        "Her name was Victoria, and she went to church. He could get to Victoria in twenty minutes. Poor Victoria! He was fond of her.\n\n"
    )
    assert kinds_of(cast_of(text), text)["Victoria"] == "person"


def test_first_names_of_the_period_that_the_census_lacks_are_known():
    first_names = load_lexicon().first_names
    assert first_names["Archibald"][0] == 0 and first_names["Jemima"][0] == 1
    assert first_names["Mary"][1] < 5  # the census comes first


def test_the_place_of_an_owner_says_nothing_of_the_owner():
    lexicon = load_lexicon()
    scan = scan_text("They waited in Trasker's library. They waited in Trasker, and then in Trasker's again.")
    spans = find_spans(scan, classify_words(scan, lexicon), lexicon)
    owners = [set(mention_signs(scan, span, lexicon)) for span in spans if span.words == ("trasker",)]
    assert ["in" in signs for signs in owners] == [False, True, False]
