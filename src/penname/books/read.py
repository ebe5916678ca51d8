"""Any source to a Book: decode, strip, find the chapters, join the lines, set the typography; every step accounted for."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_left
from pathlib import Path

from penname.books.about import title_and_author
from penname.books.blocks import Block, cut_blocks
from penname.books.boilerplate import gutenberg_frame, metadata
from penname.books.candidates import plain
from penname.books.draft import Draft
from penname.books.front import find_furniture
from penname.books.headings import Heading, Structure, find_structure
from penname.books.joining import join_lines
from penname.books.notes import find_notes
from penname.books.open import open_source
from penname.books.report import alphabet, find_oddities
from penname.books.source import Source
from penname.books.typography import normalise_characters, normalise_typography
from penname.core.config import BooksConfig
from penname.core.errors import BadInput, ProofFailed
from penname.core.values import Book, Chapter

_PIECE_CHARS = 15_000  # about a Victorian chapter
_LICENCE_CHARS = 40_000  # header and licence of the longest Gutenberg frame; they count for nothing in a strip's share
_FRAME_RULES = ("gutenberg-header", "gutenberg-licence", "gutenberg-marker", "gutenberg-frame")
_CHOICES = ("left-out", "front-matter", "editor", "dedication")  # what a setting asked for is no suspicious strip
_SLUG = re.compile(r"[^a-z0-9]+")


def read_book(source: str | Path, *, id: str | None = None, settings: BooksConfig | None = None) -> Book:
    """The Book in ``source``: a file (.txt .html .epub .md .docx .odt .rtf), a folder of chapter files, or gutenberg:ID.

    Raises BadInput, in one sentence, for anything that is no book, and ProofFailed where cleaning would remove more than
    ``settings.max_removed_share`` of it.
    """
    settings = settings or BooksConfig()
    return clean(open_source(source, settings), id=id, settings=settings)


def decode_source(source: str | Path, settings: BooksConfig | None = None) -> str:
    """The decoded source that the ``removed`` spans of its Book point into."""
    return open_source(source, settings or BooksConfig()).text


def clean(source: Source, *, id: str | None, settings: BooksConfig) -> Book:
    """The Book in a decoded source. The steps are in order; ``draft`` accounts for each character."""
    draft = Draft(source.text)
    draft.marks = [at for hint in source.hints for at in (hint.start, min(hint.start + 1, len(source.text)))]
    draft.rewrite((start, end, "", rule) for start, end, rule in _apart(source.cuts))
    normalise_characters(draft)
    about = metadata(draft.text)
    draft.rewrite(gutenberg_frame(draft.text))
    headings, title, author, book_id = _structure(draft, source, about, id, settings)
    _check_share(draft, source, settings)
    normalise_typography(draft, settings)
    chapters = _chapters(draft, headings)
    odd = find_oddities(draft.text, chapters, [*source.oddities, *_gaps(headings)])
    return Book(
        id=book_id,
        title=title,
        author=author,
        text=draft.text,
        chapters=chapters,
        source=source.name,
        source_sha256=source.sha256,
        language=_language_code(source.language or about.get("language", "")),
        removed=draft.removed(),
        alphabet=alphabet(source.text, draft.text),
        oddities=tuple(odd),
    )


def _structure(
    draft: Draft, source: Source, about: dict[str, str], id: str | None, settings: BooksConfig
) -> tuple[list[Heading], str, str, str]:
    """Strip what is no text of the book and join the lines; the headings that stand, then title, author and id.

    ``draft.marks`` become where each heading starts and ends.
    """
    notes = find_notes(draft.text)
    hint_marks = len(draft.marks)
    draft.marks += [start for start, _, _, rule in notes if rule != "footnote-mark"]
    draft.rewrite(notes)
    text = draft.text
    blocks = cut_blocks(text, source.lines == "kept")
    if not blocks:
        raise BadInput(f"{source.name} has no text left once its boilerplate is gone; name the file that holds the book")
    seams = _seam_blocks(draft.marks[hint_marks:], blocks)
    blocks = [block._replace(scene=False) if i in seams else block for i, block in enumerate(blocks)]
    hints = _hints_by_block(source, draft.marks[:hint_marks], blocks)
    structure = find_structure(text, blocks, hints)
    title, author = title_and_author(source, about, text, blocks, structure)
    book_id = id or slug(title) or slug(Path(source.name).stem) or "book"
    gone = find_furniture(text, blocks, structure, title, author, settings)
    gone |= _left_out(text, blocks, structure, book_id, settings)
    openings = {h.last + 1 for h in structure.headings}
    scenes = {i + 1 for i in structure.sections if i not in openings}
    blocks = [
        block._replace(kind="gone", rule=gone[i]) if i in gone else block._replace(scene=True) if i in scenes else block
        for i, block in enumerate(blocks)
    ]
    if all(block.kind == "gone" for block in blocks):
        raise BadInput(f"{source.name} has no text left once its boilerplate is gone; name the file that holds the book")
    headings = _kept_headings(structure, blocks)
    draft.marks = [
        at for h in headings for at in (blocks[h.first].start, blocks[h.last].end if h.last >= h.first else blocks[h.first].start)
    ]
    draft.rewrite(join_lines(text, blocks, [(h.first, h.last) for h in headings], _mended(text, blocks, seams)))
    return headings, title, author, book_id


def _language_code(name: str) -> str:
    """ "English", "en-GB" and "" give "en"; a language by another name gives its first two letters, which is its code for most."""
    name = name.strip().lower() or "en"
    return {"german": "de", "spanish": "es", "swedish": "sv", "chinese": "zh", "portuguese": "pt"}.get(name, name[:2])


def slug(title: str) -> str:
    """A short file name from a title: "Jane Eyre: An Autobiography" gives "jane-eyre"."""
    head = re.split(r"[:;(\[]|,? or,? |\n", title)[0]
    return _SLUG.sub("-", head.lower()).strip("-")[:60].strip("-")


def _apart(cuts: tuple[tuple[int, int, str], ...]) -> list[tuple[int, int, str]]:
    out: list[tuple[int, int, str]] = []
    for cut in sorted(cuts, key=lambda cut: (cut[0], -cut[1])):
        if not out or cut[0] >= out[-1][1]:
            out.append(cut)
    return out


def _hints_by_block(source: Source, marks: list[int], blocks: list[Block]) -> dict[int, tuple[int, str, bool]]:
    """Block -> (level, label, shown). A hint whose own text has been removed is dropped."""
    starts = [block.start for block in blocks]
    hints: dict[int, tuple[int, str, bool]] = {}
    for hint, at, after in zip(source.hints, marks[0::2], marks[1::2], strict=True):
        if hint.shown and at == after:
            continue
        index = bisect_left(starts, at)
        if hint.shown and index < len(starts) and starts[index] != at and index and blocks[index - 1].end > at:
            index -= 1
        if index < len(blocks):
            hints.setdefault(index, (hint.level, hint.label, hint.shown))
    return hints


def _left_out(text: str, blocks: list[Block], structure: Structure, book_id: str, settings: BooksConfig) -> dict[int, str]:
    """Blocks of chapters that a setting leaves out, and of front matter where that is to go."""
    wanted = {part for item in settings.leave_out for name, _, part in [item.partition(":")] if name == book_id}
    gone: dict[int, str] = {}
    number = 0
    starts = [h.first for h in structure.headings]
    for h, stop in zip(structure.headings, [*starts[1:], len(blocks)], strict=False):
        number += h.kind == "chapter"
        heading = plain(text[blocks[h.first].start : blocks[h.last].end]) if h.last >= h.first else h.label
        rule = ""
        if heading in wanted or (h.kind == "chapter" and str(number) in wanted):
            rule = "left-out"
        elif h.kind == "front" and settings.front_matter == "drop":
            rule = "front-matter"
        if rule:
            gone |= dict.fromkeys(range(h.first, stop), rule)
    if settings.front_matter == "drop" and starts:
        gone |= dict.fromkeys(range(starts[0]), "front-matter")
    return gone


def _kept_headings(structure: Structure, blocks: list[Block]) -> list[Heading]:
    """The headings whose text is still there, and one for text that stands before the first of them."""
    out = [h for h in structure.headings if blocks[h.first].kind != "gone"]
    if out:
        first = next((i for i, block in enumerate(blocks) if block.kind not in ("gone", "break")), None)
        if first is not None and first < out[0].first:
            out.insert(0, Heading(first, first - 1, "front", 3))
    return out


def _seam_blocks(seams: list[int], blocks: list[Block]) -> set[int]:
    """Blocks with a removed picture, note or page number right before them."""
    starts = [block.start for block in blocks]
    return {bisect_left(starts, at) for at in seams}


def _mended(text: str, blocks: list[Block], seams: set[int]) -> set[int]:
    """Blocks that go on with a sentence which a removed page number, picture or note had broken off."""
    kept_before = [-1]  # of each place the last block before it that stands
    for i, block in enumerate(blocks):
        kept_before.append(kept_before[-1] if block.kind == "gone" else i)
    mended = set()
    for i in seams | {i + 1 for i, b in enumerate(blocks) if b.rule in ("page-number", "running-head", "illustration")}:
        before = kept_before[min(i, len(blocks))]
        if before < 0 or i >= len(blocks) or blocks[i].kind != "prose" or blocks[before].kind != "prose":
            continue
        last = text[blocks[before].end - 1]
        if text[blocks[i].start].islower() and (last.isalnum() or last in ",;—-"):
            mended.add(i)
    return mended


def _check_share(draft: Draft, source: Source, settings: BooksConfig) -> None:
    """Stop where cleaning has taken more than a plausible share, with what it was about to remove."""
    removed = draft.removed()
    frame = sum(len(r.text) for r in removed if r.rule in _FRAME_RULES)
    counted = [r for r in removed if r.rule not in (*_FRAME_RULES, *_CHOICES)]
    size = sum(len(r.text) for r in counted) + max(0, frame - _LICENCE_CHARS)
    whole = len(source.text) - min(frame, _LICENCE_CHARS)
    if size <= max(2000, settings.max_removed_share * whole):
        return
    worst = max((r for r in removed if r.rule not in _CHOICES), key=lambda r: len(r.text))
    raise ProofFailed(
        f"{source.name}: cleaning would remove {size / whole:.0%} of the text, above "
        f"books.max_removed_share = {settings.max_removed_share}; the largest "
        f'part is {len(worst.text)} characters as {worst.rule}, from "{_glimpse(worst.text)}"; if that is right, raise the setting'
    )


def _glimpse(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= 160 else f"{flat[:90]} ... {flat[-60:]}"


def _chapters(draft: Draft, headings: list[Heading]) -> tuple[Chapter, ...]:
    text = draft.text
    if not any(h.kind == "chapter" for h in headings):
        return _pieces(text)
    marks = draft.marks
    starts = [*marks[0::2], len(text)]
    out = []
    for i, heading in enumerate(headings):
        start, head_end = starts[i], marks[2 * i + 1]
        end = start + len(text[start : starts[i + 1]].rstrip())
        while head_end < end and text[head_end].isspace():
            head_end += 1
        shown = heading.last >= heading.first
        name = text[start:head_end].strip() if shown else heading.label
        out.append(Chapter(heading.kind, heading.level, name, start, end, min(head_end, end) if shown else start))
    return tuple(out)


def _gaps(headings: list[Heading]) -> list[str]:
    """Sentences about numbers that are missing from the sequence of chapters."""
    numbers = [h.number for h in headings if h.kind == "chapter" and h.number > 0]
    return [
        f"chapter {b} follows chapter {a}; the source may lack what stood between, or misprint a number"
        for a, b in itertools.pairwise(numbers)
        if b not in (a + 1, 1)
    ]


def _pieces(text: str) -> tuple[Chapter, ...]:
    """A text without chapters, cut between paragraphs into pieces of about ``_PIECE_CHARS``."""
    whole = len(text.rstrip())
    count = max(1, round(whole / _PIECE_CHARS))
    cuts = [0]
    for k in range(1, count):
        at = text.find("\n\n", max(cuts[-1], whole * k // count))
        if at < 0:
            break
        if at > cuts[-1] and at + 2 < whole:
            cuts.append(at + 2)
    ends = [*cuts[1:], whole]
    return tuple(Chapter("piece", 1, "", start, len(text[:end].rstrip()), start) for start, end in zip(cuts, ends, strict=True))
