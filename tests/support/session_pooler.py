"""A transaction pooler as small as it can be: all its clients share one session of the server.

    with SessionPooler(url) as pooler: ... pooler.url ...

It is for clients that take turns, so it need not know where a transaction ends: what the server says goes to the client that
spoke last. As with a real pooler, a client's first packet opens no session and sets no name (PostgreSQL's protocol 3.0,
<https://www.postgresql.org/docs/current/protocol-flow.html>).
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

__all__ = ["SessionPooler"]

_READY = b"Z"
_TERMINATE = b"X"
_ENCRYPTION_CODES = (80877103, 80877104)


class SessionPooler:
    """Listens on loopback until the block ends."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._server = socket.create_connection((parts.hostname, parts.port))
        self._greeting = b""
        self._speaker: socket.socket | None = None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"postgresql://{parts.username}@127.0.0.1:{self._listener.getsockname()[1]}{parts.path}"
        self._clients: list[socket.socket] = []

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        for one in (self._listener, self._server, *self._clients):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                self._clients.append(client)
                threading.Thread(target=self._serve, args=[client], daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        with suppress(OSError, EOFError):
            packet = _packet(client)
            while int.from_bytes(packet[4:8]) in _ENCRYPTION_CODES:
                client.sendall(b"N")
                packet = _packet(client)
            if not self._greeting:
                self._server.sendall(packet)
                self._greeting = _until_ready(self._server)
                threading.Thread(target=self._answer, daemon=True).start()
            client.sendall(self._greeting)
            while True:
                kind = _exactly(client, 1)
                rest = _packet(client)
                if kind == _TERMINATE:
                    return
                self._speaker = client
                self._server.sendall(kind + rest)

    def _answer(self) -> None:
        with suppress(OSError):
            while data := self._server.recv(65536):
                if self._speaker is not None:
                    self._speaker.sendall(data)
            for client in self._clients:
                client.close()


def _until_ready(server: socket.socket) -> bytes:
    """What a server says to a new client, to its ReadyForQuery."""
    said = b""
    while True:
        kind = _exactly(server, 1)
        said += kind + _packet(server)
        if kind == _READY:
            return said


def _packet(stream: socket.socket) -> bytes:
    """A length and what it counts."""
    length = _exactly(stream, 4)
    return length + _exactly(stream, int.from_bytes(length) - 4)


def _exactly(stream: socket.socket, size: int) -> bytes:
    found = b""
    while len(found) < size:
        more = stream.recv(size - len(found))
        if not more:
            raise EOFError
        found += more
    return found
