"""The network of an address: what is measured once, and given to one machine as a whole (statement I8).

A network is an IPv4 /24 or an IPv6 /48, which are what the Internet's routers tell apart. It has one number: that of an IPv4
network has 24 bits, that of an IPv6 network has 48 bits and a 1 before them.

Tested in tests/partition/locations/test_hierarchy.py.
"""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address, IPv6Address

__all__ = ["MAX_NETWORK", "first_address", "network_of"]

_IPV6 = 1 << 48
MAX_NETWORK = 2 * _IPV6 - 1
"""The highest number that a network has."""


def network_of(address: str) -> int | None:
    """The number of the network that an address is in; None: the text is no address."""
    try:
        if ":" not in address:
            return int(IPv4Address(address)) >> 8
        number = IPv6Address(address.partition("%")[0])
    except AddressValueError:
        return None
    within = number.ipv4_mapped
    return int(within) >> 8 if within is not None else _IPV6 | int(number) >> 80


def first_address(network: int) -> tuple[int, int]:
    """The version, 4 or 6, and the first address of a network; of IPv6, the upper 64 bits of the address."""
    return (6, (network & (_IPV6 - 1)) << 16) if network & _IPV6 else (4, network << 8)
