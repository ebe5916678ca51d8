"""Questions, decisions, and the stop."""

from __future__ import annotations

import pytest

from penname.cast import Decision, Decisions, build, build_cast, load_decisions, run_cast, save_decisions
from penname.cast.build import Readings
from penname.cast.decide import Request, decide_by_hand
from penname.cast.decisions import idle_decisions
from penname.cast.stage import show_name, take_proposals
from penname.core import workers
from penname.core.config import CastConfig
from penname.core.errors import BadInput, NeedsPerson
from penname.core.folder import open_voice
from penname.core.stage import read_manifest, stage_writer
from penname.core.store import load_cast, save_book

from .conftest import book_of
from .test_linking import TALE, owner

TEXT = TALE * 3


def decided(*items: Decision) -> Decisions:
    return Decisions(items)


def test_merge_split_gender_keep_and_drop(cast_of):
    one = cast_of(TEXT, decided(Decision("merge", ("Mrs. Harkaway", "Joan"))))
    assert owner(one, TEXT, "Mrs. Harkaway") == owner(one, TEXT, "Joan")
    two = cast_of(TEXT, decided(Decision("split", ("Lizzy",))))
    assert owner(two, TEXT, "Lizzy") != owner(two, TEXT, "Elizabeth")
    three = cast_of(TEXT, decided(Decision("gender", ("Pole",), "unknown"), Decision("keep", ("Joan",)), Decision("drop", ("Lizzy",))))
    assert three.by_id()[owner(three, TEXT, "Pole")].gender == "unknown"
    assert three.by_id()[owner(three, TEXT, "Joan")].fixed
    assert not any(TEXT[m.start : m.end] == "Lizzy" for m in three.mentions)
    four = cast_of(TEXT, decided(Decision("kind", ("Pole", "Mr. Pole"), "other")))
    assert four.by_id()[owner(four, TEXT, "Pole")].kind == "other"


def test_link_moves_one_form_alone(cast_of):
    cast = cast_of(TEXT, decided(Decision("link", ("Miss Elizabeth", "Joan"))))
    assert owner(cast, TEXT, "Miss Elizabeth") == owner(cast, TEXT, "Joan") != owner(cast, TEXT, "Elizabeth")


def test_share_gives_each_mention_to_whom_the_context_names(cast_of):
    filler = "Nothing happened for a long while, and the rain fell on the roofs of the town. " * 100
    part = "{0} came in. She sat down. Mary laughed at her work. {0} went out again, and she was gone.\n\n"
    text = "\n\n".join((part.format("Mary Ingram") * 6, filler, part.format("Mary Rivers") * 5))
    shared = decided(Decision("share", ("Mary", "Mary Ingram", "Mary Rivers")))
    cast = cast_of(text, shared)
    marys = [m for m in cast.mentions if text[m.start : m.end] == "Mary"]
    ingram, rivers = owner(cast, text, "Mary Ingram"), owner(cast, text, "Mary Rivers")
    half = len(text) // 2
    assert {m.entity_id for m in marys if m.start < half} == {ingram}
    assert {m.entity_id for m in marys if m.start > half} == {rivers}


def test_a_person_wins_over_auto(cast_of):
    both = decided(Decision("gender", ("Pole",), "female", by="person"), Decision("gender", ("Pole",), "male", by="auto"))
    cast = cast_of(TEXT, both)
    assert cast.by_id()[owner(cast, TEXT, "Pole")].gender == "female"


def test_file_keeps_comments_and_round_trips(tmp_path):
    path = tmp_path / "decisions.toml"
    path.write_text(
        '# mine\n[[decision]]\n# she marries in chapter 38\naction = "merge"\nnames = ["Jane", "Mrs. Rochester"]\n', encoding="utf-8"
    )
    decisions = load_decisions(path)
    assert decisions.items == (Decision("merge", ("Jane", "Mrs. Rochester")),)
    more = decisions.add([Decision("keep", ("Pilot",), book="jane-eyre", question="name:pilot")])
    save_decisions(path, more)
    assert "# she marries in chapter 38" in path.read_text(encoding="utf-8")
    assert load_decisions(path) == more
    save_decisions(path, Decisions(more.items[1:]))
    assert load_decisions(path).items == more.items[1:]
    assert load_decisions(tmp_path / "none.toml") == Decisions()


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ('action = "marry"\nnames = ["A"]', "the actions are"),
        ('action = "merge"\nnames = ["A"]', "at least 2"),
        ('action = "merge"\nnames = ["A", "A"]', 'names "A" twice'),
        ('action = "kind"\nnames = ["A"]\nvalue = "ghost"', "person, place, other"),
        ('action = "keep"\nname = ["A"]', "none of"),
    ],
)
def test_faulty_decisions_are_refused_with_a_reason(tmp_path, row, says):
    path = tmp_path / "decisions.toml"
    path.write_text(f"[[decision]]\n{row}\n", encoding="utf-8")
    with pytest.raises(BadInput, match=says):
        load_decisions(path)


@pytest.mark.parametrize(
    ("text", "says"), [("decision = [3]", "decision 1 is 3; write it as a table"), ("[decisions]\na = 1", '"decisions" is none')]
)
def test_what_is_no_table_of_decisions_is_refused(tmp_path, text, says):
    (tmp_path / "decisions.toml").write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=says):
        load_decisions(tmp_path / "decisions.toml")


