"""One Book whatever the format; and one sentence for what is no book."""

# ruff: noqa: E501  (whole files stand in single strings)
from __future__ import annotations

import io
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from book_files import Part, to_docx, to_epub, to_html, to_markdown, to_odt, to_rtf
from book_prose import chapters, paragraph, prose

from penname.books import read_book
from penname.core.config import BooksConfig
from penname.core.errors import BadInput

PARTS: list[Part] = [
    ("Chapter 1", [paragraph(1), "* * *", paragraph(2), "She sang:", "By the water,\nBy the mill,"]),
    ("Chapter 2", [paragraph(11), "“Yes,” said he—and café & <b> were all he said.", paragraph(12)]),
    ("Chapter 3", [paragraph(21), paragraph(22)]),
]
MAKERS: dict[str, Callable[[], bytes]] = {
    "md": lambda: to_markdown("The Mill", PARTS).encode(),
    "docx": lambda: to_docx("The Mill", PARTS),
    "rtf": lambda: to_rtf("The Mill", PARTS),
    "html": lambda: to_html("The Mill", PARTS).encode(),
    "epub": lambda: to_epub("The Mill", PARTS),
}


def put(tmp_path: Path, name: str, data: bytes) -> Path:
    path = tmp_path / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("kind", MAKERS)
def test_each_format_gives_the_same_book(tmp_path: Path, kind: str) -> None:
    book = read_book(put(tmp_path, f"mill.{kind}", MAKERS[kind]()))
    assert book.title == "The Mill"
    assert [(c.kind, c.heading) for c in book.chapters] == [("chapter", "Chapter 1"), ("chapter", "Chapter 2"), ("chapter", "Chapter 3")]
    first, second = book.chapters[:2]
    assert (
        book.text[first.body_start : first.end] == f"{paragraph(1)}\n\n* * *\n\n{paragraph(2)}\n\nShe sang:\n\nBy the water,\nBy the mill,"
    )
    assert (
        book.text[second.body_start : second.end]
        == f'{paragraph(11)}\n\n"Yes," said he—and café & <b> were all he said.\n\n{paragraph(12)}'
    )
    assert "struck out" not in book.text


def test_odt(tmp_path: Path) -> None:
    book = read_book(put(tmp_path, "mill.odt", to_odt("The Mill", PARTS)))
    assert [c.heading for c in book.chapters] == ["Chapter 1", "Chapter 2", "Chapter 3"]
    assert book.text.endswith("Noted here.\n")
    assert (book.title, book.author) == ("The Mill", "Ann Nobody")


@pytest.mark.parametrize("nav", [True, False])
@pytest.mark.parametrize("files", [1, 2, 7])
def test_epub_chapters_come_from_the_contents_and_not_from_files(tmp_path: Path, files: int, nav: bool) -> None:
    book = read_book(put(tmp_path, "mill.epub", to_epub("The Mill", PARTS, files=files, nav=nav)))
    assert [c.heading for c in book.chapters] == ["Chapter 1", "Chapter 2", "Chapter 3"]


def test_epub_spine_may_repeat_and_miss_items(tmp_path: Path) -> None:
    data = to_epub("The Mill", PARTS, files=2, spine=["p0", "p0", "gone", "p1", "p0"])
    assert read_book(put(tmp_path, "mill.epub", data)).text == read_book(put(tmp_path, "b.epub", to_epub("The Mill", PARTS, files=2))).text


def test_titles_without_numbers_are_chapters_where_the_format_marks_them(tmp_path: Path) -> None:
    parts = [
        (name, [paragraph(n), paragraph(n + 1)])
        for n, name in enumerate(["Preface", "The Storm", "The Letter", "What the Dog Knew", "Epilogue"])
    ]
    for name, data in (
        ("a.md", to_markdown("The Mill", parts).encode()),
        ("a.docx", to_docx("The Mill", parts)),
        ("a.epub", to_epub("The Mill", parts)),
    ):
        book = read_book(put(tmp_path, name, data))
        assert [(c.kind, c.heading) for c in book.chapters] == [
            ("front", "Preface"), ("chapter", "The Storm"), ("chapter", "The Letter"), ("chapter", "What the Dog Knew"), ("back", "Epilogue"),
        ], name  # fmt: skip


