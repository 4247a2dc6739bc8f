"""What probes found: of each network, the time from each machine that measured it. Bounded, and merged in any order.

Of the networks that were ever measured, those are kept that a hash draws, and not those that came last: they stand for all of
them, nobody without the cluster's secret can choose which they are, and whoever merges first, the same are left.

Tested in tests/partition/locations/test_measurements.py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from heapq import nsmallest
from math import inf, isnan

import msgspec

from parcahyd.partition.consistent_hash import number_of
from parcahyd.partition.locations.networks import MAX_NETWORK

__all__ = ["MAX_CRAWLERS", "Measurements"]

MAX_CRAWLERS = 32
"""Machines whose times are kept of one network."""
_UNIT = 1e-4
"""Seconds: times are whole numbers of it."""
_UNREACHED = 0xFFFF
_HELD = 4
"""So many times the networks that are encoded are held; then those go that are neither drawn nor among the last that came."""


class _Packed(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    crawlers: list[int]
    networks: list[tuple[int, list[int], list[int]]]
    """Number, places in `crawlers`, and times."""


_read = msgspec.msgpack.Decoder(_Packed).decode
_write = msgspec.msgpack.Encoder().encode


class Measurements:
    """Times by network and by crawler, which is a machine's number."""

    def __init__(self, secret: bytes, most: int) -> None:
        """`most` networks are encoded at most."""
        self._secret = secret
        self._most = most
        self._times: dict[int, dict[int, int]] = {}
        self._drawn: dict[int, int] = {}

    def __len__(self) -> int:
        return len(self._times)

    def __iter__(self) -> Iterator[int]:
        """The networks."""
        return iter(self._times)

    def __contains__(self, network: int) -> bool:
        return network in self._times

    def drawn(self, network: int) -> int:
        """The number that is drawn for a network: those with the lowest ones are kept."""
        known = self._drawn.get(network)
        return number_of(str(network), self._secret) if known is None else known

    def times(self, network: int) -> dict[int, float]:
        """Seconds from each crawler that measured the network; infinity: it was not reached."""
        found = self._times.get(network, {})
        return {crawler: inf if units == _UNREACHED else units * _UNIT for crawler, units in found.items()}

    def note(self, network: int, crawler: int, seconds: float) -> None:
        """A new measurement takes the place of an older one. Not a number: the older one has expired."""
        if isnan(seconds):
            self._forget(network, crawler)
            return
        if network not in self._times:
            if len(self._times) >= _HELD * self._most:
                self._shrink()
            self._drawn[network] = self.drawn(network)
        units = _UNREACHED if seconds == inf else max(0, min(round(seconds / _UNIT), _UNREACHED - 1))
        self._times.setdefault(network, {})[crawler] = units

    def _forget(self, network: int, crawler: int) -> None:
        left = self._times.get(network)
        if left is not None:
            left.pop(crawler, None)
            if not left:
                del self._times[network], self._drawn[network]

    def _shrink(self) -> None:
        kept = {*nsmallest(self._most, self._drawn, key=self._order), *list(self._times)[-self._most :]}
        for network in [one for one in self._times if one not in kept]:
            del self._times[network], self._drawn[network]

    def _order(self, network: int) -> tuple[int, int]:
        return self._drawn[network], network

    def merge(self, other: Measurements) -> None:
        """Adds what another has; of two times of one crawler, the shorter one counts."""
        for network, times in other._times.items():
            own = self._times.setdefault(network, {})
            self._drawn.setdefault(network, other._drawn[network])
            for crawler, units in times.items():
                own[crawler] = min(units, own.get(crawler, units))

    def replace(self, newer: Measurements, network: int) -> None:
        """Adds what another has of a network; of two times of one crawler, the other's counts."""
        self._times.setdefault(network, {}).update(newer._times[network])
        self._drawn.setdefault(network, newer._drawn[network])

    def crawlers(self) -> set[int]:
        """All that have measured anything."""
        return {crawler for times in self._times.values() for crawler in times}

    def keep_crawlers(self, crawlers: AbstractSet[int]) -> None:
        """Forgets what others measured."""
        for network, crawler in [
            (one, other) for one, times in self._times.items() for other in times if other not in crawlers
        ]:
            self._forget(network, crawler)

    def encode(self) -> bytes:
        """As bytes, within the bounds: of networks and of crawlers those with the lowest numbers. No bytes for nothing."""
        if not self._times:
            return b""
        kept = sorted(nsmallest(self._most, self._drawn, key=self._order))
        rows = [(network, _lowest(self._times[network])) for network in kept]
        crawlers = sorted({crawler for _, times in rows for crawler, _ in times})
        place = {crawler: number for number, crawler in enumerate(crawlers)}
        return _write(
            _Packed(crawlers, [(net, [place[crawler] for crawler, _ in row], [units for _, units in row]) for net, row in rows])
        )

    def read(self, content: bytes) -> None:
        """Adds what was encoded; ValueError for other bytes."""
        try:
            packed = _read(content) if content else _Packed([], [])
        except msgspec.DecodeError as error:
            raise ValueError(f"these bytes are no measurements: {error}") from error
        if len(packed.networks) > self._most or not all(_is_sound(row, len(packed.crawlers)) for row in packed.networks):
            raise ValueError("these bytes are no measurements: a number is out of range")
        for network, places, units in packed.networks:
            self._drawn[network] = self.drawn(network)
            self._times[network] = {packed.crawlers[place]: unit for place, unit in zip(places, units, strict=True)}

    def drop(self, network: int) -> None:
        """Forgets a network, if it is known."""
        self._drawn.pop(network, None)
        self._times.pop(network, None)


def _lowest(times: Mapping[int, int]) -> list[tuple[int, int]]:
    return sorted(times.items())[:MAX_CRAWLERS]


def _is_sound(row: tuple[int, list[int], list[int]], crawlers: int) -> bool:
    network, places, units = row
    return (
        0 <= network <= MAX_NETWORK
        and 0 < len(places) == len(units) <= MAX_CRAWLERS
        and all(0 <= place < crawlers for place in places)
        and all(0 <= unit <= _UNREACHED for unit in units)
    )
