"""``penname review``: a local page on which a person decides names, by keyboard. Server-side HTML; it works without a network.

Each decision is on disk before the page says so. decisions.toml is read anew before every write, so that a second tab, another verb or
an editor loses nothing. The server listens on loopback, wants its token, checks host and origin, and sends a strict content policy.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
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
from penname.pages.markup import marked, plain

PAGES = Path(__file__).parent
COOKIE = "penname_review"
POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)


def review_app(desk: Desk, token: str, port: int) -> Starlette:
    """The page's application for a desk. ``token`` opens it once by URL and from then on by cookie."""
    environment = Environment(loader=FileSystemLoader(PAGES / "templates"), autoescape=True, undefined=StrictUndefined, finalize=_finalize)

    def page(name: str, **values: Any) -> HTMLResponse:
        return HTMLResponse(environment.get_template(name).render(token=token, voice=desk.voice.name, **values))

    async def queue(request: Request) -> Response:
        skipped = tuple(part for part in request.query_params.get("skip", "").split(",") if part)
        said = request.query_params.get("said", "")
        found = desk.queue(skipped)
        return page(
            "review.html",
            question=_view(desk, found[0], skipped) if found else None,
            left=len(desk.queue(())),
            decided=desk.decided(),
            said=said,
            names=desk.all_names() if found else [],
        )

    async def decide(request: Request) -> Response:
        form = await request.form()
        if not hmac.compare_digest(str(form.get("token", "")), token):
            return PlainTextResponse("the form is not this server's; open the address that penname review printed", 403)
        try:
            said = desk.decide(str(form["book"]), str(form["question"]), str(form["choice"]), str(form.get("name", "")))
        except (PennameError, KeyError) as error:
            return page("problem.html", problem=str(error))
        skip = str(form.get("skip", ""))
        return RedirectResponse(f"/?{_query(said=said, skip=skip)}", 303)

    async def undo(request: Request) -> Response:
        form = await request.form()
        if not hmac.compare_digest(str(form.get("token", "")), token):
            return PlainTextResponse("the form is not this server's; open the address that penname review printed", 403)
        return RedirectResponse(f"/?{_query(said=desk.undo())}", 303)

    async def people(request: Request) -> Response:
        return page("people.html", query=request.query_params.get("q", ""), books=desk.people(request.query_params.get("q", "")))

    async def preview(request: Request) -> Response:
        return page("preview.html", rows=desk.preview())

    routes = [
        Route("/", queue),
        Route("/decide", decide, methods=["POST"]),
        Route("/undo", undo, methods=["POST"]),
        Route("/people", people),
        Route("/preview", preview),
        Mount("/static", StaticFiles(directory=PAGES / "static")),
    ]
    return Starlette(routes=routes, middleware=[Middleware(_Guard, token=token, port=port)])


class _Guard(BaseHTTPMiddleware):
    """Host, token and origin, before anything else; and the headers on everything that goes out."""

    def __init__(self, app: Any, token: str, port: int) -> None:
        super().__init__(app)
        self._token = token
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def dispatch(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        response = self._refusal(request) or await self._answer(request, call_next)
        response.headers["Content-Security-Policy"] = POLICY
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cache-Control"] = "no-store"
        return response

    def _refusal(self, request: Request) -> Response | None:
        if request.headers.get("host", "") not in self._hosts:
            return PlainTextResponse("this page answers on this machine's loopback address only", 403)
        origin = request.headers.get("origin")
        if origin and origin != "null" and urlsplit(origin).netloc not in self._hosts:
            return PlainTextResponse("requests from another site are refused", 403)
        if request.method == "POST" and not origin:
            return PlainTextResponse("a form without an origin is refused", 403)
        if origin == "null":
            return PlainTextResponse("requests from another site are refused", 403)
        return None

    async def _answer(self, request: Request, call_next: RequestResponseEndpoint) -> Response:
        given = request.query_params.get("token", "")
        if given and hmac.compare_digest(given.encode(), self._token.encode()) and request.method == "GET":
            response: Response = RedirectResponse(request.url.path, 303)
            response.set_cookie(COOKIE, self._token, httponly=True, samesite="strict")
            return response
        if not hmac.compare_digest(request.cookies.get(COOKIE, "").encode(), self._token.encode()):
            return PlainTextResponse("the token is missing; open the address that penname review printed", 403)
        return await call_next(request)


def _view(desk: Desk, found: Open, skipped: tuple[str, ...]) -> Mapping[str, Any]:
    question = found.question
    return {
        "book": found.book.id,
        "title": found.book.title,
        "id": question.id,
        "form": question.form,
        "count": question.count,
        "why": question.why,
        "proposal": desk.said(question.proposal),
        "options": [desk.said(option) for option in question.options],
        "snippets": [_snippet(found, start, end) for start, end in question.snippets],
        "entities": found.entities(),
        "skip": ",".join(skipped),
        "skip_next": ",".join([*skipped, f"{found.book.id}|{question.id}"]),
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


def _query(**values: str) -> str:
    from urllib.parse import urlencode

    return urlencode({key: value for key, value in values.items() if value})


def _finalize(value: Any) -> Any:
    return value if isinstance(value, Markup) else plain(value)
