"""The review page: who may open it, what an answer does to decisions.toml, and that no text in it runs."""

from __future__ import annotations

import fcntl
import tomllib
from dataclasses import replace

import pytest
from lxml import html

from penname.core.errors import BadInput, PennameError
from penname.pages.review import _snippet
from penname.pages.server import serve_review


def decisions(voice):
    return tomllib.loads(voice.decisions.read_text())["decision"]


def test_the_token_opens_it_once_and_then_the_cookie_does(desk, client_of, names):
    client = client_of(desk, opened=False)
    assert client.get("/").status_code == 403
    assert client.get("/", params={"token": "wrong"}).status_code == 403
    answer = client.get("/", params={"token": names.TOKEN}, follow_redirects=False)
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert answer.headers["set-cookie"] == f"penname_review_{names.PORT}={names.TOKEN}; HttpOnly; Path=/; SameSite=strict"
    assert client.get("/").status_code == 200
    assert client.get("/static/review.js").status_code == 200


def test_static_files_want_the_token_too(desk, client_of):
    assert client_of(desk, opened=False).get("/static/review.js").status_code == 403


@pytest.mark.parametrize("host", ["evil.example:4711", "127.0.0.1:80", "127.0.0.1", "127.0.0.1.evil.example:4711"])
def test_another_host_is_refused(desk, client_of, host):
    answer = client_of(desk).get("/", headers={"host": host})
    assert (answer.status_code, "loopback" in answer.text) == (403, True)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:80", "https://127.0.0.1:4711", ""])
def test_another_origin_is_refused_and_nothing_is_written(desk, client_of, answers, origin):
    answer = client_of(desk).post("/decide", data=answers(desk), headers={"origin": origin})
    assert answer.status_code == 403
    assert not desk.voice.decisions.exists()


def test_a_form_without_origin_is_refused(desk, client_of, answers):
    client = client_of(desk)
    del client.headers["origin"]
    assert client.post("/decide", data=answers(desk)).status_code == 403
    assert client.get("/").status_code == 200  # a browser names none when it only looks


def test_a_form_does_not_open_the_page(desk, client_of, answers, names):
    answer = client_of(desk, opened=False).post("/decide", data=answers(desk), params={"token": names.TOKEN})
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    assert not desk.voice.decisions.exists()


@pytest.mark.parametrize("path", ["/decide", "/undo"])
def test_a_form_without_the_token_is_refused(desk, client_of, answers, path):
    answer = client_of(desk).post(path, data=answers(desk, token="wrong"))
    assert (answer.status_code, "form is not this server's" in answer.text) == (403, True)
    assert not desk.voice.decisions.exists()


def test_every_answer_has_a_strict_policy(desk, client_of):
    client = client_of(desk)
    for answer in (client.get("/"), client.get("/people"), client.get("/static/review.css"), client.get("/nowhere")):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'")
        assert "unsafe" not in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"


def test_most_frequent_first_and_a_skipped_one_last(desk):
    first, second = desk.queue()
    assert [first.question.form, second.question.form] == ["John", "Mary"]
    assert [one.question.form for one in desk.queue([first.key])] == ["Mary", "John"]
    assert [one.question.form for one in desk.queue([second.key, first.key])] == ["Mary", "John"]


def test_what_was_skipped_stays_last_after_an_answer(desk, client_of, answers):
    key = desk.queue()[0].key
    form = {**answers(desk, place=1), "skip": f"{key},<b>,,{key}"}
    assert client_of(desk).post("/decide", data=form, follow_redirects=False).headers["location"] == f"/?note=1&skip={key}"


def test_the_answer_is_on_disk_before_the_page_says_so(desk, client_of, answers):
    client = client_of(desk)
    answer = client.post("/decide", data=answers(desk), follow_redirects=False)
    assert decisions(desk.voice) == [
        {"book": "tale", "question": "gender:john", "action": "gender", "names": ["John"], "value": "male", "by": "person"}
    ]
    page = client.get(answer.headers["location"]).text
    assert "Saved. John: John is male" in page
    assert "1 left, 1 decided" in page


def test_a_question_marks_whom_it_is_about(desk, client_of):
    def marked(**params):
        return [mark.text for mark in html.fromstring(client_of(desk).get("/", params=params).text).xpath("//main//mark")]

    assert marked() == ["John"]
    assert marked(skip=desk.queue()[0].key) == ["Mary", "John", "Mary"]
    unnamed = replace(desk.queue()[0], question=replace(desk.queue()[0].question, form="Reed", entity_ids=()))
    assert "John <mark>Reed</mark>." in _snippet(unnamed, 0, 30)


