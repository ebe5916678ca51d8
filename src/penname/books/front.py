"""What stands before the story and behind it: title pages, imprints, contents, credits, transcriber's notes, dedications."""

from __future__ import annotations

import re

from penname.books.blocks import Block
from penname.books.headings import Heading, plain
from penname.core.config import BooksConfig

_CREDIT = re.compile(
    r"^\W*(?:(?:E-?text|Etext|This\s+e-?(?:text|book)|HTML\s+version)\s+(?:was\s+)?(?:first\s+)?(?:prepared|produced|created|scanned|transcribed|typed|by)\b"
    r"|(?:Produced|Transcribed|Scanned|Digitized|Proofread|Prepared|Typed|Converted)\s+(?:and\s+\w+\s+)?(?:by|from)\b"
    r"|Special\s+thanks|Online\s+Distributed\s+Proofread|Distributed\s+Proofread|\(?This\s+file\s+was\s+produced\s+from"
    r"|\[?Published\s+under\s+the\s+name|Updated?\s+editions?\b|Many\s+thanks\s+to\b)",
    re.IGNORECASE,
)
_PGDP = re.compile(r"https?://|www\.|pgdp|gutenberg|@[a-z]+\.|archive\.org|Distributed\s+Proofread", re.IGNORECASE)
_NOTE = re.compile(r"^\W*(?:A\s+)?Transcriber(?:['’]?s?['’]?|s)?\s+(?:end\s*)?notes?\b|^\W*Transcription\s+notes?\b|^\W*Note\s+by\s+the\s+transcriber", re.IGNORECASE)
_CONTENTS = re.compile(r"^\W*(?:(?:table\s+of\s+)?contents|(?:list\s+of\s+)?(?:illustrations|plates|maps)|index|chapters?)(?:\s+page)?\W*$", re.IGNORECASE)
_END_MARK = re.compile(r"^\W*(?:the\s+end|finis|end\s+of\s+(?:the\s+)?(?:vol(?:ume)?|book|part)\b.{0,30}|fin)\W*$", re.IGNORECASE)
_DEDICATION = re.compile(r"^\W*(?:to\b|dedicat|inscribed|affectionately\s+inscribed|this\s+(?:work|book|volume|story)\s+is)", re.IGNORECASE)
_ILLUSTRATION = re.compile(r"^\[(?:Illustration|Frontispiece|Picture|Map|Plate)\b", re.IGNORECASE)


def find_furniture(text: str, blocks: list[Block], headings: list[Heading], settings: BooksConfig) -> dict[int, str]:
    """Blocks to remove, by number, each with its rule."""
    gone: dict[int, str] = {}
    for i, block in enumerate(blocks):
        if _ILLUSTRATION.match(text[block.start : block.start + 20]) and text[block.end - 1] == "]":
            gone[i] = "illustration"
    story = [h for h in headings if h.kind != "heading"]
    first = headings[0].first if headings else 0
    for i in range(first):
        gone.setdefault(i, _front_rule(text, blocks, i))
    del story
    last = headings[-1].last if headings else -1
    for i in range(len(blocks) - 1, max(last, len(blocks) - 40), -1):
        line = plain(text[blocks[i].start : blocks[i].end])
        if _END_MARK.match(line):
            for j in range(i, len(blocks)):
                gone.setdefault(j, "end-mark" if j == i else "back-matter")
            break
    return gone


def _front_rule(text: str, blocks: list[Block], index: int) -> str:
    block = blocks[index]
    line = plain(text[block.start : block.end])
    if _CREDIT.match(line) or _PGDP.search(line):
        return "credit"
    if _NOTE.match(line):
        return "transcriber-note"
    if _CONTENTS.match(line):
        return "contents"
    if _DEDICATION.match(line):
        return "dedication"
    return "title-page"
