"""Looking at finished beats, and putting one's own in the place of one."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

from penname.beats.edits import check_edit, save_edit
from penname.beats.stage import EDITED, load_corpus
from penname.core.errors import BadInput
from penname.core.files import read_jsonl
from penname.core.folder import VoiceFolder
from penname.core.rng import CounterRng
from penname.core.stage import require_whole
from penname.core.store import load_beats, load_books, load_passages
from penname.core.values import Beat, Passage


@dataclass(frozen=True, slots=True)
class Shown:
    """A beat beside its passage, with the answers that were refused before it."""

    passage: Passage
    beat: Beat
    text: str
    rejected: tuple[dict[str, Any], ...] = ()

    def to_json(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        return {
            "passage_id": self.passage.id,
            "split": self.passage.split,
            "beat": self.beat.text,
            "style": self.beat.style,
            "source": self.beat.source,
            "names": [self.beat.text[span.start : span.end] for span in self.beat.names],
            "passage": self.text,
            "rejected": [{"rule": row["rule"], "text": row["text"]} for row in self.rejected],
        }


def show_beats(voice: VoiceFolder, which: str) -> list[Shown]:
    """The beats of a passage id ("jane-eyre:0:4"), a chapter ("jane-eyre:0") or a book. BadInput where there is none."""
    rows = _finished(voice)
    found = [row for row in rows if row.passage.id == which or row.passage.id.startswith(f"{which}:")]
    if not found:
        raise BadInput(_no_passage(which, [row.passage.id for row in rows]))
    return found


def sample_beats(voice: VoiceFolder, n: int) -> list[Shown]:
    """``n`` beats drawn with the voice's seed, in reading order."""
    rows = _finished(voice)
    order = CounterRng(voice.config.voice.seed, "beat sample").shuffled(range(len(rows)))
    return [rows[i] for i in sorted(order[: max(0, n)])]


def edit_beat(voice: VoiceFolder, passage_id: str, line: str) -> str | None:
    """Keep ``line`` as a person's beat for a passage; returns what of the gate it breaks, as advice. BadInput where it cannot be used."""
    corpus = load_corpus(voice)
    passage = next((p for p in corpus.passages if p.id == passage_id), None)
    if passage is None:
        raise BadInput(_no_passage(passage_id, [p.id for p in corpus.passages]))
    line = " ".join(line.split())
    advice = check_edit(corpus.gates[passage.book_id], passage, line)
    save_edit(voice.beats / EDITED, passage, corpus.text(passage), line)
    return advice


def _finished(voice: VoiceFolder) -> list[Shown]:
    for folder, verb in ((voice.books, "book"), (voice.beats, "beat")):
        require_whole(folder, verb)
    texts = {book.id: book.text for book in load_books(voice.books)}
    rejected: dict[str, list[dict[str, Any]]] = {}
    for row in read_jsonl(voice.beats / "rejected.jsonl"):
        rejected.setdefault(row["passage_id"], []).append(row)
    beats = {beat.passage_id: beat for beat in load_beats(voice.beats / "beats.jsonl")}
    return [
        Shown(p, beats[p.id], texts[p.book_id][p.start : p.end], tuple(rejected.get(p.id, ())))
        for p in load_passages(voice.beats / "passages.jsonl")
    ]


def _no_passage(which: str, ids: list[str]) -> str:
    near = difflib.get_close_matches(which, ids, n=1, cutoff=0.3) or ids[:1]
    return f'there is no passage "{which}"; passages are called like {near[0]}' if near else f'there is no passage "{which}"'
