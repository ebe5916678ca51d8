"""Depth 3 and write against a server that answers as vLLM does: the protocol, and the silent fault that it is for."""

from __future__ import annotations

import pytest

from penname.core.config import SamplingConfig
from penname.core.errors import BadInput, PennameError
from penname.serving.client import next_logprobs, open_server
from penname.serving.pens import ServerPen
from penname.serving.server import bind_server
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
    with pytest.raises(PennameError, match=r"cannot be reached \(ConnectError\)"):
        open_server(url)
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
