"""``make bench``: every benchmark of this folder, one after another; each prints its table and writes results/NAME.json.

    python benchmarks/run.py [NAME ...]

A benchmark whose data or device is not here says so and is left out. Close other programs first: a busy machine measures itself.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
BENCHMARKS = ("trl", "gpu", "shards", "cast_table", "copies_table", "copies_speed", "judging", "books")


def main() -> None:
    wanted = sys.argv[1:] or [name for name in BENCHMARKS if (FOLDER / f"{name}.py").is_file()]
    unknown = [name for name in wanted if not (FOLDER / f"{name}.py").is_file()]
    if unknown:
        sys.exit(f"there is no benchmark {unknown[0]}; there are {', '.join(sorted(path.stem for path in FOLDER.glob('*.py')))}")
    failed = []
    for name in wanted:
        busy = os.getloadavg()[0]
        print(
            f"== {name}" + (f" (load {busy:.1f}: other programs are running, so take no speed from this)" if busy > 1.5 else ""), flush=True
        )
        started = time.monotonic()
        done = subprocess.run([sys.executable, str(FOLDER / f"{name}.py")])
        if done.returncode:
            failed.append(name)
        print(f"-- {name}: {'failed' if done.returncode else 'done'} after {(time.monotonic() - started) / 60:.1f} min\n", flush=True)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
