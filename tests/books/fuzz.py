"""Throws damaged inputs at ``read_book``: each must end in a Book or a one-sentence error, in bounded time and memory.

    python tests/books/fuzz.py --cases 10000 --seed 1
    python tests/books/fuzz.py --first 4711 --cases 1      one case again

Seeds are small books in every format, real ones from ../shared where they are there. Every failing input is kept under
``out/fuzz`` with the seed that makes it.
"""

from __future__ import annotations

import argparse
import io
import random
import resource
import signal
import sys
import time
import traceback
import zipfile
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from book_files import to_docx, to_epub, to_html, to_markdown, to_odt, to_rtf
from book_prose import chapters, paragraph

from penname.books.open import read_bytes
from penname.books.read import clean
from penname.core.config import BooksConfig
from penname.core.errors import PennameError

ROOT = Path(__file__).resolve().parents[2]
CASE_SECONDS = 20
SLOW_SECONDS = 2
MEMORY_BYTES = 3 << 30
HOUSE = BooksConfig(max_removed_share=0.9)


def seeds() -> dict[str, bytes]:
    """Small whole books by file name."""
    parts = [(f"Chapter {n}", [paragraph(n), "* * *", paragraph(n + 1)]) for n in range(1, 6)]
    found = {
        "a.txt": chapters(["CHAPTER I", "CHAPTER II", "CHAPTER III"], 4).encode(),
        "a.md": to_markdown("Mill", parts).encode(),
        "a.html": to_html("Mill", parts).encode(),
        "a.rtf": to_rtf("Mill", parts),
        "a.docx": to_docx("Mill", parts),
        "a.odt": to_odt("Mill", parts),
        "a.epub": to_epub("Mill", parts),
        "b.epub": to_epub("Mill", parts, nav=False),
    }
    raw = ROOT.parent / "shared/books/raw"
    for name in ("1028-0.txt", "pandp10.txt", "1260-h.htm", "pg768.epub"):
        if (raw / name).is_file():
            data = (raw / name).read_bytes()
            found[name] = first_parts(data) if name.endswith(".epub") else data[:60_000] + data[-30_000:]
    return found


def first_parts(data: bytes) -> bytes:
    """An EPUB with the first four of its pages, all its other members, and a spine that still names every page: small, so quick."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        pages = sorted(name for name in old.namelist() if name.endswith((".htm", ".html", ".xhtml")))
        for name in old.namelist():
            if name not in pages[4:] and not name.endswith((".jpg", ".png")):
                new.writestr(name, old.read(name))
    return out.getvalue()


def damage(rng: random.Random, data: bytes, pool: list[bytes]) -> bytes:
    """One to four kinds of damage."""
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(8)
        at = rng.randrange(len(data) + 1)
        size = rng.choice((1, 4, 64, 1024, 20_000))
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + data[at + size :]
        elif kind == 2:
            other = rng.choice(pool)
            start = rng.randrange(len(other) + 1)
            data = data[:at] + other[start : start + size] + data[at:]
        elif kind == 3:
            data = data[:at] + rng.randbytes(min(size, 4096)) + data[at:]
        elif kind == 4:
            data = data[:at] + data[at : at + size] * rng.randint(2, 20) + data[at + size :]
        elif kind == 5:
            block = bytearray(data)
            for _ in range(rng.randint(1, 30)):
                if block:
                    block[rng.randrange(len(block))] = rng.randrange(256)
            data = bytes(block)
        elif kind == 6:
            data = data.replace(
                *rng.choice(
                    (
                        (b"\n", b"\r"),
                        (b"\n", b""),
                        (b" ", b"\n"),
                        (b"<", b"<<"),
                        (b"</", b"<"),
                        (b"{", b"{{"),
                        (b"CHAPTER", b"I.\n\nCHAPTER"),
                    )
                )
            )
        else:
            block = chr(rng.randrange(0x110) << 8)
            text = "".join(chr((ord(block) + n) % 0x110000) for n in range(256) if not 0xD800 <= (ord(block) + n) % 0x110000 < 0xE000)
            data = data[:at] + (text * rng.randint(1, 3)).encode() + data[at:]
        data = data[: 4 << 20]
    return data


def rezipped(rng: random.Random, data: bytes, pool: list[bytes]) -> bytes:
    """An archive whose members are damaged, dropped, nested or blown up, and whole again as an archive."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            member = old.read(name)
            kind = rng.randrange(10)
            if kind == 0:
                continue
            if kind == 1:
                member = damage(rng, member, pool)
            elif kind == 2:
                member = data
            elif kind == 3:
                member = member + b" " * rng.choice((1 << 16, 70 << 20 if rng.random() < 0.05 else 1 << 20))
            elif kind == 4:
                member = member.replace(b'idref="p1"', b'idref="p0"').replace(
                    b'href="part', rng.choice((b'href="../part', b'href="/part', b'href="part0.xhtml#', b'href="nav'))
                )
            elif kind == 5:
                member = member.replace(b"<p>", b"<div>" * rng.choice((3, 300, 5000)))
            new.writestr(rng.choice((name, "../" + name)) if kind == 6 else name, member)
    return out.getvalue()


