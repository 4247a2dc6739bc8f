"""A real HTTP/1.1 server on loopback that breaks the protocol on demand and logs every request with its times.

Its times are evidence about the client that needs no tolerance: `arrived` is taken after a request was read, `ended`
before the last byte of the answer is written. So the pause that a client really made between the end of one answer and
its next request is at least `next.arrived - previous.ended`, however late this machine's scheduler wakes the server.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import socket
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from types import TracebackType

from tests.support.loop_thread import LoopThread
from tests.support.processes import wait_until
from tests.support.sites import Answer, Request, Site

__all__ = ["Listener", "LogEntry", "SiteServer", "await_silence", "can_bind", "refusing_port"]

_MAX_HEAD = 1 << 20


@dataclass(slots=True)
class LogEntry:
    """One request as the server saw it. `ended` is 0 while the answer is under way."""

    arrived: float
    method: str
    host: str
    """The Host header, port included."""
    target: str
    headers: dict[str, str]
    listener: str
    """The address that was connected to."""
    connection: int
    together: int
    """How many requests were under way at arrival on this listener's address, this one included."""
    together_host: int
    """The same for this Host."""
    status: int = 0
    ended: float = 0.0

    @property
    def url(self) -> str:
        return f"http://{self.host}{self.target}"


@dataclass(eq=False)
class Listener:
    """A bound address and port; `connections` counts what was accepted there."""

    address: str
    port: int
    connections: int = 0
    server: asyncio.Server | None = field(default=None, repr=False)

    @property
    def authority(self) -> str:
        host = f"[{self.address}]" if ":" in self.address else self.address
        return f"{host}:{self.port}"

    def url(self, target: str = "/", host: str = "") -> str:
        """The target's URL on this listener, under its address or under a host name."""
        return f"http://{host}:{self.port}{target}" if host else f"http://{self.authority}{target}"


