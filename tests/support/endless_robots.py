"""A server whose robots.txt never ends, beside a page that links into what it forbids."""

from __future__ import annotations

import contextlib
import socket
import threading

__all__ = ["EndlessRobots"]


class EndlessRobots:
    """A server whose robots.txt is announced with a gigabyte and sent until the client has had enough."""

    head = b"User-agent: *\nDisallow: /private\n"
    """What stands before the endless comment."""

    def __init__(self) -> None:
        self.sent = 0
        self.targets: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                with connection, contextlib.suppress(OSError):
                    self._answer(connection)

    def _answer(self, connection: socket.socket) -> None:
        target = connection.recv(65536).split(b" ", 2)[1].decode()
        self.targets.append(target)
        if target != "/robots.txt":
            body = b'<a href="/private/x">x</a><a href="/open">y</a>'
            connection.sendall(
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s"
                % (len(body), body)
            )
            return
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n" % 2**30)
        connection.sendall(self.head)
        comment = b"# nothing to be read here\n" * 1000
        while self.sent < 2**30:
            connection.sendall(comment)
            self.sent += len(comment)
