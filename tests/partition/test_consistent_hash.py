from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.partition.consistent_hash import attraction, jump, number_of

NUMBERS = st.integers(0, 2**64 - 1)


@pytest.mark.parametrize(
    ("number", "places", "place"),
    [(1, 1, 0), (42, 57, 43), (0xDEAD10CC, 1, 0), (0xDEAD10CC, 666, 361), (256, 1024, 520)],
)
def test_the_jump_is_that_of_the_paper(number: int, places: int, place: int) -> None:
    """Values that other implementations of the published algorithm give, too."""
    assert jump(number, places) == place


@given(NUMBERS, st.integers(1, 200))
def test_one_place_more_moves_a_number_only_there(number: int, places: int) -> None:
    before, after = jump(number, places), jump(number, places + 1)
    assert 0 <= before < places
    assert after in (before, places)


def test_every_place_gets_its_share() -> None:
    counts = Counter(jump(number_of(f"host-{one}.example"), 16) for one in range(16_000))
    assert len(counts) == 16
    assert 850 < min(counts.values()) <= max(counts.values()) < 1150


def test_numbers_of_names_stay_what_they_are() -> None:
    """A cluster that is started by another version must find every host where it is."""
    assert number_of("www.example.org") == 6896386898653239348
    assert number_of("www.example.org", b"secret") == 791366705056597791


@pytest.mark.parametrize("name", ["", "\udcff", "é", "a" * 100_000, "\0"])
def test_every_name_has_a_number(name: str) -> None:
    assert 0 <= number_of(name, b"x" * 1000) < 2**64


def test_the_heavier_place_attracts_more() -> None:
    weights = {"small": 1, "medium": 2, "large": 5}
    won = Counter(max(weights, key=lambda place: attraction(place, str(name), weights[place])) for name in range(4000))
    assert won["small"] == pytest.approx(500, rel=0.15)
    assert won["medium"] == pytest.approx(1000, rel=0.1)
    assert won["large"] == pytest.approx(2500, rel=0.06)


def test_a_place_that_is_added_takes_names_and_moves_no_other() -> None:
    old = ["a", "b", "c"]
    for name in map(str, range(500)):
        before = max(old, key=lambda place: attraction(place, name, 7))
        after = max([*old, "d"], key=lambda place: attraction(place, name, 7))
        assert after in (before, "d")


def test_a_place_without_weight_attracts_nothing() -> None:
    assert attraction("a", "b", 0) == 0
