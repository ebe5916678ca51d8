"""Speed and memory of the books room: the four Bronte novels, raw to clean, and a text that grows to 50 MB.

    python benchmarks/books.py [--quick]

Processor seconds, best of several runs, on one core; memory is the peak of a fresh process above what it held before reading
(once a small novel has been read, so that imports and tables are not counted).
Writes results/books.json.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from penname.books import read_book

FOLDER = Path(__file__).resolve().parent
RAW = FOLDER.parents[1] / "shared/books/raw"
NOVELS = ("1260.txt", "9182.txt", "30486-0.txt", "1028-0.txt")
SIZES_MB = (1, 2, 5, 10, 20, 50)
RUNS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="up to 5 MB only")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(measure(options.one)))
        return
    if not RAW.is_dir():
        print("../shared/books/raw is not here; nothing to measure")
        return
    read_book(RAW / NOVELS[-1])  # imports and compiled patterns are not the books' cost
    novels = min(timed(NOVELS) for _ in range(RUNS))
    print(f"four Bronte novels, raw to clean: {novels:.2f} s of processor time (at most 3)")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for size in SIZES_MB[: 3 if options.quick else None]:
            path = Path(folder) / f"{size}.txt"
            path.write_text(grown(size << 20))
            told = subprocess.run([sys.executable, __file__, "--one", str(path)], check=True, capture_output=True, text=True).stdout
            rows.append({"megabytes": size, **json.loads(told)})
            row = rows[-1]
            print(
                f"{size:>4} MB: {row['seconds']:6.2f} s, {row['seconds'] / size:.2f} s a MB, "
                f"peak {row['memory_mb']:5.0f} MB, {row['memory_mb'] / size:4.1f} times the text"
            )
    result = {"novels_seconds": round(novels, 3), "limit_seconds": 3, "grown": rows}
    (FOLDER / "results").mkdir(exist_ok=True)
    (FOLDER / "results/books.json").write_text(json.dumps(result, indent=2) + "\n")


def timed(names: tuple[str, ...]) -> float:
    started = time.process_time()
    for name in names:
        read_book(RAW / name)
    return time.process_time() - started


def grown(size: int) -> str:
    """A text of about ``size`` bytes: a novel's chapters over and over, as volumes of one book."""
    novel = (RAW / "9182.txt").read_text(encoding="utf-8")
    story = novel[novel.index("CHAPTER I.\n") : novel.rindex("THE END")]
    parts = []
    while sum(map(len, parts)) < size:
        parts.append(f"VOLUME {len(parts) + 1}\n\n\n{story}")
    return "".join(parts)[:size]


def measure(path: Path) -> dict[str, float]:
    read_book(RAW / NOVELS[-1])
    before = int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()
    started = time.process_time()
    book = read_book(path)
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"seconds": round(seconds, 3), "memory_mb": round((peak - before) / (1 << 20), 1), "chapters": len(book.chapters)}


if __name__ == "__main__":
    main()
