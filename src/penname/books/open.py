"""Which reader a source takes: by its first bytes where they tell, else by its name."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

from penname.books.decode import decode
from penname.books.gutenberg import cached, fetch, gutenberg_number
from penname.books.source import MAX_SOURCE_BYTES, Hint, Source
from penname.core.config import BooksConfig
from penname.core.errors import BadInput
from penname.core.hashing import sha256_bytes, sha256_file, sha256_value

KINDS = (".txt", ".html", ".htm", ".xhtml", ".epub", ".md", ".markdown", ".docx", ".odt", ".rtf")
_KINDLE = "Kindle files are not read; convert it to .epub (with Calibre, say) and name the result"
_PACKED = "a packed file is not read; unpack it and name the book's file in it"
_PDF = "a PDF holds pages, not paragraphs; convert it first (pdftotext FILE.pdf, or save as .txt, .docx or .epub) and name the result"
_OTHERS = {
    ".pdf": _PDF,
    ".doc": "the old .doc format is not read; open it and save as .docx",
    ".pages": "Pages files are not read; export as .docx or .epub",
    ".fb2": "FictionBook files are not read; convert it to .epub (with Calibre, say) and name the result",
    ".djvu": "a DjVu file holds pictures of pages; name a text or .epub edition of the book",
    **dict.fromkeys((".mobi", ".azw", ".azw3", ".kfx", ".prc"), _KINDLE),
    **dict.fromkeys((".gz", ".bz2", ".xz", ".7z", ".rar", ".tar", ".tgz"), _PACKED),
}
_MAGIC = (  # first bytes, whatever the file's name
    (b"%PDF-", _PDF),
    (
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1",
        "it is locked with a password, or is an old .doc inside; open it, take the password off, and save it as .docx",
    ),
    (b"\x1f\x8b", _PACKED),
    (b"7z\xbc\xaf\x27\x1c", _PACKED),
    (b"Rar!\x1a", _PACKED),
    (b"BZh", _PACKED),
    (b"\xfd7zXZ\0", _PACKED),
)
_HTML = re.compile(rb"\s*(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?<(?:!DOCTYPE\s+html|html)\b", re.IGNORECASE | re.DOTALL)


def open_source(source: str | Path, settings: BooksConfig) -> Source:
    """The decoded Source that ``source`` names: gutenberg:ID, a file of any known kind, or a folder of chapter files."""
    number = gutenberg_number(str(source))
    keep = settings.italics == "keep"
    if number is not None:
        book, data = fetch(number, settings.mirror)
        read = _read_text(data, f"gutenberg:{number}")
        return replace(read, title=book.title, author=book.author, language=book.language)
    path = Path(source)
    if path.is_dir():
        return _read_folder(path, keep)
    return _read_file(path, keep)


def source_digest(source: str | Path) -> str:
    """SHA-256 of what a source names now; of a Gutenberg book that is not cached yet, of its number."""
    number = gutenberg_number(str(source))
    if number is not None:
        found = cached(number)
        return found[0].sha256 if found else sha256_value(f"gutenberg:{number}")
    path = Path(source)
    if path.is_dir():
        return sha256_value({file.name: sha256_file(file) for file in _chapter_files(path)})
    _check_file(path)
    return sha256_file(path)


def _check_file(path: Path) -> None:
    if not path.exists():
        raise BadInput(f"there is no file {path}; name a book's file, a folder of chapter files, or gutenberg:ID")
    if not path.is_file():
        raise BadInput(f"{path} is no file that can be read; name a book's file, a folder of chapter files, or gutenberg:ID")


def _read_file(path: Path, keep_italics: bool) -> Source:
    _check_file(path)
    try:
        if path.stat().st_size > MAX_SOURCE_BYTES:
            raise BadInput(f"{path.name} is larger than any book (over {MAX_SOURCE_BYTES >> 20} MB); name a part of it")
        data = path.read_bytes()
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}); check its permissions") from None
    return read_bytes(data, path.name, keep_italics)


def read_bytes(data: bytes, name: str, keep_italics: bool) -> Source:
    """The Source in the bytes of a file called ``name``."""
    suffix = Path(name).suffix.lower()
    if not data[:4096].strip() and not data.strip():
        raise BadInput(f"{name} is empty; name a file with a book in it")
    if suffix in _OTHERS:
        raise BadInput(f"{name}: {_OTHERS[suffix]}")
    for first, advice in _MAGIC:
        if data.startswith(first):
            raise BadInput(f"{name}: {advice}")
    if data[60:68] == b"BOOKMOBI":
        raise BadInput(f"{name}: {_KINDLE}")
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return _read_zip(data, name, suffix, keep_italics)
    if suffix in (".epub", ".docx", ".odt"):
        raise BadInput(f"{name} is no {suffix} file, whatever its name says; save it again as {suffix}, or rename it (.txt for plain text)")
    if data.startswith(b"{\\rtf"):
        from penname.books.rtf import read_rtf

        return read_rtf(data, name, keep_italics)
    if suffix in (".html", ".htm", ".xhtml") or _HTML.match(data[:2000]):
        from penname.books.markup import read_html

        return read_html(data, name, keep_italics)
    if suffix in (".md", ".markdown"):
        from penname.books.manuscript import read_markdown

        return read_markdown(data, name, keep_italics)
    return _read_text(data, name)


def _read_zip(data: bytes, name: str, suffix: str, keep_italics: bool) -> Source:
    from penname.books.archive import Archive
    from penname.books.epub import read_epub
    from penname.books.manuscript import read_docx, read_odt

    archive = Archive(data, name)
    if "word/document.xml" in archive:
        return read_docx(data, name, keep_italics)
    packaged = "META-INF/container.xml" in archive
    if "content.xml" in archive and not packaged:
        if "META-INF/manifest.xml" in archive and b"encryption-data" in archive.read("META-INF/manifest.xml"):
            raise BadInput(f"{name} is locked with a password; open it, take the password off, and save it again")
        return read_odt(data, name, keep_italics)
    if suffix != ".epub" and not packaged:
        inside = sorted(member for member in archive.names() if member.lower().endswith(KINDS))
        book = f" ({inside[0]})" if inside and len(inside[0]) < 80 and inside[0].isprintable() else ""
        raise BadInput(f"{name} is an archive; unpack it and name the book's file in it{book}")
    return read_epub(data, name, keep_italics)


def _read_text(data: bytes, name: str) -> Source:
    text, encoding = decode(data, name)
    known = encoding.startswith(("utf", "ascii"))
    oddities = () if known else (f"the encoding was guessed to be {encoding}; if accents look wrong, save the file as UTF-8",)
    return Source(text, name, sha256_bytes(data), oddities=oddities)


def _chapter_files(folder: Path) -> list[Path]:
    files = [path for path in folder.iterdir() if path.is_file() and path.suffix.lower() in KINDS and not path.name.startswith(".")]
    return sorted(files, key=_natural)


def _natural(path: Path) -> list[str | int]:
    parts = re.split(r"([0-9]{1,18})", path.name)  # text and numbers in turn, so like is compared with like
    return [int(part) if odd % 2 else part.casefold() for odd, part in enumerate(parts)]


def _read_folder(folder: Path, keep_italics: bool) -> Source:
    """One Source from a folder of chapter files in their natural order; each file begins a division."""
    files = _chapter_files(folder)
    if not files:
        raise BadInput(f"{folder} holds no chapter files ({', '.join(KINDS[:3])}, ...); name a folder of them, or one book's file")
    parts: list[str] = []
    hints: list[Hint] = []
    cuts: list[tuple[int, int, str]] = []
    digests: dict[str, str] = {}
    first: Source | None = None
    size = 0
    for path in files:
        source = _read_file(path, keep_italics)
        first = first or source
        digests[path.name] = source.sha256
        lead = len(source.text) - len(source.text.lstrip())
        own = [Hint(hint.start + size, hint.level + 1, hint.label, hint.shown) for hint in source.hints]
        if not any(hint.start <= size + lead for hint in own):
            hints.append(Hint(size + lead, 1, re.sub(r"^\d+[\s._-]*|[_]+", " ", path.stem).strip() or path.stem, False))
        hints += own
        cuts += [(start + size, end + size, rule) for start, end, rule in source.cuts]
        parts.append(source.text + "\n\n")
        size += len(source.text) + 2
        if size > MAX_SOURCE_BYTES:
            raise BadInput(f"{folder} holds more text than any book (over {MAX_SOURCE_BYTES >> 20} MB); name a part of it")
    assert first is not None
    kept = first.lines if all(path.suffix.lower() != ".txt" for path in files) else "wrapped"
    return Source("".join(parts), folder.name, sha256_value(digests), kept, "", first.author, first.language, tuple(hints), tuple(cuts))
