from __future__ import annotations

from collections import Counter

from parcahyd.core.partitions import Neighbours
from parcahyd.partition.address_homes import LEAST, MORE, home_at_address
from parcahyd.partition.consistent_hash import jump, number_of

PARTITIONS = 12


def _settled(hosts: int, addresses: int, elsewhere: int = 0) -> tuple[Counter[int], list[Counter[int]]]:
    """So many hosts of these addresses are met one after the other: all hosts by home, and those of each address."""
    homes = Counter(dict.fromkeys(range(PARTITIONS), elsewhere))
    at = [Counter[int]() for _ in range(addresses)]
    for number in range(hosts):
        own = jump(number_of(f"shop-{number}.example"), PARTITIONS)
        home = home_at_address(own, Neighbours(at[number % addresses], homes), PARTITIONS)
        homes[home] += 1
        at[number % addresses][home] += 1
    return homes, at


def test_the_first_host_of_an_address_stays_at_home() -> None:
    assert home_at_address(5, Neighbours({}, {0: 100}), PARTITIONS) == 5


def test_a_host_lives_where_most_of_its_neighbours_do() -> None:
    assert home_at_address(5, Neighbours({2: 3, 7: 9, 5: 1}, {}), PARTITIONS) == 7


def test_of_equals_the_lowest_number_counts() -> None:
    assert home_at_address(5, Neighbours({7: 3, 2: 3}, {}), PARTITIONS) == 2


def test_a_full_partition_takes_in_no_host_but_its_own() -> None:
    full = Neighbours({7: 900}, {7: 10_000})
    assert home_at_address(5, full, PARTITIONS) == 5
    assert home_at_address(7, full, PARTITIONS) == 7


def test_when_the_first_is_full_the_others_gather_in_a_second() -> None:
    assert home_at_address(5, Neighbours({7: 900, 3: 1}, {7: 10_000, 3: 1}), PARTITIONS) == 3


def test_forty_hosts_behind_two_addresses_have_two_homes() -> None:
    _, at = _settled(40, 2)
    assert [len(homes) for homes in at] == [1, 1]


def test_an_address_of_a_hundred_thousand_hosts_cannot_fill_one_partition() -> None:
    homes, _ = _settled(100_000, 1)
    mean = homes.total() / PARTITIONS
    assert max(homes.values()) <= 1.01 * (LEAST + (1 + MORE) * mean)


def test_many_addresses_together_cannot_either() -> None:
    homes, at = _settled(30_000, 300, elsewhere=500)
    mean = homes.total() / PARTITIONS
    assert max(homes.values()) <= 1.01 * (LEAST + (1 + MORE) * mean)
    assert sum(len(one) for one in at) < 2 * len(at)


def test_homes_that_do_not_exist_are_passed_over() -> None:
    assert home_at_address(1, Neighbours({99: 5, -1: 7}, {}), PARTITIONS) == 1
