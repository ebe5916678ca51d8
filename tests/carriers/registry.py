"""A model registry on loopback that answers as the real one does, and can misbehave as one does."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

COMMIT = "1" * 40


@dataclass
class Repo:
    """One repository. ``gated``: its files are refused. ``extra`` goes into what is listed of it."""

    files: dict[str, bytes]
    commit: str = COMMIT
    gated: bool = False
    extra: dict[str, Any] = field(default_factory=dict)


@dataclass
class Registry:
    """What the server knows and how it behaves; ``log`` holds (method, path, Range header) of every request."""

    url: str = ""
    repos: dict[str, Repo] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    says_yes_to_all: bool = False
    broken: bool = False  # 503 to everything
    ignores_ranges: bool = False
    cut_after: int | None = None  # the next file answer breaks off after so many bytes
    corrupt: set[str] = field(default_factory=set)  # files that arrive with a flipped byte
    log: list[tuple[str, str, str]] = field(default_factory=list)


def describe(name: str, repo: Repo) -> dict[str, Any]:
    siblings = []
    for path, data in repo.files.items():
        item: dict[str, Any] = {"rfilename": path, "size": len(data)}
        item["blobId"] = hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()
        if path.endswith(".safetensors"):
            item["lfs"] = {"sha256": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
        siblings.append(item)
    card = {"id": name, "modelId": name, "sha": repo.commit, "gated": "manual" if repo.gated else False, "private": False, "tags": []}
    return card | {"siblings": siblings, "lastModified": "2026-02-03T00:00:00.000Z", "createdAt": "2026-01-01T00:00:00.000Z"} | repo.extra


class Handler(BaseHTTPRequestHandler):
    registry: Registry
    protocol_version = "HTTP/1.1"

    def log_message(self, *args: Any) -> None:
        return None

    def handle(self) -> None:
        with suppress(ConnectionError):  # a client that was interrupted
            super().handle()

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        registry = self.registry
        split = urlsplit(self.path)
        parts = [unquote(part) for part in split.path.strip("/").split("/")]
        registry.log.append((self.command, split.path, self.headers.get("Range", "")))
        if registry.broken:
            return self.answer(503, b"down")
        if parts == ["api", "models"]:
            author = parse_qs(split.query).get("author", [""])[0]
            rows = [describe(name, repo) for name, repo in registry.repos.items() if name.startswith(author + "/")]
            return self.json(rows)
        if parts[:2] == ["api", "models"]:
            return self.model("/".join(parts[2:4]), parts[5] if len(parts) > 5 else None)
        if len(parts) >= 5 and parts[2] == "resolve":
            return self.file("/".join(parts[:2]), parts[3], "/".join(parts[4:]))
        return self.answer(404, b"", {"X-Error-Code": "RepoNotFound"})

    def model(self, name: str, revision: str | None) -> None:
        registry = self.registry
        if name in registry.renamed:
            suffix = f"/revision/{revision}" if revision else ""
            return self.answer(307, b"", {"Location": f"/api/models/{registry.renamed[name]}{suffix}?blobs=true"})
        if name not in registry.repos:
            if registry.says_yes_to_all:
                return self.json(describe(name, Repo({"config.json": b"{}"})))
            return self.answer(401, b'{"error":"Invalid username or password."}', {"X-Error-Code": "RepoNotFound"})
        repo = registry.repos[name]
        if revision not in (None, "main", repo.commit):
            return self.answer(404, b"{}", {"X-Error-Code": "RevisionNotFound"})
        return self.json(describe(name, repo))

    def file(self, name: str, revision: str, path: str) -> None:
        registry = self.registry
        repo = registry.repos.get(name)
        if repo is None or path not in repo.files:
            return self.answer(404, b"", {"X-Error-Code": "EntryNotFound" if repo else "RepoNotFound"})
        if repo.gated:
            return self.answer(403, b"", {"X-Error-Code": "GatedRepo"})
        data = repo.files[path]
        if path in registry.corrupt:
            data = data[:-1] + bytes([data[-1] ^ 1])
        headers = {"X-Repo-Commit": repo.commit, "ETag": f'"{hashlib.sha256(data).hexdigest()}"', "Accept-Ranges": "bytes"}
        wanted, status, total = self.headers.get("Range", ""), 200, len(data)
        if wanted.startswith("bytes=") and not registry.ignores_ranges:
            start, _, stop = wanted.removeprefix("bytes=").partition("-")
            last = min(int(stop), total - 1) if stop else total - 1
            headers["Content-Range"] = f"bytes {start}-{last}/{total}"
            data, status = data[int(start) : last + 1], 206
        if registry.cut_after is not None and self.command == "GET" and len(data) > registry.cut_after:
            cut, registry.cut_after = registry.cut_after, None
            self.answer(status, data, headers, send=cut)
            self.close_connection = True
            return None
        return self.answer(status, data, headers)

    def json(self, value: Any) -> None:
        self.answer(200, json.dumps(value).encode(), {"Content-Type": "application/json"})

    def answer(self, status: int, body: bytes, headers: dict[str, str] | None = None, send: int | None = None) -> None:
        self.send_response(status)
        for key, value in (headers or {}).items():
            self.send_header(key, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body[:send])


@contextmanager
def serve() -> Iterator[Registry]:
    """A registry on a free loopback port."""
    registry = Registry()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"registry": registry}))
    registry.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield registry
    finally:
        server.shutdown()
        server.server_close()
