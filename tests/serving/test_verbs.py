"""``penname bind``, ``export`` and ``write`` as a person calls them: what they print where, and what they refuse."""

from __future__ import annotations

import importlib
import json

import pytest
import typer
from typer.testing import CliRunner

from llama_server import llama_cpp
from penname.cli.write import _shown
from penname.core.errors import BadInput, PennameError
from penname.serving.ggufs import write_lora_gguf
from penname.serving.voices import open_run
from serving_adapters import make_voice
from tiny import tiny_carrier
from tiny_gguf import write_tiny_gguf
from vllm_like import VOICE, VllmLike, served


@pytest.fixture
def call(voice):
    """Call a verb in the voice folder; gives exit code, stdout and stderr, and lets Penname's own errors through."""
    return caller(voice)


def caller(voice):
    def run(verb, *words):
        given = [words[0], "-C", voice.path, *words[1:]] if verb == "export" else ["-C", voice.path, *words]
        result = CliRunner().invoke(typer_of(verb), [str(word) for word in given])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return run


def typer_of(verb):
    """The Typer application of one verb, as the command line loads it."""
    module = importlib.import_module(f"penname.cli.{verb}")
    if hasattr(module, "app"):
        return module.app
    app = typer.Typer()
    app.command(verb)(getattr(module, verb))
    return app


@pytest.mark.parametrize("verb", ["bind", "write"])
def test_help_has_an_example(verb):
    result = CliRunner().invoke(typer_of(verb), ["--help"])
    assert result.exit_code == 0 and f"Example: penname -C bronte {verb}" in " ".join(result.stdout.split())


@pytest.mark.parametrize("kind", ["adapter", "merged", "gguf", "nvfp4a16", "arm", "dataset"])
def test_help_of_every_export_has_an_example(kind):
    result = CliRunner().invoke(typer_of("export"), [kind, "--help"])
    assert result.exit_code == 0 and f"Example: penname -C bronte export {kind}" in " ".join(result.stdout.split())


def test_write_streams_a_passage_and_says_the_verdict_once(call):
    code, out, err = call("write", "Jane waits.", "--seed", 3)
    assert code == 0 and out.strip()
    assert err.count("This voice has no verdict yet.") == 1
    assert call("write", "Jane waits.", "--seed", 3)[1] == out
    assert call("write", "Jane waits.", "--seed", 4)[1] != out
    one = json.loads(call("write", "Jane waits.", "--seed", 3, "--json")[1])
    passage = one[0].pop("passages")[0]
    assert one == [{"who": "tiny-all-x6-am-s1", "beat": "Jane waits."}] and _shown(passage) == out.strip()


def test_write_several_candidates_a_scene_and_names(call, tmp_path):
    (tmp_path / "scene.txt").write_text("The storm breaks.\nAnne Hart opens the door.\n")
    (tmp_path / "so far.txt").write_text("It had rained for a week.\n")
    words = ("--beats", tmp_path / "scene.txt", "--context", tmp_path / "so far.txt", "--cast", "Anne Hart, Mr. Lowe", "--candidates", 2)
    _, out, err = call("write", *words, "--json")
    rows = json.loads(out)
    assert [row["beat"] for row in rows] == ["Anne Hart, Mr. Lowe; The storm breaks.", "Mr. Lowe; Anne Hart opens the door."]
    assert [len(row["passages"]) for row in rows] == [2, 2]
    assert err.count("no verdict yet") == 1
    shown = call("write", *words)[1]
    assert shown.count("-- 1\n") == 2 and shown.count("-- 2\n") == 2


@pytest.mark.parametrize("way", [(), ("--candidates", "2"), ("--compare",)])
def test_a_terminal_gets_no_control_character_of_a_model(call, monkeypatch, way):
    text = "The door\x1b]0;owned\x07 shut.\x9b2J\n\tHe left.\x00\n"
    monkeypatch.setattr("penname.serving.write.stream_passage", lambda *_: iter(text))
    monkeypatch.setattr("penname.serving.write.write_passages", lambda pen, lines, *_, **__: [(line, [text]) for line in lines])
    monkeypatch.setenv("COLUMNS", "30")
    out = call("write", "Jane waits.", *way)[1]
    assert "The door]0;owned shut.2J\n\tHe left.\n" in out


def test_write_compares_base_and_runs(call, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    narrow = call("write", "Jane waits.", "--compare")[1]
    assert narrow.startswith("[Jane waits.]\n")
    assert narrow.index("== base model") < narrow.index("== tiny-all-x6-am-s1")
    monkeypatch.setenv("COLUMNS", "120")
    wide = call("write", "Jane waits.", "--compare")[1]
    assert any("base model" in line and "tiny-all-x6-am-s1" in line for line in wide.splitlines())


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "write wants one beat, or a file of them with --beats"),
        (("a", "--beats", "b"), "write wants one beat"),
        (("Jane waits.", "--run", "x"), 'no finished run "x"; there are tiny-all-x6-am-s1'),
        (("Jane waits.", "--top-p", "2"), "--top-p is a share above 0"),
        (("Jane waits.", "--context", "none.txt"), "there is no file none.txt"),
        (("Jane waits.", "--server", "localhost"), "is no address of a server"),
        (("Jane waits.", "--server", "http://127.0.0.1:9"), "cannot be reached"),
        (("Jane waits.", "--merged", "none"), "is no merged model"),
        (("Jane waits.", "--model", "x"), "--model names a model of a server"),
    ],
)
def test_write_refuses_in_one_sentence(call, words, sentence):
    with pytest.raises(PennameError, match=sentence):
        call("write", *words)


