"""The APIs of all clusters behind one https port of the loopback interface."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from threading import Thread
from typing import Any
from urllib.parse import parse_qsl

from werkzeug.serving import WSGIRequestHandler, make_server

from hyperpod_cdk.rehearsal.kubernetes.api import KubernetesApi
from hyperpod_cdk.rehearsal.kubernetes.certificates import issue
from hyperpod_cdk.rehearsal.kubernetes.errors import StatusError
from hyperpod_cdk.rehearsal.kubernetes.requests import Request, User

_ADDRESS = "127.0.0.1"
_PHRASES = {200: "OK", 201: "Created", 404: "Not Found", 409: "Conflict"}
Enter = Callable[[str, str], tuple[KubernetesApi, User]]
"""Gives the API behind the first part of a path and whom a bearer token belongs to.

Raises:
    StatusError: nobody knows the token.
    Unreachable: there is no way from the caller to the API.
"""
_StartResponse = Callable[..., Any]


class Unreachable(Exception):  # noqa: N818 -- it is no error of the server's
    """The network has no way from the caller to the API; the connection is cut."""


class _Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, type: str, message: str, *args: Any) -> None:
        """Print nothing."""

    def connection_dropped(self, error: BaseException, environ: dict[str, Any] | None = None) -> None:
        """Clients may hang up when they like."""


class ApiServer:
    """Serves Kubernetes APIs, each under a path of its own.

    Args:
        enter: finds the API and the user of a request.
    """

    def __init__(self, enter: Enter) -> None:
        self._enter = enter
        self.authority, context = issue(_ADDRESS)
        """Certificate of the authority that clients trust, PEM."""
        self._server = make_server(
            _ADDRESS, 0, self._application, threaded=True, request_handler=_Handler, ssl_context=context
        )
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), name="kubernetes", daemon=True)

    def endpoint(self, name: str) -> str:
        """Give the address of an API.

        Args:
            name: the first part of its path.
        """
        return f"https://{_ADDRESS}:{self._server.server_port}/{name}"

    def start(self) -> None:
        """Serve in a background thread."""
        self._thread.start()

    def stop(self) -> None:
        """Stop serving and free the port."""
        self._server.shutdown()
        self._thread.join(timeout=5)
        self._server.server_close()

    def _application(self, environ: dict[str, Any], start_response: _StartResponse) -> Iterable[bytes]:
        name, _, path = environ["PATH_INFO"].lstrip("/").partition("/")
        token = environ.get("HTTP_AUTHORIZATION", "").removeprefix("Bearer ")
        body = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        try:
            api, user = self._enter(name, token)
        except StatusError as error:
            return _send(start_response, error.code, error.status)
        except Unreachable:
            # no answer at all: what the client sees is a connection that ended
            environ["werkzeug.socket"].close()
            raise ConnectionError("cut") from None
        request = Request(
            method=environ["REQUEST_METHOD"],
            path=f"/{path}",
            query=dict(parse_qsl(environ.get("QUERY_STRING", ""))),
            body=body,
            media_type=environ.get("CONTENT_TYPE", "").partition(";")[0],
        )
        return _send(start_response, *api.answer(request, user))


def _send(start_response: _StartResponse, code: int, answer: Any) -> Iterable[bytes]:
    if isinstance(answer, Iterator):
        start_response(f"{code} OK", [("Content-Type", "application/json")])
        return answer
    body = answer.encode() if isinstance(answer, str) else json.dumps(answer).encode()
    kind = "text/plain" if isinstance(answer, str) else "application/json"
    headers = [("Content-Type", kind), ("Content-Length", str(len(body)))]
    start_response(f"{code} {_PHRASES.get(code, 'Error')}", headers)
    return [body]