def test_markup_that_is_no_text_of_the_book_is_removed_by_its_rule(tmp_path: Path) -> None:
    page = (
        "<html><body><div class='transnote'><p>Spelling was kept.</p></div><h2>Chapter 1</h2>"
        f"<p>{paragraph(1)}</p><p>He came<span class='pagenum'>[Pg 7]</span> home<a class='fnanchor'>[1]</a> late.</p>"
        f"<div class='footnote'><p>[1] Very late.</p></div><div class='poem'><p>By the water,</p><p>By the mill,</p></div><h2>Chapter 2</h2><p>{paragraph(2)}</p>"
        "<script>var x = 1;</script></body></html>"
    )
    book = read_book(put(tmp_path, "mill.html", page.encode()))
    assert "He came home late.\n\nBy the water,\nBy the mill,\n\nChapter 2" in book.text
    assert {r.rule for r in book.removed} >= {"transcriber-note", "page-number", "footnote-mark", "footnote"}
    assert "var x" not in book.text


def test_a_page_as_gutenberg_makes_them_now(tmp_path: Path) -> None:
    frame = '<section class="pg-boilerplate pgheader" id="{}"><h2>The Project Gutenberg eBook of The Mill</h2><div>{}</div></section>'
    page = (
        "<!DOCTYPE html><html><head><title>The Mill | Project Gutenberg</title></head><body>"
        + frame.format("pg-header", "*** START OF THE PROJECT GUTENBERG EBOOK THE MILL ***")
        + "<div class='figcenter'><img src='c.jpg' alt=''><p>The mill as it was</p></div><h1>THE MILL</h1><p>BY<br>ANN NOBODY</p>"
        "<h2>CONTENTS</h2><table class='toc'><tr><td>I.</td><td><a href='#c1'>The Mill</a></td><td>1</td></tr>"
        "<tr><td>II.</td><td><a href='#c2'>The Bridge</a></td><td>9</td></tr></table>"
        f"<div class='chapter'><h2 id='c1'>CHAPTER I.<br><span>THE MILL</span></h2></div><p><span class='dropcap'>N</span><span>umber</span> {paragraph(1)}</p>"
        "<div class='poetry-container'><div class='poetry'><div class='stanza'><div class='verse indent0'>By the water,</div>"
        "<div class='verse indent2'>By the mill.</div></div><div class='stanza'><div class='verse indent0'>By the road.</div></div></div></div>"
        "<figure class='figcenter'><img src='i.jpg' alt=''><figcaption>She put it back</figcaption></figure>"
        f"<hr class='chap'><div class='chapter'><h2 id='c2'>CHAPTER II.<br>THE BRIDGE</h2></div><p>{paragraph(2)}</p><p>THE END</p>"
        + frame.format("pg-footer", "*** END OF THE PROJECT GUTENBERG EBOOK THE MILL ***")
        + "</body></html>"
    )
    book = read_book(put(tmp_path, "mill.html", page.encode()))
    assert (book.title, book.author) == ("The Mill", "Ann Nobody")
    assert book.text == (
        f"CHAPTER I. THE MILL\n\nNumber {paragraph(1)}\n\nBy the water,\nBy the mill.\n\nBy the road.\n\nCHAPTER II. THE BRIDGE\n\n{paragraph(2)}\n"
    )


def test_a_folder_of_chapter_files_is_one_book_in_natural_order(tmp_path: Path) -> None:
    folder = tmp_path / "The Mill"
    folder.mkdir()
    for n in (1, 2, 10):
        (folder / f"{n} The Part {n}.txt").write_text(prose(n, 3))
    (folder / "notes.ini").write_text("no book")
    book = read_book(folder)
    assert [(c.kind, c.heading) for c in book.chapters] == [
        ("chapter", "The Part 1"),
        ("chapter", "The Part 2"),
        ("chapter", "The Part 10"),
    ]
    assert [book.text[c.start :][:8] for c in book.chapters] == ["Number 1", "Number 2", "Number 1"]
    assert (book.id, book.title) == ("the-mill", "The Mill")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "cp1252", "mac_roman", "latin-1"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    text = chapters(["CHAPTER I", "CHAPTER II"], 6).replace("She put", "Adèle Brontë à la façade") + "CHAPTER III\n\n" + prose(3)
    book = read_book(put(tmp_path, "mill.txt", text.replace("\n", "\r\n").encode(encoding)))
    assert "Adèle Brontë à la façade the letter back" in book.text
    assert len(book.chapters) == 3


