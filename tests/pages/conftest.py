"""A desk over a hand-made cast, with the real decisions file; and facts in which every text is hostile."""

from __future__ import annotations

import shutil
from types import SimpleNamespace

import pytest

from penname.cast import load_decisions, save_decisions
from penname.cast.stage import proposed
from penname.core.folder import VoiceFolder, open_voice
from penname.core.values import Book, Cast, Chapter, Edit, Entity, Mention, Question, RenamedCopy, apply_edits
from penname.pages.desk import CastTools, Desk
from penname.pages.gather import BookFacts, Facts, RunFacts

HOSTILE = "<script>alert(1)</script>\"'&amp;<b>\u202egnp\u0007\u05d0\u05d1"
SHOWN = "<script>alert(1)</script>\"'&amp;<b>\ufffdU+202Egnp\ufffdU+0007\u05d0\u05d1"  # the same as text, its controls by their codes
PORT = 4711
TOKEN = "the-token"


def make_book(book_id: str = "tale", name: str = "Mary", title: str = "A Tale") -> Book:
    text = f"{name} met John Reed.\n\n{name} and John spoke.\n\nJohn left."
    return Book(book_id, title, "Nobody", text, (Chapter("chapter", 1, "", 0, len(text), 0),))


def make_cast(book: Book, name: str, answered: set[str]) -> Cast:
    """Two people; two questions, John's (3 mentions) before ``name``'s (2), and a third once both are answered."""
    spans = []
    for surface, entity in ((name, "p1"), ("John", "p2")):
        at = -1
        while (at := book.text.find(surface, at + 1)) >= 0:
            spans.append(Mention(at, at + len(surface), entity))
    link = {"action": "link", "names": [name, "John Reed"]}
    questions = [
        Question(
            f"link:{name}",
            "link",
            name,
            ("p1", "p2"),
            2,
            link,
            f"{name} can be {name}",
            ((0, 30),),
            ({"action": "split", "names": [name]},),
        ),
        Question(
            "gender:john", "gender", "John", ("p2",), 3, {"action": "gender", "names": ["John"], "value": "male"}, "is John he?", ((0, 30),)
        ),
    ]
    if {q.id for q in questions} <= answered:
        questions.append(Question("kind:late", "kind", "Late", ("p1",), 1, {"action": "keep", "names": ["Late"]}, "laid open", ()))
    people = (
        Entity("p1", "person", "female", (name,), "Reed"),
        Entity("p2", "person", "male", ("John", "John Reed"), "Reed", evidence=("Mr.",)),
    )
    return Cast(book.id, people, tuple(sorted(spans)), tuple(q for q in questions if q.id not in answered))


def make_desk(voice: VoiceFolder, books: list[Book], name: str = "Mary") -> Desk:
    def rename(book: Book, cast: Cast) -> RenamedCopy:
        edits = tuple(Edit(m.start, m.end, "Ann", m.entity_id) for m in cast.mentions if m.entity_id == "p1")
        return RenamedCopy(book.id, 1, apply_edits(book.text, edits), edits, {name: "Ann"})

    tools = CastTools(
        load=lambda: load_decisions(voice.decisions),
        save=lambda decisions: save_decisions(voice.decisions, decisions),
        build=lambda of, decisions: [make_cast(book, name, decisions.answered(book.id)) for book in of],
        answer=lambda row, book, question: proposed(row, book, question, by="person"),
        rename=rename,
    )
    return Desk(voice, books, tools)


@pytest.fixture
def empty_voice(tmp_path) -> VoiceFolder:
    """A voice folder with nothing but its configuration."""
    folder = tmp_path / "voice"
    folder.mkdir()
    (folder / "voice.toml").write_text('[voice]\nname = "tiny"\n')
    return open_voice(folder)


@pytest.fixture
def desk(empty_voice) -> Desk:
    return make_desk(empty_voice, [make_book()])


@pytest.fixture
def hostile_desk(empty_voice) -> Desk:
    return make_desk(empty_voice, [make_book(name=HOSTILE, title=HOSTILE)], HOSTILE)


