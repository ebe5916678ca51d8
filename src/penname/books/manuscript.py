"""Writers' manuscripts: Markdown, DOCX, ODT. Headings of the format become headings of the book."""

from __future__ import annotations

import re
from typing import Any

from penname.books.archive import Archive
from penname.books.decode import decode
from penname.books.source import Emitter, Hint, Source
from penname.core.errors import BadInput
from penname.core.hashing import sha256_bytes

_W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_FRONT_MATTER = re.compile(r"\A---[ \t]*\n(.*?\n)(?:---|\.\.\.)[ \t]*\n", re.DOTALL)
_YAML_LINE = re.compile(r"^(title|author|lang|language)\s*:\s*[\"']?(.*?)[\"']?\s*$", re.IGNORECASE | re.MULTILINE)
_NOTE = re.compile(r"^\[\^([^\]\s]+)\]:[^\n]*(?:\n+(?:[ ]{2,}|\t)[^\n]*)*\n?", re.MULTILINE)  # "[^1]: ..." and what is indented under it
_NOTE_MARK = re.compile(r"\[\^([^\]\s]+)\]")


def read_markdown(data: bytes, name: str, keep_italics: bool) -> Source:
    """The Source in a Markdown file: CommonMark through markdown-it; a YAML head gives title and author."""
    from markdown_it import MarkdownIt

    text = decode(data, name)[0].replace("\r\n", "\n").replace("\r", "\n")
    about: dict[str, str] = {}
    head = _FRONT_MATTER.match(text)
    if head:
        about = {key.lower(): value for key, value in _YAML_LINE.findall(head[1])}
        text = text[head.end() :]
    noted = {note[1] for note in _NOTE.finditer(text)}
    text = _NOTE_MARK.sub(lambda mark: "" if mark[1] in noted else mark[0], _NOTE.sub("", text))
    emitter = Emitter(keep_italics)
    level = 0
    for token in MarkdownIt("commonmark", {"maxNesting": 20}).enable("strikethrough").parse(text):
        if token.type == "heading_open":
            level = int(token.tag[1])
        elif token.type == "heading_close":
            level = 0
        elif token.type == "inline":
            emitter.block(_markdown_inline(token.children or [], keep_italics), level=level)
        elif token.type == "hr":
            emitter.block("* * *")
        elif token.type in ("fence", "code_block"):
            emitter.block(token.content)
    return _source(emitter, data, name, about.get("title", ""), about.get("author", ""), about.get("lang", about.get("language", "")))


def _markdown_inline(tokens: list[Any], keep_italics: bool) -> str:
    parts = []
    for token in tokens:
        if token.type in ("text", "code_inline"):
            parts.append(token.content)
        elif token.type == "softbreak":
            parts.append(" ")
        elif token.type == "hardbreak":
            parts.append("\n")
        elif token.type in ("em_open", "em_close") and keep_italics:
            parts.append("_")
        elif token.type == "html_inline" and re.match(r"<br\s*/?>", token.content, re.IGNORECASE):
            parts.append("\n")
    return "".join(parts)


def _source(emitter: Emitter, data: bytes, name: str, title: str, author: str, language: str = "") -> Source:
    if not emitter.size:
        raise BadInput(f"{name} has no text in it; name the file that holds the book")
    return Source(
        emitter.text(), name, sha256_bytes(data), "kept", title, author, language, hints=tuple(emitter.hints), cuts=tuple(emitter.cuts)
    )


def read_docx(data: bytes, name: str, keep_italics: bool) -> Source:
    """The Source in a DOCX. Heading styles give levels; tracked deletions, notes, fields and comments are not text."""
    archive = Archive(data, name)
    body = archive.xml("word/document.xml")
    levels = _docx_levels(archive)
    emitter = Emitter(keep_italics)
    title = ""
    bold: list[Hint] = []
    for paragraph in body.iter(f"{_W}p"):
        if any(up.tag in (f"{_W}txbxContent", f"{_W}del", f"{_W}moveFrom") for up in paragraph.iterancestors()):
            continue
        style = paragraph.find(f"{_W}pPr/{_W}pStyle")
        style_id = style.get(f"{_W}val", "") if style is not None else ""
        outline = paragraph.find(f"{_W}pPr/{_W}outlineLvl")
        level = levels.get(style_id, 0) if outline is None else _outline_level(outline)
        text = _docx_text(paragraph, keep_italics)
        if level == _TITLE_LEVEL:
            title = title or " ".join(text.split())
            level = 1
        rule = "contents" if style_id.lower().startswith("toc") else ""
        before = emitter.size
        emitter.block(text, level=min(level, 9), rule=rule)
        if not level and not rule and emitter.size > before and len(text) <= _BOLD_CHARS and _all_bold(paragraph):
            bold.append(Hint(before + 2 if before else 0, 1))
    if not emitter.hints:
        emitter.hints = bold  # a writer who uses no styles sets headings in bold
    about = archive.xml("docProps/core.xml") if "docProps/core.xml" in archive else None
    return _source(emitter, data, name, _dublin(about, "title") or title, _dublin(about, "creator"), _dublin(about, "language"))


_TITLE_LEVEL = 99
_BOLD_CHARS = 90


def _all_bold(paragraph: Any) -> bool:
    """Whether every run of a paragraph with letters in it is set in bold."""
    runs = [run for run in paragraph.iter(f"{_W}r") if any(char.isalpha() for char in "".join(run.itertext(f"{_W}t")))]
    marks = [run.find(f"{_W}rPr/{_W}b") for run in runs]
    return bool(runs) and all(mark is not None and mark.get(f"{_W}val", "1") not in ("0", "false", "off") for mark in marks)


