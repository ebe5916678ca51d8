"""Six renamed copies of each novel, checked by the scorer that uses none of our code: prints a table, writes a JSON file.

    python benchmarks/copies_table.py                    four Bronte novels and every PDNC novel
    python benchmarks/copies_table.py --more --copies 2  the novels of LitBank and of the period as well
    python benchmarks/copies_table.py --only JaneEyre --copies 1

The scorer is run as it stands. Its --pdnc option unpacks three values where score_cast.pdnc_gold gives two, so the same list is
made here from pdnc_gold(..., as_written=True) and handed over with --names. For all others the names are those
of several letters that the cast itself gives people. Of PDNC's aliases those are left out, and named below the table, that are no
names at all by the rules of the cast: a deity ("Heaven") or a nation ("the Basque").
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from penname.cast.build import Readings
from penname.cast.decisions import Decisions
from penname.cast.stage import take_proposals
from penname.cast.vocabulary import PEOPLES, RELIGION
from penname.core.config import CastConfig
from penname.core.values import Book, Cast
from penname.renaming import load_dictionary, prove
from penname.renaming.copies import copy_from, taken_words
from penname.renaming.plan import draw_names
from penname.renaming.survey import survey_book
from penname.renaming.words import FEASTS, NATIONS

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared"
BRONTE = {"JaneEyre": "1260.txt", "Villette": "9182.txt", "Shirley": "30486-0.txt", "TheProfessor": "1028-0.txt"}
KINDS = ("rebuild", "consistent", "injective", "article", "leak", "shape")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="novels whose name holds this")
    parser.add_argument("--more", action="store_true", help="the novels of LitBank and of the period as well")
    parser.add_argument("--copies", type=int, default=6)
    parser.add_argument("--show", type=int, default=0, help="faults of a kind to print")
    options = parser.parse_args()
    sys.path.insert(0, str(SHARED / "score"))
    rows = [row for name, book, names in novels(options) for row in [check_novel(name, book, names, options)]]
    total = {kind: sum(row[kind] for row in rows) for kind in KINDS}
    print(f"{'all':24s} {'':8s} {'':8s} " + " ".join(f"{total[kind]:10d}" for kind in KINDS))
    for row in rows:
        if row["no_names"]:
            print(f"left out as no names in {row['novel']}: {', '.join(row['no_names'])}")
    out = ROOT / "benchmarks/results/copies_table.json"
    if not options.only and not options.more:
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps({"copies": options.copies, "novels": rows, "faults": total}, indent=2) + "\n")
    return 1 if any(total.values()) else 0


def novels(options: argparse.Namespace) -> Iterator[tuple[str, Book, list[str] | None]]:
    """(name, book, names that must not survive, or None to take the cast's own)."""
    import score_cast

    from penname.books import read_book

    print(f"{'novel':24s} {'seconds':>8s} {'refused':>8s} " + " ".join(f"{kind:>10s}" for kind in KINDS))
    raw = [(name, SHARED / "books/raw" / file) for name, file in BRONTE.items()]
    if options.more:
        raw += [(path.stem, path) for place in ("gold/litbank/original", "books/period") for path in sorted((SHARED / place).glob("*.txt"))]
    for name, path in raw:
        if not options.only or options.only in name:
            yield name, read_book(path, id=name), None
    for folder in sorted((SHARED / "gold/pdnc/data").iterdir()):
        if not options.only or options.only in folder.name:
            text = (folder / "novel_text.txt").read_bytes().decode()
            gold = score_cast.pdnc_gold(folder / "character_info.csv", text, as_written=True)
            names = sorted({alias for aliases, _ in gold for alias in aliases})
            yield folder.name, Book(folder.name, folder.name, "", text, ()), names


def auto_cast(book: Book) -> Cast:
    """The cast with every question answered by its proposal, as `penname cast --decide auto` does."""
    return take_proposals(Readings([book], CastConfig(), series=False), Decisions())[0][0]


def cast_names(book: Book, cast: Cast) -> set[str]:
    """Names of the people who are met at least twenty times, titles alone left out as the scorer leaves them out."""
    import score_cast

    counts = Counter(mention.entity_id for mention in cast.mentions)
    forms = {form for e in cast.entities if e.kind == "person" and counts[e.id] >= 20 for form in e.names}
    drop = score_cast.NOT_NAMES | score_cast.DEITY | NATIONS | FEASTS | {"mdlle", "mum", "dad"}
    return {form for form in forms if any(len(word) > 2 and score_cast.plain(word) not in drop for word in form.split())}


def check_novel(name: str, book: Book, names: list[str] | None, options: argparse.Namespace) -> dict[str, Any]:
    """One row: seconds from text to copies, copies that our own proof refuses, and the scorer's faults by kind."""
    started = time.perf_counter()
    cast = auto_cast(book)
    dictionary = load_dictionary()
    survey, taken = survey_book(book, cast, dictionary), taken_words([book])
    copies = [copy_from(book, survey, draw_names(survey.words, dictionary, taken, 1, k, book.id), k) for k in range(1, options.copies + 1)]
    seconds = time.perf_counter() - started
    if names is None:
        names = sorted(cast_names(book, cast))
    no_names = [name for name in names if all(word in RELIGION | PEOPLES for word in name.lower().split())]
    faults: Counter[str] = Counter()
    refused = 0
    with tempfile.TemporaryDirectory() as folder:
        here = Path(folder)
        (here / "book.txt").write_bytes(book.text.encode())
        (here / "names.txt").write_bytes("\n".join(name for name in names if name not in no_names).encode())
        for copy in copies:
            try:
                prove(book, cast, copy)
            except Exception as error:
                refused += 1
                if options.show:
                    print("  refused:", error)
            (here / "copy.txt").write_bytes(copy.text.encode())
            (here / "edits.jsonl").write_text("".join(json.dumps(asdict(edit)) + "\n" for edit in copy.edits))
            command = [sys.executable, SHARED / "score/score_copies.py", here / "book.txt", here / "copy.txt", here / "edits.jsonl"]
            run = subprocess.run([*command, "--names", here / "names.txt"], capture_output=True, text=True, check=False)
            *lines, last = run.stdout.splitlines() or [run.stderr[-300:]]
            faults.update({kind: count for kind, count in json.loads(last).items() if kind in KINDS})
            for line in lines[: options.show]:
                print("  ", line)
    row = {"novel": name, "seconds": round(seconds, 2), "refused": refused, **{kind: faults[kind] for kind in KINDS}, "no_names": no_names}
    print(f"{name:24s} {seconds:8.1f} {refused:8d} " + " ".join(f"{faults[kind]:10d}" for kind in KINDS), flush=True)
    return row


if __name__ == "__main__":
    sys.exit(main())
