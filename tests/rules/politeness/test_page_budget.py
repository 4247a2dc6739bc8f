"""MaxPages in parts: never more than there are, all of them in the end, and equal parts for sites that are equally quick."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from parcahyd.rules.politeness.page_budget import PageBudget


def _crawl(max_pages: int, sites: list[int]) -> list[int]:
    """Sites with so many pages take turns, one page each, and begin a new visit when the last one is over."""
    budget = PageBudget(max_pages)
    taken = [0] * len(sites)
    visits: dict[int, tuple[int, int, int]] = {}
    """By site: the visit, what it may fetch, what it has fetched."""
    number = 0
    while True:
        has_work = [site for site, pages in enumerate(sites) if taken[site] < pages or site in visits]
        for site in has_work:
            if site not in visits and not budget.is_used_up:
                number += 1
                visits[site] = number, budget.reserve(number, 5000, len(has_work)), 0
        assert sum(reserved - fetched for _, reserved, fetched in visits.values()) + sum(taken) <= max_pages
        if not visits:
            return taken
        for site, (visit, reserved, fetched) in list(visits.items()):
            if fetched < reserved and taken[site] < sites[site]:
                taken[site] += 1
                visits[site] = visit, reserved, fetched + 1
            else:
                del visits[site]
                budget.used(visit, fetched)
                budget.committed([visit], sum(taken))


def test_three_sites_get_about_a_third_each() -> None:
    taken = _crawl(200, [1000, 1000, 1000])
    assert sum(taken) == 200
    assert max(taken) - min(taken) <= 2, taken


def test_twenty_sites_get_about_the_same() -> None:
    taken = _crawl(8000, [5000] * 20)
    assert sum(taken) == 8000
    assert min(taken) >= 390, taken


@given(st.integers(1, 300), st.lists(st.integers(1, 100), min_size=1, max_size=12))
def test_all_of_it_is_used_if_there_is_work(max_pages: int, sites: list[int]) -> None:
    assert sum(_crawl(max_pages, sites)) == min(max_pages, sum(sites))


def test_without_a_limit_a_visit_takes_what_it_may() -> None:
    budget = PageBudget(None)
    assert budget.reserve(1, 5000, 20) == 5000
    budget.lost([1])
    budget.committed([1], 7)
    assert not budget.is_used_up
    assert not budget.is_over


def test_pages_that_were_lost_after_their_visit_are_fetched_again() -> None:
    budget = PageBudget(2)
    assert budget.reserve(1, 5000, 1) == 1
    assert budget.reserve(2, 5000, 1) == 1
    budget.used(1, 1)
    budget.committed([1], 1)
    budget.used(2, 1)
    budget.lost([])
    assert not budget.is_over, "the second visit is not committed"
    budget.committed([2], 1)
    assert budget.reserve(3, 5000, 1) == 1


def test_pages_of_a_lost_visit_are_counted_when_all_visits_are_committed() -> None:
    budget = PageBudget(3)
    assert [budget.reserve(visit, 5000, 9) for visit in (1, 2, 3)] == [1, 1, 1]
    budget.lost([1])
    budget.used(2, 1)
    budget.committed([1], 1)
    assert not budget.is_over
    budget.committed([3], 2)  # The database is quicker than the worker's own message.
    budget.used(3, 1)
    assert budget.is_used_up
    assert not budget.is_over
    budget.committed([2], 2)
    assert budget.reserve(4, 5000, 9) == 1
    budget.used(4, 1)
    assert budget.is_over


def test_a_part_of_a_cluster_counts_by_what_it_has_drawn() -> None:
    budget = PageBudget(0)
    assert budget.is_used_up
    budget.set_to(3)
    assert [budget.reserve(visit, 5000, 1) for visit in (1, 2)] == [1, 1]
    budget.set_to(5)
    assert [budget.reserve(visit, 5000, 1) for visit in (3, 4, 5, 6)] == [2, 1, 0, 0]
    assert budget.is_used_up


def test_pages_that_a_part_used_and_did_not_store_are_used_again() -> None:
    budget = PageBudget(0)
    budget.set_to(1)
    assert budget.reserve(1, 5000, 1) == 1
    budget.used(1, 1)
    budget.lost([])
    budget.committed([1], 0)
    assert budget.reserve(2, 5000, 1) == 1