def test_a_decision_that_can_change_nothing_is_named():
    written = decided(
        Decision("keep", ("Mary-Ann O'Brien",)),
        Decision("merge", ("Mary", "Nobody Here"), book="tale"),
        Decision("keep", ("Mary",), book="tail"),
        Decision("keep", ("Nobody Else",), by="auto"),
    )
    assert idle_decisions(written, {"tale": "Mary, and Mary Ann O’Brien.", "other": "Nobody, here."}) == [
        'decision 2 (merge Mary, Nobody Here): "Nobody Here" stands in no book',
        'decision 3 (keep Mary) is for the book "tail", and the books are tale, other',
    ]


def voice_of(tmp_path, text: str):
    (tmp_path / "voice.toml").write_text('[voice]\nbooks = ["tale.txt"]\n', encoding="utf-8")
    voice = open_voice(tmp_path)
    with stage_writer(voice.books, stage="books", version=1, settings={}, inputs={}) as folder:
        save_book(folder / "tale", book_of(text))
    return voice


GIRLS = "Blanche Ingram sang. Mary Ingram listened. Miss Ingram smiled. Blanche was proud; she knew it. Mary was not; she slept.\n\n" * 9


def test_the_stage_stops_and_goes_on_with_answers(tmp_path):
    voice = voice_of(tmp_path, GIRLS)
    with pytest.raises(NeedsPerson, match="Miss Ingram") as stop:
        run_cast(voice)
    assert stop.value.exit_code == 3 and "proposed:" in str(stop.value) and "penname cast --decide auto" in str(stop.value)
    cast = load_cast(voice.cast / "tale.json")
    question = next(q for q in cast.unresolved if q.form == "Miss Ingram")
    assert question.id == "link:miss ingram" and len(question.snippets) == 3
    assert read_manifest(voice.cast).counts["unresolved"] == len(cast.unresolved)
    decide_by_hand(voice, Request(link=("Miss Ingram", "Blanche")))
    with pytest.raises(NeedsPerson) if len(cast.unresolved) > 1 else _nothing():
        run_cast(voice)
    after = load_cast(voice.cast / "tale.json")
    assert "link:miss ingram" in after.decided
    assert owner(after, GIRLS, "Miss Ingram") == owner(after, GIRLS, "Blanche") != owner(after, GIRLS, "Mary")
    with pytest.raises(BadInput, match='"ask" or "auto"'):
        run_cast(voice, decide="guess")
    manifest = run_cast(voice, decide="auto")
    assert manifest.counts["unresolved"] == 0
    assert {d.by for d in load_decisions(voice.decisions).items} <= {"person", "auto"}
    first = {path.name: path.read_bytes() for path in voice.cast.iterdir()}
    run_cast(voice)
    assert {path.name: path.read_bytes() for path in voice.cast.iterdir()} == first


class _nothing:
    def __enter__(self):
        return None

    def __exit__(self, *_):
        return False


def test_names_that_no_book_has_are_refused(tmp_path):
    voice = voice_of(tmp_path, GIRLS)
    run_cast(voice, decide="auto")
    with pytest.raises(BadInput, match='did you mean "Blanche"'):
        decide_by_hand(voice, Request(keep=("Blanch",)))
    assert "mentions" in show_name(voice, "Blanche")
    with pytest.raises(BadInput, match='there is no book "tail"; the books are tale'):
        show_name(voice, "Blanche", "tail")


def test_a_decision_beside_show_is_refused_and_not_dropped(tmp_path):
    from penname.cli.cast import cast

    voice = voice_of(tmp_path, GIRLS)
    run_cast(voice, decide="auto")
    before = voice.decisions.read_bytes() if voice.decisions.exists() else b""
    with pytest.raises(BadInput, match="--show only shows, and nothing was decided"):
        cast(voice.path, show="Blanche", drop=["Mary"])
    assert (voice.decisions.read_bytes() if voice.decisions.exists() else b"") == before


def test_at_most_so_many_questions():
    assert CastConfig().max_questions == 40


def test_the_proposals_are_taken_without_reading_the_books_again(monkeypatch):
    readings = Readings([book_of(TEXT)], CastConfig(min_mentions=1), series=False)
    monkeypatch.setattr(build, "scan_text", lambda text: pytest.fail("the book is read again"))
    before = readings.casts(Decisions())[0]
    assert before.unresolved
    after, decisions, taken = take_proposals(readings, Decisions())
    assert (len(after[0].unresolved), taken) == (0, len(decisions.items))
    assert readings.casts(Decisions())[0] == before  # what was decided is not left behind in what was read
    monkeypatch.undo()
    assert build_cast([book_of(TEXT)], decisions, settings=CastConfig(min_mentions=1)) == after


def test_a_kind_that_a_person_gave_is_not_left_behind():
    readings = Readings([book_of(TEXT)], CastConfig(), series=False)
    first = readings.casts(Decisions())[0]
    changed = readings.casts(decided(Decision("kind", ("Pole", "Mr. Pole"), "other")))[0]
    assert changed.by_id()[owner(changed, TEXT, "Pole")].kind == "other"
    assert readings.casts(Decisions())[0] == first


def test_books_are_answered_in_several_processes_as_in_one(monkeypatch):
    books = [book_of(TEXT, "one"), book_of(TEXT.replace("Pole", "Quill"), "two")]
    readings = Readings(books, CastConfig(min_mentions=1), series=False)
    monkeypatch.setattr(workers, "core_count", lambda: 2)
    apart = take_proposals(readings, Decisions())
    monkeypatch.setattr(workers, "core_count", lambda: 1)
    assert take_proposals(readings, Decisions()) == apart
    assert {decision.book for decision in apart[1].items} == {"one", "two"}
