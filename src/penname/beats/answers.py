"""From what a model sent to the line it meant: thinking, code fences, lists, quotes and preambles come off.

Only wrapping is removed. Two lines of prose stay two lines, for the gate to refuse.
"""

from __future__ import annotations

import json
import re

from penname.beats.annotator import Refusal

_THINK = re.compile(r"<(think|thinking|thought|reasoning)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_THINK_END = re.compile(r"^.*</(?:think|thinking|thought|reasoning)>", re.DOTALL | re.IGNORECASE)  # the opening tag stood in the prompt
_THINK_OPEN = re.compile(r"<(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_FENCE = re.compile(r"```[\w-]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•–—]\s+|\(?\d{1,2}[.):]\s+|[a-c][.)]\s+)")
_FILLER = (
    r"(?:here|is|are|this|the|a|an|one|my|your|revised|new|possible|final|single|short|terse|for|of|prose|passage|story|line|'s|here's)"
)
_LABEL = re.compile(
    rf"^[*_#>\s]*(?:{_FILLER}\s+)*(?:beats?|summary|answer|output)(?:\s+{_FILLER})*\s*[*_]*\s*(?::[*_]*|[*_]*$)\s*"
    rf"|^(?:here's|here is)\s+(?:{_FILLER}\s*)*:\s*"
    r"|^(?:sure|certainly|of course|okay|ok|absolutely)(?: thing)?[!.:]\s+",
    re.IGNORECASE,
)
_PREAMBLE = re.compile(r"^\s*(?:sure|certainly|of course|okay|ok|absolutely|great|here)\b[^\n]{0,100}[:!.]\s*$", re.IGNORECASE)
_AFTERWORD = re.compile(
    r"^\s*[(\[*_]*(?:note|word count|this (?:beat|line)|explanation|i (?:hope|chose|kept)|let me know)\b", re.IGNORECASE
)
_COUNT_NOTE = re.compile(r"\s*[(\[]\s*\d+\s+words?\s*[)\]]\s*$", re.IGNORECASE)
_QUOTES = {'"': '"', "“": "”", "'": "'", "‘": "’", "«": "»", "`": "`", "[": "]", "*": "*", "_": "_"}


def line_of(content: str | None, reasoning: str | None = None, finish: str | None = None) -> tuple[str, Refusal | None]:
    """(the line, None), or ("", why there is none). ``finish`` is the server's finish_reason."""
    if finish == "content_filter":
        return "", Refusal("refusal", "the server's filter held the answer back")
    text = _THINK.sub("", content or "")
    if _THINK_END.match(text):
        text = _THINK_END.sub("", text)
    if _THINK_OPEN.search(text):
        return "", Refusal("truncated", "the thinking was cut off before an answer; think less and answer with the line only")
    text = unwrapped(text)
    if finish == "length":
        return "", Refusal("truncated", "the answer was cut off; answer with one short line only")
    if not text:
        thought = " after thinking" if reasoning or (content and "think" in content.lower()) else ""
        return "", Refusal("empty", f"the answer was empty{thought}; answer with the line only")
    return text, None


def unwrapped(text: str) -> str:
    """The line without what models put around it."""
    text = text.strip()
    if fence := _FENCE.search(text):
        text = fence.group(1).strip() or text.replace("```", "").strip()
    text = _from_json(text)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    while len(lines) > 1 and _PREAMBLE.match(lines[0]):
        lines.pop(0)
    while len(lines) > 1 and not _LABEL.sub("", lines[0]).strip(" *_#"):
        lines.pop(0)
    while len(lines) > 1 and _AFTERWORD.match(lines[-1]):
        lines.pop()
    if len(lines) > 1 and all(_BULLET.match(line) for line in lines):
        lines = lines[:1]  # a choice of beats: the first is as good as any
    return "\n".join(_bare(line) for line in lines)


def _from_json(text: str) -> str:
    if not text.startswith(("{", '["')):
        return text
    try:
        value = json.loads(text)
    except json.JSONDecodeError:
        return text
    if isinstance(value, dict):
        value = next((v for v in value.values() if isinstance(v, str)), text)
    if isinstance(value, list):
        value = next((v for v in value if isinstance(v, str)), text)
    return value if isinstance(value, str) else text


def _bare(line: str) -> str:
    before = None
    while before != line:
        before = line
        line = _BULLET.sub("", line.strip().lstrip("#>").strip())
        line = _COUNT_NOTE.sub("", _LABEL.sub("", line).strip())
        if len(line) > 2 and _QUOTES.get(line[0]) == line[-1] and not (line[0] == line[-1] and line.count(line[0]) % 2):
            inner = line[1:-1]
            if line[0] not in inner or line[0] in "*_":
                line = inner.strip()
    return " ".join(line.split())
