"""Serves a synthetic web on many addresses, all on one port, and logs every request.

    python -m bench.synthetic_server --pages 100000 --hosts 500 --addresses 50 --log FILE

An answer may wait for a while, and clients at different addresses may wait for different times. A client may say its number in
the header X-Asker, which the log keeps.

One process, one thread, epoll by hand: a benchmark's server must cost little of the machine that it shares with the crawler.
 It prints its port when it is ready and ends when its standard input does, so it never outlives who started it.
"""

from __future__ import annotations

import argparse
import heapq
import resource
import select
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from math import inf
from pathlib import Path
from typing import BinaryIO, NamedTuple

from bench.synthetic_web import NO_HOST, NO_PAGE, Answer, Shape, Web, add_shape_options

__all__ = ["Request", "Server", "bind", "read_log", "requests_logged"]

_REASONS = {200: b"OK", 301: b"Moved Permanently", 400: b"Bad Request", 404: b"Not Found", 421: b"Misdirected Request"}
_RECEIVE = 65536
_WRITE_EVERY = 0.25
_RECORD = struct.Struct("<ddiiHHI")

_SO_TIMESTAMPNS = 35
"""Linux: with what is received comes the wall-clock time at which it arrived (socket(7)); Python has no name for it."""
_MOMENT = struct.Struct("qq")


class Request(NamedTuple):
    """One request as the log has it. Times are of the monotonic clock, which all processes of a machine share."""

    began: float
    """When it reached the kernel of the server: a server that has to wait for a core does not delay it."""
    ended: float
    """Just before the answer was given to the kernel: no client can have it earlier. Or when its connection was gone."""
    host: int
    page: int
    status: int
    asker: int = 0
    """The number in the header X-Asker of the connection's first request; 0: none."""
    source: int = 0
    """The client's IPv4 address."""


def read_log(file: Path) -> Iterator[Request]:
    """The requests of a log, in the order of their answers."""
    data = file.read_bytes()
    whole = len(data) - len(data) % _RECORD.size
    return map(Request._make, _RECORD.iter_unpack(memoryview(data)[:whole]))


def requests_logged(file: Path) -> int:
    """How many requests a log has; it is up to a quarter of a second behind."""
    return file.stat().st_size // _RECORD.size


class _Connection:
    """A client, the number of the address it came to, and what was not yet read or sent."""

    __slots__ = ("address", "asker", "gone_at", "latency", "socket", "source", "unread", "unsent")

    def __init__(self, client: socket.socket, address: int, source: int, latency: float) -> None:
        self.socket = client
        self.address = address
        self.source = source
        self.latency = latency
        self.asker = -1
        self.gone_at = 0.0
        self.unread = b""
        self.unsent = b""


class _Planned(NamedTuple):
    """An answer that waits for its time. Heaps order it by its first two fields, which no two have in common."""

    due: float
    turn: int
    connection: _Connection
    message: bytes
    began: float
    host: int
    page: int
    status: int
    is_last: bool
    """The client wants the connection to end."""


