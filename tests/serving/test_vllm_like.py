"""Depth 3 and write against a server that answers as vLLM does: the protocol, and the silent fault that it is for."""

from __future__ import annotations

import socket

import pytest
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Route

from penname.core.config import SamplingConfig
from penname.core.errors import BadInput, PennameError
from penname.serving.client import Server, next_logprobs, open_server, stream_text
from penname.serving.pens import ServerPen
from penname.serving.server import Asked, bind_server
from penname.serving.write import stream_passage, write_passages
from serving_adapters import make_adapter
from tiny import tiny_carrier
from vllm_like import BASE, VOICE, VllmLike, served

SETTINGS = SamplingConfig(max_tokens=12)


@pytest.fixture
def strong(tmp_path):
    """(carrier, adapter) of a tiny Qwen3, with an adapter that one cannot miss."""
    carrier = tiny_carrier("qwen3")
    return carrier, make_adapter(tmp_path / "a", carrier, strength=1.0)


def test_an_adapter_that_the_server_applies_binds_and_one_that_it_drops_does_not(strong, tmp_path):
    carrier, adapter = strong
    like = VllmLike(carrier, adapter)
    with served(like.app) as url:
        server = open_server(url)
        assert (server.base_model, server.adapter_model, server.window, server.has_base) == (BASE, VOICE, 256, True)
        good = bind_server(server, adapter, carrier)
    assert (good.state, good.matched, good.total, good.reasons) == ("bound", 3, 3, ())
    assert [body["model"] for body in like.asked[:2]] == [BASE, VOICE]
    assert like.asked[0]["logprobs"] == 20 and like.asked[0]["max_tokens"] == 1 and like.asked[0]["temperature"] == 0
    wrong = make_adapter(tmp_path / "w", carrier, strength=1.0, rename=lambda path: path.replace("model.layers", "model.model.layers"))
    with served(VllmLike(carrier, wrong).app) as url:
        silent = bind_server(open_server(url), adapter, carrier)
        broken = bind_server(open_server(url), wrong, carrier)
    assert (silent.state, silent.matched) == ("not bound", 0)
    assert silent.reasons[0] == "prompt 1: the server's adapter says what its base says"
    assert broken.reasons[0].startswith("14 of 14 matrices have no module of their name and shape in the carrier (model.model.layers.0")
    assert broken.reasons[1] == "prompt 1: the server's adapter says what its base says"
    half = make_adapter(tmp_path / "h", carrier, strength=1.0, rename=lambda path: "x." + path, part=0.5)
    with served(VllmLike(carrier, half).app) as url:
        fewer = bind_server(open_server(url), adapter, carrier)
    assert fewer.state == "not bound"
    assert all("the server's adapter is off from base plus adapter by" in reason for reason in fewer.reasons)


def asked(moved=1.0, off_base=0.0, base=True):
    """Four tokens that the adapter moves by 1 each in torch; on the server by ``moved``, and its base is off by ``off_base``."""
    said = {token: -4.0 + moved for token in range(4)}
    return Asked(
        dict.fromkeys(range(4), -4.0), dict.fromkeys(range(4), -3.0), said, dict.fromkeys(range(4), -4.0 + off_base) if base else None
    )


@pytest.mark.parametrize(
    ("one", "reason"),
    [
        (asked(0.91), ""),
        (asked(0.89), "off from base plus adapter by 11% of what the adapter moves (at most 10%)"),
        (asked(0.71, off_base=0.1), ""),  # a tenth, and twice what its base is off by
        (asked(0.69, off_base=0.1), "by 31% of what the adapter moves (at most 30%)"),
        (asked(0.21), "off from base plus adapter by 79%"),
        (asked(0.19), "the server's adapter says what its base says"),
        (asked(1.0, off_base=0.29), ""),
        (asked(1.0, off_base=0.31), "this server's base is off by 31% of what the adapter moves, so nothing can be shown"),
        (asked(0.51, base=False), ""),  # a merged model
        (asked(0.49, base=False), "by 51% of what the adapter moves (at most 50%)"),
        (asked(float("nan")), "off from base plus adapter by nan%"),
    ],
)
def test_what_a_server_may_be_off_by(strong, monkeypatch, one, reason):
    carrier, adapter = strong
    monkeypatch.setattr("penname.serving.server._ask", lambda *_: one)
    found = bind_server(Server("http://there", False, "base" if one.base else "", "voice"), adapter, carrier)
    assert (found.state == "bound") is (reason == "")
    assert found.reasons == () if not reason else reason in found.reasons[0]