def test_nobody_can_make_the_page_say_saved(desk, client_of):
    assert "Saved" not in client_of(desk).get("/", params={"note": "Saved. Mary", "said": "Saved. Mary"}).text


@pytest.mark.parametrize(
    ("choice", "name", "row"),
    [
        ("option:0", "", {"action": "split", "names": ["Mary"]}),
        ("merge", " John  Reed ", {"action": "link", "names": ["Mary", "John Reed"]}),
        ("keep", "", {"action": "keep", "names": ["Mary"]}),
        ("drop", "", {"action": "drop", "names": ["Mary"]}),
        ("split", "", {"action": "split", "names": ["Mary"]}),
        ("kind:place", "", {"action": "kind", "names": ["Mary"], "value": "place"}),
        ("gender:female", "", {"action": "gender", "names": ["Mary"], "value": "female"}),
    ],
)
def test_each_choice_writes_its_decision(desk, choice, name, row):
    desk.decide(desk.queue()[1].key, choice, name)
    assert decisions(desk.voice) == [{"book": "tale", "question": "link:Mary", **row, "by": "person"}]


@pytest.mark.parametrize(
    ("choice", "name", "said"),
    [
        ("merge", "Jon Reed", 'A Tale has nobody called "Jon Reed"; did you mean "John Reed"?'),
        ("merge", " ", "merge wants a name: who is it?"),
        ("option:7", "", '"option:7" is no answer to a question'),
        ("kind:ghost", "", 'decision (kind) cannot be "ghost"; it can be person, place, other'),
    ],
)
def test_an_answer_that_cannot_be_is_refused(desk, choice, name, said):
    with pytest.raises(BadInput) as caught:
        desk.decide(desk.queue()[1].key, choice, name)
    assert str(caught.value) == said
    assert not desk.voice.decisions.exists()


def test_an_answer_can_lay_open_another_question(desk):
    for one in desk.queue():
        desk.decide(one.key, "proposal")
    assert [one.question.form for one in desk.queue()] == ["Late"]


