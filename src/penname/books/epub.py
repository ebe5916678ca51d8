"""EPUB 2 and 3: reading order from the spine, divisions from the nav document or the NCX, never from file boundaries."""

from __future__ import annotations

from typing import Any

from penname.books.archive import Archive, resolve
from penname.books.decode import decode
from penname.books.markup import emit, parse_markup
from penname.books.source import Emitter, Hint, Source, declared_charset
from penname.core.errors import BadInput
from penname.core.hashing import sha256_bytes

_MAX_NAV_DEPTH = 8
_CONTENT_TYPES = ("application/xhtml+xml", "text/html", "application/x-dtbook+xml", "text/x-oeb1-document")
_FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")


def read_epub(data: bytes, name: str, keep_italics: bool) -> Source:
    """The Source in an EPUB. BadInput where it is locked, or has no readable spine."""
    archive = Archive(data, name)
    _refuse_locked(archive)
    package_name = _package_name(archive)
    package = archive.xml(package_name)
    items = {item.get("id", ""): item for item in package.iterfind(".//{*}manifest/{*}item")}
    nav_name, entries = _contents(archive, package, package_name, items)
    order = _reading_order(archive, package, package_name, items, nav_name)
    emitter = Emitter(keep_italics)
    places: dict[tuple[str, str], int] = {}
    for part in order:
        _emit_part(archive, part, emitter, places)
    if not emitter.size:
        raise BadInput(f"{name} has no text in its reading order; it may hold only pictures, or be damaged")
    hints = _merge_hints(emitter.text(), emitter.hints, entries, places)
    return Source(
        emitter.text(),
        name,
        sha256_bytes(data),
        "kept",
        title=_first(package, "title"),
        author=_first(package, "creator"),
        language=_first(package, "language"),
        hints=hints,
        cuts=tuple(emitter.cuts),
    )


def _refuse_locked(archive: Archive) -> None:
    if "META-INF/encryption.xml" not in archive:
        return
    for method in archive.xml("META-INF/encryption.xml").iterfind(".//{*}EncryptionMethod"):
        if method.get("Algorithm", "") not in _FONT_ALGORITHMS:
            raise BadInput(f"{archive.name} is locked by a rights scheme and cannot be read; name a copy without one")


def _package_name(archive: Archive) -> str:
    if "META-INF/container.xml" in archive:
        for root in archive.xml("META-INF/container.xml").iterfind(".//{*}rootfile"):
            if root.get("full-path") and root.get("full-path") in archive:
                return str(root.get("full-path"))
    for name in sorted(archive.names()):
        if name.endswith(".opf"):
            return name
    raise BadInput(f"{archive.name} is no EPUB (it has no package document); name a .txt, .html, .md, .docx, .odt or .rtf file")


def _first(package: Any, tag: str) -> str:
    node = package.find(f".//{{http://purl.org/dc/elements/1.1/}}{tag}")
    return " ".join("".join(node.itertext()).split()) if node is not None else ""


def _reading_order(archive: Archive, package: Any, package_name: str, items: dict[str, Any], nav_name: str | None) -> list[str]:
    """The spine's parts, each once (a spine that names a part twice does not repeat the text), the nav document left out."""
    order: list[str] = []
    for ref in package.iterfind(".//{*}spine/{*}itemref"):
        item = items.get(ref.get("idref", ""))
        if item is None or (ref.get("linear") == "no" and item.get("media-type") not in _CONTENT_TYPES):
            continue
        part = resolve(package_name, item.get("href", ""))
        if part and part in archive and part not in order and part != nav_name and item.get("media-type", "") in (*_CONTENT_TYPES, ""):
            order.append(part)
    if not order:
        raise BadInput(f"{archive.name} has an empty or broken reading order; get the file again, or save its text as .txt")
    return order


