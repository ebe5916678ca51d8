"""RTF: text, paragraphs and heading styles; fonts, pictures, notes, fields and hidden text are passed over."""

from __future__ import annotations

import re

from penname.books.source import Emitter, Source
from penname.core.errors import BadInput
from penname.core.hashing import sha256_bytes

_TOKEN = re.compile(rb"\\([a-z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-z])|([{}])|[\r\n]+|([^\\{}\r\n]+)")
_SKIPPED = frozenset(
    b"stylesheet fonttbl colortbl pict object footnote header headerl headerr headerf footer footerl footerr footerf info themedata "
    b"listtable listoverridetable rsidtbl generator xmlnstbl datastore latentstyles fldinst annotation atnid atnauthor bkmkstart bkmkend "
    b"shpinst revtbl filetbl pgdsctbl xe tc nonshppict".split()
)
_CHARS = {
    b"par": "\n\n", b"sect": "\n\n", b"page": "\n\n", b"row": "\n\n", b"line": "\n", b"tab": " ", b"cell": " ",
    b"emdash": "—", b"endash": "–", b"lquote": "‘", b"rquote": "’", b"ldblquote": "“", b"rdblquote": "”", b"bullet": "•",
    b"emspace": " ", b"enspace": " ", b"qmspace": " ",
}  # fmt: skip
_SYMBOLS = {b"~": "\u00a0", b"_": "-", b"-": "\u00ad", b"\\": "\\", b"{": "{", b"}": "}"}
_MAX_DEPTH = 2000


class _State:
    """The group state of an RTF reader: what is inherited by groups inside."""

    __slots__ = ("deleted", "italic", "level", "skip", "unicode_skip")

    def __init__(self, skip: bool = False, unicode_skip: int = 1, italic: bool = False, deleted: bool = False, level: int = 0) -> None:
        self.skip, self.unicode_skip, self.italic, self.deleted, self.level = skip, unicode_skip, italic, deleted, level

    def copy(self) -> _State:
        return _State(self.skip, self.unicode_skip, self.italic, self.deleted, self.level)


def read_rtf(data: bytes, name: str, keep_italics: bool) -> Source:
    """The Source in an RTF file."""
    encoding = _encoding(data)
    reader = _Reader(name, encoding, _heading_styles(data), keep_italics)
    for match in _TOKEN.finditer(data):
        word, number, octet, symbol, brace, run = match.groups()
        if brace is not None:
            reader.brace(brace)
        elif word is not None:
            reader.word(word, int(number) if number else None)
        elif octet is not None:
            reader.run(bytes.fromhex(octet.decode()))
        elif symbol is not None:
            reader.symbol(symbol)
        elif run is not None:
            reader.run(run)
    reader.put("\n\n")
    emitter = reader.emitter
    if not emitter.size:
        raise BadInput(f"{name} has no text in it; name the file that holds the book")
    title = re.search(rb"\{\\title ([^{}\\]{1,200})\}", data[:20_000])
    author = re.search(rb"\{\\author ([^{}\\]{1,200})\}", data[:20_000])
    return Source(
        emitter.text(),
        name,
        sha256_bytes(data),
        "kept",
        title=title[1].decode(encoding, errors="replace") if title else "",
        author=author[1].decode(encoding, errors="replace") if author else "",
        hints=tuple(emitter.hints),
    )


def _encoding(data: bytes) -> str:
    codepage = re.search(rb"\\ansicpg(\d{3,5})", data[:2000])
    encoding = f"cp{codepage[1].decode()}" if codepage else "mac_roman" if b"\\mac" in data[:200] else "cp1252"
    try:
        b"".decode(encoding)
    except LookupError:
        return "cp1252"
    return encoding


class _Reader:
    """Takes tokens in order and emits paragraphs."""

    def __init__(self, name: str, encoding: str, headings: dict[int, int], keep_italics: bool) -> None:
        self.name, self.encoding, self.headings, self.keep_italics = name, encoding, headings, keep_italics
        self.emitter = Emitter(keep_italics)
        self.parts: list[str] = []
        self.state, self.stack = _State(), list[_State]()
        self.owed = 0  # bytes still to pass over after a \\u
        self.octets = bytearray()  # text not decoded yet: a character of a double-byte code page may come in two tokens
        self.level = 0

    def put(self, text: str) -> None:
        """Add text; a blank line ends the paragraph."""
        if self.octets:
            octets, self.octets = self.octets, bytearray()
            self.put(octets.decode(self.encoding, errors="replace"))
        if not text or self.state.skip or self.state.deleted:
            return
        if text == "\n\n":
            self.emitter.block("".join(self.parts), level=self.level)
            self.parts.clear()
        else:
            self.level = self.state.level
            self.parts.append(text)

    def brace(self, brace: bytes) -> None:
        """Open or close a group: what a group sets ends with it."""
        self.put("")
        if brace == b"{":
            if len(self.stack) > _MAX_DEPTH:
                raise BadInput(f"{self.name} nests groups deeper than any text; it is damaged, save it again")
            self.stack.append(self.state)
            self.state = self.state.copy()
            return
        if self.stack:
            self.state = self.stack.pop()
        self.owed = 0

    def run(self, run: bytes) -> None:
        """Text in the file's code page, less what a \\u has stood for."""
        self.octets += run[self.owed :]
        self.owed = max(0, self.owed - len(run))

    def symbol(self, symbol: bytes) -> None:
        """A control symbol: \\~ and the like; \\* opens a destination that a reader may pass over."""
        self.put("")
        if symbol == b"*":
            self.state.skip = True
        else:
            self.put("\n\n" if symbol in b"\r\n" else _SYMBOLS.get(symbol, ""))

    def word(self, word: bytes, value: int | None) -> None:
        """A control word with its number."""
        self.put("")
        state = self.state
        if word == b"u" and value is not None:
            code = value if value >= 0 else value + 65536
            self.put(chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\ufffd")
            self.owed = state.unicode_skip
        elif word == b"uc":
            state.unicode_skip = min(value or 0, 8)
        elif word in _SKIPPED:
            state.skip = True
        elif word == b"pard":
            state.level = 0
        elif word == b"s" and value is not None:
            state.level = self.headings.get(value, 0)
        elif word == b"outlinelevel" and value is not None and 0 <= value < 9:
            state.level = value + 1
        elif word == b"i" and self.keep_italics and state.italic != (value != 0):
            state.italic = value != 0
            self.put("_")
        elif word in (b"deleted", b"v"):
            state.deleted = value != 0
        elif word == b"plain":
            state.deleted = False
        elif word in _CHARS:
            self.put(_CHARS[word])


def _heading_styles(data: bytes) -> dict[int, int]:
    """Heading level by style number, from the style sheet's names."""
    at = data.find(b"{\\stylesheet")
    sheet = data[at : at + 200_000] if at >= 0 else b""
    return {int(number): int(level) for number, level in re.findall(rb"\\s(\d{1,4})\b[^{}]*?[Hh]eading (\d);", sheet)}
