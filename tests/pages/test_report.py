"""The report: from hand-made facts and from folders, what is missing, what is marked, and that no text in it runs."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from lxml import html

import voices
from cpu import cpu_seconds
from penname.core.errors import PennameError, StaleInput
from penname.core.files import json_text
from penname.core.stage import stage_writer
from penname.core.store import save_book, save_cast
from penname.core.values import Cast, Entity, Mention
from penname.pages.copied import copied_spans
from penname.pages.gather import RunFacts, gather
from penname.pages.pdf import print_pdf
from penname.pages.report import report_page
from penname.pages.stage import report_inputs, run_report
from penname.pages.svg import strip_chart

MISSING = {
    "There is no verdict yet; run: penname judge",
    "No control has run yet; run: penname control",
    "Nothing was trained yet; run: penname train",
    "No samples were scored yet; run: penname judge",
    "No curve was drawn yet (style by step); run: penname judge --curve steps",
    "There are no sample passages yet; run: penname train",
    "There are no beats yet; run: penname beat",
    "The books are not cleaned yet; run: penname book",
    "Nothing was timed yet; run: penname run",
}


def missing(page: str) -> set[str]:
    return {line.text_content() for line in html.fromstring(page).xpath('//p[@class="missing"]')}


def test_every_missing_stage_is_shown_as_missing(empty_voice):
    run_report(empty_voice)
    assert missing(empty_voice.report.read_text()) == MISSING


def test_a_voice_half_way(tmp_path):
    voice = voices.tiny_voice(tmp_path / "v", tmp_path / "carrier")
    curation = {
        "beats": 24, "style": "keywords", "rejected": 0, "rejected_by_rule": {}, "verb_share": 0.1,
        "words": {"mean": 4.0, "histogram": {"4": 24}}, "names_per_beat": {"mean": 1.0},
    }  # fmt: skip
    (voice.beats / "curation.json").write_text(json_text(curation))
    manifest = run_report(voice)
    page = voice.report.read_text()
    assert manifest.counts == {"runs": 0, "bytes": len(page.encode())}
    assert missing(page) == {line for line in MISSING if "beats" not in line and "books" not in line}
    row = html.fromstring(page).xpath('//section[@aria-labelledby="corpus"]//tbody/tr')[0]
    assert [cell.text_content() for cell in row][:5] == ["A Tale", "Nobody", f"{voices.tiny_book().words():,}", "4", "1"]
    assert "Anna goes on, 0" in page
    assert run_report(voice).digest == manifest.digest


@pytest.mark.parametrize("line", ["{}", "null", ""])
def test_a_damaged_file_is_not_shown_as_good(tmp_path, line):
    voice = voices.tiny_voice(tmp_path / "v", tmp_path / "carrier")
    (voice.beats / "beats.jsonl").write_text(line)
    with pytest.raises(StaleInput, match=r"beats\.jsonl is missing or not what was written .*; run: penname beat"):
        run_report(voice)
    assert not voice.report.exists()


def test_hostile_text_is_text_everywhere(hostile_facts, names):
    source = report_page(hostile_facts, {names.HOSTILE: [(0, 8)]})
    page = html.fromstring(source)
    assert not page.xpath("//script | //b | //main//*[@src] | //*[@href] | //link | //iframe")
    assert not [name for element in page.iter() for name in element.attrib if name.startswith("on")]
    assert not set(source) & {"\u202e", "\u0007"}
    assert "missing" not in {element.get("class") for element in page.iter()}
    for place in ("verdict", "controls", "training", "style", "passages", "beats", "corpus", "timing", "provenance"):
        section = page.xpath(f'//section[@aria-labelledby="{place}"]')[0]
        told = section.text_content() if place != "provenance" else section.text_content().replace("\\", "")
        assert names.SHOWN in told or names.SHOWN[:20] in told, place
    assert page.xpath("string(//h1)") == names.SHOWN
    assert page.xpath("string(//title)") == f"{names.SHOWN}: report"
    assert page.xpath("//div/mark/text()") == ["<script>"]
    assert page.xpath('//div[@class="text"]/@dir') == ["auto"] * 3


def test_it_loads_nothing(hostile_facts):
    source = report_page(hostile_facts)
    policy = html.fromstring(source).xpath('//meta[@http-equiv="Content-Security-Policy"]/@content')[0]
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert not re.findall(r"url\(|@import|https?://", source)


def test_light_dark_print_and_phone(hostile_facts):
    page = html.fromstring(report_page(hostile_facts))
    style = page.xpath("string(//style)")
    assert "@media screen and (prefers-color-scheme: dark)" in style
    assert "@media print" in style
    assert page.xpath('//meta[@name="viewport"]/@content') == ["width=device-width, initial-scale=1"]
    assert all(table.getparent().get("class") == "scroll" for table in page.iter("table"))


def test_every_plot_says_what_it_shows(hostile_facts):
    plots = html.fromstring(report_page(hostile_facts)).xpath("//svg[@role='img']")
    assert len(plots) == 8  # controls, loss, held-out loss, scores, map, curve, beats, removed
    assert all(plot.xpath("string(title)") and plot.xpath("string(desc)") for plot in plots)


def test_the_verdict_in_a_sentence_and_its_figures(hostile_facts):
    page = html.fromstring(report_page(hostile_facts))
    arms, runs = page.xpath('//section[@aria-labelledby="verdict"]//table')
    assert [[cell.text for cell in row] for row in arms.xpath("tbody/tr")][1] == ["b", "failed", "20%", "20%"]
    rows = [[cell.text for cell in row] for row in runs.xpath("tbody/tr")]
    assert rows[0][1:] == ["61%", "0.4%", "9", "2", "2.0%", "21.5", "90%"]
    assert rows[2] == ["base model", "0%", "0.1%", "8", None, None, "30", "80%"]
    assert page.xpath('//div[@class="verdict passed"]')


def test_refused_controls_say_why(hostile_facts):
    controls = {**hostile_facts.controls, "passed": False, "reasons": ["too few blocks", "base is base"]}
    page = html.fromstring(report_page(replace(hostile_facts, controls=controls)))
    assert page.xpath('string(//p[@class="bad"])') == "The instrument cannot see this voice: too few blocks; base is base."


def test_planned_and_actual_time_and_hashes(hostile_facts):
    told = html.fromstring(report_page(hostile_facts)).text_content()
    assert "30 min" in told
    assert "ab" * 32 in told
    assert "cd" * 32 in told
    assert "1970-01-01 00:00 UTC" in told


def test_copied_spans_are_more_than_eight_words(tmp_path):
    voice = voices.tiny_voice(tmp_path / "v", tmp_path / "carrier")
    words = voices.tiny_book().text.split("\n\n")[1].split()
    nine, eight = " ".join(words[:9]), " ".join(words[:8])
    sample = f"Nobody knew it. {nine.upper()} elsewhere."
    rows = ({"step": 1, "beat": "b", "text": sample}, {"step": 1, "beat": "b", "text": f"{eight} elsewhere"})
    facts = replace(gather(voice), runs=(RunFacts("r", {}, (), (), rows),))
    spans = copied_spans(voice, facts)
    assert [sample[start:end] for start, end in spans[sample]] == [nine.upper()]
    assert spans[rows[1]["text"]] == []
    texts = {"author": nine, "base model": f"{nine} elsewhere", "run": f"{' '.join(words[:12])}!"}
    found = copied_spans(voice, replace(facts, runs=(), verdict={"passages": [{"texts": texts}]}))
    assert found == {texts["base model"]: [(0, len(nine))], texts["run"]: [(0, len(texts["run"]) - 1)]}  # the author may say it


def test_what_the_report_depends_on_is_known_without_reading_a_book(tmp_path, monkeypatch):
    """``penname status`` asks for it each time."""
    voice = voices.tiny_voice(tmp_path / "v", tmp_path / "carrier")
    manifest = run_report(voice)
    monkeypatch.setattr("penname.pages.gather.load_book", lambda folder: pytest.fail(f"{folder} was read"))
    assert report_inputs(voice) == dict(manifest.inputs)
    assert {"books", "beats"} <= set(manifest.inputs)


@pytest.mark.parametrize(
    ("does", "told"),
    [
        ("echo no display >&2", r"did not print .*: no display"),  # says that all is well, and prints nothing
        ('for word; do case "$word" in --print-to-pdf=*) echo half > "${word#*=}";; esac; done; echo crashed >&2; exit 1', "crashed"),
        ("exec sleep 600", "has not printed .* after 0.3 s; report.html stands"),
    ],
)
def test_a_pdf_of_yesterday_does_not_pass_for_the_one_just_printed(tmp_path, monkeypatch, does, told):
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "chromium").write_text(f"#!/bin/sh\n{does}\n")
    (programs / "chromium").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    if "sleep" in does:
        monkeypatch.setattr("penname.pages.pdf.TIMEOUT_SECONDS", 0.3)
    (tmp_path / "report.html").write_text("page")
    (tmp_path / "report.pdf").write_bytes(b"of yesterday")
    with pytest.raises(PennameError, match=told):
        print_pdf(tmp_path / "report.html")
    assert (tmp_path / "report.pdf").read_bytes() == b"of yesterday"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bin", "report.html", "report.pdf"]


def test_a_damaged_line_of_metrics_does_not_hide_the_others(tmp_path):
    voice = voices.tiny_voice(tmp_path / "v", tmp_path / "carrier")
    (voice.runs / "r").mkdir(parents=True)
    (voice.runs / "r" / "run.json").write_text('{"seed": 1, "state": "running", "steps": 9}')
    (voice.runs / "r" / "metrics.jsonl").write_text('{"step": 1, "loss": 2.5}\n{"step": 2, "los')
    (run,) = gather(voice).runs
    assert run.steps == ((1, 2.5),)
    assert "1 of 9" in report_page(gather(voice))


@pytest.fixture
def four_novels(tmp_path):
    """Four books of the length of Jane Eyre, with casts of four hundred people and samples of two runs."""
    voice = voices.tiny_voice(tmp_path / "v", tmp_path / "carrier")
    chapter = voices.tiny_book(chapters=40, paragraphs=180, seed=2)
    with stage_writer(voice.books, stage="books", version=1, settings={}, inputs={}) as out:
        for k in range(4):
            save_book(out / f"b{k}", replace(chapter, id=f"b{k}"))
    people = tuple(Entity(f"p{i}", "person", "female", (f"Anna {i}",), evidence=("said",) * 4) for i in range(400))
    with stage_writer(voice.cast, stage="cast", version=1, settings={}, inputs={}) as out:
        for k in range(4):
            save_cast(out / f"b{k}.json", Cast(f"b{k}", people, tuple(Mention(30 * i, 30 * i + 4, f"p{i % 400}") for i in range(6000))))
    for k in range(6):
        run = voice.runs / f"run-{k}"
        run.mkdir(parents=True)
        (run / "run.json").write_text('{"seed": 1, "state": "complete", "steps": 2000}')
        (run / "metrics.jsonl").write_text("".join(f'{{"step": {i}, "loss": {4 - i / 1000}}}\n' for i in range(1, 2001)))
        text = chapter.text[5000:6500].replace("\n", " ")
        (run / "samples.jsonl").write_text(
            "".join(f'{{"step": {i}, "beat": "b{i % 4}", "text": "{i} {text}"}}\n' for i in range(0, 2000, 50))
        )
    (voice.beats / "manifest.json").unlink()
    return voice


def test_under_3_mb_and_2_s_for_four_novels(four_novels):
    made = []
    seconds = cpu_seconds(lambda: made.append(run_report(four_novels)))
    manifest = made[0]
    words = sum(book.words for book in gather(four_novels).books)
    assert words > 700_000
    assert manifest.counts["runs"] == 6
    assert manifest.counts["bytes"] < 3_000_000
    print(f"{words:,} words, {manifest.counts['bytes']:,} bytes, {seconds:.2f} s of processor time")
    assert seconds < 2.0


def test_runs_of_one_arm_keep_their_ends_in_a_plot():
    names = ["smollm2-135m-all-x6-am-s1", "smollm2-135m-all-x6-am-s2"]
    chart = strip_chart({name: [0.0, 1.0] for name in names}, "score", "scores")
    assert ">smollm2-13…ll-x6-am-s1<" in chart and ">smollm2-13…ll-x6-am-s2<" in chart