@pytest.fixture
def hostile_facts() -> Facts:
    """Every stage finished, and every text in it hostile."""
    figures = {"auc": 0.97, "low": 0.93, "high": 1.0, "p": 0.001, "n_high": 9, "n_low": 8}
    controls = {
        "passed": True,
        "reasons": [],
        "positive": {HOSTILE: figures},
        "negative": {"shuffled labels": figures},
        "scores": {HOSTILE: [1.0, 2.0], "base model": [-3.0]},
    }
    run = {
        "run": HOSTILE, "arm": "a", "seed": 1, "share": 0.61, "copied_share": 0.004, "longest_copy": 9, "original_names": 2,
        "degeneration": {"repeated_mean": 0.02}, "perplexity": 21.5, "true_beat_wins": 0.9,
    }  # fmt: skip
    rates = {"over_8": 0.001, "over_20": 0.0, "longest": 8, "heldout_over_8": 0.0}
    verdict = {
        "verdict": "passed", "sentence": HOSTILE, "reasons": [HOSTILE], "claims": [HOSTILE],
        "arms": [
            {"name": HOSTILE, "share": 0.6, "per_seed": [0.61, 0.59], "verdict": "passed"},
            {"name": "b", "share": 0.2, "per_seed": [0.2], "verdict": "failed"},
        ],
        "runs": [run],
        "baseline": {"copied": {"author, held out": rates, "base model": rates}, "likelihood": {"perplexity": 30.0, "true_beat_wins": 0.8}},
        "plots": {
            "scores": {HOSTILE: [0.5, 0.7]},
            "map": [{"group": HOSTILE, "x": 0.0, "y": 1.0}, {"group": "author", "x": 1.0, "y": 0.0}],
            "drivers": {HOSTILE: [{"feature": HOSTILE, "log_odds": -0.1}]},
        },
        "passages": [{"beat": HOSTILE, "texts": {"author": f"one two {HOSTILE}", HOSTILE: HOSTILE}}],
    }  # fmt: skip
    record = {
        "seed": 1, "state": "complete", "steps": 2, "steps_done": 2, "trained_tokens": 1234, "hours": {"planned": 0.5, "actual": 1.0},
        "carrier": {"name": HOSTILE, "kind": "base", "layout": "dense", "files": {HOSTILE: "ab" * 32}},
        "lora": {"modules": 4, "parameters": 1000, "dtype": "fp32"}, "device": "cpu", "dtype": "float32", "threads": 1,
        "resolved": {"attention": HOSTILE}, "libraries": {HOSTILE: "1"}, "adapter_sha256": "cd" * 32,
    }  # fmt: skip
    curation = {
        "beats": 3, "style": "keywords", "rejected": 1, "rejected_by_rule": {HOSTILE: 1}, "verb_share": 0.1,
        "words": {"mean": 12.0, "histogram": {"12": 3}}, "names_per_beat": {"mean": 2.0},
    }  # fmt: skip
    return Facts(
        name=HOSTILE,
        carrier=HOSTILE,
        books=(BookFacts("b", HOSTILE, HOSTILE, 1000, 3, 1, {HOSTILE: 10}, 60, (HOSTILE,), 4, 2, 30, 0),),
        others=(HOSTILE,),
        copies=6,
        curation=curation,
        beat_examples=((HOSTILE, HOSTILE),),
        shards=None,
        registration={"hash": "ef" * 32, "registered_unix": 0, "samples": 8, "block_words": 300, "thresholds": {"auc_floor": 0.9}},
        controls=controls,
        verdict=verdict,
        runs=(RunFacts(HOSTILE, record, ((1, 2.0), (2, 1.5)), ((0, 2.2), (2, 1.9)), ()),),
        curves=({"curve": "steps", "x_label": "step", "y_label": "share", "y": "share", "sentence": HOSTILE,
                 "points": [{"x": 0, "share": 0.1, "per_run": [0.1]}, {"x": 9, "share": 0.4, "per_run": [0.3, 0.5]}]},),
        seconds={HOSTILE: 3.0},
        config={"voice": {"name": HOSTILE, "books": [HOSTILE], "others": []}},
    )  # fmt: skip


@pytest.fixture
def chromium() -> str:
    """The system's Chromium; skips where there is none."""
    found = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not found:
        pytest.skip("no Chromium or Chrome is installed here: the pages are driven in a real browser")
    return found


@pytest.fixture
def client_of():
    """A function from a desk to a client that has opened the page with its token."""
    from starlette.testclient import TestClient

    from penname.pages.review import review_app

    def make(desk: Desk, opened: bool = True) -> TestClient:
        client = TestClient(
            review_app(desk, TOKEN, PORT), base_url=f"http://127.0.0.1:{PORT}", headers={"origin": f"http://127.0.0.1:{PORT}"}
        )
        if opened:
            assert client.get("/", params={"token": TOKEN}).status_code == 200
        return client

    return make


@pytest.fixture
def answers():
    """What a form of the page sends."""

    def make(desk: Desk, choice: str = "proposal", name: str = "", place: int = 0, token: str = TOKEN) -> dict[str, str]:
        return {"token": token, "question": desk.queue()[place].key, "choice": choice, "name": name}

    return make


@pytest.fixture
def names() -> SimpleNamespace:
    """The constants and makers above: test files of a room cannot import its conftest."""
    return SimpleNamespace(HOSTILE=HOSTILE, SHOWN=SHOWN, PORT=PORT, TOKEN=TOKEN, make_book=make_book, make_desk=make_desk)
