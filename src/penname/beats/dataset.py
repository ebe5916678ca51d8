"""The corpus as a dataset that other trainers read: ``prompt`` and ``completion`` (TRL's prompt-completion format; Axolotl takes the same
columns), one row a passage and copy, as JSONL and as Parquet.

Training rows come from the training copies, held-out rows from copy 0, whose names no training copy uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from penname.core.beatnames import rename_beat
from penname.core.errors import BadInput, StaleInput
from penname.core.files import jsonl_text, write_bytes, write_json, write_text
from penname.core.folder import STAGE_FOLDERS, VoiceFolder
from penname.core.stage import require_whole
from penname.core.store import load_beats, load_books, load_copy, load_passages
from penname.core.values import JUDGING_COPY, Beat, Book, CopySpans, Passage

FILES = ("train.jsonl", "train.parquet", "heldout.jsonl", "heldout.parquet", "dataset.json")
COLUMNS = ("prompt", "completion", "passage_id", "book", "chapter", "copy", "split")


def export_dataset(
    voice: VoiceFolder, folder: Path, render: Callable[[str], str], finish: Callable[[str], str] = str.strip
) -> dict[str, Any]:
    """Write train.jsonl, train.parquet, heldout.jsonl, heldout.parquet and dataset.json into ``folder``; returns the counts.

    ``render`` makes a prompt of a beat and ``finish`` a completion of a passage's text: the template's own functions. StaleInput
    where beats or copies are not there yet, or not as they were written; BadInput where ``folder`` holds something else.
    """
    _require_own(voice, folder)
    for read, verb in ((voice.books, "book"), (voice.beats, "beat"), (voice.copies, "rename")):
        require_whole(read, verb)
    books = {book.id: book for book in load_books(voice.books)}
    passages = load_passages(voice.beats / "passages.jsonl")
    beats = {beat.passage_id: beat for beat in load_beats(voice.beats / "beats.jsonl")}
    counts: dict[str, Any] = {"voice": voice.name, "columns": list(COLUMNS)}
    for split, copies in (("train", _training_copies(voice)), ("heldout", [JUDGING_COPY])):
        rows = [
            row
            for copy in copies
            for row in _rows(voice.copies / str(copy), books, [p for p in passages if p.split == split], beats, render, finish)
        ]
        counts[split] = len(rows)
        write_text(folder / f"{split}.jsonl", jsonl_text(rows))
        _write_parquet(folder / f"{split}.parquet", rows)
    write_json(folder / FILES[-1], counts)
    return counts


def _require_own(voice: VoiceFolder, folder: Path) -> None:
    """BadInput for the voice folder and the folders of its stages, and for a folder that holds other things than a dataset."""
    place, home = folder.resolve(), voice.path.resolve()
    if place == home or any(place.is_relative_to(home / stage) for stage in STAGE_FOLDERS):
        raise BadInput(f"{folder} is where the stages of this voice write; name a folder of its own, or leave DIR out")
    if folder.exists() and not folder.is_dir():
        raise BadInput(f"{folder} is a file; name a folder, new or empty, or leave DIR out")
    other = [path.name for path in folder.glob("[!.]*") if path.name not in FILES]
    if other:
        raise BadInput(f"{folder} holds other things than a dataset ({min(other)}); name a folder that is new or empty, or leave DIR out")


def _training_copies(voice: VoiceFolder) -> list[int]:
    copies = sorted(int(path.name) for path in voice.copies.iterdir() if path.name.isdigit() and int(path.name) != JUDGING_COPY)
    if not copies:
        raise StaleInput("there is no training copy in copies/; run: penname rename")
    return copies


def _rows(
    folder: Path,
    books: Mapping[str, Book],
    passages: list[Passage],
    beats: Mapping[str, Beat],
    render: Callable[[str], str],
    finish: Callable[[str], str],
) -> Iterator[dict[str, Any]]:
    copies = {book.id: load_copy(folder, book) for book in books.values()}
    spans = {book_id: CopySpans(copy) for book_id, copy in copies.items()}
    for passage in passages:
        beat, text = rename_beat(beats[passage.id], copies[passage.book_id].names), spans[passage.book_id].text(passage.start, passage.end)
        values = (render(beat), finish(text), passage.id, passage.book_id, passage.chapter, int(folder.name), passage.split)
        yield dict(zip(COLUMNS, values, strict=True))


def _write_parquet(path: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    kinds = {"chapter": pa.int32(), "copy": pa.int32()}
    schema = pa.schema([(name, kinds.get(name, pa.string())) for name in COLUMNS])
    written = pa.BufferOutputStream()
    pq.write_table(pa.Table.from_pylist(rows, schema=schema), written)
    write_bytes(path, written.getvalue().to_pybytes())
