"""What Project Gutenberg puts around a book: headers, licences, markers, credits, transcriber's notes, since the 1990s.

Spans to remove come with the rule that says why. Lines are ``(start, end)`` spans of the text, without their newline.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator

from penname.books.draft import Rewrite

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
_OTHER_HEADER = re.compile(
    r"Project\s+Gutenberg\s+(?:of\s+)?(?:Australia|Canada)|Distributed\s+Proofreaders\s+Canada|Faded\s*Page", re.IGNORECASE
)
_META = re.compile(
    r"^\s*(?:Title|Author|Editor|Translator|Illustrator|Contributor|Release\s+Date|Posting\s+Date|First\s+Posted|Last\s+Updated|Language|Credits|"
    r"Character\s+set\s+encoding|Original\s+publication|Most\s+recently\s+updated|Other\s+information|\[?Last\s+updated)\s*:",
    re.IGNORECASE,
)
_SIGN = re.compile(r"gutenberg|small\s+print", re.IGNORECASE)
_BROKEN = re.compile(r"\W{0,3}\*{2,}\s*(?:START|END)\s+OF\b\s*(?:THE|THIS)?\s*(?:PROJECT)?\s*$", re.IGNORECASE)
_HEADER_LINES = 400
_LICENCE_NEAR_CHARS = 6000
_INNER_CHARS = 30_000  # text behind an END marker that is longer than any licence, and is none, belongs to the book


def _line(text: str, at: int) -> tuple[int, int]:
    """The line that ``at`` stands in."""
    end = text.find("\n", at)
    return text.rfind("\n", 0, at) + 1, end if end >= 0 else len(text)


def _lines(text: str, at: int, most: int) -> Iterator[tuple[int, int]]:
    """The line that begins at ``at`` and those behind it, up to ``most`` in all."""
    while most > 0 and at <= len(text):
        end = text.find("\n", at)
        end = end if end >= 0 else len(text)
        yield at, end
        at, most = end + 1, most - 1


def gutenberg_frame(text: str) -> list[Rewrite]:
    """The header and licence around (and between) the parts of a Gutenberg file, as removals; [] for any other text."""
    if "gutenberg" not in text.lower():
        return []
    markers = _markers(text)
    starts = [start for kind, start, _ in markers if kind == "start"]
    licences = [match.start() for match in _LICENCE.finditer(text)]
    cuts: list[Rewrite] = []
    inside = not starts
    opened_at = 0
    if inside:
        header_end = _bare_header_end(text)
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


def _markers(text: str) -> list[tuple[str, int, int]]:
    """Markers as (kind, start, end); one that runs over two or three lines, up to its closing stars, is taken whole."""
    found: list[tuple[str, int, int]] = []
    seen = looked = -1
    for match in _SIGN.finditer(text):
        if match.start() < looked:
            continue
        start, looked = _line(text, match.start())
        # The marker's words may themselves be broken over two lines: "*** START OF THE PROJECT" / "GUTENBERG EBOOK".
        before = _line(text, start - 1) if start else (-1, -1)
        if before[0] > seen and _BROKEN.match(text, *before):
            start = before[0]
        if start <= seen or looked - start > 300:
            continue
        seen = start
        (_, end), *more = _lines(text, start, 2)
        line = text[start : more[0][1] if more else end].replace("\n", " ")
        for kind, pattern in (("start", _START), ("start", _SMALL_PRINT_END), ("end", _END)):
            if pattern.match(line):
                found.append((kind, start, _marker_end(text, start)))
                break
    return found


def _marker_end(text: str, start: int) -> int:
    first, *more = _lines(text, start, 4)
    starred = text[first[0] : first[1]].lstrip("\ufeff ").startswith("*")
    last = first
    for line in (first, *more):
        if not text[line[0] : line[1]].strip():
            break
        if starred and text[line[0] : line[1]].rstrip().endswith("*"):
            return line[1]
        last = line
    else:
        last = first
    # "End of the Project Gutenberg EBook of Villette," goes on to the end of its paragraph.
    return first[1] if starred else last[1]


def _more_book_follows(end: int, starts: list[int], licences: list[int], size: int) -> bool:
    """Whether what follows an END marker is more of the book: long, and no licence near its beginning."""
    at = bisect_right(starts, end - 1)
    following = starts[at] if at < len(starts) else size
    at = bisect_right(licences, end - 1)
    near = licences[at] if at < len(licences) else size
    return following - end > _INNER_CHARS and near > min(end + _LICENCE_NEAR_CHARS, following)


def _bare_header_end(text: str) -> int:
    """Where the book begins in a file that has a Gutenberg header but no START marker; 0 where there is no header."""
    head = list(_lines(text, 0, _HEADER_LINES))
    if not _HEADER.search(text[: min(head[-1][1], 20_000)]):
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
    if not (_HEADER.search(head) or _OTHER_HEADER.search(head) or re.match(r"\s*Title:", head)):
        return {}
    found: dict[str, str] = {}
    for match in re.finditer(r"^_?(Title|Author|Language)[ \t]*:_?[ \t]*(.+(?:\n[ \t]+\S.*)*)", head, re.MULTILINE):
        first, newline, rest = match[2].partition("\n")
        # A short first line was not wrapped: what follows is a subtitle.
        joint = ": " if newline and match[1] == "Title" and len(first) < 50 else " "
        found.setdefault(match[1].lower(), " ".join((first + joint + rest).split()).strip(" :"))
    for name in found:
        found[name] = re.sub(r"\s*\((?:c\.\s*)?\d{4}[^()]*\)$", "", found[name])  # years of life or of printing
    if "author" in found:
        last, comma, first = found["author"].partition(",")
        found["author"] = f"{first.strip()} {last}" if comma and len(first.split()) < 3 and " " not in last else found["author"]
        found["author"] = re.sub(r"\s*\((?:aka|pseudonym)\b[^)]*\)\s*", " ", found["author"], flags=re.IGNORECASE).strip()
    if not found:  # the 1990s: "Project Gutenberg's Etext of Pride and Prejudice, by Jane Austen"
        headline = re.search(r"Project\s+Gutenberg(?:['’]s)?\s+E-?(?:text|book)\s*(?:of|,)\s+(.+?),?\s+by\s+([^\n#]+)", head, re.IGNORECASE)
        if headline:
            found = {"title": " ".join(headline[1].split()), "author": headline[2].strip()}
    return found