def test_italics_can_be_kept_in_every_format(tmp_path: Path) -> None:
    page = f"<html><body><h2>Chapter 1</h2><p>She <i>never</i> said so. {paragraph(1)}</p><h2>Chapter 2</h2><p>{paragraph(2)}</p></body></html>"
    keep = BooksConfig(italics="keep")
    assert "She _never_ said so." in read_book(put(tmp_path, "a.html", page.encode()), settings=keep).text
    assert "She never said so." in read_book(put(tmp_path, "a.html", page.encode())).text
    assert (
        "She _never_ said"
        in read_book(put(tmp_path, "a.md", f"# Chapter 1\n\nShe *never* said so. {paragraph(1)}\n".encode()), settings=keep).text
    )


def test_text_that_is_not_english_gets_a_warning(tmp_path: Path) -> None:
    french = (
        "Il y avait dans la maison une lampe que personne ne voulait éteindre, et les enfants disaient qu'elle brûlait depuis toujours. "
        * 60
    )
    book = read_book(put(tmp_path, "moulin.txt", french.encode()))
    assert "the text does not look like English; names, beats and the instrument are made for English prose" in book.oddities


def test_noise_is_reported(tmp_path: Path) -> None:
    noisy = chapters(["CHAPTER I", "CHAPTER II"], 4) + "\nHe w1th tbe m0ther and th3 d0g | x ~ y ^ z came hÃ©re.\n"
    odd = " ".join(read_book(put(tmp_path, "mill.txt", noisy.encode())).oddities)
    assert '4 words that mix letters and digits: "w1th", "m0ther", "th3"' in odd
    assert "3 stray signs" in odd
    assert "1 signs of a wrongly decoded file" in odd


def _zipped(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return out.getvalue()


CONTAINER = b'<container><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>'
REFUSED: dict[str, tuple[str, bytes, str]] = {
    "pdf": ("a.pdf", b"%PDF-1.7\n...", "a PDF holds pages, not paragraphs; convert it first"),
    "kindle": ("a.azw3", b"TPZ", "convert it to .epub"),
    "kindle in disguise": ("a.txt", b"The Mill" + bytes(52) + b"BOOKMOBI" + bytes(40), "convert it to .epub"),
    "locked docx": ("a.docx", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600), "take the password off, and save it as .docx"),
    "locked odt": (
        "a.odt",
        _zipped({"content.xml": b"\x07\xf0\x11", "META-INF/manifest.xml": b"<m><manifest:encryption-data/></m>"}),
        "take the password off",
    ),
    "gzip": ("a.txt.gz", b"\x1f\x8b\x08\0", "unpack it and name the book's file in it"),
    "gzip in disguise": ("a.txt", b"\x1f\x8b\x08\0" + bytes(40), "unpack it and name the book's file in it"),
    "zip in disguise": ("a.txt", _zipped({"mill.txt": b"hello"}), "unpack it and name the book's file in it (mill.txt)"),
    "picture": ("a.txt", b"\xff\xd8\xff\xe0\0\x10JFIF" + bytes(range(256)) * 30, "is a binary file, not a book"),
    "nothing": ("a.epub", b"", "is empty; name a file with a book in it"),
    "text called docx": ("a.docx", b"CHAPTER I\n\nIt rained.\n", "rename it (.txt for plain text)"),
    "pdf in disguise": ("a.txt", b"%PDF-1.7\n...", "convert it first"),
    "old word": ("a.doc", b"\xd0\xcf\x11\xe0", "save as .docx"),
    "empty": ("a.txt", b" \n\n ", "is empty"),
    "binary": ("a.txt", bytes(range(256)) * 40, "is a binary file, not a book"),
    "zip": ("a.zip", _zipped({"x.txt": b"hello"}), "unpack it and name the book's file"),
    "broken zip": ("a.epub", b"PK\x03\x04" + b"\0" * 60, "damaged archive"),
    "no zip": ("a.epub", b"hello there, this is text", "is no .epub file, whatever its name says"),
    "no package": ("a.epub", _zipped({"META-INF/container.xml": CONTAINER}), "is no EPUB"),
    "no spine": (
        "a.epub",
        _zipped({"META-INF/container.xml": CONTAINER, "a.opf": b"<package><spine/></package>"}),
        "empty or broken reading order",
    ),
    "locked": (
        "a.epub",
        _zipped({"META-INF/encryption.xml": b'<e><EncryptionMethod Algorithm="aes"/></e>', "META-INF/container.xml": CONTAINER}),
        "locked by a rights scheme",
    ),
    "empty docx": ("a.docx", _zipped({"word/document.xml": b"<document/>"}), "has no text in it"),
    "licence only": (
        "a.txt",
        b"*** START OF THE PROJECT GUTENBERG EBOOK X ***\n\n*** END OF THE PROJECT GUTENBERG EBOOK X ***\n",
        "no text left",
    ),
}


