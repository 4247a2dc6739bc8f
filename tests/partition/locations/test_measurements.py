"""What probes found: bounded, and the same whoever merges first."""

from __future__ import annotations

import random
import tracemalloc
from itertools import permutations
from math import inf, nan

import pytest

from parcahyd.core.partitions import MAX_SHARED
from parcahyd.partition.locations.knowledge import MAX_LANDMARKS, MAX_OTHERS, Knowledge
from parcahyd.partition.locations.measurements import MAX_CRAWLERS, Measurements
from parcahyd.partition.locations.networks import MAX_NETWORK


def knowledge(seed: int, networks: int = 3000, crawlers: int = 40) -> Knowledge:
    chance, found = random.Random(seed), Knowledge(b"secret")
    for part in (found.landmarks, found.others):
        for _ in range(networks):
            network = chance.randrange(1 << chance.randrange(5, 24))
            for _ in range(chance.randrange(1, 4)):
                part.note(network, chance.randrange(crawlers) << 58, chance.random())
    return found


def merged(parts: tuple[bytes, ...]) -> bytes:
    found = Knowledge(b"secret")
    for part in parts:
        found.merge(Knowledge.decode(part, b"secret"))
    return found.encode()


def test_a_time_is_kept_until_a_newer_one_comes_or_it_expires() -> None:
    found = Measurements(b"", 10)
    found.note(7, 1, 0.0312)
    found.note(7, 2, inf)
    assert found.times(7) == {1: pytest.approx(0.0312), 2: inf}
    found.note(7, 1, 0.05)
    assert found.times(7)[1] == pytest.approx(0.05)
    found.note(7, 1, nan)
    assert found.times(7) == {2: inf}
    found.note(7, 2, nan)
    found.note(8, 2, nan)
    assert len(found) == 0
    assert found.encode() == b""


def test_the_order_of_merging_does_not_matter_beyond_the_bounds_too() -> None:
    parts = tuple(knowledge(seed).encode() for seed in range(3))
    results = {merged(order) for order in permutations(parts)}
    results |= {merged((merged(parts[:2]), parts[2])), merged((parts[0], merged(parts[1:]))), merged((*parts, parts[0]))}
    assert len(results) == 1
    assert merged((parts[0],)) == merged((parts[0], b"")) == parts[0]


def test_of_two_times_the_shorter_one_is_merged_and_the_newer_one_replaces() -> None:
    one, other = Measurements(b"", 10), Measurements(b"", 10)
    one.note(7, 1, 0.03)
    other.note(7, 1, 0.05)
    one.merge(other)
    assert one.times(7) == {1: pytest.approx(0.03)}
    one.replace(other, 7)
    assert one.times(7) == {1: pytest.approx(0.05)}


def test_a_newer_time_of_a_landmark_replaces_the_old_one_and_a_new_landmark_is_kept_once() -> None:
    known, newer = Knowledge(b""), Knowledge(b"")
    known.landmarks.note(7, 1, 0.03)
    known.others.note(8, 1, 0.04)
    newer.others.note(7, 1, 0.05)
    newer.landmarks.note(8, 1, 0.06)
    known.replace(newer)
    assert (list(known.landmarks), list(known.others)) == ([7, 8], [])
    assert known.times(7) == {1: pytest.approx(0.05)}
    assert known.times(8) == {1: pytest.approx(0.06)}


def test_as_much_as_there_can_be_is_shared_within_the_bound() -> None:
    found = Knowledge(b"secret")
    for part, most in ((found.landmarks, MAX_LANDMARKS), (found.others, MAX_OTHERS)):
        for number in range(most + 10):
            for crawler in range(MAX_CRAWLERS + 3):
                part.note(MAX_NETWORK - number, (1 << 63) + number * 100 + crawler, 6.0)
    content = found.encode()
    assert 900_000 < len(content) <= MAX_SHARED
    again = Knowledge.decode(content, b"secret")
    assert (len(again.landmarks), len(again.others)) == (MAX_LANDMARKS, MAX_OTHERS)


def test_a_flood_of_networks_takes_bounded_memory_and_leaves_those_that_are_drawn() -> None:
    found = Measurements(b"secret", 100)
    before = dict.fromkeys(range(400))
    for network in before:
        found.note(network, 1, 0.1)
    drawn = set(sorted(before, key=found.drawn)[:10])
    tracemalloc.start()
    try:
        for network in range(1000, 21_000):
            found.note(network, 1, 0.1)
        used = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert len(found) <= 400
    assert used < 1_000_000
    lowest = sorted([*before, *range(1000, 21_000)], key=found.drawn)[:100]
    kept = Measurements(b"secret", 100)
    kept.read(found.encode())
    assert set(kept) == set(lowest)
    assert set(lowest) & set(before) <= drawn


def test_who_does_not_know_the_secret_does_not_know_what_is_drawn() -> None:
    one, other = Measurements(b"one", 1), Measurements(b"other", 1)
    assert sorted(range(100), key=one.drawn) != sorted(range(100), key=other.drawn)


@pytest.mark.parametrize(
    "content",
    [
        b"\xff",
        b"\x92\xa1x\xa1y",
        b"\x92\xc4\x01\x00\xc4\x00",
        b"\x92\xc4\x0a\x92\x91\x01\x91\x93\x01\x91\x05\x91\x00\xc4\x00",
        b"\x92\xc4\x0a\x92\x91\x01\x91\x93\x01\x91\x00\x91\xff\xc4\x00",
        b"\x92\xc4\x09\x92\x91\x01\x91\x93\x01\x91\x00\x90\xc4\x00",
    ],
)
def test_other_bytes_are_refused(content: bytes) -> None:
    with pytest.raises(ValueError, match="no measurements"):
        Knowledge.decode(content, b"")
