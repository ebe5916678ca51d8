"""A small voice folder with every stage before shards finished, made from plain values: no other room is needed.

voice = tiny_voice(tmp_path, carrier=tiny_carrier("qwen3"))
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from penname.core.files import json_text
from penname.core.folder import VoiceFolder, open_voice
from penname.core.rng import CounterRng
from penname.core.stage import read_manifest, seal_files, stage_writer
from penname.core.store import save_beats, save_book, save_copy, save_passages
from penname.core.values import Beat, Book, Chapter, Edit, Mention, Passage, RenamedCopy, apply_edits

NAME = "Anna"
NEW_NAMES = ("Sophia", "Clara", "Edith")  # one a copy, 0 first


def tiny_book(book_id: str = "tale", chapters: int = 4, paragraphs: int = 6, seed: int = 1) -> Book:
    """Chapters of made-up prose in which Anna does things; the last chapter is held out."""
    words = [
        "the",
        "rain",
        "lamp",
        "letter",
        "road",
        "frost",
        "window",
        "hand",
        "gate",
        "hat",
        "morning",
        "slow",
        "white",
        "said",
        "went",
        "came",
        "looked",
        "down",
        "over",
        "again",
    ]
    parts, rows, at = [], [], 0
    for number in range(chapters):
        rng = CounterRng(seed, book_id, number)
        heading = f"Chapter {number + 1}\n\n"
        body = "\n\n".join(" ".join([NAME, *(rng.choice(words) for _ in range(18 + rng.below(14)))]) + "." for _ in range(paragraphs))
        text = heading + body + "\n\n"
        split = "heldout" if number == chapters - 1 else "train"
        rows.append(Chapter("chapter", 1, heading.strip(), at, at + len(text), at + len(heading), split))
        parts.append(text)
        at += len(text)
    return Book(book_id, "A Tale", "Nobody", "".join(parts), tuple(rows))


def passages_of(book: Book) -> list[Passage]:
    """One passage a paragraph."""
    found = []
    for number, chapter in enumerate(book.chapters):
        at = chapter.body_start
        for place, paragraph in enumerate(book.text[chapter.body_start : chapter.end].rstrip("\n").split("\n\n")):
            found.append(Passage(f"{book.id}:{number}:{place}", book.id, number, at, at + len(paragraph), chapter.split))
            at += len(paragraph) + 2
    return found


def copy_of(book: Book, number: int) -> RenamedCopy:
    """The book with Anna renamed."""
    edits, at = [], 0
    while (at := book.text.find(NAME, at)) >= 0:
        edits.append(Edit(at, at + len(NAME), NEW_NAMES[number], "p1"))
        at += len(NAME)
    names = {NAME: NEW_NAMES[number], f"p1|{NAME}": NEW_NAMES[number]}
    return RenamedCopy(book.id, number, apply_edits(book.text, tuple(edits)), tuple(edits), names)


def tiny_voice(folder: Path, carrier: Path, books: Iterable[Book] = (), settings: str = "") -> VoiceFolder:
    """Write the folder; ``settings`` is TOML that is added to voice.toml."""
    books = list(books) or [tiny_book()]
    folder.mkdir(parents=True, exist_ok=True)
    base = f"""[voice]
name = "tiny"
[carrier]
name = "{carrier}"
dtype = "fp32"
device = "cpu"
threads = 1
[copies]
count = 2
"""
    (folder / "voice.toml").write_text(base + settings)
    voice = open_voice(folder)
    empty = {"version": 1, "settings": {}, "inputs": {}}
    with stage_writer(voice.books, stage="books", **empty) as out:
        for book in books:
            save_book(out / book.id, book)
    for number in range(3):
        with stage_writer(voice.copies / str(number), stage="rename", **empty) as out:
            copies = [copy_of(book, number) for book in books]
            for copy in copies:
                save_copy(out, copy)
            (out / "names.json").write_text(json_text({copy.book_id: dict(copy.names) for copy in copies}))
    with stage_writer(voice.beats, stage="beats", **empty) as out:
        passages = [passage for book in books for passage in passages_of(book)]
        save_passages(out / "passages.jsonl", passages)
        save_beats(
            out / "beats.jsonl",
            [Beat(p.id, f"{NAME} goes on, {n}", "keywords", "keywords", (Mention(0, len(NAME), "p1"),)) for n, p in enumerate(passages)],
        )
    return voice


def reseal(folder: Path, name: str = "manifest.json") -> None:
    """Make the manifest of a folder say what its files hold now, for a test that changed one as an earlier stage would have."""
    manifest = read_manifest(folder, name)
    assert manifest is not None
    files = seal_files(folder, [folder / path for path in manifest.files])
    (folder / name).write_text(json_text({**manifest.to_json(), "files": files}))


def settings_toml(**sections: dict[str, object]) -> str:
    """TOML of sections with plain values."""
    lines = []
    for name, values in sections.items():
        lines.append(f"[{name}]")
        lines += [f"{key} = {_toml(value)}" for key, value in values.items()]
    return "\n".join(lines) + "\n"


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(item) for item in value) + "]"
    return str(value)
