"""gutenberg:ID against a mirror on loopback: what is asked for, the cache, and what happens offline."""

# ruff: noqa: E501  (whole files stand in single strings)
from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from book_prose import chapters

from penname.books import gutenberg, read_book
from penname.books.open import source_digest
from penname.books.stage import books_inputs, run_books
from penname.core.config import BooksConfig
from penname.core.errors import BadInput
from penname.core.folder import open_voice
from penname.core.hashing import sha256_bytes

TEXT = f"*** START OF THE PROJECT GUTENBERG EBOOK THE MILL ***\n\n\n{chapters(['CHAPTER I', 'CHAPTER II'], 4)}\n\n*** END OF THE PROJECT GUTENBERG EBOOK THE MILL ***\n"
RDF = (
    '<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:dcterms="http://purl.org/dc/terms/" xmlns:pgterms="http://www.gutenberg.org/2009/pgterms/">'
    "<pgterms:ebook><dcterms:title>The Mill: A Tale</dcterms:title><dcterms:creator><pgterms:agent><pgterms:name>Nobody, Ann</pgterms:name></pgterms:agent></dcterms:creator>"
    "<dcterms:language><rdf:Description><rdf:value>en</rdf:value></rdf:Description></dcterms:language></pgterms:ebook></rdf:RDF>"
)


class Mirror:
    """A mirror on loopback; ``files`` maps paths to bytes, ``asked`` holds (path, user agent)."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.asked: list[tuple[str, str]] = []
        self.status = 200
        mirror = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                mirror.asked.append((self.path, self.headers["User-Agent"]))
                data = mirror.files.get(self.path)
                self.send_response(404 if data is None else mirror.status)
                self.send_header("Content-Length", str(len(data or b"")))
                self.end_headers()
                self.wfile.write(data or b"")

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.address = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def mirror(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Mirror]:
    monkeypatch.setenv("PENNAME_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(gutenberg, "_PAUSE_SECONDS", 0.0)
    server = Mirror()
    yield server
    server.server.shutdown()
    server.server.server_close()


def test_text_and_metadata_come_from_the_mirror_once(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files = {"/cache/epub/99/pg99.txt": TEXT.encode(), "/cache/epub/99/pg99.rdf": RDF.encode()}
    house = BooksConfig(mirror=mirror.address)
    unfetched = source_digest("gutenberg:99")
    book = read_book("gutenberg:99", settings=house)
    assert (book.title, book.author, book.id, book.language) == ("The Mill: A Tale", "Ann Nobody", "the-mill", "en")
    assert [c.heading for c in book.chapters] == ["CHAPTER I", "CHAPTER II"]
    assert [path for path, _ in mirror.asked] == ["/cache/epub/99/pg99.txt", "/cache/epub/99/pg99.rdf"]
    assert all(agent.startswith("penname/") for _, agent in mirror.asked)
    assert source_digest("gutenberg:99") == book.source_sha256 != unfetched
    assert (tmp_path / f"cache/gutenberg/99/{book.source_sha256}.txt").read_bytes() == TEXT.encode()

    mirror.asked.clear()
    offline = BooksConfig(mirror="http://127.0.0.1:9")  # nothing listens there
    assert read_book("gutenberg:99", settings=offline) == book
    assert mirror.asked == []


def test_a_voice_is_fresh_after_the_reading_that_fetched_its_books(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files = {"/cache/epub/99/pg99.txt": TEXT.encode(), "/cache/epub/99/pg99.rdf": RDF.encode()}
    folder = tmp_path / "voice"
    folder.mkdir()
    (folder / "voice.toml").write_text(f'[voice]\nbooks = ["Gutenberg:99"]\n[books]\nmirror = "{mirror.address}"\n')
    manifest = run_books(open_voice(folder))
    assert dict(manifest.inputs) == {"books:1:Gutenberg:99": sha256_bytes(TEXT.encode())} == books_inputs(open_voice(folder))


def test_older_places_of_a_text_are_tried(mirror: Mirror) -> None:
    mirror.files = {"/1/2/6/1260/1260.txt": TEXT.encode()}
    assert read_book("gutenberg:1260", settings=BooksConfig(mirror=mirror.address)).id == "gutenberg-1260"
    assert [path for path, _ in mirror.asked][:3] == ["/cache/epub/1260/pg1260.txt", "/1/2/6/1260/1260-0.txt", "/1/2/6/1260/1260.txt"]


def test_a_damaged_cache_is_fetched_again(mirror: Mirror, tmp_path: Path) -> None:
    mirror.files = {"/cache/epub/99/pg99.txt": TEXT.encode()}
    house = BooksConfig(mirror=mirror.address)
    book = read_book("gutenberg:99", settings=house)
    kept = tmp_path / f"cache/gutenberg/99/{book.source_sha256}.txt"
    kept.write_bytes(b"half a bo")
    assert read_book("gutenberg:99", settings=house) == book
    assert kept.read_bytes() == TEXT.encode()


def test_a_missing_book_a_broken_mirror_and_no_network_get_a_sentence(mirror: Mirror) -> None:
    with pytest.raises(BadInput, match="has no text of Gutenberg book 99; look the number up"):
        read_book("gutenberg:99", settings=BooksConfig(mirror=mirror.address))
    mirror.files, mirror.status = {"/cache/epub/99/pg99.txt": b"x"}, 503
    with pytest.raises(BadInput, match="the mirror answered 503"):
        read_book("gutenberg:99", settings=BooksConfig(mirror=mirror.address))
    with pytest.raises(BadInput, match="could not be reached"):
        read_book("gutenberg:99", settings=BooksConfig(mirror="http://127.0.0.1:9"))
    with pytest.raises(BadInput, match="could not be reached"):
        read_book("gutenberg:99", settings=BooksConfig(mirror="nonsense"))


def test_a_pause_stands_between_two_requests_and_none_before_the_first(mirror: Mirror, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[tuple[int, float]] = []
    monkeypatch.setattr(gutenberg, "_PAUSE_SECONDS", 2.5)
    monkeypatch.setattr(gutenberg.time, "sleep", lambda seconds: pauses.append((len(mirror.asked), seconds)))
    mirror.files = {"/9/99/99-0.txt": TEXT.encode()}
    read_book("gutenberg:99", settings=BooksConfig(mirror=mirror.address))
    assert pauses == [(1, 2.5), (2, 2.5)] and len(mirror.asked) == 3


def test_what_is_larger_than_any_book_is_not_fetched(mirror: Mirror, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(gutenberg, "_MAX_BYTES", 1000)
    mirror.files = {"/cache/epub/99/pg99.txt": b"x" * 1001}
    with pytest.raises(BadInput, match="is larger than any book"):
        read_book("gutenberg:99", settings=BooksConfig(mirror=mirror.address))
    assert not list(tmp_path.rglob("*.txt"))


def test_an_author_of_one_name_and_no_language(mirror: Mirror) -> None:
    rdf = RDF.replace("Nobody, Ann", "Anonymous")
    rdf = rdf[: rdf.index("<dcterms:language>")] + rdf[rdf.index("</pgterms:ebook>") :]
    mirror.files = {"/cache/epub/99/pg99.txt": TEXT.encode(), "/cache/epub/99/pg99.rdf": rdf.encode()}
    book = read_book("gutenberg:99", settings=BooksConfig(mirror=mirror.address))
    assert (book.author, book.language) == ("Anonymous", "en")
