"""Both pages in the system's Chromium, as a person uses them: by keyboard, with the server killed, through axe, and to PDF.

Screenshots stay under the test's folder: pytest --basetemp DIR keeps them in DIR.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tarfile
import time
import tomllib
from contextlib import contextmanager

import pytest

from penname.core.folder import open_voice
from penname.core.store import load_books
from penname.pages.pdf import find_chromium, print_pdf
from penname.pages.report import report_page

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
TEXT = "\n\n\n\n".join(
    [
        "A TALE",
        *(
            f"CHAPTER {number}\n\n"
            + "\n\n".join(
                f'"I saw {who} at Marlow," said {other}. Then {who} went with {other}, and {other} spoke to {who} of Marlow. {more}'
                for who, other, more in (
                    ("Mr. Harding", "Mrs. Proudie", "Harding smiled. He took his hat."),
                    ("Mary Harding", "Miss Proudie", "Mary wept. She was tired, and Harding knew it."),
                    ("Quiverful", "Mary", "Quiverful was silent, and Quiverful sat."),
                    ("John Grantly", "Henry Grantly", "Grantly laughed. He saw that Grantly had gone."),
                    ("Captain Grantly", "Griselda", "Captain Grantly bowed. She wept."),
                )
            )
            for number in ("I", "II", "III", "IV", "V")
        ),
    ]
)


def penname(*words: str, **options):
    return subprocess.run([sys.executable, "-m", "penname", *words], capture_output=True, text=True, timeout=300, **options)


@contextmanager
def review_server(voice):
    """``penname review`` as a person starts it: (process, address)."""
    process = subprocess.Popen(
        [sys.executable, "-m", "penname", "-C", str(voice), "review", "--no-open"],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


@contextmanager
def browser_page(chromium, **options):
    """A page of a fresh browser, and what its console said."""
    sync_api = pytest.importorskip("playwright.sync_api")
    with sync_api.sync_playwright() as tools:
        browser = tools.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        page = browser.new_context(**options).new_page()
        page.set_default_timeout(120_000)
        said: list[str] = []
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        yield page, said
        browser.close()


def press(page, key: str) -> None:
    """Press a key that leads to another page, and wait until that is there."""
    with page.expect_navigation():
        page.keyboard.press(key)
    page.wait_for_load_state()


def decisions(voice):
    path = voice / "cast" / "decisions.toml"
    return tomllib.loads(path.read_text())["decision"] if path.exists() else []


@pytest.fixture
def small_voice(tmp_path):
    """A short tale whose names leave questions open, cleaned and cast by the real verbs."""
    (tmp_path / "tale.txt").write_text(TEXT)
    voice = tmp_path / "voice"
    assert penname("new", str(voice), "--book", str(tmp_path / "tale.txt")).returncode == 0
    with (voice / "voice.toml").open("a") as file:
        file.write("\n[cast]\nmin_mentions = 1\n")
    made = penname("-C", str(voice), "book")
    assert made.returncode == 0, made.stderr
    return voice


@pytest.fixture(scope="session")
def axe(tmp_path_factory) -> str:
    """The source of axe-core from npm, for tests only; skips where npm is not there or cannot fetch it."""
    if not shutil.which("npm"):
        pytest.skip("npm is not installed here: axe-core comes from npm, for this check only")
    folder = tmp_path_factory.mktemp("axe")
    done = subprocess.run(["npm", "pack", "axe-core@4", "--silent"], cwd=folder, capture_output=True, text=True, timeout=180)
    packed = sorted(folder.glob("axe-core-*.tgz"))
    if done.returncode or not packed:
        pytest.skip(f"npm could not fetch axe-core: {done.stderr.strip()[-200:]}")
    with tarfile.open(packed[0]) as archive:
        return archive.extractfile("package/axe.min.js").read().decode()


def findings(page, axe: str) -> list[str]:
    """Serious and critical findings of axe, one line each."""
    page.evaluate(axe)
    found = page.evaluate("async () => (await axe.run()).violations")
    return [f"{row['id']} ({row['impact']}): {row['nodes'][0]['html'][:120]}" for row in found if row["impact"] in ("serious", "critical")]


def test_a_small_queue_by_keyboard_with_a_killed_server(small_voice, chromium, tmp_path):
    with review_server(small_voice) as (process, address), browser_page(chromium) as (page, said):
        page.goto(address)
        assert "token" not in page.url
        page.screenshot(path=tmp_path / "1-first.png")
        press(page, "Enter")
        page.screenshot(path=tmp_path / "2-saved.png")
        assert page.text_content('[role="status"]').startswith("Saved.")
        kept = decisions(small_voice)
        assert len(kept) == 1
        page.keyboard.press("m")
        page.keyboard.type("pee")  # letters in a field are letters
        assert page.input_value("input[name=name]") == "pee"
        page.keyboard.press("Escape")
        press(page, "n")
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert decisions(small_voice) == kept
        assert said == []
    with review_server(small_voice) as (_, address), browser_page(chromium) as (page, said):
        page.goto(address)
        for _ in range(40):
            if not page.query_selector("button.main"):
                break
            press(page, "Enter")
        assert page.text_content("h1") == "Every name is decided"
        page.screenshot(path=tmp_path / "3-done.png")
        done = decisions(small_voice)
        assert done[0] == kept[0]
        press(page, "z")
        assert decisions(small_voice) == done[:-1]
        press(page, "Enter")
        assert page.text_content("h1") == "Every name is decided"
        assert said == []
    assert penname("-C", str(small_voice), "cast").returncode == 0  # nothing is left to ask


def test_the_server_listens_on_loopback_only(small_voice):
    with review_server(small_voice) as (_, address):
        port = int(address.split(":")[2].split("/")[0])
        socket.create_connection(("127.0.0.1", port), 5).close()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            probe.connect(("192.0.2.1", 9))  # sends nothing; says which address of this machine would be used
            outside = probe.getsockname()[0]
        if outside.startswith("127."):
            pytest.skip("this machine has no address but loopback")
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection((outside, port), 5)


def test_a_taken_port_is_one_sentence(small_voice):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        done = penname("-C", str(small_voice), "review", "--no-open", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert "leave --port out for a free one" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow  # and it fetches axe-core
def test_both_pages_pass_axe(small_voice, chromium, axe, hostile_facts, tmp_path):
    (tmp_path / "report.html").write_text(report_page(hostile_facts), encoding="utf-8")
    for scheme in ("light", "dark"):
        # axe is brought in by the test, which the pages' own policies would refuse.
        with review_server(small_voice) as (_, address), browser_page(chromium, color_scheme=scheme, bypass_csp=True) as (page, said):
            page.goto(address)
            assert findings(page, axe) == []
            for key in ("c", "/"):
                press(page, key)
                assert findings(page, axe) == []
            page.goto((tmp_path / "report.html").as_uri())
            assert findings(page, axe) == []
            page.screenshot(path=tmp_path / f"report-{scheme}.png", full_page=True)
            assert said == []


def test_the_report_on_a_phone_and_as_pdf(hostile_facts, chromium, tmp_path):
    target = tmp_path / "report.html"
    target.write_text(report_page(hostile_facts), encoding="utf-8")
    with browser_page(chromium, viewport={"width": 380, "height": 800}, device_scale_factor=2) as (page, said):
        page.goto(target.as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 380
        page.screenshot(path=tmp_path / "phone.png")
        assert said == []
    pdf = print_pdf(target)
    assert pdf == tmp_path / "report.pdf"
    assert pdf.read_bytes().startswith(b"%PDF-")
    assert pdf.stat().st_size > 10_000


def test_report_pdf_verb(empty_voice, chromium):
    done = penname("-C", str(empty_voice.path), "report", "--pdf")
    assert done.returncode == 0, done.stderr
    assert [line.rsplit("/", 1)[-1] for line in done.stdout.splitlines()] == ["report.html", "report.pdf"]
    assert (empty_voice.path / "report.pdf").read_bytes().startswith(b"%PDF-")


def test_without_chromium_a_pdf_is_refused_in_one_sentence(empty_voice, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(Exception, match="a PDF needs Chromium or Chrome, and none is installed"):
        find_chromium()


@pytest.mark.slow
def test_jane_eyre_is_cleared_by_keyboard_alone(shared, chromium, tmp_path):
    voice = tmp_path / "eyre"
    assert penname("new", str(voice), "--book", str(shared / "books" / "raw" / "1260.txt")).returncode == 0
    assert penname("-C", str(voice), "book").returncode == 0
    stopped = penname("-C", str(voice), "cast")
    assert stopped.returncode == 3, stopped.stderr
    asked = int(stopped.stderr.split(" names are for a person")[0].split()[-1])
    pressed = 0
    with review_server(voice) as (process, address), browser_page(chromium, viewport={"width": 1000, "height": 1200}) as (page, said):
        page.goto(address)
        for _ in range(asked // 2):
            press(page, "Enter")
            pressed += 1
        page.screenshot(path=tmp_path / "half-way.png", full_page=True)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        assert len(decisions(voice)) == pressed
        assert said == []
    with review_server(voice) as (_, address), browser_page(chromium, viewport={"width": 1000, "height": 1200}) as (page, said):
        page.goto(address)
        started = time.perf_counter()
        while page.query_selector("button.main"):
            assert pressed < 3 * asked
            press(page, "1" if pressed % 5 == 4 and page.query_selector('[data-key="1"]') else "Enter")
            pressed += 1
        print(f"{pressed} questions, {(time.perf_counter() - started) / max(1, pressed - asked // 2):.2f} s a key")
        page.screenshot(path=tmp_path / "done.png")
        assert page.text_content("h1") == "Every name is decided"
        assert said == []
    assert len(decisions(voice)) == pressed >= asked
    assert penname("-C", str(voice), "cast").returncode == 0
    assert load_books(open_voice(voice).books)[0].title.startswith("Jane Eyre")
