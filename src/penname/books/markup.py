"""HTML and XHTML to a Source: blocks, headings and what the markup says is no text of the book. Flat, never recursive."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

from lxml import etree

from penname.books.decode import decode
from penname.books.source import Emitter, Source, declared_charset
from penname.core.errors import BadInput
from penname.core.hashing import sha256_bytes

_BLOCKS = frozenset(
    [
        "address",
        "article",
        "aside",
        "blockquote",
        "body",
        "center",
        "dd",
        "details",
        "dir",
        "div",
        "dl",
        "dt",
        "fieldset",
        "figcaption",
        "figure",
        "footer",
        "form",
        "h1",
        "h2",
        "h3",
        "h4",
        "h5",
        "h6",
        "header",
        "hgroup",
        "hr",
        "legend",
        "li",
        "main",
        "menu",
        "nav",
        "ol",
        "p",
        "pre",
        "section",
        "summary",
        "table",
        "tbody",
        "td",
        "tfoot",
        "th",
        "thead",
        "tr",
        "ul",
        "caption",
    ]
)
_SKIPPED = frozenset(
    [
        "script",
        "style",
        "head",
        "template",
        "noscript",
        "iframe",
        "object",
        "svg",
        "math",
        "audio",
        "video",
        "canvas",
        "select",
        "button",
        "textarea",
        "map",
    ]
)
_HEADINGS = {f"h{n}": n for n in range(1, 7)}
_NOTE_TAGS = frozenset(("p", "li", "dd", "aside"))
_ITALIC = frozenset(("i", "em", "cite", "dfn", "var"))
_VERSE_LINE = re.compile(r"\b(?:verse|line|i\d+)\b", re.IGNORECASE)
_VERSE_CLASS = re.compile(r"\b(?:stanza|linegroup|verse|poem|poetry|lg)\b", re.IGNORECASE)
_CUT_CLASSES = (
    (re.compile(r"\b(?:pagenum|page-?num(?:ber)?|pageno|pb|folio|newpage)\w*\b", re.IGNORECASE), "page-number"),
    (re.compile(r"\b(?:pg-?boilerplate|pg-?header|pg-?footer|boilerplate)\b", re.IGNORECASE), "gutenberg-frame"),
    (re.compile(r"\b(?:transnote|trans-?note|transcriber\w*|tnote?s?)\b", re.IGNORECASE), "transcriber-note"),
    (re.compile(r"\b(?:fnanchor|noteref|footnote-?ref|citation)\b", re.IGNORECASE), "footnote-mark"),
    (re.compile(r"\b(?:footnotes?|endnotes?|fn)\b", re.IGNORECASE), "footnote"),
    (re.compile(r"\b(?:caption|figcaption|figcenter|illus|illustration)\b", re.IGNORECASE), "illustration"),
)
_CUT_TYPES = {
    "pagebreak": "page-number", "toc": "contents", "loi": "contents", "lot": "contents", "landmarks": "contents", "page-list": "contents",
    "footnote": "footnote", "footnotes": "footnote", "endnotes": "footnote", "rearnotes": "footnote", "noteref": "footnote-mark",
    "doc-toc": "contents", "doc-pagebreak": "page-number", "doc-footnote": "footnote", "doc-endnotes": "footnote",
    "doc-noteref": "footnote-mark", "copyright-page": "imprint", "imprint": "imprint", "colophon": "imprint",
}  # fmt: skip
_ENTITY = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31});")
_XML_ENTITIES = frozenset(("amp", "lt", "gt", "quot", "apos"))
_SPACE = re.compile(r"[ \t\n\r\f]+")


def read_html(data: bytes, name: str, keep_italics: bool) -> Source:
    """The Source in an HTML file."""
    charset = declared_charset(data)
    try:
        text = data.decode(charset) if charset else decode(data, name)[0]
    except (UnicodeDecodeError, LookupError):
        text = decode(data, name)[0]
    root = parse_markup(text, name)
    emitter = Emitter(keep_italics)
    emit(root, emitter)
    title = root.findtext(".//{*}title") or root.findtext(".//title") or ""
    return Source(
        emitter.text(), name, sha256_bytes(data), "kept", title=_page_title(title), hints=tuple(emitter.hints), cuts=tuple(emitter.cuts)
    )


def _page_title(title: str) -> str:
    title = " ".join(title.split())
    title = re.sub(r"^The Project Gutenberg e-?(?:Book|text) (?:of )?|\s*[|—-]\s*Project Gutenberg.*$", "", title, flags=re.IGNORECASE)
    return re.sub(r",? by .*$", "", title).strip(" ,")


def parse_markup(text: str, name: str) -> Any:
    """The tree of an (X)HTML text: as XML where it is well-formed (so ``<a/>`` is closed), else by the forgiving HTML parser.

    No entity, DTD or network address is ever resolved. BadInput where there is no tree at all.
    """
    text = text.replace("\0", "")
    if re.match(r"\s*<\?xml|\s*<!DOCTYPE html PUBLIC|\s*<html[^>]*xmlns", text[:2000]):
        xml = re.sub(r"^\s*<\?xml[^>]*\?>", "", text, count=1)
        xml = re.sub(r"<!DOCTYPE[^>\[]*(?:\[.*?\])?[^>]*>", "", xml, count=1, flags=re.DOTALL)
        xml = _ENTITY.sub(lambda m: m[0] if m[1] in _XML_ENTITIES else html.unescape(m[0]), xml)
        parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, remove_comments=True)
        try:
            return etree.fromstring(xml.encode("utf-8", "replace"), parser)
        except etree.XMLSyntaxError:
            pass
    parser = etree.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except (etree.XMLSyntaxError, AssertionError, ValueError):
        root = None
    if root is None:
        raise BadInput(f"{name} holds no readable HTML; open it in a browser, save its text as .txt, and name that")
    return root


class _Walk:
    """The state of one walk over a tree: the block being filled, and what the elements around it say."""

    def __init__(self, emitter: Emitter, anchor: Callable[[str], None] | None) -> None:
        self.emitter, self.anchor = emitter, anchor
        self.parts: list[str] = []
        self.level = self.pre = self.verse = self.skipped = 0
        self.rules: list[str] = []
        self.cut_spans: list[tuple[int, int, str]] = []  # inside the block: (start, end, rule) in characters of parts
        self.length = 0
        self.verse_open = False
        self.noted: set[str] = set()  # names of the places that raised numbers link to
        self.capital = False  # the block begins with the picture of a letter

    def add(self, text: str | None) -> None:
        if not text or self.skipped:
            return
        if not self.pre:
            text = _SPACE.sub(" ", text)
            if text[0] == " " and (not self.parts or self.parts[-1].endswith((" ", "\n"))):
                text = text[1:]
        if text:
            self.parts.append(text)
            self.length += len(text)

    def close(self, level: int = 0) -> None:
        raw = "".join(self.parts)
        if self.capital and len(raw.strip()) == 1 and not self.rules:
            self.parts, self.length, self.cut_spans = [raw.strip()], 1, []  # in a frame of its own, before its paragraph
            return
        self.capital = False
        if raw.strip():
            self._emit(raw, level or self.level)
        self.parts, self.length, self.cut_spans = [], 0, []

    def break_line(self) -> None:
        if self.parts and self.parts[-1].endswith(" "):
            self.parts[-1] = self.parts[-1][:-1]
            self.length -= 1
        self.parts.append("\n")
        self.length += 1

    def _emit(self, raw: str, level: int) -> None:
        rule = self.rules[-1] if self.rules else ""
        joined = bool(self.verse and self.verse_open and not rule)
        lead = len(raw) - len(raw.lstrip(" \n"))
        size = len(raw.strip(" \n"))
        before = self.emitter.size
        self.emitter.block(raw, level=level, rule=rule, joined=joined)
        if not rule:
            at = before + (0 if not before else 1 if joined else 2) - lead
            spans = ((max(start, lead), min(end, lead + size), why) for start, end, why in self.cut_spans)
            self.emitter.cuts += [(at + start, at + end, why) for start, end, why in spans if end > start]
        self.verse_open = bool(self.verse)


def emit(root: Any, emitter: Emitter, anchor: Callable[[str], None] | None = None) -> None:
    """Walk a tree and emit its blocks. ``anchor`` is called with each id or name, before the block that it stands in or before."""
    walk = _Walk(emitter, anchor)
    walk.noted = {link.get("href").rpartition("#")[2] for link in root.iter("{*}a") if _is_note_mark(link)}
    cut_starts: dict[int, tuple[int, str]] = {}
    for event, node in etree.iterwalk(root, events=("start", "end")):
        tag = _tag(node)
        if event == "start":
            _open(walk, node, tag, cut_starts)
        else:
            _shut(walk, node, tag, cut_starts)
    walk.capital = False
    walk.close()


def _rule_of(node: Any, tag: str) -> str:
    if tag == "figcaption":
        return "illustration"
    kinds = f"{node.get('{http://www.idpf.org/2007/ops}type', '')} {node.get('role', '')}".split()
    for kind in kinds:
        if kind in _CUT_TYPES:
            return _CUT_TYPES[kind]
    if tag == "a" and _is_note_mark(node):
        return "footnote-mark"
    names = f"{node.get('class', '')} {node.get('id', '') if tag in ('section', 'div') else ''}"
    if names.strip():
        for pattern, rule in _CUT_CLASSES:
            if pattern.search(names) and not (rule == "illustration" and _holds_heading(node)):
                return rule
    return ""


def _is_note_mark(link: Any) -> bool:
    """Whether a raised number or star links to another place, whatever its class: ``<sup><a href="#n1">1</a></sup>``."""
    if "#" not in link.get("href", "") or len(link) > 1:
        return False
    raised = link.getparent() if not len(link) else link[0]
    text = "".join(link.itertext()).strip(" []()") if raised is not None and _tag(raised) == "sup" else ""
    return 0 < len(text) <= 3 and (text.isdigit() or text in "*†‡§")


def _name_at_start(node: Any) -> str:
    """The name of a place at the very beginning of a paragraph: its own, or of the link that it begins with."""
    for _ in range(3):
        name = node.get("id") or node.get("name")
        if name or not len(node) or (node.text or "").strip(" []\n"):
            return name or ""
        node = node[0]
    return ""


def _tag(node: Any) -> str:
    return str(node.tag.rpartition("}")[2].lower()) if isinstance(node.tag, str) else ""


def _holds_heading(node: Any) -> bool:
    """Whether a picture's frame is put around a heading too."""
    return any(_tag(inner) in _HEADINGS for inner in node.iter())


