"""What a file from anywhere may not do: climb out of its archive, unpack without end, name files of this machine, or hide what it is."""

# ruff: noqa: E501  (tables of file names)
from __future__ import annotations

import io
import zipfile
from pathlib import Path

import pytest
from book_files import to_docx, to_epub, to_html, to_markdown, to_odt, to_rtf
from book_prose import paragraph

from penname.books import archive as archive_module
from penname.books import read_book
from penname.books.archive import Archive, parse_xml, resolve
from penname.books.decode import decode
from penname.books.open import KINDS
from penname.core.errors import BadInput

PARTS = [("Chapter 1", [paragraph(1), paragraph(2)]), ("Chapter 2", [paragraph(3), paragraph(4)])]


def zipped(members: dict[str, bytes], kind: int = zipfile.ZIP_STORED) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", kind) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


def test_a_member_whose_name_leads_out_is_none() -> None:
    outside = ["../a.txt", "/a.txt", "..", ".", "b/../../a.txt", "..\\a.txt", "\\a.txt"]
    archive = Archive(zipped({**dict.fromkeys(outside, b"x"), "b/a.txt": b"inside", "c/./d/../a.txt": b"too"}), "a.zip")
    assert archive.names() == ["b/a.txt", "c/a.txt"]
    assert (archive.read("b/a.txt"), archive.read("c/a.txt")) == (b"inside", b"too")
    for name in (*outside, "b/a.txt\0"):
        assert name not in archive
        with pytest.raises(BadInput, match="lacks its part"):
            archive.read(name)


@pytest.mark.parametrize(
    ("href", "member"),
    [
        ("c.html#x", "b/c.html"), ("../c.html", "c.html"), ("d/c%20e.html", "b/d/c e.html"), ("../../c.html", None), ("/etc/passwd", None),
        ("%2Fetc/passwd", None), ("file:///etc/passwd", None), ("https://mill.example/c.html", None), ("..", None), ("c\0.html", None),
    ],
)  # fmt: skip
def test_a_link_leads_to_a_member_or_nowhere(href: str, member: str | None) -> None:
    assert resolve("b/a.opf", href) == member


def test_all_members_together_may_not_be_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "_MAX_TOTAL_BYTES", 250)
    archive = Archive(zipped({"a": b"x" * 100, "b": b"x" * 100, "c": b"x" * 100}), "a.epub")
    assert len(archive.read("a") + archive.read("b")) == 200
    with pytest.raises(BadInput, match=r"a\.epub unpacks to more than any book holds \(at c\); it looks like an archive bomb"):
        archive.read("c")


def test_a_damaged_member_is_named() -> None:
    data = bytearray(zipped({"a": b"the mill stood", "b": b"the mill stood"}))
    data[data.index(b"stood")] ^= 1
    archive = Archive(bytes(data), "a.epub")
    assert archive.read("b") == b"the mill stood"
    with pytest.raises(BadInput, match=r"a\.epub is damaged at its part a \(.*\); get the file again"):
        archive.read("a")


def test_what_is_no_xml_is_refused_and_what_is_slightly_broken_is_mended() -> None:
    with pytest.raises(BadInput, match="a part is not readable XML"):
        parse_xml(b"nothing of it", "a part")
    assert parse_xml(b"<a><b>the mill</a>", "a part").findtext("b") == "the mill"


def test_no_entity_is_resolved(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET")
    for declared in (f'<!ENTITY x SYSTEM "{secret.as_uri()}">', '<!ENTITY x "SECRET">'):
        root = parse_xml(f"<!DOCTYPE a [{declared}]><a>one &x; two</a>".encode(), "a part")
        assert "SECRET" not in "".join(root.itertext())


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("a.pdf", "a PDF holds pages"), ("a.doc", "save as .docx"), ("a.pages", "export as .docx or .epub"), ("a.fb2", "convert it to .epub"),
        ("a.djvu", "name a text or .epub edition"), *((f"a.{end}", "Kindle files are not read") for end in ("mobi", "azw", "azw3", "kfx", "prc")),
        *((f"a.{end}", "a packed file is not read") for end in ("gz", "bz2", "xz", "7z", "rar", "tar", "tgz")),
    ],
)  # fmt: skip
def test_every_other_kind_of_file_is_refused_by_name(tmp_path: Path, name: str, says: str) -> None:
    (tmp_path / name).write_text("CHAPTER I\n\nThe mill stood.\n")
    with pytest.raises(BadInput, match=says):
        read_book(tmp_path / name)


@pytest.mark.parametrize(
    ("first", "says"),
    [(b"%PDF-", "a PDF holds"), (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old .doc inside")]
    + [(head, "a packed file") for head in (b"\x1f\x8b", b"7z\xbc\xaf\x27\x1c", b"Rar!\x1a", b"BZh", b"\xfd7zXZ\0")],
)
def test_every_other_kind_of_file_is_refused_by_its_first_bytes(tmp_path: Path, first: bytes, says: str) -> None:
    (tmp_path / "a.txt").write_bytes(first + b" The mill stood, and nobody came.\n" * 9)
    with pytest.raises(BadInput, match=says):
        read_book(tmp_path / "a.txt")


MAKERS = {
    ".txt": lambda: ("Chapter 1\n\n" + paragraph(1) + "\n").encode(),
    **dict.fromkeys((".html", ".htm", ".xhtml"), lambda: to_html("", PARTS).encode()),
    **dict.fromkeys((".md", ".markdown"), lambda: to_markdown("", PARTS).encode()),
    ".epub": lambda: to_epub("", PARTS),
    ".docx": lambda: to_docx("", PARTS),
    ".odt": lambda: to_odt("", PARTS),
    ".rtf": lambda: to_rtf("", PARTS),
}


@pytest.mark.parametrize("suffix", MAKERS)
def test_a_folder_may_hold_files_of_every_kind(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"a{suffix.upper()}").write_bytes(MAKERS[suffix]())
    assert read_book(tmp_path).text.startswith(f"Chapter 1\n\n{paragraph(1)}\n")
    assert set(MAKERS) == set(KINDS)


def test_one_member_may_not_be_endless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archive_module, "_MAX_MEMBER_BYTES", 99)
    archive = Archive(zipped({"a": b"x" * 99, "b": b"x" * 100}), "a.epub")
    assert len(archive.read("a")) == 99
    with pytest.raises(BadInput, match=r"more than any book holds \(at b\)"):
        archive.read("b")


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_is_part_of_the_encoding(encoding: str) -> None:
    assert decode("the mill".encode(encoding), "a.txt") == ("the mill", encoding)


def test_a_damaged_or_binary_text_is_refused() -> None:
    with pytest.raises(BadInput, match=r"a\.txt says that it is utf-8-sig but is damaged at byte 7; save it again as UTF-8 text"):
        decode(b"\xef\xbb\xbfthe \xff mill", "a.txt")
    for data in (bytes(range(1, 32)) * 9, b"\xef\xbb\xbf" + b"\x01\x02a" * 9, b"\x01\x02\xe9 mill" * 9):
        with pytest.raises(BadInput, match=r"a\.txt is a binary file, not a book"):
            decode(data, "a.txt")
