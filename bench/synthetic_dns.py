"""A name server on loopback that knows the hosts of a synthetic web, and lets every answer wait for a given time.

    python -m bench.synthetic_dns --hosts 2000 --addresses 200 --latency 0.02 --log FILE

Over UDP; any number of questions may wait at once. It prints its port when it is ready and ends when its standard input does.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import socket
import struct
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast

from bench.synthetic_web import DOMAIN, NO_HOST, Shape

__all__ = ["NameServer", "Question", "answer_to", "read_questions"]

_A = 1
_RECORD = struct.Struct("<ddiH")
_HEADER = 12
_DOMAIN = DOMAIN.encode().split(b".")
_GOOD, _NO_NAME = 0x8180, 0x8183
"""Flags of a response (RFC 1035, section 4.1.1): recursion desired and available; the second says that no such name exists."""


class Question(NamedTuple):
    """One question as the log has it; times are of the monotonic clock."""

    asked: float
    answered: float
    host: int
    kind: int
    """1: A, 28: AAAA."""


def read_questions(file: Path) -> Iterator[Question]:
    data = file.read_bytes()
    return map(Question._make, _RECORD.iter_unpack(data[: len(data) - len(data) % _RECORD.size]))


def answer_to(wire: bytes, shape: Shape, ttl: int) -> tuple[bytes, int, int]:
    """The response to a question, the host it is about, and its type. A host has one A record and nothing else."""
    labels, end = _name(wire)
    kind = int.from_bytes(wire[end : end + 2], "big")
    number = labels[0][1:] if labels[1:] == _DOMAIN and labels[0][:1] == b"h" else b""
    host = int(number) if number.isdigit() and int(number) < shape.hosts else NO_HOST
    records = b""
    if host != NO_HOST and kind == _A:
        address = socket.inet_aton(shape.address(host % shape.addresses))
        records = struct.pack(">HHHIH", 0xC00C, _A, 1, ttl, 4) + address  # 0xC00C: the name that was asked for
    flags = _NO_NAME if host == NO_HOST else _GOOD
    header = wire[:2] + struct.pack(">HHHHH", flags, 1, 1 if records else 0, 0, 0)
    return header + wire[_HEADER : end + 4] + records, host, kind


def _name(wire: bytes) -> tuple[list[bytes], int]:
    """The labels of the name that is asked for, and where its type begins."""
    labels, at = [], _HEADER
    while length := wire[at]:
        labels.append(wire[at + 1 : at + 1 + length].lower())
        at += 1 + length
    return labels, at + 1


class NameServer(asyncio.DatagramProtocol):
    """Answers each question after `latency` seconds."""

    def __init__(self, shape: Shape, latency: float, ttl: int, log: BinaryIO) -> None:
        self._shape = shape
        self._latency = latency
        self._ttl = ttl
        self._log = log
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.DatagramTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        now = time.monotonic()
        if len(data) > _HEADER:
            self._loop.call_at(now + self._latency, self._answer, data, addr, now)

    def _answer(self, wire: bytes, client: tuple[str, int], asked: float) -> None:
        response, host, kind = answer_to(wire, self._shape, self._ttl)
        self._log.write(_RECORD.pack(asked, time.monotonic(), host, kind))
        self._transport.sendto(response, client)


async def _serve(shape: Shape, latency: float, ttl: int, log: BinaryIO) -> None:
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()
    transport, _ = await loop.create_datagram_endpoint(
        lambda: NameServer(shape, latency, ttl, log), local_addr=("127.0.0.1", 0)
    )
    loop.add_reader(sys.stdin, over.cancel)
    print(transport.get_extra_info("sockname")[1], flush=True)
    with contextlib.suppress(asyncio.CancelledError):
        await over
    transport.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="Answers for the names of a synthetic web.")
    parser.add_argument("--hosts", type=int, required=True)
    parser.add_argument("--addresses", type=int, required=True)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds that every answer waits")
    parser.add_argument("--ttl", type=int, default=3600)
    parser.add_argument("--log", type=Path, required=True)
    chosen = parser.parse_args()
    shape = Shape(chosen.hosts, chosen.hosts, chosen.addresses)
    with chosen.log.open("wb", buffering=0) as log:
        asyncio.run(_serve(shape, chosen.latency, chosen.ttl, log))


if __name__ == "__main__":
    main()
