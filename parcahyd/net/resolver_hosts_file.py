"""The resolver that reads a file in the form of /etc/hosts (hosts(5)): for tests, staging and closed networks."""

from __future__ import annotations

import ipaddress
import os
import threading

from parcahyd.config.schema import MapConf
from parcahyd.core.errors import ConfigurationError, ResolutionFailure
from parcahyd.core.ports import Resolution
from parcahyd.core.states import Reason

__all__ = ["HostsFileResolver", "HostsTable", "parse_hosts"]


class HostsFileResolver:
    """Knows the hosts in `HostsFile` and no others; a change of the file counts from the next question on."""

    def __init__(self, conf: MapConf) -> None:
        self._path = conf.HostsFile
        self._ttl = min(conf.MinTtl, conf.MaxTtl)
        self._table = HostsTable(conf.HostsFile)
        try:
            self._table.addresses("")
        except OSError as error:
            raise ConfigurationError(
                f'HostsFile "{conf.HostsFile}" cannot be read: {error.strerror}', "name a file in the form of /etc/hosts"
            ) from error

    def resolve(self, host: str) -> Resolution:
        try:
            addresses = self._table.addresses(host)
        except OSError as error:
            raise ResolutionFailure(Reason.DNS_FAILURE, f"{self._path} cannot be read: {error.strerror}") from error
        if not addresses:
            raise ResolutionFailure(Reason.DNS_NO_NAME, f"{host} is not in {self._path}")
        return Resolution(addresses, self._ttl)

    def close(self) -> None:
        """Nothing is held open."""


class HostsTable:
    """The current content of the file, which is read again when it has changed; OSError where it cannot be read.

    Any thread may ask.
    """

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


def parse_hosts(text: str) -> dict[str, tuple[str, ...]]:
    """Names in lower case with their addresses, IPv4 first; lines that make no sense are skipped."""
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
