"""Which addresses may be connected to: globally reachable unicast, and what the user adds.

The lists are written out from the IANA registries of special-purpose addresses, because the answers of `ipaddress.is_global`
changed several times within Python 3.11. IPv6 is refused outside 2000::/3, so loopback, link-local, site-local, unique-local,
multicast, discard-only, IPv4-compatible and locally translated addresses need no entry.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

from parcahyd.core.errors import ConfigurationError

__all__ = ["AddressPolicy", "literal_address"]

_Address = IPv4Address | IPv6Address
_Network = IPv4Network | IPv6Network

_NOT_PUBLIC_4 = tuple(
    map(
        IPv4Network,
        (
            "0.0.0.0/8",  # this network (RFC 791)
            "10.0.0.0/8",  # private (RFC 1918)
            "100.64.0.0/10",  # shared by carriers (RFC 6598)
            "127.0.0.0/8",  # loopback
            "168.63.129.16/32",  # public by its number, but inside Azure it is the virtual machine's own host
            "169.254.0.0/16",  # link-local (RFC 3927), where clouds keep their metadata
            "172.16.0.0/12",  # private
            "192.0.0.0/24",  # protocol assignments (RFC 6890)
            "192.0.2.0/24",  # documentation (RFC 5737)
            "192.88.99.0/24",  # relays of 6to4, withdrawn (RFC 7526)
            "192.168.0.0/16",  # private
            "198.18.0.0/15",  # benchmarks (RFC 2544)
            "198.51.100.0/24",  # documentation
            "203.0.113.0/24",  # documentation
            "224.0.0.0/4",  # multicast
            "240.0.0.0/4",  # reserved, and broadcast
        ),
    )
)
_UNICAST_6 = IPv6Network("2000::/3")
_NOT_PUBLIC_6 = tuple(
    map(
        IPv6Network,
        (
            "2001::/23",  # protocol assignments (RFC 2928): benchmarks, ORCHID, ...; Teredo is judged apart
            "2001:db8::/32",  # documentation (RFC 3849)
            "3fff::/20",  # documentation (RFC 9637)
        ),
    )
)
_MAPPED = IPv6Network("::ffff:0:0/96")
_NAT64 = IPv6Network("64:ff9b::/96")


class AddressPolicy:
    """Admits public addresses and those in `allowed` networks; an IPv4-mapped address is judged as its IPv4."""

    __slots__ = ("_allowed",)

    def __init__(self, allowed: Sequence[str]) -> None:
        self._allowed = tuple(_network(text) for text in allowed)

    def admits(self, address: str) -> bool:
        """Whether the address may be connected to; what is no address, or one with a zone, may not."""
        parsed = _parsed(address)
        return parsed is not None and self._admits(parsed)

    def vet(self, addresses: Iterable[str]) -> tuple[str, ...]:
        """Those that are admitted, in their order, each once, in their canonical spelling."""
        parsed = dict.fromkeys(map(_parsed, addresses))
        return tuple(str(address) for address in parsed if address is not None and self._admits(address))

    def _admits(self, address: _Address) -> bool:
        return _is_public(address) or any(address in network for network in self._allowed)


def literal_address(host: str) -> str | None:
    """The address that the host of a canonical URL is, in canonical spelling and without brackets; None for a name."""
    if host[:1] == "[" and host[-1:] == "]":
        host = host[1:-1]
    elif not host[-1:].isdecimal():
        return None
    address = _parsed(host)
    return None if address is None else str(address)


def _parsed(text: str) -> _Address | None:
    if "%" in text:  # a zone chooses one of this machine's interfaces, which the author of a page must not choose
        return None
    try:
        address = ip_address(text)
    except ValueError:
        return None
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


def _is_public(address: _Address) -> bool:
    if isinstance(address, IPv4Address):
        return not any(address in network for network in _NOT_PUBLIC_4)
    if address in _NAT64:
        return _is_public(IPv4Address(int(address) & 0xFFFFFFFF))
    if address.sixtofour is not None:
        return _is_public(address.sixtofour)
    if address.teredo is not None:
        return all(map(_is_public, address.teredo))
    return address in _UNICAST_6 and not any(address in network for network in _NOT_PUBLIC_6)


def _network(text: str) -> _Network:
    try:
        network = ip_network(text)
    except ValueError as error:
        raise ConfigurationError(
            f'AllowAddresses: "{text}" is no network: {error}',
            'write it as "192.168.7.0/24", one address as "192.168.7.5/32"',
        ) from None
    if isinstance(network, IPv6Network) and network.subnet_of(_MAPPED):
        return IPv4Network((int(network.network_address) & 0xFFFFFFFF, network.prefixlen - 96))
    return network
