"""Five thousand passages against every fault: killed ten times, and timed against what the server's speed allows."""

from __future__ import annotations

import signal
import sqlite3
import time
from pathlib import Path

import pytest
from synthetic import MARKS, synthetic_voice
from test_endpoint import check_beats

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


def accepted(voice: Path) -> set[str]:
    """The lines in the cache that passed the gate, read as another process may: each holds its passage's mark."""
    connection = sqlite3.connect(f"file:{voice / 'beats/cache.sqlite'}?mode=ro", uri=True)
    try:
        return {row[0] for row in connection.execute("SELECT text FROM answers WHERE rule = ''")}
    finally:
        connection.close()


def answers_held(voice: Path) -> int:
    connection = sqlite3.connect(f"file:{voice / 'beats/cache.sqlite'}?mode=ro", uri=True)
    try:
        return connection.execute("SELECT count(*) FROM answers").fetchone()[0]
    finally:
        connection.close()


def passages_of(lines: set[str]) -> set[int]:
    """A good line is "Tom hides <mark>, the ..."."""
    return {MARKS[line.split()[2].rstrip(",")] for line in lines}


def killed_and_rerun(folder: Path, passages: int, kills: int, concurrency: int, latency: str) -> None:
    log = folder / "log"
    with fault_server(log, "--latency", latency, "--faults", "0.35", "--hang", "3") as address:
        voice = synthetic_voice(folder / "voice", passages, settings(address, concurrency))
        points = sorted(CounterRng("kills", passages, k).below(passages) for k in range(kills))
        held = 0
        kills_seen: list[tuple[float, set[int]]] = []  # (when it was dead, the passages that had their beat)
        for point in points:
            process = beat_process(voice)
            while answered_count(log) < point and process.poll() is None:
                time.sleep(0.05)
            process.kill()  # SIGKILL
            process.communicate()
            done = accepted(voice) if (voice / "beats/cache.sqlite").exists() else set()
            assert not done or answers_held(voice) >= held
            held = answers_held(voice) if done else 0
            kills_seen.append((time.monotonic(), passages_of(done)))
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
    assert answered - answers_held(voice) <= kills * concurrency
    check_beats(voice)


def test_killed_three_times_nothing_is_lost_or_asked_again(tmp_path: Path) -> None:
    killed_and_rerun(tmp_path, 240, 3, 8, "0.02")


def test_ctrl_c_keeps_what_was_answered(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with fault_server(log, "--latency", "0.05", "--faults", "0") as address:
        voice = synthetic_voice(tmp_path / "voice", 100, settings(address, 4))
        process = beat_process(voice)
        while answered_count(log) < 20:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate()
        assert process.returncode == 130
        assert "Traceback" not in err and "run the same command again" in err
        first = answered_count(log)
        assert 20 <= answers_held(voice) <= first < 100
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