def test_bind_says_each_depth_and_exits_1_where_one_fails(call):
    code, out, _ = call("bind", "--class", "transformers", "--class", "llama.cpp")
    assert code == 0
    assert "tiny-all-x6-am-s1: bound at depth 2 in transformers, 14 of 14" in out
    code, out, _ = call("bind", "--json")
    assert {row["state"] for row in json.loads(out)} == {"bound"}
    code, out, _ = call("bind", "--class", "vllm", "--depth", 1)
    assert code == 0 and "read from its source and not run" in out


def test_bind_refuses_in_one_sentence(call, voice, tmp_path):
    with pytest.raises(BadInput, match="name models of a server"):
        call("bind", "--adapter-model", "x")
    with pytest.raises(BadInput, match='no serving class "tgi"'):
        call("bind", "--class", "tgi")
    with pytest.raises(BadInput, match="is no adapter"):
        call("bind", "--adapter", tmp_path)
    weights = voice.runs / "tiny-all-x6-am-s1/adapter/adapter_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-4] + bytes(4))
    for verb, word in (("bind", "--json"), ("write", "Jane waits."), ("export", "merged")):
        with pytest.raises(BadInput, match="is missing or not the file that was written when the run finished"):
            call(verb, word)


def test_an_exported_adapter_is_bound_with_its_checksums(call, voice):
    call("export", "adapter")
    folder = voice.path / "exports/tiny-all-x6-am-s1/adapter"
    assert call("bind", "--adapter", folder)[0] == 0
    (folder / "adapter_config.json").write_text((folder / "adapter_config.json").read_text().replace('"lora_alpha": 8', '"lora_alpha": 9'))
    with pytest.raises(BadInput, match=r"adapter_config\.json is not the file that was exported"):
        call("bind", "--adapter", folder)


def test_write_and_bind_on_the_real_llama_cpp_server(tmp_path):
    voice = make_voice(tmp_path / "voice", strength=1.0, seed=14)  # one that writes whole characters
    call = caller(voice)
    carrier = tiny_carrier("qwen3")
    write_lora_gguf(open_run(voice).adapter, carrier, tmp_path / "voice.gguf")
    with llama_cpp(write_tiny_gguf(carrier, tmp_path / "base.gguf"), tmp_path / "voice.gguf") as url:
        code, out, _ = call("bind", "--server", url)
        assert code == 0 and f"bound at depth 3 in {url}, 3 of 3" in out
        greedy = ("Jane waits.", "--temperature", 0, "--set", "sampling.max_tokens=6")  # the seventh is a near-tie
        from_server = call("write", *greedy, "--server", url)[1]
        assert from_server == call("write", *greedy)[1]  # the same words as in torch
        assert call("write", *greedy, "--server", url, "--scale", 0)[1] != from_server
        rows = json.loads(call("write", *greedy, "--server", url, "--compare", "--json")[1])
        assert [row["who"] for row in rows] == ["base model", "voice"]
        assert rows[0]["passages"] != rows[1]["passages"] and rows[1]["passages"] == [from_server.strip()]
        two = json.loads(call("write", "Jane waits.", "--server", url, "--candidates", 2, "--json")[1])[0]["passages"]
        assert two[0] != two[1]
        with pytest.raises(BadInput, match='has no LoRA adapter "x"; it has 0 '):
            call("write", "Jane waits.", "--server", url, "--model", "x")
        with pytest.raises(PennameError, match="the beat alone has"):
            call("write", "Jane waits.", "--server", url, "--set", "sampling.max_tokens=600")


def test_write_and_bind_on_a_server_like_vllm(tmp_path):
    voice = make_voice(tmp_path / "voice", strength=1.0, seed=14)  # one that writes whole characters
    call = caller(voice)
    with served(VllmLike(tiny_carrier("qwen3"), open_run(voice).adapter).app) as url:
        code, out, _ = call("bind", "--server", url)
        assert code == 0 and f"bound at depth 3 in {url}, 3 of 3" in out
        greedy = ("Jane waits.", "--temperature", 0)
        assert call("write", *greedy, "--server", url)[1] == call("write", *greedy)[1]
        rows = json.loads(call("write", *greedy, "--server", url, "--compare", "--json")[1])
        assert [row["who"] for row in rows] == ["base model", VOICE]
