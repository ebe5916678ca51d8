"""Curves from judged runs: their points, their sentences, their plots; and each on the small real carrier."""

from __future__ import annotations

from pathlib import Path

import pytest
from lxml import etree

from penname.core.errors import StaleInput
from penname.core.files import read_json, write_json
from penname.core.folder import VoiceFolder, open_voice
from penname.judging.curves import draw_curve, flattening
from tiny import tiny_carrier
from voices import settings_toml, tiny_voice


def add_run(voice: VoiceFolder, name: str, share: float, copied: float = 0.0, tokens: int = 1000, **arm) -> None:
    folder = voice.runs / name
    record = {"run": name, "trained_tokens": tokens, "arm": {"corpus_words": 0, "copies": 6, **arm}, "settings": {"carrier": {"name": "c"}}}
    write_json(folder / "run.json", record)
    write_json(folder / "manifest.json", {})
    path = voice.judging / "verdict.json"
    rows = read_json(path)["runs"] if path.is_file() else []
    write_json(path, {"runs": [*rows, {"run": name, "share": share, "copied_share": copied}]})


@pytest.fixture
def voice(tmp_path):
    return tiny_voice(tmp_path / "voice", Path("c"))


def test_words_that_help_break_the_floor(voice):
    for words, shares in ((300_000, (0.5, 0.52)), (1_000_000, (0.8, 0.82))):
        for seed, share in enumerate(shares):
            add_run(voice, f"{words}-{seed}", share, corpus_words=words)
    curve = draw_curve(voice, "words")
    assert [(point["x"], point["share"]) for point in curve["points"]] == [(300_000, 0.51), (1_000_000, 0.81)]
    assert curve["spread"] == pytest.approx(0.05)
    assert curve["sentence"].endswith("so 300,000 is below what this voice needs.")
    plot = etree.fromstring((voice.judging / "curve-words.svg").read_bytes())
    assert len(plot.findall("{*}circle")) == 6
    assert plot.find("{*}title").text == curve["sentence"]


def test_words_that_do_not_help_keep_the_floor(voice):
    for words, shares in ((300_000, (0.5, 0.6)), (1_000_000, (0.6, 0.65))):
        for seed, share in enumerate(shares):
            add_run(voice, f"{words}-{seed}", share, corpus_words=words)
    assert "300,000 words holds as a floor here" in draw_curve(voice, "words")["sentence"]


def test_arms_that_differ_in_something_else_are_no_seeds(voice):
    for words, share in ((300_000, 0.5), (1_000_000, 0.8)):
        add_run(voice, f"{words}-six", share, corpus_words=words)
    add_run(voice, "one-copy", 0.1, corpus_words=1_000_000, copies=1)
    curve = draw_curve(voice, "words")
    assert [point["runs"] for point in curve["points"]] == [["300000-six"], ["1000000-six"]]
    assert curve["spread"] is None


def test_an_adapter_at_another_strength_is_no_training_of_its_own(voice):
    for words, share in ((300_000, 0.5), (1_000_000, 0.8)):
        add_run(voice, f"{words}", share, corpus_words=words)
    add_run(voice, "1000000@0.5", 0.4, corpus_words=1_000_000)
    record = read_json(voice.runs / "1000000@0.5/run.json")
    write_json(voice.runs / "1000000@0.5/run.json", {**record, "scaled": {"from": "1000000", "scale": 0.5}})
    assert [point["runs"] for point in draw_curve(voice, "words")["points"]] == [["300000"], ["1000000"]]


def test_one_seed_cannot_tell(voice):
    add_run(voice, "a", 0.2, corpus_words=300_000)
    add_run(voice, "b", 0.9, corpus_words=1_000_000)
    assert "cannot be said whether more words help" in draw_curve(voice, "words")["sentence"]


