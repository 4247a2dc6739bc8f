"""A file in the form of /etc/hosts, read again whenever it changes (hosts(5))."""

from __future__ import annotations

import ipaddress
import os
import threading

__all__ = ["HostsTable", "parse_hosts"]


def parse_hosts(text: str) -> dict[str, tuple[str, ...]]:
    """Names in lower case with their addresses, IPv4 first; lines that make no sense are passed over, as everyone does."""
    found: dict[str, list[str]] = {}
    for line in text.splitlines():
        address, *names = line.partition("#")[0].split() or [""]
        try:
            address = str(ipaddress.ip_address(address))
        except ValueError:
            continue
        if "%" in address:
            continue
        for name in names:
            found.setdefault(name.lower().rstrip("."), []).append(address)
    return {name: tuple(sorted(dict.fromkeys(addresses), key=_is_ipv6)) for name, addresses in found.items()}


def _is_ipv6(address: str) -> bool:
    return ":" in address


class HostsTable:
    """The current content of the file; OSError where it cannot be read. May be asked by any thread."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._stamp: tuple[int, int, int] | None = None
        self._hosts: dict[str, tuple[str, ...]] = {}

    def addresses(self, host: str) -> tuple[str, ...]:
        with self._lock:
            self._refresh()
            return self._hosts.get(host.lower().rstrip("."), ())

    def _refresh(self) -> None:
        now = os.stat(self._path)
        stamp = (now.st_mtime_ns, now.st_size, now.st_ino)
        if stamp != self._stamp:
            with open(self._path, encoding="utf-8", errors="replace") as file:
                self._hosts = parse_hosts(file.read())
            self._stamp = stamp