def _open(walk: _Walk, node: Any, tag: str, cut_starts: dict[int, tuple[int, str]]) -> None:
    if tag in _SKIPPED or not tag:
        walk.skipped += 1
        return
    if walk.skipped:
        return
    block = tag in _BLOCKS
    if block:
        walk.close()
    if walk.anchor is not None and not walk.parts:
        for name in (node.get("id"), node.get("name")):
            if name:
                walk.anchor(name)
    rule = _rule_of(node, tag) or ("footnote" if tag in _NOTE_TAGS and walk.noted and _name_at_start(node) in walk.noted else "")
    if rule and block:
        walk.rules.append(rule)
        cut_starts[id(node)] = (-1, rule)
    elif rule:
        cut_starts[id(node)] = (walk.length, rule)
    if tag in _HEADINGS:
        walk.level = _HEADINGS[tag]
    elif tag == "pre":
        walk.pre += 1
    elif tag == "br":
        walk.break_line()
    elif tag == "hr":
        if not walk.rules:
            walk.emitter.block("* * *")
    elif tag == "img" and len(node.get("alt", "")) == 1 and node.get("alt").isalpha():
        walk.capital = not walk.parts and not walk.level
        walk.add(node.get("alt"))  # a drop capital
    elif tag in _ITALIC and walk.emitter.keep_italics:
        walk.add("_")
    kind = node.get("class", "")
    if block and _VERSE_CLASS.search(kind) and not (walk.verse and _VERSE_LINE.search(kind)):
        walk.verse += 1
        walk.verse_open = False
        cut_starts[-id(node)] = (0, "")
    walk.add(node.text)


def _shut(walk: _Walk, node: Any, tag: str, cut_starts: dict[int, tuple[int, str]]) -> None:
    if tag in _SKIPPED or not tag:
        walk.skipped -= 1
        walk.add(node.tail)
        return
    if not walk.skipped:
        if tag in _ITALIC and walk.emitter.keep_italics:
            walk.add("_")
        if tag in _BLOCKS:
            walk.close()
        if tag in ("td", "th"):
            walk.add(" ")
        start, rule = cut_starts.pop(id(node), (0, ""))
        if rule and start == -1:
            walk.rules.pop()
        elif rule and walk.length > start:
            walk.cut_spans.append((start, walk.length, rule))
        if tag in _HEADINGS:
            walk.level = 0
        elif tag == "pre":
            walk.pre -= 1
        if cut_starts.pop(-id(node), None):
            walk.verse -= 1
            walk.verse_open = False
    walk.add(node.tail)
