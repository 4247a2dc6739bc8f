"""Questions to name servers, by dnspython: what is loaded when the first host name is to be resolved."""

from __future__ import annotations

from collections.abc import Sequence

import dns.exception
import dns.name
import dns.nameserver
import dns.resolver
import msgspec

from parcahyd.core.errors import ResolutionFailed
from parcahyd.core.life_cycle import Reason

__all__ = ["DnsQuestions", "Records"]

# How many answers may say "that is another name for ..." without giving the address of the other name: a name server that
# does not recurse does so, and a loop of names must end.
_MOST_ALIASES = 8

# Room for an answer over UDP that no network on the way fragments (DNS flag day 2020).
_UDP_PAYLOAD = 1232


class Records(msgspec.Struct, frozen=True):
    """The addresses of one kind, or the reason why there are none."""

    addresses: tuple[str, ...] = ()
    ttl: float = 0.0
    reason: Reason | None = None
    detail: str = ""


class DnsQuestions:
    """Asks the given name servers (address and port), or those of this machine; used by several threads at once."""

    def __init__(self, nameservers: Sequence[tuple[str, int]], timeout: float) -> None:
        self._resolver = dns.resolver.Resolver(configure=not nameservers)
        if nameservers:
            self._resolver.nameservers = [dns.nameserver.Do53Nameserver(address, port) for address, port in nameservers]
        self._resolver.use_edns(0, 0, _UDP_PAYLOAD)
        self._resolver.lifetime = timeout
        # Several tries fit into the lifetime: a datagram may be lost.
        self._resolver.timeout = min(2.0, timeout / 2)

    def name(self, host: str) -> dns.name.Name:
        """The host as DNS has it, absolute."""
        try:
            name = dns.name.from_text(host, dns.name.root)
        except (dns.exception.DNSException, UnicodeError) as error:
            raise ResolutionFailed(Reason.DNS_NO_NAME, f"{host}: {error}") from error
        if name == dns.name.root:
            raise ResolutionFailed(Reason.DNS_NO_NAME, "the host is empty")
        return name

    def addresses(self, name: dns.name.Name, kind: str) -> Records:
        """The addresses of one kind, `A` or `AAAA`."""
        ttl = float("inf")
        try:
            for _ in range(_MOST_ALIASES):
                answer = self._resolver.resolve(name, kind, raise_on_no_answer=False, search=False)
                ttl = min(ttl, answer.chaining_result.minimum_ttl)
                if answer.rrset is not None:
                    return Records(tuple(record.address for record in answer.rrset), ttl)
                if answer.canonical_name == name:
                    return Records(reason=Reason.DNS_NO_ADDRESS, detail=f"{name} has no address")
                name = answer.canonical_name
        except dns.resolver.NXDOMAIN as error:
            return Records(reason=Reason.DNS_NO_NAME, detail=str(error))
        except dns.exception.Timeout as error:
            return Records(reason=Reason.DNS_TIMEOUT, detail=str(error))
        except (dns.exception.DNSException, OSError, EOFError) as error:
            return Records(reason=Reason.DNS_FAILURE, detail=str(error))
        return Records(reason=Reason.DNS_FAILURE, detail=f"{name} is reached by too many aliases")