def test_names_are_found_out_and_wrong_ones_get_a_sentence(strong):
    carrier, adapter = strong
    with served(VllmLike(carrier, adapter).app) as url:
        assert open_server(f"{url}/v1/", VOICE) == open_server(url)
        with pytest.raises(BadInput, match=f'has no model "bronte"; it has {BASE}, {VOICE}'):
            open_server(url, "bronte")
        with pytest.raises(BadInput, match='has no model "llama"'):
            open_server(url, VOICE, "llama")
        alone = open_server(url, BASE)
        assert not alone.has_base  # the base is no adapter of another model
    with socket.socket() as deaf:
        deaf.bind(("127.0.0.1", 0))  # and does not listen: nobody else can answer there
        with pytest.raises(PennameError, match=r"cannot be reached \(ConnectError\)"):
            open_server(f"http://127.0.0.1:{deaf.getsockname()[1]}")
    with pytest.raises(BadInput, match='"localhost:8000" is no address of a server'):
        open_server("localhost:8000")


def test_a_server_that_names_tokens_by_text_or_refuses_gets_a_sentence(strong):
    carrier, adapter = strong
    with served(VllmLike(carrier, adapter, token_ids=False).app) as url:
        server = open_server(url)
        with pytest.raises(BadInput, match="names tokens by their text"):
            next_logprobs(server, [5, 6], adapted=True)
        with pytest.raises(PennameError, match="refuses: 400 prompt is not a list of token ids"):
            next_logprobs(server, ["a"], adapted=True)


def test_write_streams_from_it_with_the_same_words_as_in_one_piece(strong):
    carrier, adapter = strong
    like = VllmLike(carrier, adapter)
    with served(like.app) as url:
        server = open_server(url)
        pen = ServerPen(server, carrier, server.adapter_model)
        assert pen.window == 256
        streamed = "".join(stream_passage(pen, "Jane waits.", SETTINGS, 5)).strip()
        rows = list(write_passages(pen, ["Jane waits.", "John comes."], SETTINGS, 5, candidates=2))
        base = ServerPen(server, carrier, "base model", adapted=False)
        plain = "".join(stream_passage(base, "Jane waits.", SETTINGS, 5)).strip()
        with pytest.raises(BadInput, match="serves at a strength of its own"):
            ServerPen(server, carrier, "x", scale=0.5)
    assert streamed and plain != streamed
    assert rows[0][1][0] == streamed
    assert rows[0][1][0] != rows[0][1][1]
    body = like.asked[0]
    assert (body["model"], body["temperature"], body["top_p"], body["top_k"], body["stream"]) == (VOICE, 0.8, 0.95, 0, True)
    assert body["stop_token_ids"] == [pen.tokenizer.stop_id]
    assert len(like.asked) == 6 and len({body["seed"] for body in like.asked}) == 4  # one seed a passage; the first came three times
    assert len(like.asked[3]["prompt"]) > len(body["prompt"])  # the first passage is the context of the second beat


def answering(answers):
    """An application that answers each path with its JSON, or with a text as it stands."""

    def answer(request):
        found = answers[request.url.path]
        return PlainTextResponse(found) if isinstance(found, str) else JSONResponse(found)

    return Starlette(routes=[Route(path, answer, methods=["GET", "POST"]) for path in answers])


LLAMA_CPP = {"default_generation_settings": {"n_ctx": 256}}


@pytest.mark.parametrize(
    ("answers", "sentence"),
    [
        ({"/v1/models": {"data": [{"id": "a"}, {"id": "b"}]}}, "has more than one model; name the adapter with --adapter-model: a, b"),
        ({"/v1/models": {"models": ["a"]}}, "does not answer as an OpenAI-compatible server does"),
        ({"/v1/models": "no JSON"}, "gives nothing that Penname can read"),
        (
            {"/props": LLAMA_CPP, "/lora-adapters": [{"id": 0, "path": "x/a.gguf"}, {"id": 1, "path": "b.gguf"}]},
            r"name one .*: 0 \(a\), 1 \(b\)",
        ),
    ],
)
def test_a_server_that_does_not_say_what_it_serves_gets_a_sentence(answers, sentence):
    with served(answering(answers)) as url, pytest.raises(PennameError, match=sentence):
        open_server(url)


def test_an_error_amid_a_passage_gets_a_sentence():
    with served(answering({"/v1/completions": 'data: {"error": "out of memory"}\n\n'})) as url:
        server = Server(url, False, "base", "voice")
        with pytest.raises(PennameError, match="the server stopped with an error: out of memory"):
            list(stream_text(server, [5, 6], SETTINGS, 1, 0))
