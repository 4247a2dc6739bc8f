"""The delegation procedure of paper 002 (statements I5 and I8), step by step: what the strategy "location" is compared with.

The paper's hierarchy has customers' ranges within those of providers, from bulk WHOIS, which is not public. The registries'
public files have one level of ranges. So a network's levels are: its range, ranges around it if there are any, the blocks of
65,536 and of 16 million addresses that it begins in, its registry, and the whole Internet.

Tested in tests/lab/test_six_steps.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from enum import Enum
from typing import NamedTuple

from parcahyd.partition.locations.hierarchy import NOBODY, Hierarchy
from parcahyd.partition.locations.networks import first_address, network_of

__all__ = ["Delegated", "SixSteps", "Step"]

_Node = tuple[str, int, int]
"""Kind, version and number."""


class Step(Enum):
    """Which step of the procedure decided."""

    KNOWN = "1 subnet known"
    ONE_OF_COMPANY = "2 one crawler of the company"
    SEVERAL_OF_COMPANY = "3 several of the company"
    SIBLINGS = "4 siblings"
    HIGHER = "5 higher levels"
    LOWEST = "6 lowest probe"


class Delegated(NamedTuple):
    """A decision."""

    crawler: int
    step: Step


class _Path(NamedTuple):
    """Where an address is in the tree."""

    subnet: _Node
    company: int | None
    above: tuple[_Node, ...]
    """From the subnet's parent up to the whole Internet."""


class SixSteps:
    """Subnets with their crawlers. `threshold` is the time that is near enough, in seconds: what administrators choose (I7)."""

    def __init__(self, hierarchy: Hierarchy, threshold: float) -> None:
        self._hierarchy = hierarchy
        self._threshold = threshold
        self._of_subnet: dict[_Node, int] = {}
        self._of_company: dict[int, Counter[int]] = {}
        self._below: dict[_Node, Counter[int]] = {}
        """For each node of the tree, the crawlers of the subnets below it."""

    def delegate(self, address: str, crawler: int) -> None:
        """Gives the smallest subnet that has an address to a crawler, unless one has it already (I5)."""
        path = self._path(address)
        if path.subnet in self._of_subnet:
            return
        self._of_subnet[path.subnet] = crawler
        if path.company is not None:
            self._of_company.setdefault(path.company, Counter())[crawler] += 1
        for node in path.above:
            self._below.setdefault(node, Counter())[crawler] += 1

    def choose(self, address: str, probe: Callable[[int], float]) -> Delegated:
        """The crawler of an address (I8). `probe` measures the seconds from a crawler; it is asked once for each."""
        path = self._path(address)
        if path.subnet in self._of_subnet:
            return Delegated(self._of_subnet[path.subnet], Step.KNOWN)
        company = self._of_company.get(path.company, Counter()) if path.company is not None else Counter[int]()
        if len(company) == 1:
            return Delegated(next(iter(company)), Step.ONE_OF_COMPANY)
        times: dict[int, float] = {}
        if company:
            found = self._within(_most_first(company), probe, times)
            return Delegated(_lowest(times) if found is None else found, Step.SEVERAL_OF_COMPANY)
        for height, node in enumerate(path.above):
            found = self._within(_most_first(self._below.get(node, Counter())), probe, times)
            if found is not None:
                return Delegated(found, Step.HIGHER if height else Step.SIBLINGS)
        return Delegated(_lowest(times) if times else 0, Step.LOWEST)

    def _within(self, crawlers: Iterable[int], probe: Callable[[int], float], times: dict[int, float]) -> int | None:
        """The first of these within the threshold, of those that were not asked before."""
        for crawler in crawlers:
            if crawler not in times:
                times[crawler] = probe(crawler)
                if times[crawler] <= self._threshold:
                    return crawler
        return None

    def rebuilt(self, hierarchy: Hierarchy, addresses: Iterable[str]) -> SixSteps:
        """The same delegations in a newer hierarchy (I4); `addresses` are those that were delegated, in their order."""
        anew = SixSteps(hierarchy, self._threshold)
        for address in addresses:
            crawler = self._of_subnet.get(self._path(address).subnet)
            if crawler is not None:
                anew.delegate(address, crawler)
        return anew

    def _path(self, address: str) -> _Path:
        network = network_of(address)
        if network is None:
            raise ValueError(f"{address} is no address")
        version, first = first_address(network)
        ranges = self._hierarchy.ipv4 if version == 4 else self._hierarchy.ipv6
        bits = 32 if version == 4 else 64
        number = ranges.find(first)
        blocks = [("block", version, length << 64 | first >> bits - length) for length in (bits // 2, bits // 4)]
        if number is None:
            return _Path(("network", version, network), None, (*blocks, _INTERNET))
        company = ranges.holder[number]
        around = [("range", version, one) for one in ranges.above(number)]
        registry = ("registry", 0, ranges.registry[number])
        return _Path(
            ("range", version, number), None if company == NOBODY else company, (*around, *blocks, registry, _INTERNET)
        )


_INTERNET: _Node = ("internet", 0, 0)


def _most_first(crawlers: Counter[int]) -> Iterator[int]:
    """The paper does not say in which order siblings are asked: here, first the crawler that has most of them."""
    return iter(sorted(crawlers, key=lambda crawler: (-crawlers[crawler], crawler)))


def _lowest(times: dict[int, float]) -> int:
    return min(times, key=lambda crawler: (times[crawler], crawler))
