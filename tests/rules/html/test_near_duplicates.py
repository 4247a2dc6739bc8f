"""Grouping fingerprints that are near: what all pairs would say, found without comparing all pairs."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from parcahyd.rules.html.fingerprints import NO_SIMILARITY, WITHIN, distance
from parcahyd.rules.html.near_duplicates import groups


def _by_all_pairs(fingerprints: list[tuple[int, int]], within: int) -> list[list[int]]:
    near = {document: {document} for document, value in fingerprints if value != NO_SIMILARITY}
    for (one, a), (other, b) in combinations(fingerprints, 2):
        if NO_SIMILARITY not in (a, b) and distance(a, b) <= within:
            joined = near[one] | near[other]
            near.update(dict.fromkeys(joined, joined))
    found = {tuple(sorted(group)) for group in near.values() if len(group) > 1}
    return sorted((list(group) for group in found), key=lambda group: (-len(group), group))


def _flipped(value: int, bits: set[int]) -> int:
    for bit in bits:
        value ^= 1 << bit
    return value - (1 << 64) if value >> 63 == 1 else value


@st.composite
def _fingerprints(draw: st.DrawFn) -> list[tuple[int, int]]:
    seeds = draw(st.lists(st.integers(0, 2**64 - 1), min_size=1, max_size=6))
    values = [
        _flipped(draw(st.sampled_from(seeds)), draw(st.sets(st.integers(0, 63), max_size=7)))
        for _ in range(draw(st.integers(0, 30)))
    ]
    return list(enumerate(values, start=10))


@settings(deadline=None)
@given(_fingerprints(), st.integers(0, 8))
def test_groups_are_those_of_all_pairs(fingerprints: list[tuple[int, int]], within: int) -> None:
    assert groups(fingerprints, within) == _by_all_pairs(fingerprints, within)


def test_larger_groups_come_first_and_loners_not_at_all() -> None:
    assert groups([(5, 7), (1, -1), (9, -2), (3, 7), (4, 7), (8, 1 << 40 | 1 << 41 | 0xFF00)]) == [[3, 4, 5], [1, 9]]


def test_documents_without_a_fingerprint_are_in_no_group() -> None:
    assert groups([(1, NO_SIMILARITY), (2, NO_SIMILARITY), (3, 1), (4, 1)]) == [[3, 4]]
    assert groups([]) == []


def test_a_chain_is_one_group() -> None:
    chain = [(1 << step * WITHIN) - 1 for step in range(1, 12)]
    assert groups(enumerate(chain)) == [list(range(11))]


def test_every_pair_within_the_distance_is_found_among_many() -> None:
    chance = random.Random(1)
    values = [chance.getrandbits(64) - (1 << 63) for _ in range(20_000)]
    near = [
        _flipped(value & 2**64 - 1, set(chance.sample(range(64), chance.randrange(1, WITHIN + 1)))) for value in values[:500]
    ]
    assert groups(enumerate(values + near)) == [[place, 20_000 + place] for place in range(500)]


def test_made_up_fingerprints_take_bounded_time() -> None:
    """All of them agree in most blocks, none is near another: all pairs would be two thousand million."""
    chance = random.Random(2)
    values = {chance.getrandbits(14) << 25 | 1 << 63 for _ in range(60_000)}
    spread = [value | (value >> 25 & 0x3FFF) * 0x41 & 0xFFFFF for value in values]
    assert sum(map(len, groups(enumerate(spread), 1))) <= len(spread)


@pytest.mark.parametrize("within", [-1, 17, 64])
def test_a_distance_that_means_nothing_is_refused(within: int) -> None:
    with pytest.raises(ValueError, match="0 to 16 bits"):
        groups([], within)
