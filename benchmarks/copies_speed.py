"""How long four novels take from their clean texts to six proved copies each: `penname cast --decide auto` and `penname rename`.

    python benchmarks/copies_speed.py [--rounds 3] [--cores 2]

The two commands run as a person runs them, each in a process of its own, start of Python and all files included; reading the raw
books is not timed. Prints seconds on the wall and of processor time, the best of the rounds, and checks that every round
wrote the same bytes. Close other programs first: a busy machine measures itself.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from penname.books import read_book
from penname.core.folder import open_voice
from penname.core.stage import read_manifest, stage_writer
from penname.core.store import save_book

ROOT = Path(__file__).resolve().parent.parent
RAW = ROOT.parent / "shared/books/raw"
NOVELS = {"jane-eyre": "1260.txt", "villette": "9182.txt", "shirley": "30486-0.txt", "the-professor": "1028-0.txt"}
MAX_SECONDS = 20.0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, default=2)
    options = parser.parse_args()
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.cores])
    rows = [round_of(options.cores) for _ in range(options.rounds)]
    best = min(rows, key=lambda row: row["wall"])
    same = len({row["digest"] for row in rows}) == 1
    print(f"clean text to six copies, four novels, {options.cores} cores, best of {options.rounds}:")
    print(f"{best['wall']:.1f} s on the wall (at most {MAX_SECONDS:.0f}): cast {best['cast']:.1f} s, rename {best['rename']:.1f} s")
    print(f"{best['cpu']:.1f} s of processor time; load of the machine {os.getloadavg()[0]:.1f}")
    print("every round wrote the same bytes" if same else "the rounds wrote different bytes")
    out = ROOT / "benchmarks/results/copies_speed.json"
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps({"cores": options.cores, "load": round(os.getloadavg()[0], 1), "rounds": rows}, indent=2) + "\n")
    return 0 if same and best["wall"] <= MAX_SECONDS else 1


def round_of(cores: int) -> dict[str, float | str]:
    """Seconds of one round, and the digest of the copies."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "voice.toml").write_text("[voice]\nseed = 1\n[copies]\ncount = 6\n")
        voice = open_voice(Path(folder))
        with stage_writer(voice.books, stage="book", version=1, settings={}, inputs={}) as books:
            for name, file in NOVELS.items():
                save_book(books / name, read_book(RAW / file, id=name))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        cast, rename = run_verb(folder, "cast", "--decide", "auto"), run_verb(folder, "rename")
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        manifest = read_manifest(voice.copies)
        assert manifest is not None
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        row = {"wall": cast + rename, "cast": cast, "rename": rename, "cpu": cpu}
        return {**{name: round(value, 2) for name, value in row.items()}, "digest": manifest.digest}


def run_verb(folder: str, *words: str) -> float:
    """Seconds that one command takes."""
    command = [sys.executable, "-c", "from penname.cli.app import main; main()", *words, "-C", folder]
    started = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.perf_counter() - started


if __name__ == "__main__":
    sys.exit(main())
