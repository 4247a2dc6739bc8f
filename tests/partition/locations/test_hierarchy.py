"""Which range has an address: ranges of any length, with gaps, within one another, and across one another."""

from __future__ import annotations

import random
from ipaddress import IPv4Address

import pytest

from parcahyd.core.errors import UserError
from parcahyd.partition.locations.delegated import Delegation
from parcahyd.partition.locations.hierarchy import NOBODY, Hierarchy, Place, build_hierarchy
from parcahyd.partition.locations.networks import MAX_NETWORK, first_address, network_of


def made(*ranges: tuple[int, int], version: int = 4) -> Hierarchy:
    return build_hierarchy(Delegation(version, first, last, "arin", "US", f"{first}") for first, last in ranges)


def test_the_network_of_an_address() -> None:
    assert network_of("192.0.2.77") == network_of("192.0.2.0") == network_of("::ffff:192.0.2.9") == 0xC00002
    assert network_of("192.0.3.0") == 0xC00003
    assert network_of("2001:db8:1::1") == network_of("2001:db8:1:ffff::") == network_of("2001:db8:1::%eth0")
    assert network_of("2001:db8:1::1") != network_of("2001:db8:2::1")
    assert [network_of(odd) for odd in ("", "example", "1.2.3", "1:2", "0x7f.0.0.1", "1.2.3.4\n", "\udcff", "9" * 10_000)] == [
        None
    ] * 8
    assert first_address(network_of("192.0.2.77") or 0) == (4, int(IPv4Address("192.0.2.0")))
    assert first_address(network_of("2001:db8:1::1") or 0) == (6, 0x20010DB800010000)
    assert network_of("ffff:ffff:ffff:ffff::") == MAX_NETWORK


def test_ranges_across_powers_of_two_have_gaps_between_them() -> None:
    ranges = made((1000, 1767), (1768, 1770), (5000, 5000)).ipv4
    assert [ranges.find(address) for address in (999, 1000, 1767, 1768, 1770, 1771, 4999, 5000, 5001)] == [
        *(None, 0, 0, 1, 1, None, None, 2, None)
    ]
    assert made((0, 5), (2**32 - 3, 2**32 - 1)).ipv4.find(2**32 - 1) == 1
    assert made().ipv4.find(7) is None


def test_the_smallest_range_has_an_address_and_the_others_are_above_it() -> None:
    ranges = made((0, 99), (10, 49), (20, 29), (60, 69)).ipv4
    assert [ranges.find(address) for address in (5, 15, 25, 30, 55, 65, 70, 99, 100)] == [0, 1, 2, 1, 0, 3, 0, 0, None]
    assert list(ranges.above(2)) == [1, 0]
    assert list(ranges.above(3)) == [0]
    assert list(ranges.above(0)) == []


def test_ranges_that_overlap_are_not_above_one_another() -> None:
    ranges = made((0, 20), (10, 24), (12, 14)).ipv4
    assert [ranges.find(address) for address in (5, 10, 13, 16, 22, 25)] == [0, 1, 2, 1, 1, None]
    assert list(ranges.above(1)) == []
    assert list(ranges.above(2)) == [1]


def test_random_ranges_are_found_as_by_looking_at_all_of_them() -> None:
    chance = random.Random(3)
    for _ in range(60):
        firsts = [chance.randrange(60) for _ in range(chance.randrange(1, 12))]
        pairs = [(first, first + chance.randrange(25)) for first in firsts]
        ranges = made(*pairs).ipv4
        spans = list(zip(ranges.first, ranges.last, strict=True))
        assert sorted(spans) == sorted(pairs)
        for address in range(90):
            around = [last - first for first, last in spans if first <= address <= last]
            number = ranges.find(address)
            assert (number is None) == (not around)
            if number is not None:
                assert spans[number][0] <= address <= spans[number][1]
                assert spans[number][1] - spans[number][0] == min(around)


def test_a_place_has_holder_country_and_registry() -> None:
    hierarchy = build_hierarchy(
        [
            Delegation(4, 0x01000000, 0x010000FF, "arin", "US", "a"),
            Delegation(4, 0x02000000, 0x020000FF, "apnic", "JP", "a"),
            Delegation(6, 0x20010DB800000000, 0x20010DB8FFFFFFFF, "arin", "US", "a"),
            Delegation(4, 0x03000000, 0x030000FF, "arin", "", ""),
        ]
    )
    places = [hierarchy.place(network_of(text) or 0) for text in ("1.0.0.9", "2.0.0.9", "2001:db8::9", "3.0.0.9", "4.0.0.9")]
    usa, japan, usa_too, unknown, nowhere = places
    assert usa == usa_too
    assert usa is not None
    assert japan is not None
    assert usa.holder != japan.holder
    assert (hierarchy.countries[usa.country], hierarchy.registries[japan.registry]) == ("US", "apnic")
    assert unknown == Place(NOBODY, NOBODY, usa.registry)
    assert nowhere is None
    assert hierarchy.holders == 2


def test_ranges_that_lie_too_deep_are_refused() -> None:
    with pytest.raises(UserError, match="more than 64 ranges lie around one address"):
        made(*((number, 1000 - number) for number in range(70)))
