"""Asking, asking again with the reason, falling to keywords, and a cache that makes every re-run cheap and the same."""

from __future__ import annotations

import asyncio
from itertools import pairwise
from pathlib import Path

import pytest
from synthetic import good_line, index_in, synthetic_book

from penname.beats import Gate, KeywordAnnotator, cut_passages
from penname.beats.annotate import Annotated, Annotation
from penname.beats.annotator import Answer, Ask, Refusal
from penname.beats.cache import CachedAnswer, answer_key, open_cache
from penname.core.config import BeatsConfig
from penname.core.errors import BadInput, PennameError

BOOK, CAST = synthetic_book(30)
PASSAGES = cut_passages(BOOK, BeatsConfig(passage_words_min=20, passage_words_max=40))
GATE = Gate(BOOK, CAST)
ASKED_WITH = {"prompt": "1", "model": "m"}


class Scripted:
    """Answers from a table of passage index -> lines, one an attempt; a good line where the table has none."""

    model, style = "m", "sentence"

    def __init__(self, table: dict[int, list[str | Answer]] | None = None, stop_after: int = 10**9) -> None:
        self.table, self.asks, self.stop_after = table or {}, [], stop_after

    async def answer(self, ask: Ask) -> Answer:
        await asyncio.sleep(0)
        if len(self.asks) >= self.stop_after:
            raise KeyboardInterrupt
        self.asks.append(ask)
        index = index_in(ask.text)
        lines = self.table.get(index, [])
        line = lines[ask.attempt] if ask.attempt < len(lines) else good_line(index)
        return line if isinstance(line, Answer) else Answer(line, line, None, 10, 2)

    async def close(self) -> None:
        pass


def run(
    annotator: Scripted, path: Path | None = None, *, attempts: int = 3, share: float = 0.2, asked_with=ASKED_WITH, workers: int = 4
) -> Annotated:
    keywords = KeywordAnnotator([BOOK], PASSAGES, {BOOK.id: GATE.names})
    annotation = Annotation(
        PASSAGES, {BOOK.id: BOOK}, {BOOK.id: GATE}, keywords, attempts=attempts, max_fallback_share=share, workers=workers
    )
    with open_cache(path) as cache:
        if missing := annotation.prepare(cache, asked_with, annotator.style):
            annotation.ask(annotator, missing)
        annotation.check_falls()
        return annotation.finish(annotator.model)


def test_every_passage_gets_its_beat_in_order() -> None:
    annotator = Scripted()
    done = run(annotator)
    assert [beat.text for beat in done.beats] == [good_line(i) for i in range(30)]
    assert [beat.passage_id for beat in done.beats] == [p.id for p in PASSAGES]
    assert {(beat.style, beat.source) for beat in done.beats} == {("sentence", "m")}
    assert (done.asked, done.prompt_tokens, done.completion_tokens, done.fallbacks, done.rejected) == (30, 300, 60, 0, [])
    assert annotator.asks[0].names == ("Tom Hale", "Ann", "Harrow")


def test_a_refused_beat_is_asked_for_again_with_the_reason() -> None:
    annotator = Scripted({4: ["This scene shows Tom.", "Rodolphus hides a key."]})
    done = run(annotator)
    asks = [ask for ask in annotator.asks if index_in(ask.text) == 4]
    assert [ask.attempt for ask in asks] == [0, 1, 2]
    assert asks[1].refused[-1][0] == "This scene shows Tom." and "This scene" in asks[1].refused[-1][1].reason
    assert "Rodolphus" in asks[2].refused[-1][1].reason
    assert [(row["passage_id"], row["attempt"], row["rule"]) for row in done.rejected] == [
        (PASSAGES[4].id, 0, "meta"),
        (PASSAGES[4].id, 1, "names"),
    ]
    assert done.beats[4].text == good_line(4)


def test_after_the_set_attempts_it_falls_to_keywords_marked() -> None:
    done = run(Scripted({7: ["", "The passage.", "In this scene."]}))
    assert (done.fallbacks, done.beats[7].style, done.beats[7].source) == (1, "keywords", "keywords")
    assert GATE.check(done.beats[7].text, PASSAGES[7], "keywords") is None


def test_too_many_falls_stop_and_say_why(tmp_path: Path) -> None:
    bad = {i: ["This scene shows Tom."] * 3 for i in range(8)}
    with pytest.raises(PennameError, match=r"7 of 30 beats fell to keywords.*meta 21"):
        run(Scripted(bad), tmp_path / "c")
    annotator = Scripted(bad)
    with pytest.raises(PennameError, match="fell to keywords"):  # and again without asking at all
        run(annotator, tmp_path / "c")
    assert annotator.asks == []


