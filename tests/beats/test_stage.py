"""The stage, a person's beats, the verb, and the curation report."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from synthetic import synthetic_voice

from penname.beats import beats_inputs, beats_settings, run_beats
from penname.beats.curation import curate, style_of, verb_share
from penname.beats.edits import load_edits
from penname.beats.show import edit_beat, sample_beats, show_beats
from penname.core.errors import BadInput, NeedsPerson, StaleInput
from penname.core.files import read_json, write_text
from penname.core.folder import VoiceFolder, open_voice
from penname.core.stage import read_manifest
from penname.core.store import load_beats, load_cast, load_passages, save_cast
from penname.core.values import Beat, Mention

FILES = ["beats.jsonl", "curation.json", "passages.jsonl", "rejected.jsonl"]


@pytest.fixture
def voice(tmp_path: Path) -> VoiceFolder:
    return open_voice(synthetic_voice(tmp_path / "voice", 60))


@pytest.fixture
def penname(monkeypatch, capsys):
    """The command line in this process: (exit code, stdout, stderr)."""

    def call(*arguments: str) -> tuple[int, str, str]:
        from penname.cli.app import main

        monkeypatch.setattr("sys.argv", ["penname", *arguments])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        out, err = capsys.readouterr()
        return code, out, err

    return call


def test_the_stage_writes_what_the_manifest_says_and_the_same_again(voice: VoiceFolder) -> None:
    manifest = run_beats(voice)
    assert sorted(manifest.files) == FILES
    assert dict(manifest.counts) == {"passages": 60, "beats": 60, "style": "keywords", "fallbacks": 0, "rejected": 0}
    assert (manifest.settings, manifest.inputs) == (beats_settings(voice.config), beats_inputs(voice))
    before = {name: (voice.beats / name).read_bytes() for name in FILES}
    assert run_beats(voice).digest == manifest.digest
    assert {name: (voice.beats / name).read_bytes() for name in FILES} == before
    assert [b.passage_id for b in load_beats(voice.beats / "beats.jsonl")] == [p.id for p in load_passages(voice.beats / "passages.jsonl")]


def test_only_what_shapes_the_beats_makes_them_stale(voice: VoiceFolder) -> None:
    def settings(*overrides: str) -> dict:
        return beats_settings(open_voice(voice.path, overrides).config)

    assert settings("beats.concurrency=2", "beats.base_url=http://x/v1", "beats.temperature=1.0") == settings()
    assert settings("beats.passage_words_max=41") != settings()
    endpoint = ("beats.annotator=endpoint", "beats.model=m")
    assert settings(*endpoint, "beats.base_url=http://x/v1", "beats.concurrency=2") == settings(*endpoint)
    assert settings(*endpoint, "beats.temperature=1.0") != settings(*endpoint)


def test_without_a_cast_it_says_what_to_run(tmp_path: Path) -> None:
    voice = synthetic_voice(tmp_path / "voice", 3)
    (voice / "cast/manifest.json").unlink()
    with pytest.raises(StaleInput, match="penname cast"):
        run_beats(open_voice(voice))


def test_a_persons_beat_wins_and_survives_reruns_and_another_cutting(voice: VoiceFolder) -> None:
    run_beats(voice)
    digest = read_manifest(voice.beats).digest
    assert edit_beat(voice, "made-up:0:4", "Tom  buries it before Ann can see.") is None
    write_text(voice.beats / "edited.toml", "# mine\n" + (voice.beats / "edited.toml").read_text())
    for _ in range(2):
        manifest = run_beats(voice)
        beat = load_beats(voice.beats / "beats.jsonl")[4]
        assert (beat.text, beat.source, beat.style) == ("Tom buries it before Ann can see.", "person", "sentence")
        assert [beat.text[n.start : n.end] for n in beat.names] == ["Tom", "Ann"]
    assert manifest.digest != digest and "edited" in manifest.inputs
    edit_beat(voice, "made-up:0:4", "Tom sells it to Ann.")
    edit_beat(voice, "made-up:1:2", "Ann waits for Tom.")
    assert (voice.beats / "edited.toml").read_text().startswith("# mine\n")
    assert list(load_edits(voice.beats / "edited.toml").values()) == ["Tom sells it to Ann.", "Ann waits for Tom."]


def test_a_persons_beat_that_no_copy_could_rename_is_refused(voice: VoiceFolder) -> None:
    with pytest.raises(BadInput, match="Rodolphus"):
        edit_beat(voice, "made-up:0:4", "Rodolphus buries it.")
    with pytest.raises(BadInput, match="says nothing"):
        edit_beat(voice, "made-up:0:4", "  ")
    with pytest.raises(BadInput, match="passages are called like made-up:"):
        edit_beat(voice, "made-up:0:400", "Tom buries it.")
    assert not (voice.beats / "edited.toml").exists()
    assert "talks about the text" in edit_beat(voice, "made-up:0:4", "The passage where Tom buries it.")  # advice only: it is his line


def test_a_later_cast_that_unnames_a_persons_beat_needs_the_person(voice: VoiceFolder) -> None:
    edit_beat(voice, "made-up:0:4", "Tom visits Harrow.")
    cast = load_cast(voice.cast / "made-up.json")
    from dataclasses import replace

    from penname.core.stage import stage_writer

    # Harrow is now known by another name only, and passage 0:4 does not hold that one.
    renamed = tuple(replace(e, names=("Greater Harrow",)) if e.id == "l1" else e for e in cast.entities)
    with stage_writer(voice.cast, stage="cast", version=1, settings={}, inputs={}) as aside:
        save_cast(aside / "made-up.json", replace(cast, entities=renamed))
    edit_beat(voice, "made-up:0:5", "Tom visits Harrow.")  # still a word of a name
    unnamed = tuple(replace(e, names=("Elsewhere",)) if e.id == "l1" else e for e in cast.entities)
    book = (voice.books / "made-up/text.txt").read_text()
    assert "Elsewhere" not in book
    with stage_writer(voice.cast, stage="cast", version=1, settings={}, inputs={}) as aside:
        save_cast(aside / "made-up.json", replace(cast, entities=unnamed))
    run_beats(voice)  # Harrow stands in the passage's own text, so it stays as it does there
    write_text(voice.beats / "edited.toml", (voice.beats / "edited.toml").read_text().replace("visits Harrow", "visits Sligo"))
    with pytest.raises(NeedsPerson, match="no longer fits the cast"):
        run_beats(voice)


def test_a_damaged_file_of_a_person_is_one_sentence(voice: VoiceFolder) -> None:
    write_text(voice.beats / "edited.toml", "[[beat]\n")
    with pytest.raises(BadInput, match=r"edited\.toml is not TOML"):
        run_beats(voice)
    write_text(voice.beats / "edited.toml", '[[beat]]\npassage = "x"\n')
    with pytest.raises(BadInput, match="beat 1: it needs passage, sha256 and text"):
        run_beats(voice)


def test_show_and_sample(voice: VoiceFolder) -> None:
    run_beats(voice)
    assert [row.passage.id for row in show_beats(voice, "made-up:1")] == [f"made-up:1:{n}" for n in range(10)]
    assert len(show_beats(voice, "made-up")) == 60
    assert show_beats(voice, "made-up:0:4")[0].text.startswith("Tom Hale carried the ")
    sample = [row.passage.id for row in sample_beats(voice, 20)]
    assert len(set(sample)) == 20 and sample == [row.passage.id for row in sample_beats(voice, 20)]
    with pytest.raises(BadInput, match="there is no passage"):
        show_beats(voice, "made-up:0:99")


def test_the_verb(voice: VoiceFolder, penname) -> None:
    here = ("beat", "-C", str(voice.path))
    assert penname(*here)[:2] == (0, "60 beats (keywords), 0 fell to keywords, 0 answers refused\n")
    shown = json.loads(penname(*here, "--sample", "2", "--json")[1])
    assert len(shown) == 2 and set(shown[0]) >= {"passage_id", "beat", "passage", "source", "names"}
    table = penname(*here, "--show", "made-up:0:4")[1]
    assert "made-up:0:4" in table and "Tom" in table
    edited = penname(*here, "--edit", "made-up:0:4", "Tom buries it before Ann can see.", "--json")
    assert json.loads(edited[1])["sources"] == {"keywords": 59, "person": 1}
    code, _, err = penname(*here, "--edit", "made-up:0:4", "Rodolphus buries it.")
    assert code == 1 and err.count("\n") == 1 and "Rodolphus" in err
    endpoint = ("--set", "beats.annotator=endpoint", "--set", "beats.model=m", "--set", "beats.base_url=http://llm.invalid/v1")
    code, _, err = penname(*here, *endpoint)
    assert code == 3 and "llm.invalid" in err
    assert penname(*here, "--show", "x", "--sample", "2")[0] == 1
    assert penname(*here, "a line alone")[0] == 1


def test_curation_figures() -> None:
    beats = [
        Beat("b:0:0", "Jane hides a book from John.", "sentence", "m", (Mention(0, 4, "p1"), Mention(23, 27, "p2"))),
        Beat("b:0:1", "Jane hides and waits.", "sentence", "m", (Mention(0, 4, "p1"),)),
        Beat("b:0:2", "Jane; curtain, book", "keywords", "keywords", (Mention(0, 4, "p1"),)),
    ]
    report = curate(beats, [{"rule": "meta"}, {"rule": "meta"}, {"rule": "words"}], 3, 1)
    assert report["words"] == {"mean": 4.333, "median": 4.0, "min": 3, "max": 6, "histogram": {"3": 1, "4": 1, "6": 1}}
    assert report["names_per_beat"]["histogram"] == {"1": 2, "2": 1}
    assert report["openings"] == [{"opening": "jane hides", "beats": 2}]
    assert report["rejected_by_rule"] == {"words": 1, "meta": 2}
    assert (report["style"], report["styles"], report["fallbacks"]) == ("mixed", {"keywords": 1, "sentence": 2}, 1)
    assert [round(verb_share(beat), 3) for beat in beats] == [0.167, 0.5, 0.0]
    assert (style_of(beats[:2]), style_of(beats[2:])) == ("sentence", "keywords")


def test_the_report_of_a_voice_is_json_with_all_figures(voice: VoiceFolder) -> None:
    run_beats(voice)
    report = read_json(voice.beats / "curation.json")
    assert set(report) >= {"words", "names_per_beat", "verb_share", "openings", "rejected_by_rule", "style", "sources"}
    assert report["words"]["max"] <= 20 and report["repeated_beats"] == 0
