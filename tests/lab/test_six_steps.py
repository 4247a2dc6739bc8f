"""The procedure of paper 002, one step after the other (statements I4, I5, I7, I8)."""

from __future__ import annotations

from ipaddress import IPv4Address

import pytest

from parcahyd.lab.six_steps import Delegated, SixSteps, Step
from parcahyd.partition.locations.delegated import Delegation
from parcahyd.partition.locations.hierarchy import Hierarchy, build_hierarchy


def ranges(*given: tuple[str, int, str]) -> Hierarchy:
    """First address, number of addresses and company of each; all of one registry but those that begin with 9."""
    firsts = [(int(IPv4Address(first)), count, company) for first, count, company in given]
    return build_hierarchy(
        Delegation(4, first, first + count - 1, "apnic" if first >> 24 == 9 else "arin", "US", company)
        for first, count, company in firsts
    )


WORLD = ranges(
    ("1.0.0.0", 768, "one"),
    ("1.0.4.0", 256, "two"),
    ("1.0.8.0", 256, "three"),
    ("1.9.0.0", 256, "four"),
    ("2.0.0.0", 256, "one"),
    ("3.0.0.0", 256, "five"),
    ("4.0.0.0", 65536, "provider"),
    ("4.0.1.0", 256, "customer"),
    ("9.0.0.0", 256, "six"),
)
THRESHOLD = 0.050


class Probes:
    """Times of the crawlers, and who was asked."""

    def __init__(self, **milliseconds: int) -> None:
        self._times = {int(name[1:]): time / 1000 for name, time in milliseconds.items()}
        self.asked: list[int] = []

    def __call__(self, crawler: int) -> float:
        self.asked.append(crawler)
        return self._times[crawler]


def trained(*delegated: tuple[str, int]) -> SixSteps:
    steps = SixSteps(WORLD, THRESHOLD)
    for address, crawler in delegated:
        steps.delegate(address, crawler)
    return steps


def test_1_a_subnet_that_is_delegated_keeps_its_crawler_without_a_probe() -> None:
    probes = Probes()
    steps = trained(("1.0.0.5", 3))
    assert steps.choose("1.0.2.200", probes) == Delegated(3, Step.KNOWN)
    steps.delegate("1.0.2.1", 4)
    assert steps.choose("1.0.2.200", probes) == Delegated(3, Step.KNOWN)
    assert probes.asked == []


def test_2_another_subnet_of_the_company_lends_its_only_crawler() -> None:
    probes = Probes()
    assert trained(("1.0.0.5", 3)).choose("2.0.0.1", probes) == Delegated(3, Step.ONE_OF_COMPANY)
    assert probes.asked == []


def test_3_of_several_crawlers_of_the_company_the_first_within_the_threshold_is_taken() -> None:
    hierarchy = ranges(("1.0.0.0", 256, "one"), ("2.0.0.0", 256, "one"), ("3.0.0.0", 256, "one"))
    steps = SixSteps(hierarchy, THRESHOLD)
    steps.delegate("1.0.0.1", 1)
    steps.delegate("2.0.0.1", 2)
    near = Probes(c1=40, c2=10)
    assert steps.choose("3.0.0.1", near) == Delegated(1, Step.SEVERAL_OF_COMPANY)
    assert near.asked == [1]
    far = Probes(c1=90, c2=70)
    assert steps.choose("3.0.0.1", far) == Delegated(2, Step.SEVERAL_OF_COMPANY)
    assert far.asked == [1, 2]


def test_4_siblings_below_the_parent_are_asked_until_one_is_near_enough() -> None:
    steps = trained(("1.0.0.1", 1), ("1.0.4.1", 2), ("9.0.0.1", 5))
    probes = Probes(c1=80, c2=50, c5=1)
    assert steps.choose("1.0.8.1", probes) == Delegated(2, Step.SIBLINGS)
    assert probes.asked == [1, 2]


def test_4_a_parent_is_also_the_range_around_and_its_children_are_siblings() -> None:
    steps = trained(("4.0.9.1", 6), ("9.0.0.1", 5))
    probes = Probes(c6=20, c5=1)
    assert steps.choose("4.0.1.1", probes) == Delegated(6, Step.HIGHER)
    assert probes.asked == [6]


def test_5_without_success_the_next_higher_level_is_asked_and_nobody_twice() -> None:
    steps = trained(("1.0.0.1", 1), ("1.9.0.1", 3), ("3.0.0.1", 4), ("9.0.0.1", 5))
    probes = Probes(c1=80, c3=60, c4=30, c5=1)
    assert steps.choose("1.0.4.1", probes) == Delegated(4, Step.HIGHER)
    assert probes.asked == [1, 3, 4]


def test_6_where_nobody_is_near_enough_the_lowest_probe_counts() -> None:
    steps = trained(("1.0.0.1", 1), ("1.9.0.1", 3), ("3.0.0.1", 4), ("9.0.0.1", 5))
    probes = Probes(c1=80, c3=60, c4=70, c5=90)
    assert steps.choose("1.0.4.1", probes) == Delegated(3, Step.LOWEST)
    assert probes.asked == [1, 3, 4, 5]


def test_a_subnet_is_delegated_with_its_address_and_trains_the_tree() -> None:
    steps = trained(("1.0.0.1", 1))
    steps.delegate("3.0.0.7", steps.choose("3.0.0.7", Probes(c1=20)).crawler)
    assert steps.choose("3.0.0.8", Probes()) == Delegated(1, Step.KNOWN)


def test_an_address_that_no_registry_gave_away_is_a_subnet_of_its_own() -> None:
    steps = trained(("1.0.0.1", 1), ("200.0.0.1", 2))
    assert steps.choose("200.0.0.9", Probes()) == Delegated(2, Step.KNOWN)
    assert steps.choose("200.0.1.9", Probes(c2=10)) == Delegated(2, Step.SIBLINGS)
    with pytest.raises(ValueError, match="no address"):
        steps.choose("example", Probes())


def test_a_new_hierarchy_is_populated_from_the_old_one() -> None:
    steps = trained(("1.0.0.1", 1), ("2.0.0.1", 2))
    newer = ranges(("1.0.0.0", 256, "one"), ("1.0.1.0", 256, "seven"), ("2.0.0.0", 512, "two"))
    anew = steps.rebuilt(newer, ["1.0.0.1", "2.0.0.1", "3.0.0.1"])
    assert anew.choose("1.0.0.9", Probes()) == Delegated(1, Step.KNOWN)
    assert anew.choose("2.0.1.9", Probes()) == Delegated(2, Step.KNOWN)
    assert anew.choose("1.0.1.9", Probes(c1=10)) == Delegated(1, Step.SIBLINGS)
