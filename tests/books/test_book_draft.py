"""The map from a text back to its source."""

from __future__ import annotations

import itertools
import re

from hypothesis import given
from hypothesis import strategies as st

from penname.books.draft import Draft


def test_a_removed_span_points_into_the_source_through_later_steps() -> None:
    draft = Draft("one\r\ntwo [note] three")
    draft.replace_all("\r\n", "\n")
    draft.rewrite([(8, 15, "", "footnote")])
    draft.rewrite([(3, 4, " ", "join")])
    assert draft.text == "one two three"
    (gone,) = draft.removed()
    assert (gone.start, gone.end, gone.rule, gone.text) == (9, 16, "footnote", "[note] ")
    assert draft.source[9:16] == "[note] "


def test_a_later_removal_goes_around_an_earlier_one() -> None:
    draft = Draft("keep _this_ go")
    draft.rewrite([(5, 6, "", "italics"), (10, 11, "", "italics")])
    draft.rewrite([(5, 9, "", "left-out")])
    assert draft.text == "keep  go"
    assert [(r.text, r.rule) for r in draft.removed()] == [("_", "italics"), ("this", "left-out"), ("_", "italics")]


def test_marks_move_with_their_text_and_leave_a_rewritten_span_by_its_start() -> None:
    draft = Draft("aa bb cc")
    draft.marks = [0, 3, 4, 6, 8]
    draft.rewrite([(0, 2, "A", "x"), (3, 5, "BBBB", "x")])
    assert draft.text == "A BBBB cc"
    assert draft.marks == [0, 2, 2, 7, 9]


def test_source_spans_take_in_all_that_a_replacement_stands_for() -> None:
    draft = Draft("wait -- here")
    draft.rewrite([(4, 8, "—", "dash")])
    assert draft.text == "wait—here"
    assert draft.source_spans([(4, 5), (0, 9)]) == [(4, 8), (0, 12)]


@given(
    st.text(alphabet="ab \n-", max_size=60),
    st.lists(st.tuples(st.sampled_from(["a", "b", "ab", " ", "\n", "--", "-"]), st.sampled_from(["", "x", "yy"])), max_size=5),
)
def test_every_character_is_kept_rewritten_or_removed(source: str, steps: list[tuple[str, str]]) -> None:
    draft = Draft(source)
    for old, new in steps:
        draft.rewrite((m.start(), m.end(), new, "rule") for m in re.finditer(re.escape(old), draft.text))
    removed = draft.removed()
    assert all(source[r.start : r.end] == r.text and r.text for r in removed)
    assert all(a.end <= b.start for a, b in itertools.pairwise(removed))
    told = sum(len(r.text) for r in removed)
    spans = draft.source_spans([(i, i + 1) for i in range(len(draft.text))])
    covered = set().union(*(range(a, b) for a, b in spans)) if spans else set()
    gone = {i for r in removed for i in range(r.start, r.end)}
    assert covered | gone == set(range(len(source)))
    assert told == len(gone)
