"""Build the cast of every novel of both golds and print the table of the scorer.

    python benchmarks/cast_table.py [--gold ../shared] [--out DIR] [--show N] [--half 0|1] [--only NAME] [--cleaned]

``--half`` scores every second novel, so that rules can be written on one half and checked on the other. ``--cleaned``
sends each novel through ``penname.books.read_book`` first, as the voice folder does.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from penname.cast import build_cast
from penname.core.store import save_cast
from penname.core.values import Book

TARGETS = {
    "person_precision": 0.98,
    "person_recall": 0.98,
    "place_as_any": 0.96,
    "alias_recall": 0.96,
    "b3_precision": 0.98,
    "b3_recall": 0.92,
    "joint_recall": 0.87,
    "gender_accuracy": 0.97,
    "gender_wrong": 0.01,
}


def novels(gold: Path, kind: str) -> list[tuple[str, Path]]:
    if kind == "pdnc":
        return [(path.parent.name, path) for path in sorted(gold.glob("pdnc/data/*/novel_text.txt"))]
    return [(path.stem, path) for path in sorted(gold.glob("litbank/original/*.txt"))]


def load(path: Path, cleaned: bool) -> Book:
    if cleaned:
        from penname.books import read_book

        return read_book(path)
    with path.open(encoding="utf-8", newline="") as file:
        return Book(path.parent.name if path.stem == "novel_text" else path.stem, path.stem, "", file.read(), ())


def score(kind: str, shared: Path, out: Path, args: argparse.Namespace) -> dict[str, float]:
    chars, seconds = 0, 0.0
    for k, (name, path) in enumerate(novels(shared / "gold", kind)):
        if (args.half is not None and k % 2 != args.half) or (args.only and not re.search(args.only, name)):
            continue
        book = load(path, args.cleaned)
        began = time.process_time()
        cast = build_cast([book])[0]
        seconds += time.process_time() - began
        chars += len(book.text)
        folder = out / kind / name
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / "text.txt").open("w", encoding="utf-8", newline="") as file:
            file.write(book.text)
        save_cast(folder / "cast.json", cast)
    command = [sys.executable, shared / "score/score_cast.py", kind, shared / "gold" / kind, out / kind, "--show", str(args.show)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    print("\n".join(lines[:-1]))
    print(f"{kind}: {chars / max(seconds, 1e-9) / 1e6:.2f} M characters a second")
    return json.loads(lines[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gold", type=Path, default=Path(__file__).parent.parent.parent / "shared")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--show", type=int, default=0)
    parser.add_argument("--half", type=int, choices=(0, 1))
    parser.add_argument("--only", default="")
    parser.add_argument("--cleaned", action="store_true")
    parser.add_argument("--kind", choices=("litbank", "pdnc"))
    args = parser.parse_args()
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as scratch:
        for kind in (args.kind,) if args.kind else ("litbank", "pdnc"):
            figures |= score(kind, args.gold, args.out or Path(scratch), args)
    for key, target in TARGETS.items():
        if key in figures:
            met = figures[key] <= target if key == "gender_wrong" else figures[key] >= target
            print(f"{key:18s} {figures[key]:.4f}  to reach {target:.2f}  {'' if met else 'SHORT'}")


if __name__ == "__main__":
    main()
