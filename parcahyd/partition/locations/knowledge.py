"""What pipelines tell one another: the networks that all machines measured, and those that some did.

The two are bounded apart, so that a flood of networks that are measured once does not wash out the few that all others are
compared with. Nothing passes from one to the other in a merge, so it does not matter who merges first.

Tested in tests/partition/locations/test_measurements.py.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from math import nan

import msgspec

from parcahyd.partition.locations.measurements import MAX_CRAWLERS, Measurements

__all__ = ["MAX_LANDMARKS", "MAX_OTHERS", "Knowledge"]

MAX_LANDMARKS = 512
MAX_OTHERS = 1408
"""Networks. With MAX_CRAWLERS, what is shared is never larger than MAX_SHARED."""


class _Packed(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    landmarks: bytes
    others: bytes


_read = msgspec.msgpack.Decoder(_Packed).decode


class Knowledge:
    """Measured times in two parts."""

    def __init__(self, secret: bytes) -> None:
        self.landmarks = Measurements(secret, MAX_LANDMARKS)
        self.others = Measurements(secret, MAX_OTHERS)

    def times(self, network: int) -> dict[int, float]:
        """Seconds from each crawler that measured the network, in either part."""
        return {**self.others.times(network), **self.landmarks.times(network)}

    def merge(self, other: Knowledge) -> None:
        """As Measurements.merge, of each part."""
        self.landmarks.merge(other.landmarks)
        self.others.merge(other.others)

    def replace(self, newer: Knowledge) -> None:
        """Adds what another has; of two times of one crawler, the other's counts. A landmark stays one."""
        for network in newer.others:
            part = self.landmarks if network in self.landmarks else self.others
            part.replace(newer.others, network)
        for network in newer.landmarks:
            self.landmarks.replace(newer.landmarks, network)
            self.others.drop(network)

    def forget(self, network: int, crawler: int) -> None:
        """Drops a time that has expired."""
        self.landmarks.note(network, crawler, nan)
        self.others.note(network, crawler, nan)

    def keep_crawlers(self, crawlers: AbstractSet[int]) -> None:
        """Makes room where there are too many crawlers: forgets all but these. While there is room, others may come back."""
        for part in (self.landmarks, self.others):
            if len(part.crawlers() | crawlers) > MAX_CRAWLERS:
                part.keep_crawlers(crawlers)

    def encode(self) -> bytes:
        """As bytes; none for no knowledge."""
        packed = _Packed(self.landmarks.encode(), self.others.encode())
        return msgspec.msgpack.encode(packed) if packed.landmarks or packed.others else b""

    @classmethod
    def decode(cls, content: bytes, secret: bytes) -> Knowledge:
        """What was encoded; ValueError for other bytes."""
        found = cls(secret)
        if content:
            try:
                packed = _read(content)
            except msgspec.DecodeError as error:
                raise ValueError(f"these bytes are no measurements: {error}") from error
            found.landmarks.read(packed.landmarks)
            found.others.read(packed.others)
        return found