def _emit_part(archive: Archive, part: str, emitter: Emitter, places: dict[tuple[str, str], int]) -> None:
    data = archive.read(part)
    if not data.strip():
        return
    charset = declared_charset(data)
    try:
        text = data.decode(charset) if charset else decode(data, part)[0]
    except UnicodeDecodeError:
        text = data.decode("utf-8", errors="replace")
    gap = 2 if emitter.size else 0
    places[part, ""] = emitter.size + gap

    def anchor(name: str) -> None:
        places.setdefault((part, name), emitter.size + (2 if emitter.size else 0))

    emit(parse_markup(text, f"{archive.name}: {part}"), emitter, anchor)


def _contents(
    archive: Archive, package: Any, package_name: str, items: dict[str, Any]
) -> tuple[str | None, list[tuple[str, str, int, str]]]:
    """The nav document's name, and the contents as (part, anchor, level, label) from it or else from the NCX."""
    for item in items.values():
        if "nav" in (item.get("properties") or "").split():
            name = resolve(package_name, item.get("href", ""))
            if name and name in archive:
                return name, _nav_entries(archive, name)
    spine = package.find(".//{*}spine")
    toc = items.get(spine.get("toc", "")) if spine is not None else None
    candidates = [toc] if toc is not None else []
    candidates += [item for item in items.values() if item.get("media-type") == "application/x-dtbncx+xml"]
    for item in candidates:
        name = resolve(package_name, item.get("href", ""))
        if name and name in archive:
            return None, _ncx_entries(archive, name)
    return None, []


def _nav_entries(archive: Archive, name: str) -> list[tuple[str, str, int, str]]:
    data = archive.read(name)
    root = parse_markup(data.decode("utf-8", errors="replace"), f"{archive.name}: {name}")
    navs = [node for node in root.iter() if isinstance(node.tag, str) and node.tag.rpartition("}")[2] == "nav"]
    toc = next((nav for nav in navs if nav.get("{http://www.idpf.org/2007/ops}type") == "toc" or nav.get("epub:type") == "toc"), None)
    entries = []
    for link in (toc if toc is not None else root).iter():
        if isinstance(link.tag, str) and link.tag.rpartition("}")[2] == "a" and link.get("href"):
            level = sum(1 for up in link.iterancestors() if isinstance(up.tag, str) and up.tag.rpartition("}")[2] == "ol")
            entries.append(_entry(name, link.get("href"), level or 1, "".join(link.itertext())))
    return [entry for entry in entries if entry[0]]


def _ncx_entries(archive: Archive, name: str) -> list[tuple[str, str, int, str]]:
    root = archive.xml(name)
    entries = []
    for point in root.iterfind(".//{*}navPoint"):
        level = 1 + sum(1 for up in point.iterancestors() if isinstance(up.tag, str) and up.tag.endswith("navPoint"))
        content, label = point.find("{*}content"), point.find("{*}navLabel")
        if content is not None:
            entries.append(_entry(name, content.get("src", ""), level, "".join(label.itertext()) if label is not None else ""))
    return [entry for entry in entries if entry[0]]


def _entry(base: str, href: str, level: int, label: str) -> tuple[str, str, int, str]:
    return resolve(base, href) or "", href.partition("#")[2], min(level, _MAX_NAV_DEPTH), " ".join(label.split())


def _merge_hints(
    text: str, marked: list[Hint], entries: list[tuple[str, str, int, str]], places: dict[tuple[str, str], int]
) -> tuple[Hint, ...]:
    """Headings of the markup and of the contents, one a place; the contents' level and label win, and may add divisions."""
    by_place = {hint.start: hint for hint in marked}
    for part, anchor, level, label in entries:
        at = places.get((part, anchor), places.get((part, "")))
        if at is None or at >= len(text):
            continue
        end = text.find("\n\n", at)
        block = " ".join(text[at : end if end >= 0 else len(text)].split())
        shown = at in by_place or (bool(label) and _same(block, label))
        by_place[at] = Hint(at, level, label, shown)
    return tuple(by_place[at] for at in sorted(by_place))


def _same(block: str, label: str) -> bool:
    a, b = ("".join(char for char in text.casefold() if char.isalnum()) for text in (block, label))
    return bool(a) and len(a) < 200 and (a.startswith(b) or b.startswith(a))