def _small_int(text: str | None) -> int:
    return int(text) if text and text.isdigit() and len(text) == 1 else 0


def _outline_level(outline: Any) -> int:
    value = outline.get(f"{_W}val", "9")
    return int(value) + 1 if value in tuple("012345678") else 0  # 9 says that it is body text


def _docx_levels(archive: Archive) -> dict[str, int]:
    """Heading level of each paragraph style: from its outline level, its name, or the style that it is based on."""
    if "word/styles.xml" not in archive:
        return {f"Heading{n}": n for n in range(1, 10)} | {"Title": _TITLE_LEVEL}
    levels: dict[str, int] = {}
    based: dict[str, str] = {}
    for style in archive.xml("word/styles.xml").iter(f"{_W}style"):
        style_id = style.get(f"{_W}styleId", "")
        name, base, outline = style.find(f"{_W}name"), style.find(f"{_W}basedOn"), style.find(f"{_W}pPr/{_W}outlineLvl")
        match = re.fullmatch(r"heading (\d)", (name.get(f"{_W}val", "") if name is not None else "").lower())
        if match:
            levels[style_id] = int(match[1])
        elif name is not None and name.get(f"{_W}val", "").lower() == "title":
            levels[style_id] = _TITLE_LEVEL
        elif outline is not None and _outline_level(outline):
            levels[style_id] = _outline_level(outline)
        elif base is not None:
            based[style_id] = base.get(f"{_W}val", "")
    for style_id, base in based.items():
        for _ in range(10):  # a style chain may be a ring
            if base in levels or base not in based:
                break
            base = based[base]
        if base in levels:
            levels[style_id] = levels[base]
    return levels


def _docx_text(paragraph: Any, keep_italics: bool) -> str:
    parts: list[str] = []
    for node in paragraph.iter():
        tag = node.tag
        if tag == f"{_W}t":
            run = node.getparent()
            if any(up.tag in (f"{_W}del", f"{_W}txbxContent", f"{_W}moveFrom") for up in node.iterancestors() if up is not paragraph):
                continue
            italic = keep_italics and run is not None and run.find(f"{_W}rPr/{_W}i") is not None
            parts.append(f"_{node.text or ''}_" if italic and (node.text or "").strip() else node.text or "")
        elif tag in (f"{_W}br", f"{_W}cr") and node.get(f"{_W}type") not in ("page", "column"):
            parts.append("\n")
        elif tag == f"{_W}tab" and node.getparent() is not None and node.getparent().tag == f"{_W}r":
            parts.append(" ")
        elif tag == f"{_W}noBreakHyphen":
            parts.append("-")
    return "".join(parts).replace("__", "")


def _dublin(root: Any, tag: str) -> str:
    if root is None:
        return ""
    node = root.find(f".//{{http://purl.org/dc/elements/1.1/}}{tag}")
    return " ".join((node.text or "").split()) if node is not None else ""


_TEXT = "{urn:oasis:names:tc:opendocument:xmlns:text:1.0}"
_ODT_SKIPPED = frozenset(f"{_TEXT}{tag}" for tag in ("note", "tracked-changes", "bookmark-ref")) | {
    "{urn:oasis:names:tc:opendocument:xmlns:office:1.0}annotation",
    "{urn:oasis:names:tc:opendocument:xmlns:drawing:1.0}frame",
}
_ODT_CONTENTS = frozenset(f"{_TEXT}{tag}" for tag in ("table-of-content", "illustration-index", "alphabetical-index"))


def read_odt(data: bytes, name: str, keep_italics: bool) -> Source:
    """The Source in an ODT. Headings give levels; notes, annotations and tracked changes are not text."""
    archive = Archive(data, name)
    body = archive.xml("content.xml")
    emitter = Emitter(keep_italics)
    for node in body.iter(f"{_TEXT}h", f"{_TEXT}p"):
        above = [up.tag for up in node.iterancestors()]
        if any(tag in _ODT_SKIPPED for tag in above):
            continue
        level = max(1, _small_int(node.get(f"{_TEXT}outline-level", "1"))) if node.tag == f"{_TEXT}h" else 0
        rule = "contents" if any(tag in _ODT_CONTENTS for tag in above) else ""
        emitter.block(_odt_text(node), level=level, rule=rule)
    about = archive.xml("meta.xml") if "meta.xml" in archive else None
    author = _dublin(about, "creator")
    if about is not None and about.find(".//{*}initial-creator") is not None:
        author = about.findtext(".//{*}initial-creator") or author
    return _source(emitter, data, name, _dublin(about, "title"), author, _dublin(about, "language"))


def _odt_text(paragraph: Any) -> str:
    parts: list[str] = [paragraph.text or ""]
    stack = [iter(paragraph)]
    nodes = [paragraph]
    while stack:
        node = next(stack[-1], None)
        if node is None:
            stack.pop()
            done = nodes.pop()
            if stack:
                parts.append(done.tail or "")
            continue
        if node.tag == f"{_TEXT}s" or node.tag == f"{_TEXT}tab":
            parts.append(" ")
        elif node.tag == f"{_TEXT}line-break":
            parts.append("\n")
        elif node.tag not in _ODT_SKIPPED and isinstance(node.tag, str):
            parts.append(node.text or "")
            stack.append(iter(node))
            nodes.append(node)
            continue
        parts.append(node.tail or "")
    return "".join(parts)
