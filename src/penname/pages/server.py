"""Serving the review page on this machine alone."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable

import uvicorn

from penname.core.errors import BadInput
from penname.pages.desk import Desk
from penname.pages.review import review_app


def serve_review(desk: Desk, port: int, ready: Callable[[str], None]) -> None:
    """Serve until Ctrl-C. ``ready`` gets the address with its token once a browser may come; port 0 takes a free one.

    BadInput where the port cannot be listened on.
    """
    with socket.socket() as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind(("127.0.0.1", port))
        except (OSError, OverflowError) as error:
            raise BadInput(f"port {port} cannot be listened on ({error}); leave --port out for a free one") from None
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(24)
        listener.listen()  # from here on a browser that comes early waits
        ready(f"http://127.0.0.1:{port}/?token={token}")
        app = review_app(desk, token, port)
        uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run(sockets=[listener])
