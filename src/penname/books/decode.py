"""Bytes to text: UTF-8 with or without a mark, UTF-16/32, and the old one-byte encodings, told apart by charset-normalizer."""

from __future__ import annotations

import codecs
import re

from penname.core.errors import BadInput

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE_BYTES = 200_000
_AFTER_LETTER = frozenset("àáâãäåæçèéêëìíîïñòóôõöøœùúûüýÿß’”—–…»\u00a0\u00ad")


def decode(data: bytes, name: str) -> tuple[str, str]:
    """The text and the encoding it was read with; a byte-order mark is part of the encoding, not of the text.

    BadInput where the bytes are no text (a binary file).
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return _strict(data, encoding, name), encoding
    if b"\0" in data[:4096]:
        return _wide(data, name)
    try:
        return _no_binary(data.decode("utf-8"), name), "utf-8"
    except UnicodeDecodeError:
        pass
    encoding = _guess(data)
    return _no_binary(data.decode(encoding, errors="replace"), name), encoding


def _strict(data: bytes, encoding: str, name: str) -> str:
    try:
        return _no_binary(data.decode(encoding), name)
    except UnicodeDecodeError as error:
        at = error.start + (len(codecs.BOM_UTF8) if encoding == "utf-8-sig" else 0)  # which counts behind its mark
        raise BadInput(f"{name} says that it is {encoding} but is damaged at byte {at}; save it again as UTF-8 text") from None


def _wide(data: bytes, name: str) -> tuple[str, str]:
    # UTF-16 without a mark: in English text every other byte is zero.
    for offset, encoding in ((1, "utf-16-le"), (0, "utf-16-be")):
        half = data[offset:4096:2]
        if half.count(0) > 0.8 * len(half):
            return _strict(data[: len(data) // 2 * 2], encoding, name), encoding
    raise BadInput(f"{name} is a binary file, not a book; name a .txt, .html, .epub, .md, .docx, .odt or .rtf file")


def _guess(data: bytes) -> str:
    from charset_normalizer import from_bytes

    # The non-ASCII bytes carry the evidence; they may be rare, so lines that hold some are put first.
    lines = [line for line in data.splitlines() if not line.isascii()]
    best = from_bytes(b"\n".join(lines)[:_SAMPLE_BYTES], cp_isolation=["cp1252", "latin_1", "mac_roman", "cp437", "cp850"]).best()
    found = "cp1252" if best is None or best.encoding == "latin_1" else best.encoding  # cp1252: Latin-1 and more printed characters
    # Where accents are few, its statistics cannot tell: what follows a letter in English does.
    words = b"\n".join(lines)[:_SAMPLE_BYTES]
    return min((found, "cp1252", "mac_roman", "cp437", "cp850"), key=lambda encoding: _strange(words.decode(encoding, errors="replace")))


def _strange(text: str) -> int:
    """Characters right behind a small letter that no English or French word goes on with."""
    return sum(char not in _AFTER_LETTER for char in re.findall(r"[a-z]([^\x00-\x7f])", text))


def _no_binary(text: str, name: str) -> str:
    sample = text[:20_000]
    odd = sum(1 for char in sample if (char < " " and char not in "\t\n\r\f\x0b\x1a\x1c") or char == "\ufffd")
    if odd > 0.02 * len(sample):
        raise BadInput(f"{name} is a binary file, not a book; name a .txt, .html, .epub, .md, .docx, .odt or .rtf file")
    return text