class Server:
    """Answers on all listeners until `run` ends."""

    def __init__(
        self,
        web: Web,
        listeners: list[socket.socket],
        log: BinaryIO,
        latency: float = 0.0,
        latency_from: Mapping[str, float] | None = None,
    ) -> None:
        """`latency` is how many seconds an answer waits, `latency_from` the same for clients at some addresses."""
        self._web = web
        self._latency = latency
        self._latency_from = latency_from or {}
        self._planned: list[_Planned] = []
        self._turn = 0
        self._listeners = {listener.fileno(): (listener, number) for number, listener in enumerate(listeners)}
        self._connections: dict[int, _Connection] = {}
        self._log = log
        self._records = bytearray()
        self._shift = _shift()
        self._poll = select.epoll()
        for number in self._listeners:
            self._poll.register(number, select.EPOLLIN)

    def run(self, is_over: Callable[[], bool]) -> None:
        """Serve; `is_over` is asked several times a second."""
        poll, connections, listeners, monotonic = self._poll.poll, self._connections, self._listeners, time.monotonic
        write_at = 0.0
        planned = self._planned
        while True:
            events = poll(min(_WRITE_EVERY, max(planned[0].due - monotonic(), 0.0)) if planned else _WRITE_EVERY)
            if planned:
                self._answer_planned(monotonic())
            for number, event in events:
                connection = connections.get(number)
                if connection is None:
                    if number in listeners:
                        self._accept(*listeners[number])
                elif event & select.EPOLLOUT:
                    self._send_rest(connection)
                else:
                    self._receive(connection)
            if (now := monotonic()) >= write_at:
                write_at = now + _WRITE_EVERY
                self._shift = _shift()
                self._write_log()
                if is_over():
                    return

    def close(self) -> None:
        """What was asked for and not answered is logged, too."""
        self._answer_planned(inf)
        self._write_log()
        for connection in self._connections.values():
            connection.socket.close()
        self._poll.close()

    def _write_log(self) -> None:
        if self._records:
            self._log.write(self._records)
            self._log.flush()
            self._records = bytearray()

    def _accept(self, listener: socket.socket, address: int) -> None:
        while True:
            try:
                client, (source, _) = listener.accept()
            except OSError:
                return
            client.setblocking(False)
            latency, number = self._latency_from.get(source, self._latency), int.from_bytes(socket.inet_aton(source), "big")
            self._connections[client.fileno()] = _Connection(client, address, number, latency)
            self._poll.register(client.fileno(), select.EPOLLIN)

    def _drop(self, connection: _Connection) -> None:
        del self._connections[connection.socket.fileno()]
        connection.socket.close()
        connection.gone_at = time.monotonic()

    def _receive(self, connection: _Connection) -> None:
        try:
            data, notes, _, _ = connection.socket.recvmsg(_RECEIVE, 64)
        except BlockingIOError:
            return
        except OSError:
            data, notes = b"", []
        if not data:
            self._drop(connection)
            return
        now = self._arrival(notes)
        data = connection.unread + data
        while (end := data.find(b"\r\n\r\n")) >= 0:
            head, data = data[: end + 2], data[end + 4 :]
            if not self._answer(connection, head, now):
                return
        connection.unread = data

    def _arrival(self, notes: list[tuple[int, int, bytes]]) -> float:
        """When the kernel got what was received, on the monotonic clock."""
        for _, kind, content in notes:
            if kind == _SO_TIMESTAMPNS:
                seconds, nanoseconds = _MOMENT.unpack_from(content)
                return float(seconds + nanoseconds / 1e9 + self._shift)
        return time.monotonic()

    def _answer(self, connection: _Connection, head: bytes, now: float) -> bool:
        """Answer one request; False when the connection is gone."""
        web = self._web
        method, _, rest = head.partition(b" ")
        host, page = web.host_of(_header(head, b"Host")), NO_PAGE
        if method not in (b"GET", b"HEAD"):
            answer = Answer(400)
        elif host == NO_HOST or host % web.shape.addresses != connection.address:
            answer = Answer(421)
        else:
            page = web.page_of(host, rest[: rest.find(b" ")])
            answer = web.answer(host, page)
        if connection.asker < 0:
            connection.asker = _asker(head)
        message = _message(answer, whole=method != b"HEAD")
        self._turn += 1
        due, is_last = time.monotonic() + connection.latency, b"onnection: close" in head
        plan = _Planned(due, self._turn, connection, message, now, host, page, answer.status, is_last)
        if connection.latency:
            heapq.heappush(self._planned, plan)
            return True
        return self._give(plan)

    def _answer_planned(self, now: float) -> None:
        while self._planned and self._planned[0].due <= now:
            plan = heapq.heappop(self._planned)
            if plan.connection.socket.fileno() >= 0:
                self._give(plan)
            else:
                self._note(plan)

    def _note(self, plan: _Planned) -> None:
        asked = plan.began, plan.connection.gone_at or time.monotonic(), plan.host, plan.page, plan.status
        self._records += _RECORD.pack(*asked, plan.connection.asker, plan.connection.source)

    def _give(self, plan: _Planned) -> bool:
        """Send an answer; False when the connection is gone."""
        self._note(plan)
        if not self._send(plan.connection, plan.message):
            return False
        if plan.is_last:
            self._drop(plan.connection)
        return not plan.is_last

    def _send(self, connection: _Connection, message: bytes) -> bool:
        if connection.unsent:
            connection.unsent += message
            return True
        try:
            sent = connection.socket.send(message)
        except BlockingIOError:
            sent = 0
        except OSError:
            self._drop(connection)
            return False
        if sent < len(message):
            connection.unsent = message[sent:]
            self._poll.modify(connection.socket.fileno(), select.EPOLLOUT)
        return True

    def _send_rest(self, connection: _Connection) -> None:
        message, connection.unsent = connection.unsent, b""
        # Registered again for what is left, if something is.
        self._poll.modify(connection.socket.fileno(), select.EPOLLIN)
        self._send(connection, message)


