from __future__ import annotations

from parcahyd.partition.space_saving import SpaceSaving


def test_what_fits_is_counted_exactly() -> None:
    counters = SpaceSaving(10)
    for number in range(100):
        counters.add(str(number % 5), 2)
    assert sorted((one.name, one.least, one.most) for one in counters) == [(str(number), 40, 40) for number in range(5)]


def test_what_is_hot_survives_a_flood_of_names_and_counts_are_bounds() -> None:
    counters = SpaceSaving(100)
    for number in range(20_000):
        counters.add(f"cold {number}")
        if number % 10 == 0:
            counters.add("hot")
    assert len(counters) == 100
    hot = next(one for one in counters if one.name == "hot")
    assert hot.least <= 2000 <= hot.most
    assert counters.least("hot") == hot.least > 1000
    assert counters.least("unknown") == 0


def test_the_same_names_leave_the_same_counters() -> None:
    one, other = SpaceSaving(7), SpaceSaving(7)
    for number in range(1000):
        for counters in (one, other):
            counters.add(str(number * number % 31))
    assert list(one) == list(other)
