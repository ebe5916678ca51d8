"""The endpoint annotator against a real server on loopback that does everything wrong."""

from __future__ import annotations

import asyncio
import json
import time
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from synthetic import good_line, synthetic_voice

from penname.beats import run_beats
from penname.beats.annotator import Answer, Ask, Refusal
from penname.beats.endpoint import EndpointAnnotator, host_of, is_loopback
from penname.beats.gate import runs_of
from penname.beats.inverse_prompt import EXAMPLES, chat_messages, completion_prompt
from penname.beats.stage import endpoint_address, load_corpus
from penname.beats.words import folded
from penname.core.config import BeatsConfig
from penname.core.errors import BadInput, NeedsPerson, PennameError
from penname.core.files import read_jsonl
from penname.core.folder import open_voice
from penname.core.store import load_beats
from penname.core.values import Passage
from serving import fault_server, requests_in

SETTINGS = BeatsConfig(annotator="endpoint", model="m", timeout_seconds=2)
ANSWER_SECONDS = 0.01  # that the server below takes for an answer
AGAIN = "Write the beat again: one line, nothing else."
ASK = Ask(Passage("b:0:0", "b", 0, 0, 10, "train"), "Some prose.", ("Jane",))


@dataclass
class Canned:
    """A server on loopback that sends prepared (status, headers, body) one after the other, and keeps what it was asked."""

    replies: list[tuple[int, dict[str, str], Any]]
    requests: list[tuple[str, dict[str, str], dict]] = field(default_factory=list)
    busy_seconds: float = 0.0  # from the first request on, every one is answered with `busy`
    busy: tuple[int, dict[str, str], Any] = (429, {}, {})
    refused: int = 0
    under_way: int = 0
    most_under_way: int = 0
    _first: float | None = None

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                headers = dict(line.lower().split(": ", 1) for line in head.split("\r\n")[1:] if ": " in line)
                body = json.loads(await reader.readexactly(int(headers["content-length"])))
                self.requests.append((head.split()[1], headers, body))
                status, extra, reply = self._reply()  # chosen now: others arrive while this one waits
                self.under_way += 1
                self.most_under_way = max(self.most_under_way, self.under_way)
                await asyncio.sleep(ANSWER_SECONDS)
                self.under_way -= 1
                data = json.dumps(reply).encode()
                lines = [f"HTTP/1.1 {status} X", "content-type: application/json", f"content-length: {len(data)}"]
                writer.write("\r\n".join([*lines, *(f"{k}: {v}" for k, v in extra.items()), "", ""]).encode() + data)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    def _reply(self) -> tuple[int, dict[str, str], Any]:
        self._first = time.monotonic() if self._first is None else self._first
        if time.monotonic() - self._first < self.busy_seconds:
            self.refused += 1
            return self.busy
        return self.replies[min(len(self.requests), len(self.replies)) - 1]


def chat(content: Any, finish: str = "stop", **message: Any) -> dict:
    return {"choices": [{"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": content, **message}}]}


