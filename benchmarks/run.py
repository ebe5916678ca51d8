"""``make bench``: every benchmark of this folder, one after another; each prints its table and writes results/NAME.json.

    python benchmarks/run.py [NAME ...] [--minutes 20]

A benchmark whose data or device is not here says so and is left out. One that takes longer than ``--minutes`` is stopped and named; what
it had written stands. On a CPU that only emulates bf16, TRL is compared in float32 on shorter rows, since one of its bf16 steps would take
ten minutes. Close other programs first: a busy machine measures itself.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
BENCHMARKS = ("trl", "gpu", "shards", "books", "copies_speed", "cast_table", "copies_table", "judging", "calibration", "judgement")
TRL_WITHOUT_BF16 = ("--trl-dtype", "fp32", "--seq-len", "512", "--steps", "3")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--minutes", type=float, default=20, help="for each benchmark")
    args = parser.parse_args()
    unknown = [name for name in args.names if not (FOLDER / f"{name}.py").is_file()]
    if unknown:
        sys.exit(f"there is no benchmark {unknown[0]}; there are {', '.join(sorted(path.stem for path in FOLDER.glob('*.py')))}")
    rows = [(name, *measure(name, args.minutes)) for name in args.names or BENCHMARKS]
    print("\n".join(f"{name:14}{state:32}{minutes:>6.1f} min" for name, state, minutes in rows))
    if any(state.startswith("failed") for _, state, _ in rows):
        sys.exit(1)


def measure(name: str, minutes: float) -> tuple[str, float]:
    """Run one; how it ended, and the minutes it took."""
    busy = os.getloadavg()[0]
    print(f"== {name}" + (f" (load {busy:.1f}: other programs are running, so take no speed from this)" if busy > 1.5 else ""), flush=True)
    started = time.monotonic()
    command = [sys.executable, str(FOLDER / f"{name}.py"), *arguments(name, minutes)]
    with subprocess.Popen(command, start_new_session=True) as process:  # a session, so that its own children end with it
        try:
            code = process.wait(timeout=minutes * 60)
            state = "done" if code == 0 else f"failed with exit code {code}"
        except BaseException as error:
            os.killpg(process.pid, signal.SIGTERM)
            if not isinstance(error, subprocess.TimeoutExpired):
                raise  # Ctrl-C
            state = f"stopped after {minutes:g} min"
    print(f"-- {name}: {state}\n", flush=True)
    return state, (time.monotonic() - started) / 60


def arguments(name: str, minutes: float) -> tuple[str, ...]:
    """What a benchmark is told so that it ends in time on this machine."""
    if name != "trl":
        return ()
    from penname.carriers.loading import cpu_has_bf16

    if cpu_has_bf16():
        return ("--minutes", f"{minutes * 0.9:g}")
    print("trl: this CPU emulates bf16, so both sides run in float32, on rows of 512 tokens and three steps a round", flush=True)
    return (*TRL_WITHOUT_BF16, "--minutes", f"{minutes * 0.9:g}")


if __name__ == "__main__":
    main()