@pytest.mark.parametrize(
    ("six", "tokens", "end"),
    [
        ((0.02, 0.03), 1000, "renaming buys less memorisation at equal tokens."),
        ((0.28, 0.29), 1000, "renaming is not shown to buy anything here."),
        ((0.02, 0.03), 5000, "set training.max_steps for both."),
    ],
)
def test_copies(voice, six, tokens, end):
    for seed, copied in enumerate((0.3, 0.31)):
        add_run(voice, f"one-{seed}", 0.8, copied, copies=1)
    for seed, copied in enumerate(six):
        add_run(voice, f"six-{seed}", 0.8, copied, tokens, copies=6)
    assert draw_curve(voice, "copies")["sentence"].endswith(end)


@pytest.mark.parametrize(
    ("shares", "spread", "words"),
    [
        ((0.2, 0.5, 0.8), 0.1, "not flattened"),
        ((0.2, 0.5, 0.52), 0.1, "flattened, the last"),
        ((0.2, 0.25, 0.3), 0.1, "cannot tell"),
        ((0.2, 0.5), 0.1, "cannot tell"),
        ((0.2, 0.5, 0.8), None, "cannot tell"),
    ],
)
def test_flattening(shares, spread, words):
    assert flattening(shares, spread).startswith(words)


def test_runs_that_are_not_judged(voice):
    with pytest.raises(StaleInput, match="penname judge"):
        draw_curve(voice, "words")


def real_voice(folder: Path, names: tuple[str, ...]) -> None:
    """A voice on small carriers with a run of two steps for each name of carrier, corpus size and number of copies."""
    from penname.judging.stage import run_control, run_judge, run_register
    from penname.shards import run_shards
    from penname.training.stage import run_train

    settings = settings_toml(
        shards={"seq_len": 128},
        training={"max_steps": 2, "grad_accum_steps": 1, "eval_steps": 1, "save_steps": 1, "sample_steps": 1, "seeds": [1], "lora_rank": 4},
        sampling={"max_tokens": 40},
        judging={"samples": 12, "block_words": 100},
    )
    first = tiny_voice(folder, Path(names[0]), settings=settings)
    run_register(first, anyway=True)
    run_control(first)
    for overrides in (
        *([f'carrier.name="{name}"'] for name in names),
        [f'carrier.name="{names[0]}"', "shards.corpus_words=200"],
        [f'carrier.name="{names[0]}"', "shards.copies=1"],
    ):
        arm = open_voice(folder, overrides)
        run_shards(arm)
        run_train(arm, yes=True, anyway=True)
    run_judge(open_voice(folder))


def check_curves(folder: Path) -> None:
    for which in ("words", "steps", "copies", "carriers"):
        curve = draw_curve(open_voice(folder), which)
        assert len(curve["points"]) == 2
        if which != "copies":  # two steps teach nothing by heart
            assert all(point["share"] != 0 for point in curve["points"])
        if which == "steps":
            assert all(point["heldout_loss"] > 0 for point in curve["points"])
        assert curve["sentence"].endswith(".")
        plot = etree.fromstring((folder / f"judging/curve-{which}.svg").read_bytes())
        assert len(plot.findall("{*}circle")) >= 2
        print(curve["sentence"])


@pytest.mark.slow
def test_every_curve_on_tiny_carriers(tmp_path):
    real_voice(tmp_path / "voice", (str(tiny_carrier("qwen3")), str(tiny_carrier("llama"))))
    check_curves(tmp_path / "voice")


@pytest.mark.slow
@pytest.mark.timeout(1800)
def test_every_curve_on_smollm2(tmp_path):
    from penname.carriers import resolve_carrier
    from penname.core.errors import BadInput

    try:
        resolve_carrier("smollm2-135m")
    except BadInput as error:
        pytest.skip(f"the carrier is not staged here: {error}")
    real_voice(tmp_path / "voice", ("smollm2-135m", str(tiny_carrier("llama"))))
    check_curves(tmp_path / "voice")
