"""A way for hosts to an embedded AWS: a socket of the file system, which no network namespace keeps out."""

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PIECE = 65536


@contextmanager
def forwarded(path: Path, *, host: str, port: int) -> Iterator[None]:
    """Serve a Unix socket whose every connection goes on to a port of this machine.

    Args:
        path: of the socket.
        host: where the port is.
        port: its number.
    """

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection((host, port)) as upstream:
                back = threading.Thread(target=_copy, args=(upstream, self.request), daemon=True)
                back.start()
                _copy(self.request, upstream)
                back.join()

    with _Server(str(path), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()


class _Server(socketserver.ThreadingUnixStreamServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 512


def _copy(source: socket.socket, target: socket.socket) -> None:
    try:
        while piece := source.recv(PIECE):
            target.sendall(piece)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        return  # the other side is gone, and will say so itself