def whole_cases() -> list[tuple[str, bytes]]:
    """Inputs that no random damage would find."""
    line = b"word " * (2 << 20)
    blocks = "".join(chr(c) for c in range(0x20, 0x110000) if not 0xD800 <= c < 0xE000)
    return [
        ("line.txt", line),
        ("line2.txt", b"x" * (10 << 20)),
        ("breaks.txt", b"* * *\n\n" * 300_000),
        ("numerals.txt", b"I.\n\nII.\n\nCHAPTER I\n\n" * 60_000),
        ("brackets.txt", b"[Illustration " * 300_000),
        ("underscores.txt", b"_a " * 1_000_000),
        ("stars.txt", b"*" * 3_000_000),
        ("hyphens.txt", b"con-\ngregation " * 200_000),
        ("dashes.txt", b"a - -- - b " * 300_000),
        ("dots.txt", b". . . " * 500_000),
        ("markers.txt", b"*** END OF THE PROJECT GUTENBERG EBOOK X ***\n\n" * 40_000),
        ("starts.txt", b"*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\n" * 40_000),
        ("gutenbergs.txt", b"Project Gutenberg " * 200_000),
        ("unicode.txt", blocks.encode()),
        ("combining.txt", ("a" + "\u0301" * 500_000).encode()),
        ("deep.html", b"<html><body>" + b"<div>" * 200_000 + b"words"),
        ("deep.rtf", b"{\\rtf1 " + b"{" * 100_000 + b"words"),
        ("deep.md", b"> " * 50_000 + b"words\n" + b"[" * 50_000),
        ("entities.html", b'<!DOCTYPE html [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]><html>' + b"&b;&amp;&lt;" * 100_000),
        ("spans.html", b"<html><body><p>" + b"<i>a</i> <span class='pagenum'>1</span>" * 60_000),
        ("nul.txt", b"\0" * 100_000 + b"words"),
    ]


class TooLong(Exception):
    """A case ran past its time."""


def run_case(name: str, data: bytes) -> str:
    """What came of one input: "book", "refused", or the fault."""
    signal.setitimer(signal.ITIMER_PROF, CASE_SECONDS)  # processor time: a busy machine is no fault
    try:
        book = clean(read_bytes(data, name, False), id=None, settings=HOUSE)
        assert book.text and book.chapters, "a Book without text or chapters"
        assert all(book.text[c.start : c.body_start].strip() in ("", c.heading) for c in book.chapters), "an offset that lies"
        return "book"
    except PennameError as refusal:
        return "refused" if "\n" not in str(refusal) and str(refusal) else f"a refusal of more than one sentence: {refusal}"
    except TooLong:
        return f"took more than {CASE_SECONDS} s"
    except BaseException as fault:
        if isinstance(fault, KeyboardInterrupt):
            raise
        return "".join(traceback.format_exception(fault))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()

    def too_long(*_: object) -> None:
        raise TooLong

    signal.signal(signal.SIGPROF, too_long)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    books = seeds()
    pool = list(books.values())
    names = list(books)
    tally: Counter[str] = Counter()
    slowest = (0.0, "")
    faults = 0
    started = time.monotonic()
    whole = whole_cases()
    for case in range(options.first, options.first + options.cases):
        if case < len(whole):
            name, data = whole[case]
        else:
            rng = random.Random(f"{options.seed}:{case}")
            name = rng.choice(names)
            data = books[name]
            if data.startswith(b"PK") and rng.random() < 0.7:
                data = rezipped(rng, data, pool)
            else:
                data = damage(rng, data, pool)
            if rng.random() < 0.1:
                name = rng.choice(names)
        begun = time.process_time()
        outcome = run_case(name, data)
        seconds, told = time.process_time() - begun, f"case {case} ({name}, {len(data):,} bytes)"
        slowest = max(slowest, (seconds, told))
        if seconds > SLOW_SECONDS:
            print(f"slow: {seconds:.1f} s: {told}", file=sys.stderr, flush=True)
        if outcome not in ("book", "refused"):
            faults += 1
            kept = ROOT / "out/fuzz" / f"{options.seed}-{case}-{name}"
            kept.parent.mkdir(parents=True, exist_ok=True)
            kept.write_bytes(data)
            print(f"case {case}, kept as {kept}:\n{outcome}", file=sys.stderr)
            outcome = "fault"
        tally[outcome] += 1
        if case % 1000 == 999:
            print(f"{case + 1} cases: {dict(tally)}", file=sys.stderr, flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{options.cases} cases in {time.monotonic() - started:.0f} s: {tally['book']} books, {tally['refused']} refused, {faults} faults; "
        f"slowest {slowest[0]:.1f} s: {slowest[1]}; peak memory {peak:.0f} MB"
    )
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
