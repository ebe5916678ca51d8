"""``penname review``: a local page on which a person decides names, by keyboard. Server-side HTML; it works without a network.

Each decision is on disk before the page says so. decisions.toml is read anew before every write, so that a second tab, another verb or
an editor loses nothing. The server listens on loopback, wants its token, checks host and origin, and sends a strict content policy.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode, urlsplit

from markupsafe import Markup
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.base import BaseHTTPMiddleware, RequestResponseEndpoint
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from penname.core.errors import PennameError
from penname.pages.desk import Desk, Open
from penname.pages.markup import marked, templates
from penname.pages.svg import pair_map

PAGES = Path(__file__).parent
FOREIGN_FORM = "the form is not this server's; open the address that penname review printed"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def review_app(desk: Desk, token: str, port: int) -> Starlette:
    """The page's application for a desk. ``token`` opens it once by URL and from then on by cookie."""
    environment = templates()
    notes: dict[str, str] = {}

    def page(name: str, **values: Any) -> HTMLResponse:
        return HTMLResponse(environment.get_template(name).render(token=token, voice=desk.voice.name, **values))

    async def queue(request: Request) -> Response:
        skipped = _skipped(request.query_params.get("skip", ""))
        found = desk.queue(skipped)
        said = notes.get(request.query_params.get("note", ""), "")
        question = _view(desk, found[0], skipped) if found else None
        return page("review.html", question=question, left=len(found), decided=desk.decided(), said=said)

    async def decide(request: Request) -> Response:
        form = await request.form()
        if not _is(str(form.get("token", "")), token):
            return PlainTextResponse(FOREIGN_FORM, 403)
        said = desk.decide(*(str(form.get(field, "")) for field in ("question", "choice", "name")))
        return note(f"Saved. {said}", skip=",".join(_skipped(str(form.get("skip", "")))))

    async def undo(request: Request) -> Response:
        form = await request.form()
        if not _is(str(form.get("token", "")), token):
            return PlainTextResponse(FOREIGN_FORM, 403)
        return note(desk.undo())

    def note(said: str, skip: str = "") -> Response:
        # Kept here and not in the address, so that nobody can make the page say "Saved" of what is not.
        number = str(len(notes) + 1)
        notes[number] = said
        return RedirectResponse("/?" + urlencode({"note": number} | ({"skip": skip} if skip else {})), 303)

    async def people(request: Request) -> Response:
        query = request.query_params.get("q", "")
        books = [{**book, "map": pair_map(book["together"], f"Who appears with whom in {book['title']}")} for book in desk.people(query)]
        return page("people.html", query=query, books=books)

    async def preview(request: Request) -> Response:
        books = desk.preview(request.query_params.get("question", ""))
        for book in books:
            for passage in book["passages"]:
                passage["old"], passage["new"] = (marked(passage[key], passage[f"{key}_spans"]) for key in ("old", "new"))
        return page("preview.html", books=books)

    async def refused(request: Request, error: Exception) -> Response:
        answer = page("problem.html", problem=str(error))
        answer.status_code = 409
        return answer

    routes = [
        Route("/", queue),
        Route("/decide", decide, methods=["POST"]),
        Route("/undo", undo, methods=["POST"]),
        Route("/people", people),
        Route("/preview", preview),
        Mount("/static", StaticFiles(directory=PAGES / "static")),
    ]
    guard = Middleware(_Guard, token=token, port=port)
    return Starlette(routes=routes, middleware=[guard], exception_handlers={PennameError: refused})


class _Guard(BaseHTTPMiddleware):
    """Host, token and origin, before anything else; and the headers on everything that goes out."""

    def __init__(self, app: Any, token: str, port: int) -> None:
        super().__init__(app)
        self._token = token
        self._cookie = f"penname_review_{port}"  # cookies do not know ports: two reviews at once have one each
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        response = self._refusal(request) or await self._answer(request, call_next)
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "same-origin"  # "no-referrer" would make the origin of our own forms null
        response.headers["Cache-Control"] = "no-store"
        return response

    def _refusal(self, request: Request) -> Response | None:
        if request.headers.get("host", "") not in self._hosts:
            return PlainTextResponse("this page answers on this machine's loopback address only", 403)
        origin = request.headers.get("origin")
        if origin is None and request.method == "POST":
            return PlainTextResponse("a form without an origin is refused", 403)
        if origin is not None and (urlsplit(origin).scheme != "http" or urlsplit(origin).netloc not in self._hosts):
            return PlainTextResponse("requests from another site are refused", 403)
        return None

    async def _answer(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        given = request.query_params.get("token", "")
        if request.method == "GET" and _is(given, self._token):
            response: Response = RedirectResponse(request.url.path, 303)
            response.set_cookie(self._cookie, self._token, httponly=True, samesite="strict")
            return response
        if not _is(request.cookies.get(self._cookie, ""), self._token):
            return PlainTextResponse("the token is missing; open the address that penname review printed", 403)
        return await call_next(request)


def _is(given: str, token: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), token.encode())


def _skipped(text: str) -> list[str]:
    """Keys of skipped questions, each once, the last skipped last."""
    keys = [key for key in text.split(",") if key.isalnum()]
    return list(dict.fromkeys(reversed(keys)))[::-1]


def _view(desk: Desk, found: Open, skipped: list[str]) -> Mapping[str, Any]:
    question = found.question
    return {
        "key": found.key,
        "title": found.book.title,
        "form": question.form,
        "count": question.count,
        "why": question.why,
        "proposal": desk.said(question.proposal),
        "options": [desk.said(option) for option in question.options],
        "snippets": [_snippet(found, start, end) for start, end in question.snippets],
        "entities": found.entities(),
        "names": found.names(),
        "skip": ",".join(skipped),
        "skip_next": ",".join(_skipped(",".join([*skipped, found.key]))),
    }


def _snippet(found: Open, start: int, end: int) -> Markup:
    text = found.book.text[start:end]
    spans = [
        (m.start - start, m.end - start)
        for m in found.cast.mentions
        if start <= m.start and m.end <= end and m.entity_id in found.question.entity_ids
    ]
    if not spans and (at := text.find(found.question.form)) >= 0:
        spans = [(at, at + len(found.question.form))]
    return marked(text, spans)