def _shift() -> float:
    """What to add to a wall-clock time to get a monotonic one; the best of some tries, as each may be interrupted."""
    tries = []
    for _ in range(5):
        before, wall, after = time.monotonic(), time.time(), time.monotonic()
        tries.append((after - before, (before + after) / 2 - wall))
    return min(tries)[1]


def _header(head: bytes, name: bytes) -> bytes:
    """The value of a header; empty: there is none."""
    at = head.find(b"\r\n%s: " % name)
    if at < 0:
        head = head.lower()
        at = head.find(b"\r\n%s: " % name.lower())
        if at < 0:
            return b""
    begin = at + len(name) + 4
    return head[begin : head.find(b"\r\n", begin)]


def _asker(head: bytes) -> int:
    value = _header(head, b"X-Asker")
    return int(value) & 0xFFFF if value.isdigit() else 0


def _message(answer: Answer, whole: bool) -> bytes:
    location = b"Location: %s\r\n" % answer.location if answer.location else b""
    return b"HTTP/1.1 %d %s\r\nContent-Type: text/html; charset=utf-8\r\n%sContent-Length: %d\r\n\r\n%s" % (
        *(answer.status, _REASONS[answer.status], location, len(answer.body)),
        answer.body if whole else b"",
    )


def bind(shape: Shape, port: int = 0) -> list[socket.socket]:
    """A listener on each address of a web, all on one port: the given one, or one that is free on all of them."""
    for _ in range(20):
        listeners: list[socket.socket] = []
        try:
            for number in range(shape.addresses):
                listener = socket.socket()
                listeners.append(listener)
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                listener.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
                listener.bind((shape.address(number), port or (listeners[0].getsockname()[1] if number else 0)))
                listener.listen(4096)
                listener.setblocking(False)
        except OSError:
            for listener in listeners:
                listener.close()
            if port:
                raise
            continue
        return listeners
    raise OSError(f"no port is free on all of {shape.addresses} addresses")


def main() -> None:
    parser = argparse.ArgumentParser(description="Serves a synthetic web on loopback.")
    add_shape_options(parser)
    parser.add_argument("--port", type=int, default=0, help="0: any that is free")
    parser.add_argument("--robots", action="store_true", help="every host has a robots.txt; else it answers 404")
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds that every answer waits")
    parser.add_argument(
        "--latency-from", action="append", default=[], metavar="ADDRESS=SECONDS", help="the same for clients at an address"
    )
    chosen = parser.parse_args()
    latency_from = {address: float(seconds) for address, _, seconds in (text.partition("=") for text in chosen.latency_from)}
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    shape = Shape(chosen.pages, chosen.hosts, chosen.addresses, chosen.seed, chosen.exponent, chosen.network)
    listeners = bind(shape, chosen.port)
    web = Web(shape, listeners[0].getsockname()[1], robots=chosen.robots)
    with chosen.log.open("wb", buffering=0) as log:
        server = Server(web, listeners, log, chosen.latency, latency_from)
        print(web.port, flush=True)
        try:
            server.run(lambda: bool(select.select([sys.stdin], [], [], 0)[0]))
        except KeyboardInterrupt:
            pass
        finally:
            server.close()


if __name__ == "__main__":
    main()