def test_what_cannot_get_better_stops_all_who_ask() -> None:
    class WithoutCredit(Scripted):
        async def answer(self, ask: Ask) -> Answer:
            if index_in(ask.text) == 0:
                raise BadInput("no credit left")
            return await super().answer(ask)

    annotator = WithoutCredit()
    with pytest.raises(BadInput, match="no credit left"):
        run(annotator)
    assert len(annotator.asks) < 12  # of the other 29: those under way, and no new ones


def test_a_fault_is_a_refusal_and_its_rule_is_kept() -> None:
    cut = Answer("", "Tom hides", Refusal("truncated", "it was cut off"), 5, 400)
    done = run(Scripted({2: [cut]}))
    assert [(row["rule"], row["raw"]) for row in done.rejected] == [("truncated", "Tom hides")]


def test_neighbours_never_repeat_whichever_came_first() -> None:
    done = run(Scripted({11: [good_line(10), good_line(12)]}))
    texts = [beat.text for beat in done.beats]
    assert all(a != b for a, b in pairwise(texts))
    assert {row["rule"] for row in done.rejected} == {"repeat"}


def test_a_rerun_asks_nothing_and_gives_the_same(tmp_path: Path) -> None:
    table = {4: ["This scene shows Tom."], 7: [""] * 3, 11: [good_line(10), good_line(12)]}
    first = run(Scripted(table), tmp_path / "c")
    annotator = Scripted()
    second = run(annotator, tmp_path / "c")
    assert annotator.asks == []
    assert (second.beats, second.rejected) == (first.beats, first.rejected)


@pytest.mark.parametrize("stop_after", [1, 5, 17, 29, 33])
def test_interrupted_anywhere_it_asks_only_what_is_missing(tmp_path: Path, stop_after: int) -> None:
    table = {4: ["This scene shows Tom.", "Rodolphus."], 20: ["", "The passage."]}
    first = Scripted(table, stop_after)
    with pytest.raises(KeyboardInterrupt):
        run(first, tmp_path / "c", workers=1)
    second = Scripted(table)
    done = run(second, tmp_path / "c", workers=1)
    assert len(first.asks) + len(second.asks) == 34
    asked = [(index_in(ask.text), ask.attempt) for ask in first.asks + second.asks]
    assert len(set(asked)) == 34
    assert [beat.text for beat in done.beats] == [good_line(i) for i in range(30)]


def test_a_changed_prompt_or_model_asks_again_and_a_raised_limit_only_for_what_fell(tmp_path: Path) -> None:
    table = {7: [""] * 3}
    run(Scripted(table), tmp_path / "c")
    annotator = Scripted(table)
    run(annotator, tmp_path / "c", attempts=4)
    assert [(index_in(ask.text), ask.attempt) for ask in annotator.asks] == [(7, 3)]
    annotator = Scripted()
    run(annotator, tmp_path / "c", asked_with={**ASKED_WITH, "prompt": "2"})
    assert len(annotator.asks) == 30


def test_the_key_depends_on_all_that_shapes_an_answer() -> None:
    keys = {
        answer_key({"prompt": "1", "model": "m"}, "text"),
        answer_key({"prompt": "2", "model": "m"}, "text"),
        answer_key({"prompt": "1", "model": "n"}, "text"),
        answer_key({"prompt": "1", "model": "m"}, "text."),
        answer_key({"prompt": "1", "model": "m"}, "text", 1),
    }
    assert len(keys) == 5
    assert answer_key({"model": "m", "prompt": "1"}, "text") in keys


def test_a_stricter_gate_asks_again_for_what_no_longer_passes(tmp_path: Path) -> None:
    run(Scripted(), tmp_path / "c")
    with open_cache(tmp_path / "c") as cache:  # as if an earlier gate had let it through
        key = answer_key(ASKED_WITH, BOOK.text[PASSAGES[3].start : PASSAGES[3].end])
        cache.put(key, CachedAnswer(0, "This scene shows Tom.", "", "", ""))
    annotator = Scripted({3: ["", good_line(3)]})
    done = run(annotator, tmp_path / "c")
    assert [(index_in(ask.text), ask.attempt) for ask in annotator.asks] == [(3, 1)]
    assert [row["rule"] for row in done.rejected] == ["meta"]


def test_a_file_that_is_no_cache_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "c").write_bytes(b"not a database at all, but long enough to be looked at" * 50)
    with pytest.raises(BadInput, match="cannot be used as the cache of beats"):
        run(Scripted(), tmp_path / "c")


def test_a_cache_that_cannot_be_opened_is_not_to_be_moved_away(tmp_path: Path) -> None:
    """It holds answers that were paid for: only a file that is no cache is in the way."""
    (tmp_path / "c").mkdir()
    with pytest.raises(PennameError, match=r"cannot be read or written \(unable to open database file\).*Every answer in it is kept"):
        run(Scripted(), tmp_path / "c")
