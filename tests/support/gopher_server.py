"""A gopher server on loopback (RFC 1436): one line comes in, one item goes out."""

from __future__ import annotations

import contextlib
import socketserver
import threading

__all__ = ["GopherServer"]


class _Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        # A client may break off at any time.
        with contextlib.suppress(OSError):
            server = self.server
            assert isinstance(server, GopherServer)
            selector = self.rfile.readline(10_000).rstrip(b"\r\n").decode()
            server.selectors.append(selector)
            self.wfile.write(server.items.get(selector, b"3no such item\t\terror.host\t1\r\n.\r\n"))


class GopherServer(socketserver.ThreadingTCPServer):
    """Gives out `items` by selector, and notes which were asked for."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.items: dict[str, bytes] = {}
        self.selectors: list[str] = []
        self.port: int = self.server_address[1]

    def menu(self, *lines: tuple[str, str, str]) -> bytes:
        """A menu of items of this server: type, text and selector of each."""
        rows = [f"{kind}{text}\t{selector}\t127.0.0.1\t{self.port}\r\n" for kind, text, selector in lines]
        return "".join((*rows, ".\r\n")).encode()

    def __enter__(self) -> GopherServer:
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_exception: object) -> None:
        self.shutdown()
        self.server_close()