def test_an_answer_waits_for_whoever_works_in_the_folder(desk, monkeypatch):
    key = desk.queue()[0].key
    with (desk.voice.path / ".lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        monkeypatch.setattr("penname.pages.desk.LOCK_SECONDS", -1.0)
        with pytest.raises(PennameError, match="another penname works in"):
            desk.decide(key, "proposal")
        assert not desk.voice.decisions.exists()
        monkeypatch.setattr("penname.pages.desk.LOCK_SECONDS", 10.0)
        monkeypatch.setattr("penname.pages.desk.time.sleep", lambda seconds: fcntl.flock(other, fcntl.LOCK_UN))
        desk.decide(key, "proposal")
    assert len(decisions(desk.voice)) == 1


def test_two_tabs_never_lose_an_answer(empty_voice, names, client_of, answers):
    one, other = (names.make_desk(empty_voice, [names.make_book()]) for _ in range(2))  # two servers are two tabs and more
    first, second = answers(one, place=0), answers(other, place=1)
    assert client_of(one).post("/decide", data=first).status_code == 200
    again = client_of(other).post("/decide", data={**first, "choice": "gender:female"})
    assert (again.status_code, "decided meanwhile, elsewhere: John is male" in again.text) == (409, True)
    assert client_of(other).post("/decide", data=second).status_code == 200
    assert [row["question"] for row in decisions(empty_voice)] == ["gender:john", "link:Mary"]
    assert decisions(empty_voice)[0]["value"] == "male"


def test_the_same_question_of_two_books_is_answered_for_each(empty_voice, names):
    desk = names.make_desk(empty_voice, [names.make_book("one"), names.make_book("two")])
    for one in desk.queue()[:2]:
        desk.decide(one.key, "proposal")
    assert [(row["book"], row["question"]) for row in decisions(empty_voice)] == [("one", "gender:john"), ("two", "gender:john")]


def test_a_hand_edited_file_is_kept_with_its_comments(desk, client_of, answers):
    desk.decide(desk.queue()[0].key, "proposal")
    mine = '\n# seen in chapter 3\n[[decision]]\naction = "keep"\nnames = ["Old Tom"]  # a real person\n'
    desk.voice.decisions.write_text(desk.voice.decisions.read_text() + mine)
    assert client_of(desk).post("/decide", data=answers(desk)).status_code == 200
    text = desk.voice.decisions.read_text()
    assert "# seen in chapter 3" in text
    assert "# a real person" in text
    assert [row["action"] for row in decisions(desk.voice)] == ["gender", "keep", "link"]


def test_a_file_that_is_broken_by_hand_is_a_sentence_and_stays_as_it_is(desk, client_of, answers):
    client, form = client_of(desk), answers(desk)
    desk.voice.decisions.parent.mkdir(exist_ok=True)
    desk.voice.decisions.write_text("[[decision]\n")
    for answer in (client.get("/"), client.post("/decide", data=form)):
        assert (answer.status_code, "is not TOML" in answer.text) == (409, True)
    assert desk.voice.decisions.read_text() == "[[decision]\n"


def test_undo_takes_back_the_last_answer_of_a_person(desk, client_of, names):
    client = client_of(desk)
    desk.decide(desk.queue()[0].key, "proposal")
    desk.decide(desk.queue()[0].key, "keep")
    for left, said in ((1, "Taken back: Mary keeps its name"), (0, "Taken back: John is male"), (0, "There is nothing to take back.")):
        assert said in client.post("/undo", data={"token": names.TOKEN}).text
        assert len(tomllib.loads(desk.voice.decisions.read_text()).get("decision", [])) == left


def test_undo_leaves_what_no_person_answered_here(desk):
    desk.decide(desk.queue()[0].key, "proposal")
    kept = """
[[decision]]
book = "tale"
question = "link:Mary"
action = "keep"
names = ["Mary"]
by = "auto"

[[decision]]
action = "keep"
names = ["Old Tom"]
"""
    desk.voice.decisions.write_text(desk.voice.decisions.read_text() + kept)
    assert desk.undo() == "Taken back: John is male"
    assert [row["names"] for row in decisions(desk.voice)] == [["Mary"], ["Old Tom"]]


def test_undo_asks_again_although_something_else_is_open_by_now(desk):
    for one in desk.queue():
        desk.decide(one.key, "proposal")
    assert [one.question.form for one in desk.queue()] == ["Late"]  # which the two answers laid open
    desk.undo()
    assert [one.question.form for one in desk.queue()] == ["Mary"]


def test_undo_after_the_queue_ran_dry_asks_again(desk):
    while found := desk.queue():
        desk.decide(found[0].key, "proposal")
    desk.undo()
    assert [one.question.form for one in desk.queue()] == ["Late"]


def test_people_families_and_who_appears_with_whom(desk, client_of):
    page = html.fromstring(client_of(desk).get("/people").text)
    assert [cell.text_content() for cell in page.xpath("//tbody/tr[1]/td")] == ["John, John Reed", "person", "male", "3", "Mr."]
    assert "Reed: Mary, John" in page.text_content()
    assert "Mary and John: 2 paragraphs" in page.text_content()
    assert page.xpath("string(//svg/desc)") == "Mary and John: 2"
    found = html.fromstring(client_of(desk).get("/people", params={"q": "mar"}).text)
    assert [row.text_content() for row in found.xpath("//tbody/tr/td[1]")] == ["Mary"]


def test_copy_1_shows_the_passages_of_a_question_with_their_new_names(desk, client_of):
    page = html.fromstring(client_of(desk).get("/preview", params={"question": desk.queue()[1].key}).text)
    assert [quote.text_content() for quote in page.xpath("//blockquote")] == [
        "Mary met John Reed.\n\nMary and ",
        "Ann met John Reed.\n\nAnn and ",
    ]
    assert [mark.text for mark in page.xpath("//blockquote[2]/mark")] == ["Ann", "Ann"]
    assert ["person", "Mary", "Ann"] in [[cell.text for cell in row] for row in page.xpath("//tbody/tr")]


def test_a_port_that_there_is_not_is_refused(desk):
    with pytest.raises(BadInput, match="port 70000 cannot be listened on"):
        serve_review(desk, 70000, pytest.fail)


@pytest.mark.parametrize("path", ["/", "/people", "/preview"])
def test_hostile_text_is_text(hostile_desk, client_of, names, path):
    source = client_of(hostile_desk).get(path).text
    page = html.fromstring(source)
    assert [script.get("src") for script in page.iter("script")] == ["/static/review.js"]
    assert not page.xpath("//main//b")
    assert names.SHOWN in page.xpath("string(//main)")
    assert not set(source) & {"\u202e", "\u0007"}


def test_a_hostile_name_can_be_chosen_and_is_written_as_it_stands(hostile_desk, client_of, answers, names):
    form = answers(hostile_desk, choice="merge", name=names.SHOWN, place=0)  # the page offers it as shown
    answer = client_of(hostile_desk).post("/decide", data=form)
    assert (answer.status_code, "<script>alert" in answer.text) == (200, False)
    assert decisions(hostile_desk.voice)[0]["names"] == ["John", names.HOSTILE]
