"""Rates of change in the database: what each check teaches, and what a row of before rates were kept tells."""

from __future__ import annotations

from pathlib import Path

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.states import Reason, State
from parcahyd.refresh.change_rate import ChangeRate
from parcahyd.refresh.schedule import Revisits
from parcahyd.rules.urls.canonical_url import key_of
from parcahyd.storage.revisits import History, rate_of
from parcahyd.storage.schema import sites, urls
from tests.storage.desk import REVISIT, START, Desk

A = "http://a.example"
GUESS = ChangeRate.guess(REVISIT)


def _rate(desk: Desk, path: str = "/") -> ChangeRate:
    row = desk.row(path)
    return ChangeRate(row["change_weight"], row["change_span"], row["change_restless"])


def _stored(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit())


def _again(desk: Desk, seconds: float) -> None:
    """The next run, so many seconds later, with the page due."""
    desk.now += seconds
    desk.set_due("/", desk.now - 1)
    desk.begin()
    with desk.look.begin() as connection:
        connection.execute(sites.update().values(again_at=desk.now - 1))


def test_every_check_teaches(desk: Desk) -> None:
    _stored(desk)
    expected = GUESS
    for number, (seconds, body) in enumerate([(100.0, b"1"), (3000.0, b"1"), (50.0, b"2"), (700.0, b"2")]):
        _again(desk, seconds)
        changed = number in (0, 2)
        expected = Revisits(WorkConf(RevisitAfter=REVISIT)).learn(expected, seconds, changed)
        desk.crawl(desk.visit(), body=body)
        assert _rate(desk) == pytest.approx(expected)
        row = desk.row("/")
        due = Revisits(WorkConf(RevisitAfter=REVISIT)).following(desk.now, key_of("/"), expected)
        assert row["due_at"] == pytest.approx(due)
        assert (row["checks"], row["changes"]) == (number + 2, 1 + (number > 1))


def test_a_confirmation_teaches_as_equal_bytes_do(desk: Desk) -> None:
    _stored(desk)
    _again(desk, 500.0)
    pair = desk.visit()
    desk.write(desk.unchanged(pair))
    confirmed = desk.row("/")
    desk.over(pair)
    _again(desk, 0.0)
    with desk.look.begin() as connection:
        connection.execute(urls.update().values(checks=1, confirmed_at=desk.now - 500, change_weight=None, change_span=None))
    desk.crawl(desk.visit())
    row = desk.row("/")
    names = ("change_weight", "change_span", "change_restless", "due_at", "checks", "changed_at", "confirmed_at")
    assert [row[name] for name in names] == pytest.approx([confirmed[name] for name in names])


def test_a_failure_between_two_checks_does_not_shorten_the_time_between_them(desk: Desk) -> None:
    _stored(desk)
    _again(desk, 500.0)
    pair = desk.visit()
    desk.store.store_bad([desk.bad(pair, due_at=desk.now + 50)], desk.now)
    assert (desk.row("/")["checked_at"], desk.row("/")["confirmed_at"]) == (desk.now, START)
    desk.over(pair)
    desk.now += 50
    desk.crawl(desk.visit(), body=b"new")
    assert _rate(desk) == pytest.approx(GUESS.after_change(550.0))
    assert desk.row("/")["confirmed_at"] == desk.now


def test_a_page_whose_place_is_anothers_keeps_its_own_history(tmp_path: Path) -> None:
    desk = Desk(f"sqlite:///{tmp_path}/crawl.db", key_of=lambda _: 7)
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair), desk.page(pair, "/x", b"x"))
    desk.over(pair)
    desk.now += 2 * REVISIT
    desk.begin()
    pair = desk.visit()
    desk.write(desk.page(pair), desk.page(pair, "/x", b"changed", key=7))
    assert (desk.row("/")["changes"], desk.row("/x")["changes"]) == (0, 1)
    assert desk.row("/x")["checks"] == 2
    assert _rate(desk, "/x").per_second > _rate(desk).per_second
    desk.close()


def test_a_row_of_before_rates_were_kept_is_summed_up(desk: Desk) -> None:
    row = History(21, 20, START + 2000, START, START + 2000, None, None, None, None, None)
    rate = rate_of(row, GUESS)
    assert rate is not None
    assert rate.per_second > GUESS.per_second
    quiet = row._replace(changes=0, changed_at=START + 500)
    assert rate_of(quiet, GUESS) == ChangeRate.from_counts(GUESS, 21, 0, 1500.0)
    assert rate_of(row._replace(checks=1, changes=0), GUESS) is None
    _stored(desk)
    with desk.look.begin() as connection:
        connection.execute(urls.update().values(checks=5, changes=4, confirmed_at=None))
    _again(desk, 400.0)
    desk.crawl(desk.visit(), body=b"new")
    assert _rate(desk).per_second > GUESS.per_second
    assert desk.row("/")["checks"] == 6


def test_what_is_gone_or_an_error_keeps_its_last_good_version_and_says_so(desk: Desk) -> None:
    _stored(desk)
    for state, reason, status in (
        (State.FAILED, Reason.HTTP_ERROR, 503),
        (State.GONE, Reason.MISSING, 404),
        (State.GONE, Reason.OUT_OF_TRIES, 500),
        (State.REFUSED, Reason.ROBOTS, 0),
    ):
        _again(desk, 10.0)
        pair = desk.visit()
        desk.store.store_bad([desk.bad(pair, state=state, reason=reason, status=status, due_at=desk.now + 5)], desk.now)
        desk.over(pair)
        document = desk.reports.document(f"{A}/")
        assert document is not None
        assert document.body == b"<p>hello</p>"
        (listed,) = desk.reports.urls(state=state.word)
        assert (listed.reason, listed.length, listed.sha256 is not None) == (reason.word, len(document.body), True)
        assert desk.reports.status(desk.now).states[state.word] == 1
        assert desk.reports.freshness(desk.now, WorkConf()).kept == 1
    _again(desk, 10.0)
    desk.write(desk.unchanged(desk.visit()))
    assert desk.states() == {f"{A}/": "stored"}
