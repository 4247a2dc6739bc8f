from __future__ import annotations

import random

import pytest

from parcahyd.core.partitions import MAX_SHARED
from parcahyd.partition.superpages.counters import Counters
from parcahyd.partition.superpages.estimate import fitted
from parcahyd.partition.superpages.expansion import Expansion
from parcahyd.partition.superpages.figures import Figures, Room, merged, read, written


def _counted(seed: int, urls: int, version: int = 0) -> Figures:
    chance = random.Random(seed)
    counters = Counters(Expansion(), b"secret")
    for number in range(urls):
        subject = f"{chance.randrange(400)}.example/{chance.randrange(30)}/{number}"
        counters.visit(subject, 1)
        if number % 2:
            counters.fetch(subject, 1)
        counters.link(subject, f"{chance.randrange(400)}.example/", 3)
        counters.rate(subject, 2.5)
    return counters.figures(version)


def test_figures_merge_in_any_order_to_the_same_bytes_also_where_they_are_cut() -> None:
    room = Room(hot=8, cool=4, links=8, rates=1)
    a, b, c = (_counted(seed, 1000) for seed in range(3))
    whole = written(merged([a, b, c], room))
    assert len(whole) <= 24 * 1024 < len(written(merged([a, b, c])))
    for first, second, third in ((a, b, c), (b, c, a), (c, a, b)):
        assert written(merged([third, merged([second, first], room)], room)) == whole
        assert written(merged([merged([first, third], room), second], room)) == whole
    assert written(merged([merged([a])])) == written(merged([a]))
    assert written(merged([])) == b""


def test_visited_and_to_be_visited_are_counted_by_superpage() -> None:
    figures = _counted(1, 1000)
    assert figures.pages == [(0, 1000, 500)]
    assert merged([figures, _counted(2, 500)]).pages == [(0, 1500, 750)]
    assert ("example", 1000, 500) in figures.hot


def test_figures_of_an_older_routing_count_no_more() -> None:
    old, new = _counted(1, 100, version=3), _counted(2, 100, version=4)
    assert merged([old, new, old]) == merged([new])


def test_what_is_no_figures_is_refused() -> None:
    for damaged in (b"\xff", b"\x93", written(merged([_counted(1, 50)]))[:-3]):
        with pytest.raises(ValueError, match="no figures"):
            read(damaged)


def test_a_million_random_tokens_leave_bounded_figures() -> None:
    counters = Counters(Expansion(), b"secret")
    # Each fact stands for many URLs; the names are what floods.
    for number in range(16_000):
        counters.visit(f"{number * 7919 % 1_000_003}.evil.example/{'x' * (number % 300)}/{number}/", 17)
        counters.link(f"{number}.evil.example/", f"{number}.other.example/", 5)
        counters.rate(f"{number}.evil.example", 1.0)
        if number % 10 == 0:
            counters.visit("www.good.example/docs/", 40)
    figures = merged([counters.figures(0)])
    assert len(written(figures)) <= MAX_SHARED
    assert "example,good,www/docs" in {prefix for prefix, *_ in figures.hot}


def test_odd_values_are_passed_over() -> None:
    counters = Counters(Expansion(), b"")
    for value in (0, -1, float("nan"), float("inf"), float("-inf")):
        counters.visit("a.example/", value)
        counters.fetch("a.example/", value)
        counters.link("a.example/", "b.example/", value)
        counters.rate("a.example", value)
    assert not counters.figures(0)


@pytest.mark.parametrize(
    ("guesses", "most", "total"),
    [([5, 5], [9, 9], 10), ([5, 5], [9, 9], 17), ([5, 5], [9, 9], 3), ([5, 5], [6, 6], 99), ([], [], 4)],
)
def test_guesses_are_fitted_to_what_was_counted(guesses: list[int], most: list[int], total: int) -> None:
    found = fitted(guesses, most, total)
    assert sum(found) == min(total, sum(most))
    assert all(0 <= one <= high for one, high in zip(found, most, strict=True))
