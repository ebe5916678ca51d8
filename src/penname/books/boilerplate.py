"""What Project Gutenberg puts around a book: headers, licences, markers, credits, transcriber's notes, since the 1990s.

Each function reads lines and gives spans to remove with the rule that says why. Lines are ``(start, end)`` spans of the
text, without their newline.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from penname.books.draft import Rewrite

Lines = list[tuple[int, int]]

_START = re.compile(r"^\W{0,3}\*{2,}\s*START\s+OF\s+(?:THE|THIS)?\s*PROJECT\s+GUTENBERG", re.IGNORECASE)
_SMALL_PRINT_END = re.compile(r"^\W{0,3}\*+\s*END\s*\*?\s*THE\s+SMALL\s+PRINT", re.IGNORECASE)
_END = re.compile(
    r"^\W{0,3}(?:\*{2,}\s*END\s+OF\s+(?:THE|THIS)?\s*PROJECT\s+GUTENBERG"
    r"|(?:\*{3,}\s*)?(?:This is the )?End\s+of\s+(?:the\s+|this\s+)?Project\s+Gutenberg)",
    re.IGNORECASE,
)
_LICENCE = re.compile(
    r"THE\s+FULL\s+PROJECT\s+GUTENBERG|Project\s+Gutenberg\s+Literary\s+Archive|This\s+file\s+should\s+be\s+named"
    r"|Updated\s+editions\s+will\s+replace|START:\s+FULL\s+LICENSE|SMALL\s+PRINT",
    re.IGNORECASE,
)
_HEADER = re.compile(
    r"^\s*(?:\W{0,3}The\s+)?Project\s+Gutenberg(?:['’]s|\s+E-?(?:book|text))|This\s+e-?(?:book|text)\s+is\s+for\s+the\s+use\s+of\s+anyone",
    re.IGNORECASE,
)
_META = re.compile(
    r"^\s*(?:Title|Author|Editor|Translator|Illustrator|Contributor|Release\s+Date|Posting\s+Date|First\s+Posted|Last\s+Updated|Language|Credits|"
    r"Character\s+set\s+encoding|Original\s+publication|Most\s+recently\s+updated|Other\s+information|\[?Last\s+updated)\s*:",
    re.IGNORECASE,
)
_SIGN = re.compile(r"gutenberg|small\s+print", re.IGNORECASE)
_BROKEN = re.compile(r"\W{0,3}\*{2,}\s*(?:START|END)\s+OF\s+(?:THE|THIS)?\s*(?:PROJECT)?\s*$", re.IGNORECASE)
_HEADER_LINES = 400
_LICENCE_NEAR_CHARS = 6000
_INNER_CHARS = 30_000  # text behind an END marker that is longer than any licence, and is none, belongs to the book


def split_lines(text: str) -> Lines:
    """The line spans of a text whose newlines are all ``\\n``."""
    lines = []
    at = 0
    for line in text.split("\n"):
        lines.append((at, at + len(line)))
        at += len(line) + 1
    return lines


def gutenberg_frame(text: str) -> list[Rewrite]:
    """The header and licence around (and between) the parts of a Gutenberg file, as removals; [] for any other text."""
    if "gutenberg" not in text.lower():
        return []
    lines = split_lines(text)
    markers = _markers(text, lines)
    starts = [start for kind, start, _ in markers if kind == "start"]
    licences = [match.start() for match in _LICENCE.finditer(text)]
    cuts: list[Rewrite] = []
    inside = not starts
    opened_at = 0
    if inside:
        header_end = _bare_header_end(text, lines)
        if header_end:
            cuts.append((0, header_end, "", "gutenberg-header"))
            opened_at = header_end
    closed_at = 0
    for kind, start, end in markers:
        if kind == "start":
            if not inside:
                cuts.append((closed_at, end, "", "gutenberg-header" if closed_at == 0 else "gutenberg-licence"))
            else:
                cuts.append((start, end, "", "gutenberg-marker"))
            inside, opened_at = True, end
        elif inside and start >= opened_at:
            if _more_book_follows(end, starts, licences, len(text)):
                cuts.append((start, end, "", "gutenberg-marker"))
            else:
                inside, closed_at = False, start
    if not inside and closed_at:
        cuts.append((closed_at, len(text), "", "gutenberg-licence"))
    return cuts


def _markers(text: str, lines: Lines) -> list[tuple[str, int, int]]:
    """Markers as (kind, start, end); one that runs over two or three lines, up to its closing stars, is taken whole."""
    found: list[tuple[str, int, int]] = []
    starts = [start for start, _ in lines]
    seen = -1
    for match in _SIGN.finditer(text):
        index = bisect_right(starts, match.start()) - 1
        # The marker's words may themselves be broken over two lines: "*** START OF THE PROJECT" / "GUTENBERG EBOOK".
        if index > seen + 1 and _BROKEN.match(text, *lines[index - 1]):
            index -= 1
        if index <= seen or lines[index][1] - lines[index][0] > 300:
            continue
        seen = index
        line = text[lines[index][0] : lines[min(index + 1, len(lines) - 1)][1]].replace("\n", " ")
        for kind, pattern in (("start", _START), ("start", _SMALL_PRINT_END), ("end", _END)):
            if pattern.match(line):
                found.append((kind, lines[index][0], _marker_end(text, lines, index)))
                break
    return found


def _marker_end(text: str, lines: Lines, index: int) -> int:
    first = text[lines[index][0] : lines[index][1]]
    if not first.lstrip("\ufeff ").startswith("*"):
        # "End of the Project Gutenberg EBook of Villette," goes on to the end of its paragraph.
        for at in range(index, min(index + 4, len(lines))):
            if not text[lines[at][0] : lines[at][1]].strip():
                return lines[at - 1][1]
        return lines[index][1]
    for at in range(index, min(index + 4, len(lines))):
        if not text[lines[at][0] : lines[at][1]].strip():
            break
        if text[lines[at][0] : lines[at][1]].rstrip().endswith("*"):
            return lines[at][1]
    return lines[index][1]


def _more_book_follows(end: int, starts: list[int], licences: list[int], size: int) -> bool:
    """Whether what follows an END marker is more of the book: long, and no licence near its beginning."""
    at = bisect_right(starts, end - 1)
    following = starts[at] if at < len(starts) else size
    at = bisect_right(licences, end - 1)
    near = licences[at] if at < len(licences) else size
    return following - end > _INNER_CHARS and near > min(end + _LICENCE_NEAR_CHARS, following)


def _bare_header_end(text: str, lines: Lines) -> int:
    """Where the book begins in a file that has a Gutenberg header but no START marker; 0 where there is no header."""
    head = lines[:_HEADER_LINES]
    if not head or not _HEADER.search(text[: min(head[-1][1], 20_000)]):
        return 0
    end = 0
    at = 0
    while at < len(head):
        stop = at
        while stop < len(head) and text[head[stop][0] : head[stop][1]].strip():
            stop += 1
        paragraph = text[head[at][0] : head[max(at, stop - 1)][1]]
        if _HEADER.search(paragraph) or any(_META.match(line) for line in paragraph.split("\n")) or "gutenberg" in paragraph.lower():
            end = head[max(at, stop - 1)][1]
        elif paragraph.strip() and end and len(paragraph) > 200:
            break
        at = stop + 1
    return end


def metadata(text: str) -> dict[str, str]:
    """The ``Title:``, ``Author:`` and ``Language:`` of a Gutenberg header; {} where there is none."""
    head = text[:20_000]
    if not _HEADER.search(head) and not re.match(r"\s*Title:", head):
        return {}
    found: dict[str, str] = {}
    for match in re.finditer(r"^(Title|Author|Language)[ \t]*:[ \t]*(.+(?:\n[ \t]+\S.*)*)", head, re.MULTILINE):
        first, newline, rest = match[2].partition("\n")
        # A short first line was not wrapped: what follows is a subtitle.
        joint = ": " if newline and match[1] == "Title" and len(first) < 50 else " "
        found.setdefault(match[1].lower(), " ".join((first + joint + rest).split()).strip(" :"))
    if not found:  # the 1990s: "Project Gutenberg's Etext of Pride and Prejudice, by Jane Austen"
        headline = re.search(r"Project\s+Gutenberg(?:['’]s)?\s+E-?(?:text|book)\s*(?:of|,)\s+(.+?),?\s+by\s+([^\n#]+)", head, re.IGNORECASE)
        if headline:
            found = {"title": " ".join(headline[1].split()), "author": headline[2].strip()}
    return found
