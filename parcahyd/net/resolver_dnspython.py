"""The default resolver: dnspython asks the configured name servers, or those of this machine, for A and AAAA records."""

from __future__ import annotations

import ipaddress
import os
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from parcahyd.config.schema import MapConf
from parcahyd.core.errors import ConfigurationError, ResolutionFailed
from parcahyd.core.life_cycle import Reason
from parcahyd.core.ports import Resolution
from parcahyd.net.answer_cache import AnswerCache

if TYPE_CHECKING:
    from parcahyd.net.dns_questions import DnsQuestions, Records

__all__ = ["DnspythonResolver"]

_SYSTEM_FILE = "/etc/resolv.conf"
_LOOPBACK = ("127.0.0.1", "::1")


class DnspythonResolver:
    """Resolves host names over DNS; see `parcahyd.core.ports.Resolver` for the contract.

    Names are absolute, search domains are never tried. IPv4 addresses come before IPv6. The TTL is the smallest of the
    records that led to the addresses, aliases included, held between `MinTtl` and `MaxTtl`. A truncated answer is asked for
    again over TCP.
    """

    def __init__(self, conf: MapConf, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._conf = conf
        self._nameservers = [_nameserver(entry) for entry in conf.Nameservers]
        if not self._nameservers and _names_no_nameserver(_SYSTEM_FILE):
            raise ConfigurationError(
                "this machine names no name servers", 'set Nameservers in MapConf.toml, such as ["9.9.9.9"]'
            )
        self._questions: DnsQuestions | None = None
        self._making = threading.Lock()
        self._cache = AnswerCache(self._ask, conf.NegativeTtl, monotonic=monotonic)

    def resolve(self, host: str) -> Resolution:
        return self._cache.resolve(host)

    def close(self) -> None:
        self._cache.clear()

    def _ask(self, host: str) -> Resolution:
        if host == "localhost" or host.endswith(".localhost"):
            # RFC 6761, section 6.3: never a question for a name server.
            return Resolution(_LOOPBACK, self._conf.MaxTtl)
        questions = self._questions or self._make_questions()
        name = questions.name(host)
        ipv4 = questions.addresses(name, "A")
        if ipv4.reason in (Reason.DNS_NO_NAME, Reason.DNS_TIMEOUT):
            # A name that does not exist does not for any type (RFC 8020, section 2), and whoever kept silent is not waited for
            # a second time.
            raise ResolutionFailed(ipv4.reason, ipv4.detail)
        ipv6 = questions.addresses(name, "AAAA")
        addresses = ipv4.addresses + ipv6.addresses
        if not addresses:
            raise _worse(ipv4, ipv6)
        return Resolution(addresses, self._time_to_live(ipv4, ipv6))

    def _make_questions(self) -> DnsQuestions:
        """dnspython is loaded with the first name: crawls of addresses need none of it, and it would delay every start."""
        from parcahyd.net.dns_questions import DnsQuestions

        with self._making:
            if self._questions is None:
                self._questions = DnsQuestions(self._nameservers, self._conf.DnsTimeout)
            return self._questions

    def _time_to_live(self, *kinds: Records) -> float:
        shortest = min(kind.ttl for kind in kinds if kind.addresses)
        if any(kind.reason in (Reason.DNS_TIMEOUT, Reason.DNS_FAILURE) for kind in kinds):
            # Half an answer: worth using, and worth asking again soon.
            shortest = 0.0
        return min(max(shortest, self._conf.MinTtl), self._conf.MaxTtl)


def _worse(*kinds: Records) -> ResolutionFailed:
    """The failure to report where neither kind gave addresses: a passing one, since it may hide an address."""
    for reason in (Reason.DNS_TIMEOUT, Reason.DNS_FAILURE, Reason.DNS_NO_NAME):
        for kind in kinds:
            if kind.reason is reason:
                return ResolutionFailed(reason, kind.detail)
    return ResolutionFailed(Reason.DNS_NO_ADDRESS, kinds[0].detail)


def _nameserver(entry: str) -> tuple[str, int]:
    address, port = _address_and_port(entry)
    try:
        return str(ipaddress.ip_address(address)), int(port)
    except ValueError as error:
        raise ConfigurationError(
            f'Nameservers: "{entry}" is no address', 'write "9.9.9.9", "127.0.0.1:5353" or "[2620:fe::fe]:53"'
        ) from error


def _names_no_nameserver(path: str) -> bool:
    """Whether the system's configuration of DNS is missing or empty. Systems that keep it elsewhere are believed."""
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
