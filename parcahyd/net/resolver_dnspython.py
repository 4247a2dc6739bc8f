"""The default resolver: dnspython asks the configured name servers, or those of this machine, for A and AAAA records."""

from __future__ import annotations

import ipaddress
import os
import time
from collections.abc import Callable, Sequence

import dns.exception
import dns.name
import dns.nameserver
import dns.resolver
import msgspec

from parcahyd.config.schema import MapConf
from parcahyd.core.errors import ConfigurationError, ResolutionFailure
from parcahyd.core.ports import Resolution
from parcahyd.core.states import Reason
from parcahyd.net.answer_cache import AnswerCache

__all__ = ["DnspythonResolver"]

_SYSTEM_FILE = "/etc/resolv.conf"
_LOOPBACK = ("127.0.0.1", "::1")

# How many aliases are followed that come without the address of the other name. A name server that does not recurse sends
# such answers, and a loop of aliases must end.
_MOST_ALIASES = 8

# Room for an answer over UDP that no network on the way fragments (DNS flag day 2020).
_UDP_PAYLOAD = 1232


class DnspythonResolver:
    """Resolves host names over DNS; see `parcahyd.core.ports.Resolver` for the contract.

    Names are absolute, search domains are never tried. IPv4 addresses come before IPv6. The TTL is the smallest of the
    records that led to the addresses, aliases included, held between `MinTtl` and `MaxTtl`. A truncated answer is asked for
    again over TCP.
    """

    def __init__(self, conf: MapConf, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._conf = conf
        nameservers = [_nameserver(entry) for entry in conf.Nameservers]
        if not nameservers and _names_no_nameserver(_SYSTEM_FILE):
            raise ConfigurationError(
                "this machine names no name servers", 'set Nameservers in MapConf.toml, such as ["9.9.9.9"]'
            )
        self._questions = _Questions(nameservers, conf.DnsTimeout)
        self._cache = AnswerCache(self._ask, conf.NegativeTtl, monotonic=monotonic)

    def resolve(self, host: str) -> Resolution:
        return self._cache.resolve(host)

    def close(self) -> None:
        self._cache.clear()

    def _ask(self, host: str) -> Resolution:
        if host == "localhost" or host.endswith(".localhost"):
            # RFC 6761, section 6.3: never a question for a name server.
            return Resolution(_LOOPBACK, self._conf.MaxTtl)
        name = _absolute_name(host)
        ipv4 = self._questions.addresses(name, "A")
        if ipv4.reason in (Reason.DNS_NO_NAME, Reason.DNS_TIMEOUT):
            # A name that does not exist has no records of any type (RFC 8020, section 2), and a server that did not answer is
            # not asked a second time.
            raise ResolutionFailure(ipv4.reason, ipv4.detail)
        ipv6 = self._questions.addresses(name, "AAAA")
        addresses = ipv4.addresses + ipv6.addresses
        if not addresses:
            raise _worse(ipv4, ipv6)
        return Resolution(addresses, self._time_to_live(ipv4, ipv6))

    def _time_to_live(self, *kinds: _Records) -> float:
        shortest = min(kind.ttl for kind in kinds if kind.addresses)
        if any(kind.reason in (Reason.DNS_TIMEOUT, Reason.DNS_FAILURE) for kind in kinds):
            # One kind is missing: the answer is used, and asked for again soon.
            shortest = 0.0
        return min(max(shortest, self._conf.MinTtl), self._conf.MaxTtl)


class _Records(msgspec.Struct, frozen=True):
    """The addresses of one kind, or the reason why there are none."""

    addresses: tuple[str, ...] = ()
    ttl: float = 0.0
    reason: Reason | None = None
    detail: str = ""


class _Questions:
    """Asks the given name servers (address and port), or those of this machine; used by several threads at once."""

    def __init__(self, nameservers: Sequence[tuple[str, int]], timeout: float) -> None:
        self._resolver = dns.resolver.Resolver(configure=not nameservers)
        if nameservers:
            self._resolver.nameservers = [dns.nameserver.Do53Nameserver(address, port) for address, port in nameservers]
        self._resolver.use_edns(0, 0, _UDP_PAYLOAD)
        self._resolver.lifetime = timeout
        # Several tries fit into the lifetime: a datagram may be lost.
        self._resolver.timeout = min(2.0, timeout / 2)

    def addresses(self, name: dns.name.Name, kind: str) -> _Records:
        """The addresses of one kind, `A` or `AAAA`."""
        ttl = float("inf")
        try:
            for _ in range(_MOST_ALIASES):
                answer = self._resolver.resolve(name, kind, raise_on_no_answer=False, search=False)
                ttl = min(ttl, answer.chaining_result.minimum_ttl)
                if answer.rrset is not None:
                    return _Records(tuple(record.address for record in answer.rrset), ttl)
                if answer.canonical_name == name:
                    return _Records(reason=Reason.DNS_NO_ADDRESS, detail=f"{name} has no address")
                name = answer.canonical_name
        except dns.resolver.NXDOMAIN as error:
            return _Records(reason=Reason.DNS_NO_NAME, detail=str(error))
        except dns.exception.Timeout as error:
            return _Records(reason=Reason.DNS_TIMEOUT, detail=str(error))
        except (dns.exception.DNSException, OSError, EOFError) as error:
            return _Records(reason=Reason.DNS_FAILURE, detail=str(error))
        return _Records(reason=Reason.DNS_FAILURE, detail=f"{name} is reached by too many aliases")


def _absolute_name(host: str) -> dns.name.Name:
    try:
        name = dns.name.from_text(host, dns.name.root)
    except (dns.exception.DNSException, UnicodeError) as error:
        raise ResolutionFailure(Reason.DNS_NO_NAME, f"{host}: {error}") from error
    if name == dns.name.root:
        raise ResolutionFailure(Reason.DNS_NO_NAME, "the host is empty")
    return name


def _worse(*kinds: _Records) -> ResolutionFailure:
    """The failure to report where neither kind gave addresses: one that may pass comes first, since it may hide an address."""
    for reason in (Reason.DNS_TIMEOUT, Reason.DNS_FAILURE, Reason.DNS_NO_NAME):
        for kind in kinds:
            if kind.reason is reason:
                return ResolutionFailure(reason, kind.detail)
    return ResolutionFailure(Reason.DNS_NO_ADDRESS, kinds[0].detail)


def _nameserver(entry: str) -> tuple[str, int]:
    address, port = _address_and_port(entry)
    try:
        return str(ipaddress.ip_address(address)), int(port)
    except ValueError as error:
        raise ConfigurationError(
            f'Nameservers: "{entry}" is no address', 'write "9.9.9.9", "127.0.0.1:5353" or "[2620:fe::fe]:53"'
        ) from error


def _names_no_nameserver(path: str) -> bool:
    """Whether the system's configuration of DNS is missing or empty; other systems than POSIX keep it elsewhere."""
    if os.name != "posix":
        return False
    try:
        with open(path, encoding="utf-8", errors="replace") as lines:
            return not any(line.split()[:1] == ["nameserver"] for line in lines)
    except OSError:
        return True


def _address_and_port(entry: str) -> tuple[str, str]:
    if entry.startswith("[") and "]" in entry:
        address, _, port = entry[1:].partition("]")
        return address, port.removeprefix(":") or "53"
    if entry.count(":") == 1:
        address, _, port = entry.partition(":")
        return address, port
    return entry, "53"
