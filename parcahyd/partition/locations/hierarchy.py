"""The hierarchy of address ranges (statements I3 and I4): which is the smallest that has an address, and what is above it.

Ranges may be of any length, lie within one another, or overlap without doing so. They are kept in arrays of plain numbers, as
190,000 objects would take fifty times the memory. A second pair of arrays has the pieces into which the edges of all ranges
divide the addresses, each with the smallest range that covers it, so that one binary search finds the range of an address.

Tested in tests/partition/locations/test_hierarchy.py.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from heapq import heappop, heappush
from typing import NamedTuple

from parcahyd.core.errors import UserError
from parcahyd.partition.locations.delegated import Delegation
from parcahyd.partition.locations.networks import first_address

__all__ = ["NOBODY", "Hierarchy", "Place", "Ranges", "build_hierarchy"]

NOBODY = 0xFFFFFFFF
"""In place of the number of a range or of a holder: there is none."""
_DEEPEST = 64
"""So many ranges may lie around one another; the registries' have two or three."""


class Place(NamedTuple):
    """What the registries say about an address."""

    holder: int
    """The same number: the same organisation. NOBODY: not said."""
    country: int
    """A number in `Hierarchy.countries`. NOBODY: not said."""
    registry: int
    """A number in `Hierarchy.registries`."""


class Ranges(NamedTuple):
    """All ranges of IPv4, or of IPv6, in the order of their first addresses; of equals the longest first."""

    first: array[int]
    last: array[int]
    parent: array[int]
    """The smallest range that has all of this one; NOBODY: none has."""
    holder: array[int]
    country: array[int]
    registry: array[int]
    edges: array[int]
    """Where the pieces begin, in order."""
    owners: array[int]
    """Of each piece, the smallest range that covers it, or NOBODY."""

    def find(self, address: int) -> int | None:
        """The smallest range that has this address; None: there is none. Of IPv6, give the upper 64 bits."""
        piece = bisect_right(self.edges, address) - 1
        owner = self.owners[piece] if piece >= 0 else NOBODY
        return None if owner == NOBODY else owner

    def above(self, number: int) -> Iterator[int]:
        """The ranges around a range, the smallest first."""
        parent = self.parent[number]
        while parent != NOBODY:
            yield parent
            parent = self.parent[parent]


class Hierarchy(NamedTuple):
    """The ranges of all registries."""

    ipv4: Ranges
    ipv6: Ranges
    countries: tuple[str, ...]
    registries: tuple[str, ...]
    holders: int
    """How many organisations there are."""

    def place(self, network: int) -> Place | None:
        """What is known about the first address of a network; None: no registry delegated it."""
        version, address = first_address(network)
        ranges = self.ipv4 if version == 4 else self.ipv6
        number = ranges.find(address)
        if number is None:
            return None
        country = ranges.country[number]
        return Place(ranges.holder[number], country if self.countries[country] else NOBODY, ranges.registry[number])


def build_hierarchy(delegations: Iterable[Delegation]) -> Hierarchy:
    """The hierarchy of these ranges. Of two that are the same, the one that came first counts."""
    found: dict[int, list[Delegation]] = {4: [], 6: []}
    for delegation in delegations:
        found[delegation.version].append(delegation)
    everything = (*found[4], *found[6])
    countries = tuple(sorted({one.country for one in everything}))
    registries = tuple(sorted({one.registry for one in everything}))
    holders: dict[tuple[str, str], int] = {}
    for one in everything:
        if one.holder:
            holders.setdefault((one.registry, one.holder), len(holders))
    codes = _Codes(_numbers(countries), _numbers(registries), holders)
    return Hierarchy(_ranges(found[4], "I", codes), _ranges(found[6], "Q", codes), countries, registries, len(holders))


class _Codes(NamedTuple):
    countries: dict[str, int]
    registries: dict[str, int]
    holders: dict[tuple[str, str], int]


def _numbers(names: Sequence[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(names)}


def _ranges(delegations: list[Delegation], address: str, codes: _Codes) -> Ranges:
    delegations.sort(key=lambda one: (one.first, -one.last))
    first = array(address, (one.first for one in delegations))
    last = array(address, (one.last for one in delegations))
    holder = array("I", (codes.holders.get((one.registry, one.holder), NOBODY) for one in delegations))
    country = array("H", (codes.countries[one.country] for one in delegations))
    registry = array("B", (codes.registries[one.registry] for one in delegations))
    edges, owners = _pieces(first, last)
    return Ranges(first, last, _parents(first, last), holder, country, registry, edges, owners)


def _parents(first: array[int], last: array[int]) -> array[int]:
    parents, around = array("I"), list[int]()
    for number in range(len(first)):
        around = [one for one in around if last[one] >= first[number]]
        if len(around) >= _DEEPEST:
            raise UserError(f"more than {_DEEPEST} ranges lie around one address", "leave out the file that has them")
        holding = [one for one in around if last[one] >= last[number]]
        parents.append(min(holding, key=lambda one: (last[one] - first[one], -one)) if holding else NOBODY)
        around.append(number)
    return parents


def _pieces(first: array[int], last: array[int]) -> tuple[array[int], array[int]]:
    """Goes along the addresses and holds the ranges that cover the present one in a heap, the smallest on top."""
    edges, owners = array(first.typecode), array("I")
    top = 2 ** (8 * first.itemsize)
    following, covering = 0, list[tuple[int, int]]()
    for edge in sorted({*first, *(one + 1 for one in last if one + 1 < top)}):
        while following < len(first) and first[following] == edge:
            heappush(covering, (last[following] - edge, following))
            following += 1
        while covering and last[covering[0][1]] < edge:
            heappop(covering)
        owner = covering[0][1] if covering else NOBODY
        if not owners or owners[-1] != owner:
            edges.append(edge)
            owners.append(owner)
    return edges, owners
