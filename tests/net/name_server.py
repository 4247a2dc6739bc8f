"""A name server on loopback, over UDP and TCP, for the resolvers' tests."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

__all__ = ["NameServer"]

Zone = dict[tuple[str, str], list[str]]


class NameServer:
    """Answers from `zone`, which has lists of records by (name, type); a CNAME's target is answered for as well.

    `rcodes` gives some names another response code, `silent` names are never answered, `truncated` names only over TCP, and a
    server that is `lazy` leaves it to the client to follow CNAMEs. `asked` lists (protocol, name, type).
    """

    def __init__(self, zone: Zone, ttl: int = 300) -> None:
        self.zone = zone
        self.ttl = ttl
        self.rcodes: dict[str, dns.rcode.Rcode] = {}
        self.silent: set[tuple[str, str]] = set()
        self.truncated: set[str] = set()
        self.lazy = False
        self.before_answer: Callable[[], object] = lambda: None
        self.asked: list[tuple[str, str, str]] = []
        self._udp, self._tcp = _bound_pair()
        self.address = f"127.0.0.1:{self._udp.getsockname()[1]}"

    def __enter__(self) -> NameServer:
        for serve in (self._serve_udp, self._serve_tcp):
            threading.Thread(target=serve, daemon=True).start()
        return self

    def __exit__(self, *_exception: object) -> None:
        # A datagram and a connection wake the threads up; closing a socket alone does not.
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as wake:
            wake.sendto(b"", self._udp.getsockname())
        socket.create_connection(self._tcp.getsockname()).close()
        self._udp.close()
        self._tcp.close()

    def _serve_udp(self) -> None:
        while True:
            try:
                wire, client = self._udp.recvfrom(4096)
            except OSError:
                return
            if not wire:
                return
            threading.Thread(target=self._answer_udp, args=(wire, client), daemon=True).start()

    def _answer_udp(self, wire: bytes, client: tuple[str, int]) -> None:
        answer = self._answer(wire, "udp")
        if answer is not None:
            self._udp.sendto(answer, client)

    def _serve_tcp(self) -> None:
        while True:
            try:
                connection, _ = self._tcp.accept()
            except OSError:
                return
            with connection:
                length = connection.recv(2)
                if len(length) < 2:
                    return
                answer = self._answer(connection.recv(struct.unpack("!H", length)[0]), "tcp")
                if answer is not None:
                    connection.sendall(struct.pack("!H", len(answer)) + answer)

    def _answer(self, wire: bytes, protocol: str) -> bytes | None:
        query = dns.message.from_wire(wire)
        question = query.question[0]
        name, kind = question.name.to_text(omit_final_dot=True), dns.rdatatype.to_text(question.rdtype)
        self.asked.append((protocol, name, kind))
        self.before_answer()
        if (name, kind) in self.silent:
            return None
        response = dns.message.make_response(query)
        response.flags |= dns.flags.RA
        if protocol == "udp" and name in self.truncated:
            response.flags |= dns.flags.TC
            return response.to_wire()
        response.set_rcode(self.rcodes.get(name, dns.rcode.NOERROR))
        if name not in self.rcodes and not any(known == name for known, _ in self.zone):
            response.set_rcode(dns.rcode.NXDOMAIN)
        for _ in range(10):
            for wanted in dict.fromkeys((kind, "CNAME")):
                if (name, wanted) in self.zone:
                    records = self.zone[name, wanted]
                    response.answer.append(dns.rrset.from_text(f"{name}.", self.ttl, "IN", wanted, *records))
            if (name, "CNAME") not in self.zone or self.lazy:
                break
            name = self.zone[name, "CNAME"][0].rstrip(".")
        return response.to_wire(max_size=65535)


def _bound_pair() -> tuple[socket.socket, socket.socket]:
    """A UDP and a TCP socket on one free port."""
    for _ in range(20):
        tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        tcp.bind(("127.0.0.1", 0))
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        try:
            udp.bind(tcp.getsockname())
        except OSError:
            tcp.close()
            udp.close()
            continue
        tcp.listen()
        return udp, tcp
    raise OSError("no port is free for both UDP and TCP")
