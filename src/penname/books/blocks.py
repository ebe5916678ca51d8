"""Lines to blocks: paragraphs, verse and other kept lines, scene breaks; and the joining of hard-wrapped lines."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import Literal

from penname.books.boilerplate import split_lines
from penname.books.draft import Rewrite

BlockKind = Literal["prose", "verse", "break", "heading", "gone"]
Layout = Literal["blank", "wrapped", "lines"]

SCENE_BREAK = "* * *"
_BREAK_LINE = re.compile(r"^(?:[*•·⁂☆★†#~=_+—–-]\s*){1,}$|^(?:[oO0]\s*){3,}$")
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_SPARE_COLUMNS = 3


@dataclass(frozen=True, slots=True)
class Block:
    """A run of lines that belong together. ``gap`` is the number of blank lines before it."""

    kind: BlockKind
    lines: tuple[tuple[int, int], ...]
    gap: int
    indent: int = 0
    rule: str = ""  # for "gone": why

    @property
    def start(self) -> int:
        """Where its first line begins."""
        return self.lines[0][0]

    @property
    def end(self) -> int:
        """Where its last line ends."""
        return self.lines[-1][1]


def cut_blocks(text: str) -> list[Block]:
    """The blocks of a text in order, by blank lines, or by how full its lines are where it has no blank lines."""
    spans = [_trim(text, start, end) for start, end in split_lines(text)]
    layout, width = find_layout(spans)
    blocks: list[Block] = []
    current: list[tuple[int, int]] = []
    gap = blank = 0
    previous_indent = 0

    def close() -> None:
        nonlocal current
        if current:
            blocks.append(_block(text, tuple(current), gap, width, layout))
            current = []

    for start, end in spans:
        if start == end:
            close()
            blank += 1
            continue
        indent = start - text.rfind("\n", 0, start) - 1
        alone = layout == "lines" or bool(_BREAK_LINE.match(text[start:end]))
        if current and (alone or (layout == "wrapped" and _new_paragraph(text, current[-1], (start, end), width, indent, previous_indent))):
            close()
        if not current:
            gap, blank = blank, 0
        current.append((start, end))
        previous_indent = indent
        if alone:
            close()
    close()
    return blocks


def _trim(text: str, start: int, end: int) -> tuple[int, int]:
    line = text[start:end]
    stripped = line.strip()
    if not stripped:
        return start, start
    lead = len(line) - len(line.lstrip())
    return start + lead, start + lead + len(stripped)


def find_layout(spans: list[tuple[int, int]]) -> tuple[Layout, int]:
    """How paragraphs are set apart, and the width that lines are wrapped at (0: not wrapped)."""
    sizes = sorted(end - start for start, end in spans if end > start)
    if not sizes:
        return "lines", 0
    width = sizes[min(len(sizes) - 1, int(0.95 * len(sizes)))]
    longest = sizes[int(0.995 * (len(sizes) - 1))]
    if longest > 1.5 * width + 20 or width > 140:
        return "lines", 0  # one line a paragraph; with blank lines between or without, a line is a block
    blank = sum(1 for start, end in spans[: _last_full(spans)] if start == end)
    return ("blank" if blank > 0.02 * len(sizes) else "wrapped"), width


def _last_full(spans: list[tuple[int, int]]) -> int:
    return next((i + 1 for i in range(len(spans) - 1, -1, -1) if spans[i][1] > spans[i][0]), 0)


def _first_word(text: str, span: tuple[int, int]) -> int:
    space = text.find(" ", span[0], span[1])
    return (space if space > 0 else span[1]) - span[0]


def _room(text: str, line: tuple[int, int], following: tuple[int, int], width: int) -> int:
    """Columns that a line would have had to spare with the next line's first word on it; negative: the break was forced."""
    return width - (line[1] - line[0]) - 1 - _first_word(text, following)


def _new_paragraph(text: str, last: tuple[int, int], here: tuple[int, int], width: int, indent: int, previous_indent: int) -> bool:
    if indent >= 2 and previous_indent < 2:
        return True
    if _room(text, last, here, width) < _SPARE_COLUMNS:
        return False
    ends = text[last[1] - 1]
    return ends in ".!?:\"'”’)—-*" or not text[here[0]].islower()


