"""Serves folders as hosts on loopback, as slowly as a server that is far away, and logs every request.

    python -m bench.slow_server FOLDER --addresses 8 --latency 0.1 --bandwidth 250000 --log FILE

Each folder in FOLDER is a host, found by the name in the request; addresses are those of `bench/synthetic_dns.py`. An answer
begins `latency` seconds after its request, on a new connection twice that, and each connection has its own bandwidth. It prints
its port when it is ready and ends when its standard input does.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import socket
import sys
import time
from collections import deque
from functools import cache
from math import inf
from pathlib import Path
from typing import NamedTuple, TextIO, cast

from bench.synthetic_server import bind
from bench.synthetic_web import Shape

__all__ = ["Request", "read_log"]

_PACE = 0.05
"""Seconds after which the next part of an answer is sent."""
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".TOL": "text/vnd.augment.tol",
    ".TVI": "text/vnd.augment.tvi",
    ".txt": "text/plain",
}


class Request(NamedTuple):
    """One request as the log has it. Times are of the monotonic clock."""

    began: float
    ended: float
    """When its last part was given to the kernel."""
    host: str
    path: str
    status: int
    bytes: int
    """Of the answer, with its headers."""


def read_log(file: Path) -> list[Request]:
    """In the order of the answers' ends."""
    fields = (line.split(" ") for line in file.read_text(encoding="ascii").splitlines())
    return [
        Request(float(began), float(ended), host, path, int(status), int(size))
        for began, ended, host, path, status, size in fields
    ]


class _Folders:
    """The files; each is read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.answer = cache(self._answer)

    def _answer(self, host: str, path: str) -> tuple[int, bytes]:
        file = self._folder / host / path.partition("?")[0].lstrip("/")
        if path.endswith("/"):
            file /= "index.html"
        is_inside = file.resolve().is_relative_to(self._folder.resolve())
        status, body = (200, file.read_bytes()) if is_inside and file.is_file() else (404, b"nothing here\n")
        kind = _TYPES.get(file.suffix, "application/octet-stream") if status == 200 else "text/plain"
        reason = "OK" if status == 200 else "Not Found"
        head = f"HTTP/1.1 {status} {reason}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}\r\n\r\n"
        return status, head.encode() + body


class _Connection(asyncio.Protocol):
    def __init__(self, folders: _Folders, latency: float, bandwidth: float, log: TextIO) -> None:
        self._folders = folders
        self._latency = latency
        self._part = max(1, int(bandwidth * _PACE)) if bandwidth != inf else 0
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._unread = b""
        self._waiting: deque[tuple[float, str, str]] = deque()
        self._is_new = True
        self._is_gone = False
        self._transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        raw = transport.get_extra_info("socket")
        raw.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 # asyncio's signature
        self._is_gone = True

    def data_received(self, data: bytes) -> None:
        self._unread += data
        while b"\r\n\r\n" in self._unread:
            head, _, self._unread = self._unread.partition(b"\r\n\r\n")
            lines = head.decode("latin-1").split("\r\n")
            host = next((line[5:].strip() for line in lines[1:] if line.lower().startswith("host:")), "")
            self._waiting.append((time.monotonic(), host.partition(":")[0], lines[0].split(" ")[1]))
            if len(self._waiting) == 1:
                self._begin()

    def _begin(self) -> None:
        _, host, path = self._waiting[0]
        first = self._loop.time() + self._latency * (2 if self._is_new else 1)
        self._is_new = False
        status, answer = self._folders.answer(host, path)
        self._plan(status, answer, 0, first)

    def _plan(self, status: int, answer: bytes, sent: int, first: float) -> None:
        """A part arrives as a whole, at the time when its last byte would; the first byte is due at `first`."""
        end = min(sent + self._part, len(answer)) if self._part else len(answer)
        due = first + (end / self._part * _PACE if self._part else 0.0)
        self._loop.call_at(due, self._send, status, answer, sent, end, first)

    def _send(self, status: int, answer: bytes, sent: int, end: int, first: float) -> None:
        if self._is_gone:
            return
        self._transport.write(answer[sent:end])
        if end < len(answer):
            self._plan(status, answer, end, first)
            return
        began, host, path = self._waiting.popleft()
        self._log.write(f"{began:.6f} {time.monotonic():.6f} {host} {path} {status} {len(answer)}\n")
        if self._waiting:
            self._begin()


async def _serve(folder: Path, listeners: list[socket.socket], latency: float, bandwidth: float, log: TextIO) -> None:
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()
    folders = _Folders(folder)
    servers = [
        await loop.create_server(lambda: _Connection(folders, latency, bandwidth, log), sock=listener) for listener in listeners
    ]
    loop.add_reader(sys.stdin, over.cancel)
    print(listeners[0].getsockname()[1], flush=True)
    with contextlib.suppress(asyncio.CancelledError):
        await over
    for server in servers:
        server.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Serves folders as hosts, slowly.")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--addresses", type=int, default=1)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds of a round trip")
    parser.add_argument("--bandwidth", type=float, default=inf, help="bytes per second of each connection")
    parser.add_argument("--log", type=Path, required=True)
    chosen = parser.parse_args()
    listeners = bind(Shape(chosen.addresses, chosen.addresses, chosen.addresses), chosen.port)
    with chosen.log.open("w", buffering=1, encoding="ascii") as log:
        asyncio.run(_serve(chosen.folder, listeners, chosen.latency, chosen.bandwidth, log))


if __name__ == "__main__":
    main()
