"""A real DNS server on loopback, UDP and TCP on one port, that answers from a table of names and keeps a log of questions."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
import time
from dataclasses import dataclass
from types import TracebackType
from typing import cast

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

from tests.support.loop_thread import LoopThread

__all__ = ["DnsName", "DnsServer", "Question"]


@dataclass(frozen=True, slots=True)
class DnsName:
    """What the server knows of a name. A name that it does not know is NXDOMAIN."""

    addresses: tuple[str, ...] = ()
    """IPv4 and IPv6 mixed; each question gets those of its type, and none is an empty answer."""
    ttl: int = 300
    latency: float = 0.0
    rcode: dns.rcode.Rcode = dns.rcode.NOERROR
    silent: bool = False
    """The question is never answered."""
    truncated: bool = False
    """UDP answers are empty with the TC bit, so that the client has to ask again over TCP."""
    alias: str = ""
    """The canonical name, which has to be in the table too."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question as it arrived."""

    at: float
    name: str
    kind: str
    transport: str


class DnsServer:
    """Answers on a free port of a loopback address; `names` may be changed while it runs."""

    def __init__(self, names: dict[str, DnsName] | None = None, address: str = "127.0.0.1") -> None:
        self.names = {name.lower().rstrip("."): known for name, known in (names or {}).items()}
        self.address = address
        self.port = 0
        self.log: list[Question] = []
        self._udp: asyncio.DatagramTransport | None = None
        self._tcp: asyncio.Server | None = None
        self._thread = LoopThread("dns server")
        self._thread.call(self._bind())

    @property
    def nameserver(self) -> str:
        """The server in the form of the setting Nameservers."""
        return f"{self.address}:{self.port}"

    def questions(self, name: str) -> list[Question]:
        return [question for question in list(self.log) if question.name == name.lower()]

    def __enter__(self) -> DnsServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._thread.call(self._unbind())
        self._thread.close()

    # --- on the loop ---------------------------------------------------------------------------------------------------

    async def _bind(self) -> None:
        loop = asyncio.get_running_loop()
        datagrams, stream = _one_port_twice(self.address)
        self.port = datagrams.getsockname()[1]
        self._udp, _ = await loop.create_datagram_endpoint(lambda: _Datagrams(self), sock=datagrams)
        self._tcp = await asyncio.start_server(self._serve_stream, sock=stream)

    async def _unbind(self) -> None:
        if self._udp is not None:
            self._udp.close()
        if self._tcp is not None:
            self._tcp.close()

    async def _serve_stream(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            while True:
                (length,) = struct.unpack("!H", await reader.readexactly(2))
                answer = await self.answer(await reader.readexactly(length), "tcp")
                if answer is not None:
                    writer.write(struct.pack("!H", len(answer)) + answer)
                    await writer.drain()
        writer.close()

    async def answer(self, wire: bytes, transport: str) -> bytes | None:
        """The answer to a question in wire form, after its latency; None where the name is to be left unanswered."""
        query = dns.message.from_wire(wire)
        asked = query.question[0]
        name = asked.name.to_text(omit_final_dot=True).lower()
        self.log.append(Question(time.monotonic(), name, dns.rdatatype.to_text(asked.rdtype), transport))
        known = self.names.get(name)
        response = dns.message.make_response(query, recursion_available=True)
        if known is None:
            response.set_rcode(dns.rcode.NXDOMAIN)
            return response.to_wire()
        if known.latency:
            await asyncio.sleep(known.latency)
        if known.silent:
            return None
        response.set_rcode(known.rcode)
        if known.truncated and transport == "udp":
            response.flags |= dns.flags.TC
        elif known.rcode == dns.rcode.NOERROR:
            self._fill(response, name, known, asked.rdtype)
        return response.to_wire()

    def _fill(self, response: dns.message.Message, name: str, known: DnsName, kind: dns.rdatatype.RdataType) -> None:
        if known.alias:
            response.answer.append(dns.rrset.from_text(f"{name}.", known.ttl, "IN", "CNAME", f"{known.alias}."))
            name, known = known.alias, self.names[known.alias]
        family = {dns.rdatatype.A: False, dns.rdatatype.AAAA: True}.get(kind)
        addresses = [address for address in known.addresses if (":" in address) is family]
        if addresses:
            response.answer.append(dns.rrset.from_text(f"{name}.", known.ttl, "IN", kind, *addresses))


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, server: DnsServer) -> None:
        self._server = server
        self._pending: set[asyncio.Task[None]] = set()
        self._transport: asyncio.DatagramTransport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.DatagramTransport, transport)

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        task = asyncio.get_running_loop().create_task(self._respond(data, addr))
        self._pending.add(task)
        task.add_done_callback(self._pending.discard)

    async def _respond(self, data: bytes, addr: tuple[str, int]) -> None:
        answer = await self._server.answer(data, "udp")
        if answer is not None and not self._transport.is_closing():
            self._transport.sendto(answer, addr)


def _one_port_twice(address: str) -> tuple[socket.socket, socket.socket]:
    """A datagram and a stream socket on the same free port."""
    for _ in range(50):
        datagrams = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        datagrams.bind((address, 0))
        stream = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            stream.bind((address, datagrams.getsockname()[1]))
        except OSError:
            datagrams.close()
            stream.close()
            continue
        return datagrams, stream
    raise OSError(f"no port of {address} is free for both UDP and TCP")
