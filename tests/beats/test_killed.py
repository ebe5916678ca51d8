"""Five thousand passages against every fault: killed ten times, and timed against what the server's speed allows."""

from __future__ import annotations

import signal
import sqlite3
import time
from pathlib import Path

import pytest
from synthetic import synthetic_voice
from test_endpoint import check_beats

from penname.beats.cache import answer_key
from penname.beats.stage import asked_with, load_corpus
from penname.core.files import read_json
from penname.core.folder import open_voice
from penname.core.rng import CounterRng
from serving import answered_count, beat_process, fault_server, requests_in

TIMEOUT_SECONDS = 2.0


def settings(address: str, concurrency: int) -> str:
    return (
        f'annotator = "endpoint"\nmodel = "m"\nbase_url = "{address}"\nconcurrency = {concurrency}\n'
        f"timeout_seconds = {TIMEOUT_SECONDS}\nattempts = 4\n"
    )


def passages_by_key(voice: Path) -> dict[str, int]:
    """The cache's key of each passage. Its index is its place in the book, which is how the server counts."""
    opened = open_voice(voice)
    corpus, shaped_by = load_corpus(opened), asked_with(opened.config.beats)
    return {answer_key(shaped_by, corpus.text(passage)): index for index, passage in enumerate(corpus.passages)}


def keys_held(voice: Path, what: str) -> list[str]:
    """The keys of the cached answers, read as another process may."""
    if not (voice / "beats/cache.sqlite").exists():
        return []
    connection = sqlite3.connect(f"file:{voice / 'beats/cache.sqlite'}?mode=ro", uri=True)
    try:
        return [row[0] for row in connection.execute(f"SELECT key FROM answers WHERE {what}")]
    except sqlite3.OperationalError:  # killed before the table was made
        return []
    finally:
        connection.close()


def killed_and_rerun(folder: Path, passages: int, kills: int, concurrency: int, latency: str) -> None:
    log = folder / "log"
    with fault_server(log, "--latency", latency, "--faults", "0.35", "--hang", "3") as address:
        voice = synthetic_voice(folder / "voice", passages, settings(address, concurrency))
        points = sorted(CounterRng("kills", passages, k).below(passages) for k in range(kills))
        held, index_of = 0, passages_by_key(voice)
        kills_seen: list[tuple[float, set[int]]] = []  # (when it was dead, the passages that had their beat)
        for point in points:
            process = beat_process(voice)
            while answered_count(log) < point and process.poll() is None:
                time.sleep(0.05)
            process.kill()  # SIGKILL
            process.communicate()
            kills_seen.append((time.monotonic(), {index_of[key] for key in keys_held(voice, "rule = ''")}))
            assert len(keys_held(voice, "1")) >= held
            held = len(keys_held(voice, "1"))
        process = beat_process(voice)
        _, err = process.communicate()
        assert process.returncode == 0, err
        assert "Traceback" not in err
    rows = requests_in(log)
    for killed_at, settled in kills_seen:  # both clocks are the machine's monotonic one
        assert not {row["index"] for row in rows if row["at"] > killed_at} & settled
    assert len(kills_seen[-1][1]) > 0
    answered = sum(row["answered"] for row in rows)
    # Each answer is in the cache, but for those that were on their way when the process was killed.
    assert answered - len(keys_held(voice, "1")) <= kills * concurrency
    check_beats(voice)


def test_killed_three_times_nothing_is_lost_or_asked_again(tmp_path: Path) -> None:
    killed_and_rerun(tmp_path, 240, 3, 8, "0.02")


def test_ctrl_c_keeps_what_was_answered(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with fault_server(log, "--latency", "0.1", "--faults", "0") as address:
        voice = synthetic_voice(tmp_path / "voice", 100, settings(address, 4))
        process = beat_process(voice)
        while answered_count(log) < 20 and process.poll() is None:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert process.returncode == 130
        assert "Traceback" not in err and "run the same command again" in err
        first = answered_count(log)
        assert 20 - 4 <= len(keys_held(voice, "1")) <= first < 100  # four may have been on their way
        process = beat_process(voice)
        process.communicate()
        assert process.returncode == 0
    assert 100 <= answered_count(log) <= 100 + 4
    check_beats(voice)


@pytest.mark.slow
def test_killed_ten_times_over_five_thousand_passages(tmp_path: Path) -> None:
    killed_and_rerun(tmp_path, 5000, 10, 16, "0.05")


@pytest.mark.slow
def test_five_thousand_passages_take_no_longer_than_the_server_needs(tmp_path: Path) -> None:
    concurrency = 16
    log = tmp_path / "log"
    with fault_server(log, "--latency", "0.35", "--faults", "0.35", "--hang", "3") as address:
        voice = synthetic_voice(tmp_path / "voice", 5000, settings(address, concurrency))
        process = beat_process(voice)
        _, err = process.communicate()
        assert process.returncode == 0, err
    check_beats(voice)
    rows = requests_in(log)
    assert {row["kind"] for row in rows} >= {"hang", "drop", "429", "500", "garbage", "think-cut", "repeat", "meta"}
    ends = [row["at"] + min(row["seconds"], TIMEOUT_SECONDS) for row in rows]
    wall = max(ends) - min(row["at"] for row in rows)
    ideal = sum(min(row["seconds"], TIMEOUT_SECONDS) for row in rows) / concurrency
    report = read_json(open_voice(voice).beats / "curation.json")
    print(f"{len(rows)} requests, {wall:.1f} s, ideal {ideal:.1f} s, ratio {wall / ideal:.3f}, refused {report['rejected_by_rule']}")
    assert wall <= 1.3 * ideal
