"""A small web server for the downloaders' tests: a function per path, and a record of what was asked over which connection."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from socketserver import TCPServer
from typing import NamedTuple

__all__ = ["Exchange", "Seen", "WebServer"]


class Seen(NamedTuple):
    """A request as it arrived."""

    path: str
    headers: list[tuple[str, str]]
    connection: int

    def header(self, name: str) -> str | None:
        return next((value for known, value in self.headers if known.lower() == name.lower()), None)


class Exchange(BaseHTTPRequestHandler):
    """One connection; a page's function answers through `reply` or `raw`."""

    protocol_version = "HTTP/1.1"
    # Head and body leave together: two small packets would wait for each other (RFC 896).
    wbufsize = -1
    server: _Server

    def do_GET(self) -> None:
        web = self.server.web
        web.seen.append(Seen(self.path, list(self.headers.items()), self.client_address[1]))
        page = web.pages.get(self.path)
        try:
            if page is None:
                self.reply(404)
            else:
                page(self)
        except OSError:
            self.close_connection = True

    def reply(self, status: int = 200, body: bytes = b"", headers: tuple[tuple[str, str], ...] = ()) -> None:
        self.send_response_only(status)
        for name, value in headers:
            self.send_header(name, value)
        if status not in (204, 304):
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def raw(self, data: bytes, close: bool = True) -> None:
        """Exactly these bytes."""
        self.wfile.write(data)
        self.wfile.flush()
        self.close_connection = close

    def log_message(self, *_args: object) -> None:
        pass


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 200
    web: WebServer

    def server_bind(self) -> None:
        # HTTPServer's own would ask the name servers who 127.0.0.1 is.
        TCPServer.server_bind(self)
        self.server_name, self.server_port = "pages.test", self.server_address[1]

    def shutdown_request(self, request: socket.socket | tuple[bytes, socket.socket]) -> None:
        super().shutdown_request(request)
        self.web.hung_up.release()

    def handle_error(self, *_request: object) -> None:
        pass


class _Server6(_Server):
    address_family = socket.AF_INET6


class WebServer:
    """Serves `pages` (by path and query) until it is left; `over` is set then, for pages that wait."""

    def __init__(self, address: str = "127.0.0.1", port: int = 0, certificate: Path | None = None) -> None:
        self.pages: dict[str, Callable[[Exchange], None]] = {}
        self.seen: list[Seen] = []
        self.over = threading.Event()
        self.hung_up = threading.Semaphore(0)
        """Released for each connection that the server has closed."""
        self.address = address
        self._server = (_Server6 if ":" in address else _Server)((address, port), Exchange)
        self._server.web = self
        self.port: int = self._server.server_address[1]
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)

    @property
    def connections(self) -> int:
        return len({seen.connection for seen in self.seen})

    def page(self, path: str, body: bytes = b"", status: int = 200, headers: tuple[tuple[str, str], ...] = ()) -> None:
        self.pages[path] = lambda exchange: exchange.reply(status, body, headers)

    def __enter__(self) -> WebServer:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.over.set()
        self._server.shutdown()
        self._server.server_close()
