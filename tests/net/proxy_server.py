"""A proxy on loopback: CONNECT of HTTP (RFC 9110, section 9.3.6), and SOCKS 5 (RFC 1928) to addresses and names."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading

__all__ = ["ProxyServer"]


class ProxyServer:
    """`asked` lists the targets as they were asked for, `heads` what HTTP clients sent; `status` is the answer to CONNECT."""

    def __init__(self, status: str = "200 Connection established") -> None:
        self.asked: list[str] = []
        self.heads: list[str] = []
        self._status = status
        self._over = False
        self._listener = socket.create_server(("127.0.0.1", 0))
        self._accepting = threading.Thread(target=self._serve, daemon=True)
        self.port: int = self._listener.getsockname()[1]

    def __enter__(self) -> ProxyServer:
        self._accepting.start()
        return self

    def __exit__(self, *_exception: object) -> None:
        # Closing alone would not wake the thread that accepts, and a socket that is waited for goes on listening.
        self._over = True
        socket.create_connection(("127.0.0.1", self.port)).close()
        self._accepting.join()

    def _serve(self) -> None:
        with contextlib.suppress(OSError):
            while not self._over:
                client, _ = self._listener.accept()
                threading.Thread(target=self._talk, args=(client,), daemon=True).start()
            self._listener.close()

    def _talk(self, client: socket.socket) -> None:
        with contextlib.suppress(OSError), client:
            first = client.recv(1, socket.MSG_PEEK)
            target = self._socks(client) if first == b"\x05" else self._connect(client)
            if target is None:
                return
            with socket.create_connection(target) as server:
                there = threading.Thread(target=_pump, args=(client, server), daemon=True)
                there.start()
                _pump(server, client)
                there.join()

    def _connect(self, client: socket.socket) -> tuple[str, int] | None:
        head = b""
        while b"\r\n\r\n" not in head:
            more = client.recv(4096)
            if not more:
                return None
            head += more
        self.heads.append(head.decode("latin-1"))
        method, target, _ = self.heads[-1].split(" ", 2)
        self.asked.append(f"{method} {target}")
        client.sendall(f"HTTP/1.1 {self._status}\r\nX-Proxy: here\r\n\r\n".encode())
        host, _, port = target.rpartition(":")
        return (host.strip("[]"), int(port)) if self._status.startswith("2") else None

    def _socks(self, client: socket.socket) -> tuple[str, int]:
        _, methods = client.recv(2)
        client.recv(methods)
        client.sendall(b"\x05\x00")
        *_, kind = client.recv(4)
        sizes = {1: 4, 4: 16}
        raw = client.recv(sizes[kind] if kind in sizes else client.recv(1)[0])
        port: int = struct.unpack("!H", client.recv(2))[0]
        families = {1: socket.AF_INET, 4: socket.AF_INET6}
        host = socket.inet_ntop(families[kind], raw) if kind in families else raw.decode()
        self.asked.append(f"SOCKS {host}:{port}")
        client.sendall(b"\x05\x00\x00\x01\0\0\0\0\0\0")
        return host, port


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
