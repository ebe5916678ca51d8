"""Each rule of the gate fires on a beat made to break it, and lets one pass that does not."""

from __future__ import annotations

import pytest

from penname.beats.gate import RULES

GOOD = "Jane hides a bottle from John as he walks in."
BROKEN = [
    ("empty", ""),
    ("empty", "..."),
    ("empty", "Jane Reed"),  # nothing happens
    ("lines", "Jane hides a bottle.\nJohn walks in."),
    ("words", "Jane hides a bottle from John and then she waits and waits until he has looked at every jar in there twice."),
    ("meta", "The passage shows Jane as she hides a bottle."),
    ("meta", "In this scene, Jane hides a bottle."),
    ("meta", "Jane, the narrator, hides a bottle."),
    ("meta", "The author lets Jane hide a bottle."),
    ("meta", "A line which describes Jane and a bottle."),
    ("meta", "Jane hides a bottle in this excerpt."),
    ("meta", "Summary: Jane hides a bottle."),
    ("meta", "That cannot be used: the answer was cut off; answer with one short line only."),  # as SmolLM2-135M did
    ("meta", "A child, left among the preserves, steals hidden money."),  # an example of the prompt, handed back
    ("refusal", "I'm sorry, but I can't help with that."),
    ("refusal", "I cannot provide a line for this."),
    ("refusal", "As an AI language model, I hide nothing."),
    ("names", "Rodolphus hides a bottle from John."),
    ("names", "Jane hides a bottle from Bessie."),
    ("names", "Jane hides a bottle from john."),
    ("names", "JANE hides a bottle."),
    ("names", "Hope fades as a door opens."),  # Mr. Hope is not here, and a copy must not keep the word
    ("copied", "Jane felt along the shelf until John walks in."),
    ("repeat", "A great fire, and the fire is a great fire; it is a great fire."),
    ("language", "Jane cache la bouteille et elle ne la trouve pas."),
    ("language", "Jane versteckt die Flasche und er sieht sie nicht."),
    ("language", "Джейн прячет бутылку от брата."),
]


@pytest.mark.parametrize("rule, line", BROKEN)
def test_a_rule_fires(town, rule: str, line: str) -> None:
    _, _, passages, gate = town
    refusal = gate.check(line, passages[0])
    assert refusal is not None and refusal.rule == rule
    assert refusal.reason


def test_every_rule_has_a_beat_that_breaks_it() -> None:
    assert {rule for rule, _ in BROKEN} == set(RULES)


@pytest.mark.parametrize(
    "line",
    [
        GOOD,
        "Jane hides a bottle; John's step is on the stair.",
        "The Reeds quarrel over a bottle, and she wins.",  # a plural of a name of the cast
        "In the dark, a girl finds brandy and puts it out of sight before her brother sees it.",
        "Jane and John Reed: the hidden bottle, a light, the open door, I fear, on Sunday in English.",
        "Jane hides a bottle at Saltmarrow.",  # of the cast, although not in the passage
        "She felt along the shelf for it.",  # four copied words are allowed
        "Jane hides it and waits and waits, and John never looks.",
    ],
)
def test_a_good_beat_passes(town, line: str) -> None:
    _, _, passages, gate = town
    assert gate.check(line, passages[0]) is None


def test_a_repeat_is_refused_and_a_new_line_is_not(town) -> None:
    _, _, passages, gate = town
    assert gate.check(GOOD, passages[0], neighbours=[GOOD.lower()]).rule == "repeat"
    assert gate.check("Jane hides a bottle from John when he walks in.", passages[0], neighbours=[GOOD]).rule == "repeat"
    assert gate.check(GOOD, passages[0], neighbours=["John looks for the bottle and finds flour."]) is None


def test_twenty_words_pass_and_twenty_one_do_not(town) -> None:
    _, _, passages, gate = town
    twenty = "Jane hides a bottle—one—behind flour; John comes in with a light and looks at her and she smiles."
    assert gate.check(twenty, passages[0]) is None
    refusal = gate.check(twenty.replace("smiles", "only smiles"), passages[0])
    assert (refusal.rule, refusal.reason) == ("words", "it has 21 words; at most 20 are allowed")


def test_a_name_that_is_a_word_is_a_name_where_its_bearer_is(town) -> None:
    _, _, passages, gate = town
    assert gate.check("Hope waits outside and refuses to enter.", passages[1]) is None
    assert [span.entity_id for span in gate.names.spans("Hope waits outside and refuses to enter.", passages[1])] == ["p3"]
    assert gate.names.spans("She gives up all hope and leaves.", passages[1]) == ()


def test_names_resolve_through_the_mentions_of_the_passage(town) -> None:
    _, _, passages, gate = town

    def found(line: str, passage: int) -> list[tuple[str, str]]:
        return [(line[s.start : s.end], s.entity_id) for s in gate.names.spans(line, passages[passage])]

    assert found("Gilbert cuts a hole and Old Gilbert Sallow's money runs out.", 2) == [("Gilbert", "p5"), ("Old Gilbert Sallow", "p4")]
    assert found("Jane borrows rope from the Swan.", 1) == [("Jane", "p1"), ("the Swan", "o1")]
    assert found("Sallow waits; Gilbert counts.", 0) == [("Sallow", "p4"), ("Gilbert", "p4")]  # neither is here: the better known
    assert found("John Reed's sister lies; the Reeds always do.", 0) == [("John Reed", "p2"), ("Reed", "p1")]


def test_names_inside_words_are_no_names(town) -> None:
    _, _, passages, gate = town
    assert gate.names.spans("Janet and Johnson walk in.", passages[0]) == ()
    assert gate.check("Janet hides a bottle from him.", passages[0]).rule == "names"


def test_a_book_in_another_language_wants_its_own() -> None:
    from penname.beats import Gate
    from penname.core.values import Book, Cast, Passage

    text = "Marie cacha la bouteille derrière la farine, et son frère entra dans la cuisine avec une lumière; elle ne dit rien à personne."
    gate = Gate(Book("f", "F", "A", text, (), language="fr"), Cast("f", (), ()))
    passage = Passage("f:0:0", "f", 0, 0, len(text), "train")
    assert gate.check("Marie ment à son frère dans la cuisine.", passage) is None
    assert gate.check("Marie lies to her brother and he believes it.", passage).rule == "language"
