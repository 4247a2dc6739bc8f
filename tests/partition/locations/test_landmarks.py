"""Which machine is the nearest: foreseen from landmarks, on a line of cities whose distances can be counted."""

from __future__ import annotations

from math import inf

import pytest

from parcahyd.partition.locations.hierarchy import NOBODY, Place
from parcahyd.partition.locations.landmarks import Landmark, Landmarks

CRAWLERS = (0, 50, 100)
"""Where they stand, in milliseconds along the line."""


def times(city: float) -> tuple[float, ...]:
    return tuple(abs(city - crawler) / 1000 + 0.001 for crawler in CRAWLERS)


def place(holder: int = NOBODY, country: int = NOBODY, registry: int = 0) -> Place:
    return Place(holder, country, registry)


def line(places: dict[int, Place]) -> Landmarks:
    """A landmark every ten milliseconds."""
    landmarks = Landmarks(len(CRAWLERS))
    for city in range(0, 101, 10):
        landmarks.add(Landmark(times(city), places.get(city)))
    return landmarks


def test_the_holder_counts_more_than_the_country_and_the_country_more_than_the_registry() -> None:
    landmarks = line({0: place(7, 1), 10: place(8, 1), 50: place(9, 2), 90: place(6, 3), 100: place(5, 3)})
    assert landmarks.foresee(place(7, 3), {}).nearest == 0
    assert landmarks.foresee(place(99, 3), {}).nearest == 2
    assert landmarks.foresee(place(99, 2), {}).nearest == 1
    unknown = landmarks.foresee(None, {})
    assert unknown.nearest == 1
    assert unknown.excess > 0.01


def test_each_probe_narrows_what_is_foreseen() -> None:
    landmarks = line({})
    on_either_side = landmarks.foresee(None, {1: 0.048})
    assert on_either_side.excess > 0.02
    assert on_either_side.next_probe in {0, 2}
    on_one = landmarks.foresee(None, {1: 0.048, 0: 0.004})
    assert on_one.nearest == 0
    assert on_one.excess == pytest.approx(0, abs=1e-4)


def test_a_crawler_that_never_measured_is_the_nearest_where_all_landmarks_say_so() -> None:
    found = line({}).foresee(None, {0: 0.096, 1: 0.046})
    assert (found.nearest, found.next_probe) == (2, 2)
    assert found.excess < 0.002


def test_when_all_have_measured_the_least_time_counts() -> None:
    found = line({}).foresee(None, {0: 0.09, 1: 0.2, 2: 0.01})
    assert found == (2, 0.0, None)


def test_a_crawler_that_does_not_reach_the_network_is_the_last_choice() -> None:
    found = line({}).foresee(None, {0: inf, 1: 0.02})
    assert found.nearest != 0
    assert line({}).foresee(None, {0: inf, 1: inf, 2: 0.3}).nearest == 2


def test_what_is_less_likely_counts_too() -> None:
    """A landmark of the same holder in the west, and ten strangers in the east: one in a hundred, of 100 ms."""
    landmarks = Landmarks(len(CRAWLERS))
    landmarks.add(Landmark(times(0), place(7, 1, 1)))
    for _ in range(10):
        landmarks.add(Landmark(times(100), place(8, 2, 2)))
    found = landmarks.foresee(place(7, 3, 3), {})
    assert (found.nearest, found.next_probe) == (0, 0)
    assert found.excess == pytest.approx(0.1 * 2 / 202)


def test_the_likeliest_measures_next() -> None:
    landmarks = line({})
    for _ in range(20):
        landmarks.add(Landmark(times(95), None))
    assert landmarks.foresee(None, {}).next_probe == 2
    assert landmarks.foresee(None, {2: 0.060}).next_probe == 1


def test_a_network_that_is_like_no_landmark_is_measured_by_all() -> None:
    found, measured = line({}).foresee(None, {}), {}
    for probes in range(len(CRAWLERS)):
        assert found.next_probe is not None
        measured[found.next_probe] = 5.0 - probes
        found = line({}).foresee(None, measured)
    assert (found.excess, found.next_probe) == (0.0, None)


def test_a_crawler_that_reaches_what_it_never_reached_before_is_believed() -> None:
    landmarks = Landmarks(2)
    landmarks.add(Landmark((inf, 0.2), None))
    found = landmarks.foresee(None, {0: 0.001})
    assert (found.nearest, found.excess) == (0, 0.0)


def test_without_landmarks_one_after_the_other_measures() -> None:
    nothing = Landmarks(3)
    assert nothing.foresee(None, {}) == (0, inf, 0)
    assert nothing.foresee(None, {0: 0.1, 2: 0.05}) == (2, inf, 1)
    assert nothing.foresee(None, {0: 0.1, 1: 0.07, 2: 0.05}) == (2, 0.0, None)
