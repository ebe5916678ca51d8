"""``gutenberg:1260``: text and metadata from a mirror that robots may use, kept in the cache by id and checksum."""

from __future__ import annotations

import re
import time
from dataclasses import asdict, dataclass
from pathlib import Path

from penname import __version__
from penname.books.archive import parse_xml
from penname.core.cache import cache_folder
from penname.core.errors import BadInput
from penname.core.files import read_json, write_bytes, write_json
from penname.core.hashing import sha256_bytes
from penname.core.progress import say

_AGENT = f"penname/{__version__} (one book at a time; https://www.gutenberg.org/policy/robot_access.html)"
_MAX_BYTES = 64 * 1024 * 1024
_PAUSE_SECONDS = 2.0  # what gutenberg.org asks of robots
_TIMEOUT_SECONDS = 30.0
_TERMS = "{http://purl.org/dc/terms/}"
_ID = re.compile(r"gutenberg:\s*0*([1-9]\d{0,6})", re.IGNORECASE)


@dataclass(frozen=True)
class GutenbergBook:
    """One fetched book: its bytes are ``<sha256>.txt`` in its cache folder."""

    number: int
    url: str
    sha256: str
    title: str = ""
    author: str = ""
    language: str = ""


def names_gutenberg(source: str) -> bool:
    """Whether a source is ``gutenberg:`` and something behind it, and no path."""
    return source.lower().startswith("gutenberg:")


def gutenberg_number(source: str) -> int | None:
    """The number in ``gutenberg:1260``; None for any other source, BadInput for one that is no number."""
    if not names_gutenberg(source):
        return None
    match = _ID.fullmatch(source.strip())
    if not match:
        raise BadInput(f'"{source}" names no Gutenberg book; write gutenberg: and the number from the book\'s page, gutenberg:1260')
    return int(match[1])


def cached(number: int) -> tuple[GutenbergBook, bytes] | None:
    """The book as the cache has it, or None where it is missing or its bytes are not those that were fetched."""
    folder = _folder(number)
    about = folder / "source.json"
    if not about.is_file():
        return None
    try:
        book = GutenbergBook(**read_json(about))
        data = (folder / f"{book.sha256}.txt").read_bytes()
    except (BadInput, TypeError, OSError):
        return None
    return (book, data) if sha256_bytes(data) == book.sha256 else None


def fetch(number: int, mirror: str) -> tuple[GutenbergBook, bytes]:
    """The book, from the cache or else from ``mirror``. BadInput where the mirror does not have it or cannot be reached."""
    if found := cached(number):
        return found
    say(f"fetching Gutenberg book {number} from {mirror}")
    with _Mirror(mirror) as mirror_client:
        url, data = mirror_client.text(number)
        about = mirror_client.metadata(number)
    book = GutenbergBook(number, url, sha256_bytes(data), **about)
    folder = _folder(number)
    write_bytes(folder / f"{book.sha256}.txt", data)
    write_json(folder / "source.json", asdict(book))
    return book, data


def _folder(number: int) -> Path:
    return cache_folder() / "gutenberg" / str(number)


def _paths(number: int) -> list[str]:
    """Where mirrors keep the text, the likeliest first: the generated UTF-8 text, then the posted files."""
    digits = str(number)
    folder = "/".join(digits[:-1] or "0") + f"/{digits}"
    return [f"cache/epub/{number}/pg{number}.txt", f"{folder}/{number}-0.txt", f"{folder}/{number}.txt", f"{folder}/{number}-8.txt"]


class _Mirror:
    """One polite connection: our own user agent, one request at a time, a pause between two."""

    def __init__(self, address: str) -> None:
        import httpx

        self.address = address.rstrip("/")
        self._client = httpx.Client(headers={"User-Agent": _AGENT}, timeout=_TIMEOUT_SECONDS, follow_redirects=True, max_redirects=5)
        self._asked = False

    def __enter__(self) -> _Mirror:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def text(self, number: int) -> tuple[str, bytes]:
        """The URL and the bytes of the first text that the mirror has."""
        for path in _paths(number):
            url = f"{self.address}/{path}"
            if data := self._get(url):
                return url, data
        raise BadInput(f"{self.address} has no text of Gutenberg book {number}; look the number up, or set books.mirror to another mirror")

    def metadata(self, number: int) -> dict[str, str]:
        """Title, author and language from the mirror's RDF; {} where it has none."""
        data = self._get(f"{self.address}/cache/epub/{number}/pg{number}.rdf")
        if not data:
            return {}
        root = parse_xml(data, f"metadata of Gutenberg book {number}")
        title = root.findtext(f".//{_TERMS}title") or ""
        name = root.findtext(f".//{_TERMS}creator//{{http://www.gutenberg.org/2009/pgterms/}}name") or ""
        language = root.find(f".//{_TERMS}language")
        last, comma, first = name.partition(",")
        return {
            "title": " ".join(title.split()),
            "author": f"{first.strip()} {last.strip()}" if comma else name.strip(),
            "language": " ".join("".join(language.itertext()).split()) if language is not None else "",
        }

    def _get(self, url: str) -> bytes | None:
        import httpx

        if self._asked:
            time.sleep(_PAUSE_SECONDS)
        self._asked = True
        try:
            with self._client.stream("GET", url) as response:
                if response.status_code in (403, 404, 410):
                    return None
                response.raise_for_status()
                parts: list[bytes] = []
                size = 0
                for part in response.iter_bytes():
                    size += len(part)
                    if size > _MAX_BYTES:
                        raise BadInput(f"{url} is larger than any book (over {_MAX_BYTES >> 20} MB); it was not fetched")
                    parts.append(part)
                return b"".join(parts)
        except httpx.HTTPStatusError as error:
            raise BadInput(f"the mirror answered {error.response.status_code} for {url}; try again later, or set books.mirror") from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = type(error).__name__
            raise BadInput(f"the mirror could not be reached ({reason} at {url}); check the network, or name a local file") from None
