"""The scheduler against uniform visits with the same requests, in a short simulation; the whole one is bench/freshness.py."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.changing_pages import DAY, ChangingPages
from bench.freshness import all_knowing, pages_of, proportional, scheduled, settings, uniform
from bench.stored_pages import scheduled_by_store


@pytest.mark.parametrize("distribution", ["lognormal", "gamma"])
def test_the_scheduler_keeps_more_pages_fresh_than_uniform_visits_do(distribution: str) -> None:
    pages = pages_of(distribution, 150, 60, seed=1)
    since = 15 * DAY
    ours, even = pages.score(scheduled(pages, settings(150)), since), pages.score(uniform(pages, 150), since)
    best, rated = pages.score(all_knowing(pages, 150), since), pages.score(proportional(pages, 150), since)
    assert ours.requests <= even.requests * 1.02
    assert ours.fresh > even.fresh + 0.015
    assert ours.fresh > rated.fresh
    assert best.fresh > ours.fresh


@pytest.mark.parametrize("distribution", ["two kinds", "all equal"])
def test_where_there_is_nothing_to_learn_little_is_lost(distribution: str) -> None:
    pages = pages_of(distribution, 150, 60, seed=1)
    ours, even = (pages.score(kept, 15 * DAY) for kept in (scheduled(pages, settings(150)), uniform(pages, 150)))
    assert ours.fresh > even.fresh - 0.01
    assert ours.requests <= even.requests * 1.02


def test_the_store_schedules_as_the_scheduler_does(tmp_path: Path) -> None:
    pages = pages_of("lognormal", 40, 20, seed=1)
    stored = pages.score(scheduled_by_store(pages, settings(40), f"sqlite:///{tmp_path / 'crawl.db'}"), 5 * DAY)
    ours = pages.score(scheduled(pages, settings(40)), 5 * DAY)
    assert stored.fresh == pytest.approx(ours.fresh, abs=0.03)
    assert stored.requests <= 15 * 40 * 1.1


def test_the_same_seed_gives_the_same_numbers() -> None:
    pages, again = (pages_of("gamma", 30, 20, seed=4) for _ in range(2))
    assert scheduled(pages, settings(30)) == scheduled(again, settings(30))


def test_scores_are_exact() -> None:
    pages = ChangingPages([0.0, 1.0], 100.0, seed=1)
    pages._changes[1] = [10.0, 30.0, 60.0]
    score = pages.score([[0.0], [0.0, 20.0, 50.0]], 0.0)
    assert score.fresh == pytest.approx((100 + 10 + 10 + 10) / 200)
    assert score.age == pytest.approx((50 + 200 + 800) / 200)
    assert score.requests == 2
    assert pages.score([[0.0], [0.0, 20.0, 50.0]], 80.0).age == pytest.approx((40**2 - 20**2) / 2 / 40)