class SiteServer:
    """Serves any number of sites, chosen by the Host header, on any number of loopback addresses.

    A Host without a site of its own gets the default site, `server.site()`.
    """

    def __init__(self) -> None:
        self.log: list[LogEntry] = []
        self.listeners: list[Listener] = []
        self._sites: dict[str, Site] = {"": Site()}
        self._numbers = itertools.count(1)
        self._under_way: dict[str, int] = {}
        self._is_held: Callable[[LogEntry], bool] = _nothing
        self._released = threading.Event()
        self._thread = LoopThread("site server")

    def __enter__(self) -> SiteServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def listen(self, address: str = "127.0.0.1", port: int = 0) -> Listener:
        """Binds the address; port 0 takes a free one."""
        listener = Listener(address, port)
        self._thread.call(self._bind(listener))
        self.listeners.append(listener)
        return listener

    def site(self, host: str = "") -> Site:
        """The site of a Host (name or address, without port), made when it is first asked for."""
        return self._sites.setdefault(host.lower(), Site())

    def put(self, host: str, site: Site) -> None:
        """Serves the site under that Host, with or without its port; the empty Host is the default."""
        self._sites[host.lower()] = site

    def _site_of(self, host: str) -> Site:
        for known in (host.lower(), _name(host)):
            if known in self._sites:
                return self._sites[known]
        return self._sites[""]

    def requests(self, *, host: str = "", robots: bool = False) -> list[LogEntry]:
        """The log in order of arrival, of one Host or of all; without robots.txt unless asked for."""
        return [
            entry
            for entry in list(self.log)
            if (robots or entry.target != "/robots.txt") and (not host or _name(entry.host) == host.lower())
        ]

    def targets(self, *, host: str = "") -> list[str]:
        """What was asked for, in order, without robots.txt."""
        return [entry.target for entry in self.requests(host=host)]

    @property
    def under_way(self) -> int:
        """How many requests have no complete answer yet."""
        return sum(not entry.ended for entry in list(self.log))

    @contextlib.contextmanager
    def holding(self, is_held: Callable[[LogEntry], bool]) -> Iterator[Callable[[], None]]:
        """Keeps back the answers to requests for which `is_held` is true when they arrive, which are in the log then.

        What was kept back is answered when the block ends, or earlier by a call of what the block is given. So a test can act
        while requests are under way, however quick or slow the crawl is.
        """
        self._is_held, self._released = is_held, threading.Event()
        try:
            yield self._released.set
        finally:
            self._is_held = _nothing
            self._released.set()

    def forget(self) -> None:
        """Empties the log, between two crawls."""
        self.log.clear()

    def close(self) -> None:
        self._thread.call(self._stop_listening())
        self._thread.close()

    # --- on the loop ---------------------------------------------------------------------------------------------------

    async def _bind(self, listener: Listener) -> None:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await self._serve(listener, reader, writer)

        listener.server = await asyncio.start_server(serve, listener.address, listener.port, limit=_MAX_HEAD, backlog=512)
        listener.port = listener.server.sockets[0].getsockname()[1]

    async def _stop_listening(self) -> None:
        for listener in self.listeners:
            if listener.server is not None:
                listener.server.close()

    async def _serve(self, listener: Listener, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        listener.connections += 1
        number = next(self._numbers)
        try:
            while (request := await _read_request(reader)) is not None:
                if not await self._answer(request, listener, number, reader, writer):
                    break
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass  # a client that was killed or that gave up
        except asyncio.CancelledError:
            pass  # the test is over; asyncio would report the cancellation as an error of this server
        finally:
            with contextlib.suppress(RuntimeError):
                writer.close()

    async def _answer(
        self, request: Request, listener: Listener, number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        """Sends the answer; True when the connection can take another request."""
        entry = self._arrival(request, listener, number)
        over = _once(lambda: self._departure(entry))
        try:
            answer = self._site_of(request.host).answer(request)
            entry.status = answer.status
            await self._hold(entry)
            if answer.delay:
                await asyncio.sleep(answer.delay)
            if answer.silent:
                await reader.read()
                return False
            return await _write(answer, request, writer, over)
        finally:
            over()

    async def _hold(self, entry: LogEntry) -> None:
        released = self._released
        if self._is_held(entry):
            while not released.is_set():
                await asyncio.sleep(0.01)

    def _arrival(self, request: Request, listener: Listener, number: int) -> LogEntry:
        arrived = time.monotonic()
        together = []
        for subject in (f"address {listener.address}", f"host {request.host}"):
            self._under_way[subject] = self._under_way.get(subject, 0) + 1
            together.append(self._under_way[subject])
        entry = LogEntry(
            arrived, request.method, request.host, request.target, request.headers, listener.address, number, *together
        )
        self.log.append(entry)
        return entry

    def _departure(self, entry: LogEntry) -> None:
        entry.ended = time.monotonic()
        for subject in (f"address {entry.listener}", f"host {entry.host}"):
            self._under_way[subject] -= 1


async def _read_request(reader: asyncio.StreamReader) -> Request | None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
    except asyncio.IncompleteReadError:
        return None
    first, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    method, target, _version = first.split(" ", 2)
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Request(method, target, headers.get("host", ""), headers)


async def _write(answer: Answer, request: Request, writer: asyncio.StreamWriter, over: Callable[[], None]) -> bool:
    """Writes what the answer says; `over` is called before its last bytes go out. True when the connection stays open."""
    if answer.hang_up:
        return False
    *early, last = answer.pieces(head_only=request.method == "HEAD")
    for piece in early:
        writer.write(piece)
        await writer.drain()
        await asyncio.sleep(answer.drip)
    over()
    writer.write(last)
    await writer.drain()
    return not answer.closes and request.headers.get("connection", "").lower() != "close"


def _once(action: Callable[[], None]) -> Callable[[], None]:
    done = False

    def guarded() -> None:
        nonlocal done
        if not done:
            done = True
            action()

    return guarded


def _nothing(_entry: LogEntry) -> bool:
    return False


def _name(host: str) -> str:
    """A Host header without its port."""
    name, colon, port = host.lower().rpartition(":")
    return name.strip("[]") if colon and port.isdigit() else host.lower().strip("[]")


def can_bind(address: str) -> bool:
    """Whether this machine lets a test listen on the address (127.0.0.2 and ::1 exist on most, not on all)."""
    with socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return False
    return True


@contextlib.contextmanager
def refusing_port(address: str = "127.0.0.1") -> Iterator[int]:
    """A port that refuses connections: bound, so that no other process gets it, but not listening."""
    with socket.socket() as bound:
        bound.bind((address, 0))
        yield bound.getsockname()[1]


def await_silence(server: SiteServer) -> None:
    """Wait until no request has arrived for a while."""
    counts: list[int] = []

    def silent() -> bool:
        counts.append(len(server.log))
        return len(counts) > 10 and len(set(counts[-10:])) == 1

    assert wait_until(silent, pause=0.05)