def ask_canned(
    canned: Canned, settings: BeatsConfig = SETTINGS, key: str = "sk-very-secret", ask: Ask = ASK, times: int = 1
) -> list[Answer]:
    async def go() -> list[Answer]:
        server = await asyncio.start_server(canned.serve, "127.0.0.1", 0)
        async with server:
            annotator = EndpointAnnotator(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", key, settings, model="m")
            try:
                return list(await asyncio.gather(*(annotator.answer(ask) for _ in range(times))))
            finally:
                await annotator.close()

    return asyncio.run(go())


OK = (200, {}, chat("Jane hides a book.") | {"usage": {"prompt_tokens": 7, "completion_tokens": 3}})


def test_a_plain_answer_with_its_tokens() -> None:
    canned = Canned([OK])
    assert ask_canned(canned) == [Answer("Jane hides a book.", "Jane hides a book.", None, 7, 3)]
    path, headers, body = canned.requests[0]
    assert path == "/v1/chat/completions" and headers["authorization"] == "Bearer sk-very-secret".lower()
    assert (body["model"], body["max_tokens"], body["temperature"], "seed" in body) == ("m", 400, 0.3, False)
    assert body["messages"][0]["role"] == "system" and "Some prose." in body["messages"][-1]["content"]


def test_a_proxy_of_the_environment_sees_nothing_that_stays_on_this_machine(monkeypatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # where nobody listens
    assert ask_canned(Canned([OK]))[0].text == "Jane hides a book."


def test_a_completion_server_gets_running_text_and_stops_at_the_line() -> None:
    canned = Canned([(200, {}, {"choices": [{"text": " Jane hides a book.", "finish_reason": "stop"}]})])
    settings = SETTINGS.model_copy(update={"api": "completion"})
    assert ask_canned(canned, settings)[0].text == "Jane hides a book."
    path, _, body = canned.requests[0]
    assert path == "/v1/completions" and body["prompt"].endswith("Some prose.\n----------\nBeat:") and body["stop"][0] == "\n"


@pytest.mark.parametrize(
    "reply, text",
    [
        (chat("Jane hides a book.", reasoning_content="Hm."), "Jane hides a book."),
        (chat([{"type": "text", "text": "Jane hides a book."}]), "Jane hides a book."),
        (chat(None, refusal="No."), ""),
        (chat(None, reasoning="Hm."), ""),
    ],
)
def test_shapes_of_messages(reply: dict, text: str) -> None:
    answer = ask_canned(Canned([(200, {}, reply)]))[0]
    assert answer.text == text and (answer.fault is None) == bool(text)


@pytest.mark.parametrize(
    "bad",
    [
        (429, {"retry-after": "0.05"}, {"error": {"message": "slow down"}}),
        (429, {"retry-after-ms": "20"}, {"error": {"message": "slow down"}}),
        (429, {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, {"error": {"message": "slow down"}}),
        (500, {}, {"error": {"message": "oh"}}),
        (503, {}, {}),
        (200, {}, {"choices": []}),
        (200, {}, {"choices": None}),
        (200, {}, []),
        (200, {}, "what"),
    ],
)
def test_a_busy_or_broken_server_is_asked_again(bad: tuple) -> None:
    canned = Canned([bad, OK])
    assert ask_canned(canned)[0].text == "Jane hides a book."
    assert len(canned.requests) == 2


@pytest.fixture
def waits(monkeypatch) -> list[float]:
    """What the annotator waits, in seconds, without the waiting."""
    found: list[float] = []
    sleep = asyncio.sleep

    async def noted(seconds: float) -> None:
        if seconds != ANSWER_SECONDS:
            found.append(seconds)
        await sleep(0)

    monkeypatch.setattr("penname.beats.endpoint.asyncio.sleep", noted)
    return found


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.7"}, 0.7),
        ({"retry-after-ms": "2500"}, 2.5),
        ({"retry-after": "86400"}, 600.0),
        ({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}, 0.001),  # that time has come
        ({"retry-after": "soon"}, 0.611),  # half a second, give or take a quarter of it, as drawn for this passage
        ({}, 0.611),
    ],
)
def test_as_long_is_waited_as_the_server_says(waits: list[float], headers: dict, seconds: float) -> None:
    ask_canned(Canned([(429, headers, {}), OK]))
    assert waits == [pytest.approx(seconds, abs=0.0005)]


def test_a_server_that_says_nothing_is_asked_ever_less_often(waits: list[float]) -> None:
    with pytest.raises(PennameError, match="did not answer 8 times in a row"):
        ask_canned(Canned([(500, {}, {})]))
    # Each wait is twice the one before, and 30 seconds at most, give or take a quarter.
    assert waits == pytest.approx([0.611, 0.807, 2.441, 3.658, 7.033, 13.89, 28.005], abs=0.001)


def test_an_answer_that_comes_in_drops_is_not_waited_for(monkeypatch) -> None:
    async def drip(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        data = json.dumps(OK[2]).encode()
        writer.write(b"HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(data))
        for at in range(len(data)):  # four seconds of it, and never long without a byte
            writer.write(data[at : at + 1])
            await asyncio.sleep(0.03)

    monkeypatch.setattr("penname.beats.endpoint.TRIES", 1)
    monkeypatch.setattr(Canned, "serve", lambda self, reader, writer: drip(reader, writer))
    with pytest.raises(PennameError, match=r"last: no answer in 0\.3 s"):
        ask_canned(Canned([]), SETTINGS.model_copy(update={"timeout_seconds": 0.3}))


def test_when_all_are_refused_all_hold_back() -> None:
    canned = Canned([OK], busy_seconds=0.2, busy=(429, {"retry-after": "0.3"}, {"error": {"message": "slow down"}}))
    assert len(ask_canned(canned, SETTINGS.model_copy(update={"concurrency": 4}), times=24)) == 24
    # Three more may be sent while the first four refusals come in; nobody else hammers a server that has refused them all.
    assert 1 <= canned.refused <= 7


def test_never_more_under_way_than_set() -> None:
    canned = Canned([OK])
    ask_canned(canned, SETTINGS.model_copy(update={"concurrency": 3}), times=20)
    assert canned.most_under_way == 3


@pytest.mark.parametrize(
    "reply, words",
    [
        ((401, {}, {"error": {"message": "bad key sk-very-secret"}}), "refused the key"),
        ((403, {}, {"error": {"message": "not yours"}}), "refused the key"),
        ((404, {}, {"error": {"message": "no model m"}}), "no such address or model"),
        ((307, {"location": "http://elsewhere.invalid/v1"}, {}), "sends its callers on to http://elsewhere"),
        ((429, {}, {"error": {"message": "pay", "code": "insufficient_quota"}}), "no credit left"),
    ],
)
def test_what_cannot_get_better_stops_at_once_and_shows_no_key(reply: tuple, words: str) -> None:
    canned = Canned([reply])
    with pytest.raises(BadInput, match=words) as caught:
        ask_canned(canned)
    assert len(canned.requests) == 1
    assert "sk-very-secret" not in str(caught.value)


def test_a_server_with_other_words_for_its_settings() -> None:
    tokens = (400, {}, {"error": {"message": "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."}})
    warmth = (400, {}, {"error": {"message": "Unsupported value: 'temperature' does not support 0.3 with this model."}})
    canned = Canned([tokens, warmth, OK])
    assert ask_canned(canned)[0].text == "Jane hides a book."
    assert canned.requests[-1][2]["max_completion_tokens"] == 400 and "temperature" not in canned.requests[-1][2]


def test_a_passage_that_the_server_will_not_have_is_a_refusal() -> None:
    answer = ask_canned(Canned([(400, {}, {"error": {"message": "content management policy"}})]))[0]
    assert answer.fault is not None and answer.fault.rule == "refusal"


def test_a_cut_answer_gets_more_room_next_time() -> None:
    again = Ask(ASK.passage, ASK.text, ASK.names, 1, (("Jane hi", Refusal("truncated", "it was cut off")),))
    canned = Canned([OK])
    ask_canned(canned, ask=again)
    body = canned.requests[0][2]
    assert body["max_tokens"] == 800
    assert [m["role"] for m in body["messages"][-2:]] == ["assistant", "user"] and "it was cut off" in body["messages"][-1]["content"]


def test_a_dead_server_is_one_sentence(monkeypatch) -> None:
    monkeypatch.setattr("penname.beats.endpoint._FIRST_WAIT_SECONDS", 0.001)
    annotator = EndpointAnnotator("http://127.0.0.1:9/v1", "", SETTINGS, model="m")
    with pytest.raises(PennameError, match=r"127\.0\.0\.1:9 did not answer 8 times in a row \(last: no connection.*was answered is kept"):
        asyncio.run(annotator.answer(ASK))


def test_hosts() -> None:
    assert host_of("https://user:pw@api.example.org/v1") == "api.example.org"
    assert host_of("http://127.0.0.1:8080/v1") == "127.0.0.1:8080"
    here = ("http://localhost:1/v1", "http://127.0.0.9/v1", "http://[::1]:8/v1")
    assert [is_loopback(url) for url in (*here, "http://10.0.0.1/v1", "http://127.0.0.1.example.org/v1")] == [
        True,
        True,
        True,
        False,
        False,
    ]


@pytest.mark.parametrize("url", ["", "localhost:8080", "http://", "http://127.0.0.1:port/v1", "http://[bad/v1", "ftp://host/v1"])
def test_what_is_no_address_is_refused_before_anything_is_asked(url, monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(BadInput, match="needs an address such as"):
        endpoint_address(BeatsConfig(annotator="endpoint", model="m", base_url=url))


def test_the_examples_of_the_prompt_pass_the_gate_but_for_being_the_prompt() -> None:
    from penname.beats import Gate
    from penname.beats.gate import RULES
    from penname.core.values import Book, Cast, Entity

    for prose, names, beat in EXAMPLES:
        cast = Cast("e", tuple(Entity(name, "person", "unknown", (name,)) for name in names), ())
        gate = Gate(Book("e", "E", "A", prose, ()), cast)
        refusal = gate.check(beat, Passage("e:0:0", "e", 0, 0, len(prose), "train"))
        assert refusal is not None and "hands back the instructions" in refusal.reason
        assert RULES.index("meta") < RULES.index("copied")  # every other rule but copied and repeat was asked before
        assert not set(runs_of(folded(beat))) & set(runs_of(folded(prose)))
    prompt = completion_prompt(ASK)
    assert all(beat in prompt for _, _, beat in EXAMPLES) and "Names: Jane" in prompt
    assert len(chat_messages(ASK)) == 8


def test_a_refused_line_is_shown_again_and_roles_always_alternate() -> None:
    refusal = Refusal("words", "it has 30 words; at most 20 are allowed")
    with_line = chat_messages(Ask(ASK.passage, ASK.text, ASK.names, 1, (("Jane hides and hides.", refusal),)))
    assert [m["content"] for m in with_line[-2:]] == ["Jane hides and hides.", f"That cannot be used: {refusal.reason}. {AGAIN}"]
    without = chat_messages(Ask(ASK.passage, ASK.text, ASK.names, 1, (("", refusal),)))
    assert without[-1]["content"].startswith("That cannot be used: it has 30 words") and "Some prose." in without[-1]["content"]
    for messages in (with_line, without):
        assert [m["role"] for m in messages] == ["system", *["user", "assistant"] * 4, "user"][: len(messages)]


# The stage, against every fault at random


@pytest.mark.parametrize("api", ["chat", "completion"])
def test_every_fault_at_random_and_no_beat_is_lost_or_breaks_the_gate(tmp_path: Path, api: str, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-very-secret")
    with fault_server(tmp_path / "log", "--api", api, "--faults", "0.5", "--latency", "0.01", "--hang", "3600") as address:
        toml = f'annotator = "endpoint"\nmodel = "m"\nbase_url = "{address}"\napi = "{api}"\ntimeout_seconds = 1\nattempts = 5\n'
        voice = open_voice(synthetic_voice(tmp_path / "voice", 200, toml))
        manifest = run_beats(voice)
        asked = len(requests_in(tmp_path / "log"))
        assert run_beats(voice).digest == manifest.digest  # a re-run asks nothing
        assert len(requests_in(tmp_path / "log")) == asked
    check_beats(voice.path)
    assert manifest.counts["style"] == "sentence" and manifest.counts["rejected"] > 30
    written = b"".join(path.read_bytes() for path in voice.path.rglob("*") if path.is_file())
    assert b"sk-very-secret" not in written


def check_beats(folder: Path) -> None:
    """Every passage has its beat, each passes the gate, and neighbours of a chapter do not repeat."""
    voice = open_voice(folder)
    corpus, beats = load_corpus(voice), load_beats(voice.beats / "beats.jsonl")
    assert [beat.passage_id for beat in beats] == [p.id for p in corpus.passages]
    for passage, beat in zip(corpus.passages, beats, strict=True):
        assert corpus.gates[passage.book_id].check(beat.text, passage, beat.style) is None
        assert beat.names == corpus.gates[passage.book_id].names.spans(beat.text, passage) != ()
    for (p, a), (q, b) in pairwise(zip(corpus.passages, beats, strict=True)):
        assert p.chapter != q.chapter or corpus.gates[p.book_id].check(b.text, q, b.style, [a.text]) is None
    assert sum(beat.source == "keywords" for beat in beats) <= voice.config.beats.max_fallback_share * len(beats)
    assert all(row["rule"] and row["reason"] for row in read_jsonl(voice.beats / "rejected.jsonl"))


def test_nothing_leaves_the_machine_without_a_yes(tmp_path: Path) -> None:
    toml = 'annotator = "endpoint"\nmodel = "m"\nbase_url = "http://llm.invalid/v1"\n'
    voice = open_voice(synthetic_voice(tmp_path / "voice", 3, toml))
    with pytest.raises(NeedsPerson, match=r"3 passages \(102 words of your books\) would be sent to llm\.invalid"):
        run_beats(voice)
    asked: list[str] = []
    with pytest.raises(PennameError, match=r"nothing was sent to llm\.invalid"):
        run_beats(voice, confirm=lambda question: bool(asked.append(question)))
    assert asked == ["3 passages (102 words of your books) would be sent to llm.invalid. Send them?"]


def test_an_endpoint_without_address_or_model(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    voice = open_voice(synthetic_voice(tmp_path / "voice", 3, 'annotator = "endpoint"\n'))
    with pytest.raises(BadInput, match=r"set beats\.model"):
        run_beats(voice)
    with pytest.raises(BadInput, match="OPENAI_BASE_URL"):
        run_beats(open_voice(voice.path, ["beats.model=m"]))


def test_the_good_lines_of_the_server_are_what_comes_back(tmp_path: Path) -> None:
    with fault_server(tmp_path / "log", "--faults", "0", "--latency", "0") as address:
        toml = f'annotator = "endpoint"\nmodel = "m"\nbase_url = "{address}"\n'
        voice = open_voice(synthetic_voice(tmp_path / "voice", 10, toml))
        run_beats(voice)
    assert [beat.text for beat in load_beats(voice.beats / "beats.jsonl")] == [good_line(i) for i in range(10)]
