"""Zip-based formats, read with limits: nothing is unpacked to disk, no member may be huge, and no name may climb out."""

from __future__ import annotations

import io
import posixpath
import zipfile
import zlib
from typing import Any
from urllib.parse import unquote

from lxml import etree

from penname.core.errors import BadInput

_MAX_ENTRIES = 10_000
_MAX_MEMBER_BYTES = 64 * 1024 * 1024
_MAX_TOTAL_BYTES = 192 * 1024 * 1024
_BLOCK_BYTES = 1 << 20


class Archive:
    """A zip file in memory. Every read counts towards one limit, by bytes that really come out, not by what the header says."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self._left = _MAX_TOTAL_BYTES
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            infos = self._zip.infolist()
        except (zipfile.BadZipFile, ValueError, EOFError, NotImplementedError, OSError, UnicodeDecodeError, IndexError) as error:
            raise BadInput(f"{name} is a damaged archive ({error}); get the file again") from None
        if len(infos) > _MAX_ENTRIES:
            raise BadInput(f"{name} holds {len(infos)} files, more than any book; it looks like an archive bomb")
        self._infos = {_inside(info.filename): info for info in infos if _inside(info.filename) is not None}

    def names(self) -> list[str]:
        """The members whose names stay inside the archive."""
        return [name for name in self._infos if name]

    def __contains__(self, name: str) -> bool:
        return _inside(name) in self._infos

    def read(self, name: str) -> bytes:
        """The bytes of a member; BadInput where it is missing, locked, damaged or too large."""
        info = self._infos.get(_inside(name))
        if info is None:
            raise BadInput(f"{self.name} lacks its part {name}; get the file again")
        if info.flag_bits & 1:
            raise BadInput(f"{self.name} is locked with a password; save an open copy and name that")
        parts: list[bytes] = []
        size = 0
        try:
            with self._zip.open(info) as member:
                while block := member.read(_BLOCK_BYTES):
                    size += len(block)
                    self._left -= len(block)
                    if size > _MAX_MEMBER_BYTES or self._left < 0:
                        raise BadInput(f"{self.name} unpacks to more than any book holds (at {name}); it looks like an archive bomb")
                    parts.append(block)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, OSError, ValueError, RuntimeError, IndexError) as error:
            raise BadInput(f"{self.name} is damaged at its part {name} ({error}); get the file again") from None
        return b"".join(parts)

    def xml(self, name: str) -> Any:
        """The tree of an XML member; no entity, DTD or address is resolved."""
        return parse_xml(self.read(name), f"{self.name}: {name}")


def parse_xml(data: bytes, name: str) -> Any:
    """The tree of an XML document, mended where it is slightly broken; BadInput where there is none."""
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, remove_comments=True, recover=True
    )
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError, AssertionError):
        root = None
    if root is None:
        raise BadInput(f"{name} is not readable XML; the file is damaged, get it again")
    return root


def resolve(base: str, href: str) -> str | None:
    """The member that ``href`` in member ``base`` names, without its fragment; None where it leaves the archive."""
    path = unquote(href.partition("#")[0])
    if "://" in path or path.startswith("/"):
        return None
    return _inside(posixpath.join(posixpath.dirname(base), path))


def _inside(name: str) -> str | None:
    path = posixpath.normpath(name.replace("\\", "/"))
    return None if path.startswith(("/", "../")) or path in ("..", ".") or "\0" in path else path
