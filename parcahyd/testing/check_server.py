"""The server on loopback against which downloaders are checked.

Tested in tests/testing/test_downloader_checks.py.
"""

from __future__ import annotations

import contextlib
import gzip
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer

__all__ = ["HOST", "LARGE", "PATIENCE", "CheckServer", "refusing_port"]

HOST = "conformance.invalid"
LARGE = 200_000
PATIENCE = 60.0


class CheckServer:
    """The server of the checks; `seen` lists path and headers of every request."""

    def __init__(self, address: str, port: int = 0) -> None:
        self.seen: list[tuple[str, dict[str, str]]] = []
        self.over = threading.Event()
        site = self

        class Handler(_Answers):
            def do_GET(self) -> None:
                site.seen.append((self.path, dict(self.headers.items())))
                self.answer(site.over)

        self._server = _QuietServer((address, port), Handler)
        self.port: int = self._server.server_address[1]

    def __enter__(self) -> CheckServer:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()


class _QuietServer(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False

    def server_bind(self) -> None:
        # HTTPServer's own would ask the name servers who 127.0.0.1 is.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def handle_error(self, *_request: object) -> None:
        """A client that breaks off is what some checks want."""


class _Answers(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, over: threading.Event) -> None:
        accepts_gzip = "gzip" in self.headers.get("Accept-Encoding", "")
        with contextlib.suppress(OSError):
            match self.path.partition("?")[0]:
                case "/plain":
                    self._give(b"plain")
                case "/cookie":
                    self._head(200, "Set-Cookie", "c=1", length=0)
                case "/large":
                    self._give(b"x" * LARGE)
                case "/gzip":
                    self._give(b"zipped" * 100, zipped=accepts_gzip)
                case "/bomb":
                    self._give(b"\0" * 20 * LARGE, zipped=accepts_gzip)
                case "/unannounced":
                    self._head(200, "Connection", "close")
                    self.wfile.write(b"x" * LARGE)
                    self.close_connection = True
                case "/turn":
                    self._head(302, "Location", "/plain", length=0)
                case "/cut":
                    self._head(200, length=1000)
                    self.wfile.write(b"short")
                    self.close_connection = True
                case "/stall":
                    self._head(200, length=1000)
                    self.wfile.write(b"short")
                    self.wfile.flush()
                    over.wait(PATIENCE)
                    self.close_connection = True
                case _:
                    self._head(404, length=0)

    def log_message(self, *_args: object) -> None:
        """Nothing is written anywhere."""

    def _give(self, body: bytes, zipped: bool = False) -> None:
        if zipped:
            body = gzip.compress(body)
            self._head(200, "Content-Encoding", "gzip", length=len(body))
        else:
            self._head(200, "Content-Type", "text/plain", length=len(body))
        self.wfile.write(body)

    def _head(self, status: int, *header: str, length: int | None = None) -> None:
        self.send_response(status)
        if header:
            self.send_header(*header)
        if length is not None:
            self.send_header("Content-Length", str(length))
        self.end_headers()


@contextlib.contextmanager
def refusing_port() -> Iterator[int]:
    """A port that refuses connections: bound, so that no other process gets it, but not listening."""
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        yield bound.getsockname()[1]
