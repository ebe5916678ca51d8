"""Makes a Markdown, DOCX, EPUB, ODT, RTF or HTML file out of headings and paragraphs, as a writing program would export it."""

# ruff: noqa: E501  (whole files stand in single strings)
from __future__ import annotations

import html
import io
import re
import zipfile

Part = tuple[str, list[str]]  # heading ("" for none) and paragraphs; a "\n" in a paragraph is a line break


def parts_of(text: str, chapters: list[tuple[str, int, int]]) -> list[Part]:
    """(heading, body start, end) spans of a clean text as parts."""
    return [(heading, text[start:end].split("\n\n")) for heading, start, end in chapters]


def to_markdown(title: str, parts: list[Part]) -> str:
    out = [f"---\ntitle: {title}\nauthor: Ann Nobody\n---\n"]
    for heading, paragraphs in parts:
        out.append(f"# {heading}\n")
        out += [_escaped(p).replace("\n", "\\\n") + "\n" if p != "* * *" else "* * *\n" for p in paragraphs]
    return "\n".join(out)


def _escaped(text: str) -> str:
    text = re.sub(r"([\\`*_\[\]<>#&])", r"\\\1", text)
    return re.sub(r"(?m)^(\d+)([.)])|^([-+=~])", lambda m: f"{m[1]}\\{m[2]}" if m[1] else f"\\{m[3]}", text)


def _zip(members: dict[str, str]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in members.items():
            archive.writestr(name, text)
    return out.getvalue()


def to_docx(title: str, parts: list[Part]) -> bytes:
    w = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'

    def paragraph(text: str, style: str = "") -> str:
        runs = "<w:br/>".join(f'<w:t xml:space="preserve">{html.escape(line)}</w:t>' for line in text.split("\n"))
        head = f'<w:pPr><w:pStyle w:val="{style}"/></w:pPr>' if style else ""
        return f"<w:p>{head}<w:r>{runs}</w:r></w:p>"

    body = "".join(paragraph(h, "Kapitel") + "".join(paragraph(p) for p in ps) for h, ps in parts)
    deleted = '<w:p><w:del w:id="1" w:author="x"><w:r><w:delText>struck out</w:delText><w:t>struck out too</w:t></w:r></w:del></w:p>'
    styles = (
        f'<w:styles {w}><w:style w:styleId="Heading1"><w:name w:val="heading 1"/></w:style>'
        '<w:style w:styleId="Kapitel"><w:name w:val="Kapitel"/><w:basedOn w:val="Heading1"/></w:style></w:styles>'
    )
    core = (
        '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
        f'xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{html.escape(title)}</dc:title><dc:creator>Ann Nobody</dc:creator></cp:coreProperties>'
    )
    return _zip(
        {
            "word/document.xml": f"<w:document {w}><w:body>{body}{deleted}</w:body></w:document>",
            "word/styles.xml": styles,
            "docProps/core.xml": core,
        }
    )


def to_odt(title: str, parts: list[Part]) -> bytes:
    names = 'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"'
    body = ""
    for heading, paragraphs in parts:
        body += f'<text:h text:outline-level="1">{html.escape(heading)}</text:h>'
        body += "".join(f"<text:p>{html.escape(p).replace(chr(10), '<text:line-break/>')}</text:p>" for p in paragraphs)
    note = "<text:p>Noted<text:note><text:note-body><text:p>a note</text:p></text:note-body></text:note> here.</text:p>"
    meta = f'<office:document-meta {names} xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{html.escape(title)}</dc:title><dc:creator>Ann Nobody</dc:creator></office:document-meta>'
    return _zip(
        {
            "content.xml": f"<office:document-content {names}><office:body>{body}{note}</office:body></office:document-content>",
            "meta.xml": meta,
        }
    )


def to_rtf(title: str, parts: list[Part]) -> bytes:
    def coded(text: str) -> str:
        text = re.sub(r"([\\{}])", r"\\\1", text).replace("\n", "\\line ")
        return "".join(c if ord(c) < 128 else f"\\u{ord(c)}?" for c in text)

    body = "".join(f"\\pard\\s1 {coded(h)}\\par\n" + "".join(f"\\pard\\plain {coded(p)}\\par\n" for p in ps) for h, ps in parts)
    head = f"{{\\rtf1\\ansi\\ansicpg1252{{\\fonttbl{{\\f0 Times;}}}}{{\\stylesheet{{\\s0 Normal;}}{{\\s1 heading 1;}}}}{{\\info{{\\title {coded(title)}}}{{\\author Ann Nobody}}}}"
    return f"{head}\n{body}{{\\*\\hidden nothing}}}}".encode("ascii")


def to_html(title: str, parts: list[Part]) -> str:
    body = "".join(
        f"<h2>{html.escape(h)}</h2>\n"
        + "\n".join("<hr/>" if p == "* * *" else f"<p>{html.escape(p).replace(chr(10), '<br>')}</p>" for p in ps)
        for h, ps in parts
    )
    return f"<!DOCTYPE html><html><head><title>{html.escape(title)}</title><style>p {{}}</style></head><body><h1>{html.escape(title)}</h1>{body}</body></html>"


def to_epub(title: str, parts: list[Part], *, files: int = 4, nav: bool = True, spine: list[str] | None = None) -> bytes:
    """Chapters spread over ``files`` files without regard to their boundaries, as converters do; contents in a nav or an NCX."""
    blocks: list[tuple[str, str]] = []
    for n, (heading, paragraphs) in enumerate(parts):
        blocks.append((f"c{n}", f'<h2 id="c{n}">{html.escape(heading)}</h2>'))
        blocks += [("", "<hr/>" if p == "* * *" else f"<p>{html.escape(p).replace(chr(10), '<br/>')}</p>") for p in paragraphs]
    size = -(-len(blocks) // files)
    members = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>',
    }
    links = []
    manifest = ""
    for k in range(files):
        part = blocks[k * size : (k + 1) * size]
        name = f"part{k}.xhtml"
        text = "".join(markup for _, markup in part)
        members[f"OEBPS/{name}"] = (
            f'<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/></head><body>{text}</body></html>'
        )
        manifest += f'<item id="p{k}" href="{name}" media-type="application/xhtml+xml"/>'
        links += [(f"{name}#{anchor}", parts[int(anchor[1:])][0]) for anchor, _ in part if anchor]
    if nav:
        items = "".join(f'<li><a href="{href}">{html.escape(label)}</a></li>' for href, label in links)
        members["OEBPS/nav.xhtml"] = (
            f'<html xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"><body><nav epub:type="toc"><ol>{items}</ol></nav></body></html>'
        )
        manifest += '<item id="nav" href="nav.xhtml" properties="nav" media-type="application/xhtml+xml"/>'
    else:
        points = "".join(
            f'<navPoint><navLabel><text>{html.escape(label)}</text></navLabel><content src="{href}"/></navPoint>' for href, label in links
        )
        members["OEBPS/toc.ncx"] = f'<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap>{points}</navMap></ncx>'
        manifest += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    order = "".join(f'<itemref idref="{ref}"/>' for ref in (spine or [f"p{k}" for k in range(files)]))
    members["OEBPS/book.opf"] = (
        '<package xmlns="http://www.idpf.org/2007/opf"><metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>{html.escape(title)}</dc:title><dc:creator>Ann Nobody</dc:creator><dc:language>en</dc:language></metadata>"
        f'<manifest>{manifest}</manifest><spine toc="ncx">{order}</spine></package>'
    )
    return _zip(members)
