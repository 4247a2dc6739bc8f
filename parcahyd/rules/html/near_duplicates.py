"""Groups of near-duplicates: which documents have similarity fingerprints within a few bits of one another.

Fingerprints are cut into blocks, two more than the bits in which they may differ, so two that are near agree in two blocks at
least. For every pair of blocks, fingerprints that agree in both are candidates, and their distance decides. What is near to any
member of a group belongs to it, so the ends of a chain can be farther apart.

Time and memory are linear in the number of fingerprints, up to some millions. Equal ones count once, and where very many agree
in two blocks, as made-up ones do, each is compared with a bounded number of others: a group may then come out in parts.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from itertools import combinations, pairwise

from parcahyd.rules.html.fingerprints import NO_SIMILARITY, WITHIN

__all__ = ["groups"]

_BITS = 64
_MASK = (1 << _BITS) - 1
_FARTHEST = 16
_NEIGHBOURS = 64
"""With how many others of its bucket a fingerprint is compared at most."""


def groups(fingerprints: Iterable[tuple[int, int]], within: int = WITHIN) -> list[list[int]]:
    """The ids of near-duplicates, from pairs of id and fingerprint: each group sorted, larger groups first.

    Documents without a fingerprint (`NO_SIMILARITY`) and those that resemble no other are in no group.
    """
    if not 0 <= within <= _FARTHEST:
        raise ValueError(f"near-duplicates differ in 0 to {_FARTHEST} bits, not in {within}")
    places: dict[int, int] = {}
    documents, members = array("q"), array("q")
    for document, fingerprint in fingerprints:
        if fingerprint != NO_SIMILARITY:
            documents.append(document)
            members.append(places.setdefault(fingerprint & _MASK, len(places)))
    leader = _joined(list(places), within)
    sizes = array("q", bytes(8 * len(places)))
    for place in members:
        sizes[_find(leader, place)] += 1
    found: dict[int, list[int]] = {}
    for document, place in zip(documents, members, strict=True):
        if sizes[first := _find(leader, place)] > 1:
            found.setdefault(first, []).append(document)
    return sorted(map(sorted, found.values()), key=lambda group: (-len(group), group))


def _joined(values: list[int], within: int) -> array[int]:
    """The distinct fingerprints as a forest, by their places: those of one tree belong together."""
    leader = array("q", range(len(values)))
    if within:
        for mask in _masks(within):
            for bucket in _alike(values, mask):
                _join_bucket(values, bucket, within, leader)
    return leader


def _masks(within: int) -> Iterator[int]:
    """One mask for each pair of blocks: near fingerprints are equal under at least one of them."""
    count = within + 2
    edges = [_BITS * block // count for block in range(count + 1)]
    blocks = [(1 << end) - (1 << start) for start, end in pairwise(edges)]
    return map(sum, combinations(blocks, 2))


def _alike(values: list[int], mask: int) -> Iterable[list[int]]:
    """The places of those that agree in all bits of the mask, where there are at least two."""
    first: dict[int, int] = {}
    buckets: dict[int, list[int]] = {}
    for place, value in enumerate(values):
        other = first.setdefault(value & mask, place)
        if other != place:
            buckets.setdefault(other, [other]).append(place)
    return buckets.values()


def _join_bucket(values: list[int], bucket: list[int], within: int, leader: array[int]) -> None:
    if len(bucket) > _NEIGHBOURS:
        bucket.sort(key=values.__getitem__)  # So that those beside each other agree in more than the two blocks.
    for position, place in enumerate(bucket):
        value = values[place]
        for other in bucket[max(0, position - _NEIGHBOURS) : position]:
            if (value ^ values[other]).bit_count() <= within:
                first, second = _find(leader, place), _find(leader, other)
                leader[max(first, second)] = min(first, second)


def _find(leader: array[int], place: int) -> int:
    while leader[place] != place:
        leader[place] = place = leader[leader[place]]
    return place
