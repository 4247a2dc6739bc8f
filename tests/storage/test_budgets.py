"""RevisitsPerDay: which pages are counted at the start of a run, leased by the frontier, and planned."""

from __future__ import annotations

import pytest

from parcahyd.core.errors import StoreFailure
from parcahyd.core.states import Reason, State
from parcahyd.storage.run_state import RunState
from parcahyd.storage.schema import urls
from tests.storage.desk import Desk

A, B = "http://a.example", "http://b.example"
DAY = 86400.0


def _state(desk: Desk) -> RunState:
    return desk.store._state


def _crawled(desk: Desk, pages: int = 20) -> None:
    """Two sites with that many pages each, stored and due."""
    desk.begin(RevisitAfter=DAY)
    desk.seed(f"{A}/", f"{B}/")
    for pair in desk.lease():
        paths = [f"/{number}" for number in range(1, pages)]
        desk.write(desk.page(pair, body=pair.host.encode()), *(desk.page(pair, path, path.encode()) for path in paths))
        desk.over(pair)
    desk.now += 2 * DAY


def test_no_more_is_given_out_than_the_day_allows(desk: Desk) -> None:
    _crawled(desk)
    desk.begin(RevisitAfter=DAY, RevisitMax=DAY, RevisitsPerDay=24)
    pairs, following = desk.lease_and_next()
    assert sum(len(pair.urls) for pair in pairs) == 24
    assert following is None  # this run has made its requests
    for pair in pairs:
        desk.write(*(desk.unchanged(pair, due.path) for due in pair.urls))
        desk.over(pair)
    assert desk.lease_and_next() == ([], None)
    desk.now += 10
    desk.begin(RevisitAfter=DAY, RevisitMax=DAY, RevisitsPerDay=24)
    assert desk.lease() == []  # and so has the next


def test_for_ever_the_rest_comes_with_the_next_portion(desk: Desk) -> None:
    _crawled(desk)
    desk.begin(RevisitAfter=DAY, RevisitMax=DAY, RevisitsPerDay=24)
    for pair in desk.lease(again_before=desk.now + 1):
        desk.over(pair)
    pairs, following = desk.lease_and_next(again_before=desk.now + 1)
    assert pairs == []
    assert following == pytest.approx(desk.now + 3600)
    desk.now += 3601
    (pair,) = desk.lease(again_before=desk.now)
    assert len(pair.urls) == 1


def test_a_lease_that_fails_uses_up_nothing(desk: Desk) -> None:
    _crawled(desk)
    desk.begin(RevisitAfter=DAY, RevisitMax=DAY, RevisitsPerDay=24)
    failed = 0
    for statement in range(1, 20):
        heal = desk.fail_at(statement)
        try:
            pairs = desk.lease()
        except StoreFailure:
            failed += 1
        else:
            break
        finally:
            heal()
    assert failed > 4
    assert sum(len(pair.urls) for pair in pairs) == 24
    heal = desk.fail_at(2)
    with pytest.raises(StoreFailure):
        desk.write(desk.unchanged(pairs[0]))
    heal()
    allowance = _state(desk).allowance
    assert allowance is not None
    assert allowance.left(desk.now) == 0, "what failed later gives nothing of it back"


def test_new_urls_and_retries_are_not_counted(desk: Desk) -> None:
    _crawled(desk)
    desk.begin(RevisitAfter=DAY, RevisitMax=DAY, RevisitsPerDay=1)
    desk.seed(f"{A}/new", f"{A}/newer")
    pairs = desk.lease()
    found = [due for pair in pairs for due in pair.urls]
    assert {due.path for due in found if due.state == State.KNOWN} == {"/new", "/newer"}
    assert len(found) == 3
    pair = next(pair for pair in pairs if pair.host == "a.example")
    desk.store.store_bad([desk.bad(pair, "/new", reason=Reason.TLS, due_at=desk.now)], desk.now)
    for pair in pairs:
        desk.over(pair)
    assert [due.path for due in desk.visit(A).urls] == ["/newer", "/new"]


def test_what_was_asked_for_within_a_day_is_counted_at_the_start(desk: Desk) -> None:
    _crawled(desk)
    desk.begin(RevisitAfter=DAY)
    for pair in desk.lease():
        desk.write(*(desk.unchanged(pair, due.path) for due in pair.urls[:5]))
        desk.over(pair)
    desk.begin(RevisitAfter=DAY, RevisitsPerDay=100)
    allowance, budget = _state(desk).allowance, _state(desk).budget
    assert allowance is not None
    assert budget is not None
    assert allowance.left(desk.now) == 90
    assert (budget.census.pages, budget.census.once) == (40, 30)


def test_the_census_follows_what_is_written_and_forgets_what_was_not(desk: Desk) -> None:
    desk.begin(RevisitsPerDay=10)
    desk.seed(f"{A}/")
    budget = _state(desk).budget
    assert budget is not None
    pair = desk.visit()
    heal = desk.fail_at(3)
    with pytest.raises(Exception, match="planted"):
        desk.write(desk.page(pair))
    heal()
    assert budget.census.pages == 0
    desk.write(desk.page(pair), desk.page(pair, "/x", b"x"))
    assert (budget.census.pages, budget.census.once) == (2, 2)
    desk.now += 5
    desk.write(desk.unchanged(pair), desk.page(pair, "/x", b"changed"))
    assert (budget.census.pages, budget.census.once) == (2, 0)


def test_a_page_that_does_not_want_to_be_kept_is_counted_once(desk: Desk) -> None:
    desk.begin(RevisitsPerDay=10)
    desk.seed(f"{A}/")
    budget = _state(desk).budget
    assert budget is not None
    pair = desk.visit()
    for body in (b"1", b"2", b"3"):
        desk.write(desk.page(pair, body=body, reason=Reason.NOINDEX.word))
        desk.now += 5
        assert (budget.census.pages, budget.census.once) == (1, 1)
    desk.begin(RevisitsPerDay=10)
    budget = _state(desk).budget
    assert budget is not None
    assert (budget.census.pages, budget.census.once) == (1, 1)


def test_a_smaller_budget_makes_visits_rarer_when_it_is_set(desk: Desk) -> None:
    _crawled(desk)
    before = _earliest(desk)
    desk.begin(RevisitAfter=DAY, RevisitsPerDay=4)
    assert _earliest(desk) > before + 3 * DAY
    desk.begin(RevisitAfter=DAY)
    assert _earliest(desk) == pytest.approx(before)


def _earliest(desk: Desk) -> float:
    return float(min(row["due_at"] for row in desk.rows(urls)))
