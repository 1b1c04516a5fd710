"""Moto's own application behind a web server on a free loopback port."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from threading import Thread
from typing import Any

from moto.moto_server.werkzeug_app import (
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import make_server

Route = Callable[[str], Callable[[bytes], None] | None]
"""Gives the receiver of the body PUT to a path, or None where the path is moto's."""
_Wsgi = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class _QuietHandler(MotoRequestHandler):
    """Werkzeug prints a line per request, which would drown the CDK CLI's own progress."""

    # Without keep-alive every SDK call opens a new connection.
    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: Any) -> None:
        """Print nothing."""


class LoopbackServer:
    """A threaded web server on 127.0.0.1.

    Args:
        route: Asked first about every ``PUT``; moto gets what it does not answer. Custom resources answer
            CloudFormation with a ``PUT`` that no AWS service of moto's knows.
    """

    def __init__(self, *, route: Route) -> None:
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._route = route
        self.unanswered: list[str] = []
        """Requests that moto could not answer, and why."""
        self._server = make_server("127.0.0.1", 0, self._application, True, request_handler=_QuietHandler)
        self._thread = Thread(
            target=self._server.serve_forever, args=(0.05,), name="embedded-aws", daemon=True
        )

    @property
    def port(self) -> int:
        """The port that the operating system chose."""
        return int(self._server.server_port)

    def start(self) -> None:
        """Serve in a background thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop serving and free the port."""
        self._server.shutdown()
        self._thread.join(timeout=5)
        self._server.server_close()

    def _application(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        receive = self._route(environ["PATH_INFO"]) if environ["REQUEST_METHOD"] == "PUT" else None
        if receive is None:
            return self._ask_moto(environ, start_response)
        receive(environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0)))
        start_response("200 OK", [("Content-Length", "0")])
        return [b""]

    def _ask_moto(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        application: _Wsgi = self._moto
        try:
            return application(environ, start_response)
        except Exception as error:
            # Werkzeug would print a page and answer 500, upon which SDKs try again and again.
            operation = environ.get("HTTP_X_AMZ_TARGET") or environ["PATH_INFO"]
            self.unanswered.append(f"{operation}: {error!r}")
            body = json.dumps({"__type": type(error).__name__, "message": str(error)}).encode()
            start_response("400 Bad Request", [("Content-Length", str(len(body)))])
            return [body]
