"""The local annotator: a real llama.cpp server with SmolLM2-135M, started and stopped by Penname."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from penname.beats import run_beats
from penname.beats.local import gguf_path, local_model, serve_gguf
from penname.core.config import BeatsConfig
from penname.core.errors import BadInput
from penname.core.files import read_json
from penname.core.folder import open_voice
from penname.core.stage import stage_writer
from penname.core.store import load_beats, save_book, save_cast


@pytest.fixture(scope="session")
def gguf() -> Path:
    """SmolLM2-135M-Instruct as staging keeps it."""
    pytest.importorskip("xllamacpp", reason="the extra gen is not installed")
    try:
        return gguf_path(BeatsConfig(annotator="local"))
    except BadInput as error:
        pytest.skip(str(error))


def test_where_the_model_comes_from(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("PENNAME_CACHE", str(tmp_path))
    with pytest.raises(BadInput, match="penname carrier stage smollm2-135m"):
        gguf_path(BeatsConfig())
    with pytest.raises(BadInput, match="no such file"):
        gguf_path(BeatsConfig(gguf=str(tmp_path / "x.gguf")))
    (tmp_path / "x.gguf").write_bytes(b"PK\x03\x04")
    with pytest.raises(BadInput, match="is no GGUF file"):
        gguf_path(BeatsConfig(gguf=str(tmp_path / "x.gguf")))
    (tmp_path / "x.gguf").write_bytes(b"GGUFxxxx")
    assert local_model(BeatsConfig(gguf=str(tmp_path / "x.gguf"))) == "x.gguf:8"


def test_a_file_that_llama_cpp_cannot_load(tmp_path: Path) -> None:
    pytest.importorskip("xllamacpp")
    (tmp_path / "x.gguf").write_bytes(b"GGUF" + b"\0" * 100)
    with pytest.raises(BadInput, match="could not load"), serve_gguf(tmp_path / "x.gguf", BeatsConfig()):
        pass


def test_the_server_is_on_loopback_wants_its_key_and_is_gone_afterwards(gguf: Path) -> None:
    import openai

    with serve_gguf(gguf, BeatsConfig(concurrency=1, max_tokens=16)) as (address, key):
        assert address.startswith("http://127.0.0.1:")
        client = openai.OpenAI(base_url=address, api_key=key, max_retries=0)
        reply = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Say hello."}], max_tokens=8)
        assert reply.choices[0].message.content
        with pytest.raises(openai.AuthenticationError):
            openai.OpenAI(base_url=address, api_key="wrong", max_retries=0).chat.completions.create(model="m", messages=[], max_tokens=8)
    with pytest.raises(openai.APIConnectionError):
        client.models.list()


@pytest.mark.slow
@pytest.mark.timeout(3000)
def test_one_chapter_of_jane_eyre(tmp_path: Path, shared: Path, gguf: Path) -> None:
    from penname.books import read_book
    from penname.cast import build_cast

    book = read_book(shared / "books/raw/1260.txt")
    first = next(i for i, chapter in enumerate(book.chapters) if chapter.kind == "chapter")
    cast = build_cast([book])[0]
    book = replace(book, chapters=(book.chapters[first],))
    voice_folder = tmp_path / "voice"
    voice_folder.mkdir()
    server = 'annotator = "local"\napi = "completion"\nconcurrency = 1\n'
    limits = "attempts = 2\nmax_tokens = 60\nmax_fallback_share = 1.0\ntimeout_seconds = 600\n"
    (voice_folder / "voice.toml").write_text(f"[beats]\n{server}{limits}[carrier]\nthreads = 1\n")
    voice = open_voice(voice_folder)
    with stage_writer(voice.books, stage="books", version=1, settings={}, inputs={}) as aside:
        save_book(aside / book.id, book)
    with stage_writer(voice.cast, stage="cast", version=1, settings={}, inputs={}) as aside:
        save_cast(aside / f"{book.id}.json", cast)
    manifest = run_beats(voice)
    assert run_beats(voice).digest == manifest.digest  # from the cache
    report = read_json(voice.beats / "curation.json")
    beats = load_beats(voice.beats / "beats.jsonl")
    print({key: report[key] for key in ("passages", "beats", "styles", "fallbacks", "rejected", "rejected_by_rule", "words", "verb_share")})
    print("\n".join(f"{beat.source}: {beat.text}" for beat in beats))
    assert {beat.source for beat in beats} <= {local_model(voice.config.beats), "keywords"}
    assert report["beats"] == report["passages"] == len(beats) >= 5
