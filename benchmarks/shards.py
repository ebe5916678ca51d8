"""Tokens a minute of shard building, on real text: the period novels as one voice of three copies. Writes results/shards.json.

python benchmarks/shards.py [FOLDER OF .txt] [--carrier smollm2-135m] [--copies 3]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from penname.carriers import resolve_carrier
from penname.carriers.tokenizer import load_tokenizer
from penname.shards import build_shards
from penname.shards.corpus import Pair

RESULTS = Path(__file__).resolve().parent / "results/shards.json"
WORDS = 250  # a passage


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", nargs="?", type=Path, default=Path(__file__).resolve().parents[2] / "shared/books/period")
    parser.add_argument("--carrier", default="smollm2-135m")
    parser.add_argument("--copies", type=int, default=3)
    args = parser.parse_args()
    if not args.texts.is_dir():
        print(f"shards: left out, {args.texts} is not here")
        return
    texts = [path.read_text(encoding="utf-8", errors="replace") for path in sorted(args.texts.glob("*.txt"))]
    tokenizer = load_tokenizer(resolve_carrier(args.carrier))
    with tempfile.TemporaryDirectory() as folder:
        started, cpu = time.perf_counter(), time.process_time()
        counts = build_shards(Path(folder), pairs(texts, args.copies), [], tokenizer, seq_len=2048, single_share=0.25, seed=1)
        seconds, cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
    row = {
        "tokens": counts["train_tokens"],
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu_seconds, 1),
        "million_tokens_a_minute": round(counts["train_tokens"] / seconds * 60 / 1e6, 1),
        "million_tokens_a_cpu_minute": round(counts["train_tokens"] / cpu_seconds * 60 / 1e6, 1),
        "packed_share": counts["packed_share"],
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
    }
    RESULTS.write_text(json.dumps(row, indent=1) + "\n", encoding="utf-8")
    print("\n".join(f"{name:28}{value:>14,}" for name, value in row.items()))


def pairs(texts: list[str], copies: int) -> Iterator[Pair]:
    for copy in range(1, copies + 1):
        for book, text in enumerate(texts):
            words = text.split()
            for n, start in enumerate(range(0, len(words), WORDS)):
                passage = " ".join(words[start : start + WORDS])
                yield Pair(
                    f"b{book}:{n // 16}:{n % 16}", f"b{book}", copy, n // 16, 0, len(passage), " ".join(words[start : start + 12]), passage
                )


if __name__ == "__main__":
    main()
