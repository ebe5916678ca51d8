"""Things set into the text that are not the story: pictures, footnotes and their marks, page numbers, transcribers' brackets."""

from __future__ import annotations

import re
from collections.abc import Iterator

from penname.books.draft import Rewrite

_OPENING = re.compile(
    r"\[[\s*_]*(?P<what>illustrations?|frontispiece|picture|plate|map|decoration|music|sheet music|cover|"
    r"footnotes?|endnotes?|sidenote|"
    r"transcriber['’]?s?['’]?\s+(?:end)?notes?|tn|transcription note|note by (?:the )?transcriber|"
    r"published under the name|pg|page|p|blank page|handwriting|advertisement)\b\.?(?=[\s\d:.\]_—-])",
    re.IGNORECASE,
)
_RULES = (("foot", "footnote"), ("endn", "footnote"), ("side", "footnote"), ("tran", "transcriber-note"), ("tn", "transcriber-note"),
          ("note", "transcriber-note"), ("publ", "credit"), ("blan", "page-number"))  # fmt: skip
_PAGES = frozenset(("pg", "page", "p"))
_MAX_BRACKET_CHARS = 20_000
_PAGE_ONLY = re.compile(r"\[\s*(?:pg|page|p)\b\.?\s*(?:\d{1,4}|[ivxlc]{1,7})\s*\]", re.IGNORECASE)
_PICTURE_FILE = re.compile(r"\{[^{}]{0,400}\.(?:jpe?g|png|gif)\}", re.IGNORECASE)
_BRACE_MARK = re.compile(r"\{(?:(?:end|foot)?note\s*)?\d{1,4}[a-z]?\}", re.IGNORECASE)
_MARK = re.compile(r"\[(?:\d{1,3}|[A-Z]|[*†‡§]{1,3})\]")
_BEFORE_MARK = frozenset(".,;:!?\"'’”_)—")
_NOTE_BODY = re.compile(r"(?m)(?<=\n\n)[ \t]*(?P<mark>[\[{](?:\d{1,3}|[A-Z]|[*†‡§]{1,3}|\d{1,4}[a-z]?)[\]}])[ \t]+(?=\S)")
_BAR = re.compile(r"(?m)(?<=\n\n)\|(?=[A-Z][A-Z' ])")  # how some texts mark where a large capital stood
_BARS = 3
_NOTE_HEADING = re.compile(r"(?im)(?<=\n\n)[ \t]*(?:foot|end)?notes?[ \t]*[:.]?[ \t]*(?=\n+[ \t]*[\[{](?:1|A|\*)[\]}][ \t]+\S)")
_STAR_NOTE = re.compile(r"(?m)(?<=\n\n)[ \t]*(?P<mark>[*†‡§])[ \t]?(?=[\w\"'“‘])")
_STAR_BRACKET = re.compile(r"\[[*†‡§]{1,3}\s*(?=[\w\"'“‘])")
_STAR_SIGN = re.compile(r"(?<=[\w.,;:!?\"'”’)]) ?[*†‡](?=[\s.,;:!?\"'”’)—-])")
_STAR_OPENS = re.compile(r"(?<!\S)\*(?=\w)")
_STARRED_CHARS = 5000
_BRACKET = re.compile(r"[\[\]]")
_BLANK = re.compile(r"\n[ \t]*\n")


def find_notes(text: str) -> list[Rewrite]:
    """The removals, sorted and apart. A bracket that never closes, or closes very late, is left alone."""
    found = sorted(_all_notes(text), key=lambda item: (item[0], -item[1]))
    out: list[Rewrite] = []
    for item in found:
        if not out or item[0] >= out[-1][1]:
            out.append(item)
    return out


def _all_notes(text: str) -> Iterator[Rewrite]:
    yield from _brackets(text)
    for match in _PICTURE_FILE.finditer(text):
        yield match.start(), match.end(), "", "illustration"
    bars = list(_BAR.finditer(text))
    if len(bars) >= _BARS:
        yield from ((match.start(), match.end(), "", "drop-capital") for match in bars)
    marks = set()
    for match in _MARK.finditer(text):
        before = text[match.start() - 1 : match.start()]
        if not before.isalnum() and before not in _BEFORE_MARK:
            continue
        marks.add(match[0])
        yield match.start(), match.end(), "", "footnote-mark"
    for match in _BRACE_MARK.finditer(text):
        marks.add(match[0])
        yield match.start() - (text[match.start() - 1 : match.start()] == " "), match.end(), "", "footnote-mark"
    if marks:
        yield from ((match.start(), match.end(), "", "footnote") for match in _NOTE_HEADING.finditer(text))
    yield from _starred(text)
    yield from _star_brackets(text)
    end = 0
    for match in _NOTE_BODY.finditer(text) if marks else ():
        # One without a mark goes with the note right before it.
        if match["mark"] in marks or (end and not text[end : match.start()].strip()):
            blank = _BLANK.search(text, match.end())
            end = blank.start() if blank else len(text)
            yield match.start(), end, "", "footnote"


def _starred(text: str) -> Iterator[Rewrite]:
    """Notes under a star or dagger right behind the paragraph whose one such sign they explain, and that sign."""
    for match in _STAR_NOTE.finditer(text):
        above = text.rfind("\n\n", max(0, match.start() - _STARRED_CHARS), match.start() - 2) + 2
        at = text.find(match["mark"], above, match.start())
        if at <= above or text.find(match["mark"], at + 1, match.start()) >= 0:
            continue
        if text[at + 1].isspace() and (text[at - 1].isalnum() or text[at - 1] in _BEFORE_MARK):
            blank = _BLANK.search(text, match.end())
            yield at, at + 1, "", "footnote-mark"
            yield match.start(), blank.start() if blank else len(text), "", "footnote"


def _star_brackets(text: str) -> Iterator[Rewrite]:
    """Notes like "[*Yarraman--horse.]", which no story writes, and the signs above them, unless stars mark emphasis there."""
    reached = 0
    for match in _STAR_BRACKET.finditer(text):
        end = text.find("]", match.end(), match.end() + _STARRED_CHARS) + 1
        if not end or match.start() < reached:
            continue
        above = max(reached, match.start() - _STARRED_CHARS)
        if not _STAR_OPENS.search(text, above, match.start()):
            yield from ((sign.start(), sign.end(), "", "footnote-mark") for sign in _STAR_SIGN.finditer(text, above, match.start()))
        yield match.start(), end, "", "footnote"
        reached = end


def _brackets(text: str) -> Iterator[Rewrite]:
    openings = list(_OPENING.finditer(text))
    closings = _closings(text) if openings else {}
    reached = 0
    for match in openings:
        start = match.start()
        end = closings.get(start, 0)
        if start < reached or not end or end - start > _MAX_BRACKET_CHARS:
            continue
        what = match["what"].lower()
        rule = next((rule for head, rule in _RULES if what.startswith(head)), "illustration")
        if what in _PAGES:
            rule = "page-number"
            if not _PAGE_ONLY.match(text, start):
                continue
        reached = end
        yield start, end, "", rule


def _closings(text: str) -> dict[int, int]:
    """Where each bracket that closes does so: start of "[" -> end of its "]"."""
    open_at: list[int] = []
    found = {}
    for match in _BRACKET.finditer(text):
        if match[0] == "[":
            open_at.append(match.start())
        elif open_at:
            found[open_at.pop()] = match.end()
    return found
