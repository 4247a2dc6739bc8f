"""The resolver of this machine: getaddrinfo."""

from __future__ import annotations

import socket
import time
from collections.abc import Callable

from parcahyd.config.schema import MapConf
from parcahyd.core.errors import ResolutionFailure
from parcahyd.core.ports import Resolution
from parcahyd.core.states import Reason
from parcahyd.net.answer_cache import AnswerCache
from parcahyd.net.resolver_hosts_file import HostsTable

__all__ = ["SystemResolver"]

_NO_ADDRESS = {getattr(socket, name) for name in ("EAI_NODATA", "EAI_ADDRFAMILY") if hasattr(socket, name)}

AddressInfo = Callable[[str], list[str]]


class SystemResolver:
    """Asks the system, one question per host at a time. The system gives no TTL, so every answer is valid for `MinTtl`.

    The name is made absolute, because a system that tries its search domains would send the crawl to hosts that no page named.
    Not every C library looks up an absolute name in the system's hosts file, so that file is read here.
    """

    def __init__(
        self,
        conf: MapConf,
        monotonic: Callable[[], float] = time.monotonic,
        address_info: AddressInfo | None = None,
        hosts_file: str = "/etc/hosts",
    ) -> None:
        self._ttl = min(conf.MinTtl, conf.MaxTtl)
        self._address_info = address_info or _address_info
        self._hosts = HostsTable(hosts_file)
        self._cache = AnswerCache(self._ask, conf.NegativeTtl, monotonic=monotonic)

    def resolve(self, host: str) -> Resolution:
        return self._cache.resolve(host)

    def close(self) -> None:
        self._cache.clear()

    def _ask(self, host: str) -> Resolution:
        addresses = self._in_hosts_file(host)
        if not addresses:
            try:
                addresses = tuple(sorted(dict.fromkeys(self._address_info(host.rstrip(".") + ".")), key=_is_ipv6))
            except socket.gaierror as error:
                raise ResolutionFailure(_reason_of(error), f"{host}: {error.strerror}") from error
            except (UnicodeError, ValueError) as error:
                raise ResolutionFailure(Reason.DNS_NO_NAME, f"{host}: {error}") from error
        if not addresses:
            raise ResolutionFailure(Reason.DNS_NO_ADDRESS, f"{host} has no address")
        return Resolution(addresses, self._ttl)

    def _in_hosts_file(self, host: str) -> tuple[str, ...]:
        try:
            return self._hosts.addresses(host)
        except OSError:
            return ()


def _address_info(host: str) -> list[str]:
    found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
    return [str(address[0]) for _, _, _, _, address in found if "%" not in str(address[0])]


def _is_ipv6(address: str) -> bool:
    return ":" in address


def _reason_of(error: socket.gaierror) -> Reason:
    if error.errno in _NO_ADDRESS:
        return Reason.DNS_NO_ADDRESS
    if error.errno == socket.EAI_NONAME:
        return Reason.DNS_NO_NAME
    # EAI_AGAIN says "later" for a time-out and for a broken server alike.
    return Reason.DNS_FAILURE