def _locked_zip() -> bytes:
    """A zip whose one member is flagged as encrypted, in both of its headers."""
    data = bytearray(_zipped({"word/document.xml": b"<document/>"}))
    for head, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(head) + flags] |= 1
    return bytes(data)


REFUSED["locked zip"] = ("a.docx", _locked_zip(), "is locked with a password; save an open copy and name that")


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_no_book_gets_one_sentence(tmp_path: Path, case: str) -> None:
    name, data, says = REFUSED[case]
    with pytest.raises(BadInput) as refusal:
        read_book(put(tmp_path, name, data))
    assert says in str(refusal.value)
    assert name in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_rtf_in_a_double_byte_code_page(tmp_path: Path) -> None:
    coded = "東京の水車".encode("cp932")
    octets = "".join(chr(byte) if 65 <= byte <= 90 else f"\\'{byte:02x}" for byte in coded)
    told = f"{{\\rtf1\\ansi\\ansicpg932 \\pard She wrote {octets} on the card, and \\u26481\\'93\\'8c too.\\par {paragraph(1)}\\par}}"
    book = read_book(put(tmp_path, "mill.rtf", told.replace("\\u26481", "\\uc2\\u26481").encode("ascii")))
    assert book.text.startswith("She wrote 東京の水車 on the card, and 東 too.\n\n")


def test_missing_files_and_empty_folders(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no file"):
        read_book(tmp_path / "nothing.txt")
    with pytest.raises(BadInput, match="holds no chapter files"):
        read_book(tmp_path)
    with pytest.raises(BadInput, match="names no Gutenberg book"):
        read_book("gutenberg:jane")


def test_archive_bombs_stop_early(tmp_path: Path) -> None:
    bomb = _zipped({"META-INF/container.xml": CONTAINER, "a.opf": b" " * (70 << 20)})
    assert len(bomb) < 200_000
    with pytest.raises(BadInput, match="looks like an archive bomb"):
        read_book(put(tmp_path, "a.epub", bomb))
    with pytest.raises(BadInput, match="holds 10001 files"):
        read_book(put(tmp_path, "b.epub", _zipped({str(n): b"" for n in range(10_001)})))


def test_entities_and_paths_do_not_reach_outside(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("SECRET WORDS")
    page = f'<?xml version="1.0"?><!DOCTYPE html [<!ENTITY x SYSTEM "file://{secret}"><!ENTITY a "ha"><!ENTITY b "&a;&a;&a;">]><html xmlns="http://www.w3.org/1999/xhtml"><body><h2>Chapter 1</h2><p>{paragraph(1)} &x; &b;</p></body></html>'
    assert "SECRET" not in read_book(put(tmp_path, "a.html", page.encode())).text
    opf = f'<!DOCTYPE package [<!ENTITY x SYSTEM "file://{secret}">]><package><metadata><title xmlns="http://purl.org/dc/elements/1.1/">&x;</title></metadata><manifest><item id="p" href="../../{secret.name}" media-type="text/html"/><item id="q" href="{secret}" media-type="text/html"/></manifest><spine><itemref idref="p"/><itemref idref="q"/></spine></package>'
    with pytest.raises(BadInput, match="empty or broken reading order"):
        read_book(
            put(tmp_path, "a.epub", _zipped({"META-INF/container.xml": CONTAINER, "a.opf": opf.encode(), "../secret.txt": b"SECRET"}))
        )
