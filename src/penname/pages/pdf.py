"""The report as PDF, through a Chromium of the system."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from pathlib import Path

from penname.core.errors import BadInput, PennameError, last_line

_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
TIMEOUT_SECONDS = 120


def find_chromium() -> str:
    """The system's Chromium or Chrome. BadInput where there is none."""
    for name in _NAMES:
        if found := shutil.which(name):
            return found
    raise BadInput("a PDF needs Chromium or Chrome, and none is installed; report.html prints well from any browser")


def print_pdf(page: Path) -> Path:
    """Print an HTML file to a PDF beside it. BadInput where there is no Chromium, PennameError where it fails or takes too long."""
    target = page.with_suffix(".pdf")
    # Aside, so that what an earlier call printed does not pass for this one's; beside it, where a confined Chromium may write too.
    with tempfile.TemporaryDirectory(prefix="penname-chromium-") as profile, tempfile.TemporaryDirectory(dir=page.parent) as scratch:
        aside = Path(scratch) / target.name
        command = [
            find_chromium(),
            "--headless",
            "--no-sandbox",  # as root, Chromium runs no other way; the page holds no script and loads nothing
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={profile}",
            "--no-pdf-header-footer",
            f"--print-to-pdf={aside}",
            page.resolve().as_uri(),
        ]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_SECONDS, check=False)
        except subprocess.TimeoutExpired:
            raise PennameError(
                f"Chromium has not printed {page} after {TIMEOUT_SECONDS} s; {page.name} stands, print it from a browser"
            ) from None
        if done.returncode or not aside.is_file():
            raise PennameError(f"Chromium did not print {page}: {last_line(done.stderr)}")
        aside.replace(target)
    return target