def _block(text: str, lines: tuple[tuple[int, int], ...], gap: int, width: int, layout: Layout) -> Block:
    first = text[lines[0][0] : lines[0][1]]
    indent = lines[0][0] - text.rfind("\n", 0, lines[0][0]) - 1
    if len(lines) == 1 and _BREAK_LINE.match(first):
        return Block("break", lines, gap, indent)
    if len(lines) > 1 and layout != "lines":
        free = sum(1 for a, b in zip(lines, lines[1:], strict=False) if _room(text, a, b, width) >= 8)
        if free > 0.6 * (len(lines) - 1):
            return Block("verse", lines, gap, indent)
    return Block("prose", lines, gap, indent)


def hyphen_evidence(text: str) -> Counter[str]:
    """How often each word, hyphenated or whole, stands inside a line of the book; lower case."""
    return Counter(match.lower() for match in _WORD.findall(text))


def join_lines(text: str, blocks: list[Block], heading_runs: list[tuple[int, int]]) -> list[Rewrite]:
    """The rewrites that leave each block on one line (verse on its lines), a blank line between blocks, and nothing else.

    A block marked as gone is removed under its rule. Blocks ``first`` to ``last`` of a heading run become one line.
    """
    evidence: Counter[str] | None = None
    inner = {i for first, last in heading_runs for i in range(first + 1, last + 1)}
    one_line = {i for first, last in heading_runs for i in range(first, last + 1)}
    out: list[Rewrite] = []
    at = 0
    written = False
    for index, block in enumerate(blocks):
        if block.kind == "gone":
            if out and out[-1][1] == at and out[-1][2] == "" and out[-1][3] == block.rule:
                out[-1] = (out[-1][0], block.end, "", block.rule)
            else:
                out.append((at, block.end, "", block.rule))
            at = block.end
            continue
        if block.start > at:
            space = " " if index in inner else "\n\n"
            out.append((at, block.start, space if written else "", "paragraph" if written else "edge"))
        if block.kind == "break":
            out.append((block.start, block.end, SCENE_BREAK, "scene-break"))
        for here, following in zip(block.lines, block.lines[1:], strict=False):
            if block.kind == "verse" and index not in one_line:
                out.append((here[1], following[0], "\n", "verse-line"))
                continue
            joint = " "
            end = here[1]
            if text[end - 1] in "-—–―":
                if evidence is None:
                    evidence = hyphen_evidence(text)
                end, joint = _dash_joint(text, here, following, evidence)
            rule = "line-end-hyphen" if end < here[1] else "join"
            out.append((end, following[0], joint, rule))
        at = block.end
        written = True
    if at < len(text):
        out.append((at, len(text), "\n" if written else "", "edge"))
    return out


def _dash_joint(text: str, here: tuple[int, int], following: tuple[int, int], evidence: Counter[str]) -> tuple[int, str]:
    """Where the line's kept part ends and what joins it to the next: after a dash nothing, a hyphen by evidence."""
    end = here[1]
    line = text[here[0] : end]
    if line.endswith(("--", "—", "–", "―")):
        bare = line.rstrip("-—–―")
        return end, " " if bare.endswith(" ") or len(line) - len(bare) > 2 else ""
    first = re.search(r"([^\W\d_]+)-$", line)
    second = _WORD.match(text, following[0], following[1])
    if not first or not second:
        return end, ""
    left, right = first[1].lower(), second[0].split("-")[0].lower()
    if evidence[f"{left}-{right}"] > evidence[left + right]:
        return end, ""
    broken = text[following[0]].islower() and not (evidence[left] and evidence[right])
    if evidence[left + right] or broken:
        return end - 1, ""
    return end, ""


def without(blocks: list[Block], gone: dict[int, str]) -> list[Block]:
    """Blocks with the numbered ones marked as gone, each with its rule."""
    return [replace(block, kind="gone", rule=gone[i]) if i in gone else block for i, block in enumerate(blocks)]
