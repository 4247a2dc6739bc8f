"""Rates of new URLs, from times and from counts."""

from __future__ import annotations

import pytest

from parcahyd.rules.growth.discovery import growth_of


def test_rates_are_of_the_last_eighth_quarter_and_half() -> None:
    found = [*range(40), 60.5, 61.5, 75.5, 75.6, 79.5]
    growth = growth_of(79, 80, 5, found, range(1, 81))
    assert growth.rates == (3 / 10, 5 / 20, 5 / 40)
    assert (growth.pages, growth.answered, growth.waiting) == (79, 80, 5)


def test_a_sample_has_the_rates_of_all() -> None:
    found, answered = [place / 3 for place in range(30_000)], range(10_000)
    whole = growth_of(0, 0, 0, found, answered)
    tenth = growth_of(0, 0, 0, found[::10], answered[::10])
    assert tenth.rates == pytest.approx(whole.rates, rel=0.01)


@pytest.mark.parametrize("answered", [[], [1.0], [1.0, 2.0]])
def test_of_nothing_and_of_little_there_are_rates_too(answered: list[float]) -> None:
    assert all(rate >= 0 for rate in growth_of(0, 0, 0, [0.5], answered).rates)
