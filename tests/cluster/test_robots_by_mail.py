"""A robots.txt that redirects to a site of OtherPartitions is fetched there, and comes back by mail."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from parcahyd.core.records import RobotsFact, RobotsRedirect, RobotsRedirectRecord, RobotsStatus, SiteLease, SiteRecord
from parcahyd.storage.robots import ANSWER_TIMEOUT
from parcahyd.storage.schema import errands, sites
from tests.cluster.hub_desk import HubDesk
from tests.cluster.partition_pair import Pair, PartitionDesk
from tests.storage.desk import START

A = "http://a0.example"
FOUND = RobotsFact(RobotsStatus.FOUND, b"User-agent: *\nDisallow: /private", 5.0, 6.0, "200")
UNREACHABLE = RobotsFact(RobotsStatus.UNREACHABLE, b"", START, START, "no answer")


@pytest.fixture
def pair(desk: HubDesk) -> Iterator[Pair]:
    pair = Pair(desk)
    yield pair
    pair.close()


def _ask(desk: PartitionDesk, url: str) -> SiteLease:
    """A visit whose robots.txt led elsewhere; it is over."""
    desk.give_seeds(f"{A}/")
    visit = desk.visit()
    desk.write(SiteRecord(visit.visit, visit.site, RobotsFact(RobotsStatus.AWAITED), robots_redirect=url))
    desk.over(visit)
    return visit


def _answer(desk: PartitionDesk, robots: RobotsFact = FOUND, redirect: str = "") -> SiteLease:
    visit = desk.visit()
    (wanted,) = visit.robots_redirects
    desk.write(RobotsRedirectRecord(visit.visit, visit.site, wanted.asker, wanted.path, robots, redirect))
    desk.over(visit)
    return visit


def test_there_and_back(pair: Pair) -> None:
    first, second = pair
    asker = _ask(first, "https://static1.example/robots.txt")
    assert pair.mail() == [(1, "robots-question")]
    assert first.lease_and_next() == ([], first.now + ANSWER_TIMEOUT)
    pair.exchange()
    there = _answer(second)
    assert (there.origin, there.urls) == ("https://static1.example", ())
    assert there.robots_redirects == (RobotsRedirect(asker.site, "/robots.txt", 1),)
    assert [row["host"] for row in second.rows(sites)] == ["static1.example"], "the asking site lives elsewhere"
    letters = first.exchange()
    assert (letters.taken, letters.has_new_work) == (1, True)
    back = first.visit()
    assert (back.site, back.robots, [due.path for due in back.urls]) == (asker.site, FOUND, ["/"])
    assert second.rows(errands) == []
    for desk in pair:
        assert desk.lease() == []
        assert desk.findings() == []
    assert second.idle()


def test_what_could_not_be_read_there_is_told_too(pair: Pair) -> None:
    first, second = pair
    _ask(first, "https://static1.example/robots.txt")
    pair.exchange()
    _answer(second, UNREACHABLE)
    pair.exchange()
    assert second.rows(errands) == []
    (site,) = first.rows(sites)
    assert (site["robots_status"], site["robots_detail"]) == ("unreachable", "no answer")
    assert site["errand_until"] > first.now, "it is asked again later"


def test_redirects_are_followed_through_partitions_and_counted(pair: Pair) -> None:
    first, second = pair
    asker = _ask(first, "http://s1.example/robots.txt")
    hops = []
    for number, desk in enumerate((second, first, second, first)):
        pair.exchange()
        there = _answer(desk, redirect=f"http://s{number}x{1 - desk.number}.example/robots.txt")
        hops += [wanted.hops for wanted in there.robots_redirects]
        assert [wanted.asker for wanted in there.robots_redirects] == [asker.site]
    assert hops == [1, 2, 3, 4]
    pair.exchange()
    _answer(second, redirect="http://s9x1.example/robots.txt")
    pair.exchange()
    (site,) = [row for row in first.rows(sites) if row["id"] == asker.site]
    assert (site["robots_status"], site["robots_detail"]) == ("absent", "robots.txt redirects too often")
    assert all(desk.rows(errands) == [] for desk in pair)


def test_what_is_not_called_robots_txt_there_counts_as_absent(pair: Pair) -> None:
    first, second = pair
    _ask(first, "http://s1.example/robots.txt")
    pair.exchange()
    _answer(second, redirect="http://victim1.example/delete?all")
    pair.exchange()
    assert [row["robots_status"] for row in first.rows(sites)] == ["absent"]
    assert "victim1.example" not in [row["host"] for row in second.rows(sites)]


def test_an_answer_that_nobody_awaits_changes_nothing(pair: Pair) -> None:
    first, second = pair
    asker = _ask(first, "http://s1.example/robots.txt")
    pair.exchange()
    first.now += ANSWER_TIMEOUT + 1
    assert first.lease() == []  # It gives up.
    first.hub.change("UPDATE parcahyd_p0.sites SET errand_until = 0, robots_status = 'absent'")
    _answer(second)
    pair.exchange()
    assert [row["robots_status"] for row in first.rows(sites) if row["id"] == asker.site] == ["absent"]


def test_a_question_that_went_around_asks_nothing_when_nobody_waits_any_more(pair: Pair) -> None:
    first, second = pair
    _ask(first, "http://s1.example/robots.txt")
    pair.exchange()
    first.hub.change("UPDATE parcahyd_p0.sites SET errand_until = 0, robots_status = 'absent'")
    _answer(second, redirect="http://s0.example/robots.txt")
    assert pair.mail() == [(0, "robots-question")]
    pair.exchange()
    assert first.rows(errands) == []


def test_a_question_to_a_former_home_is_posted_on(pair: Pair) -> None:
    first, second = pair
    asker = _ask(first, "http://s1.example/robots.txt")
    pair.hub.change("INSERT INTO parcahyd_hub.homes (site, partition) VALUES ('s1.example', 0)")
    second.exchange_all()
    assert pair.mail() == [(0, "robots-question")]
    first.exchange_all()
    assert _answer(first).robots_redirects == (RobotsRedirect(asker.site, "/robots.txt", 1),)
    assert [row["robots_status"] for row in first.rows(sites) if row["id"] == asker.site] == ["found"]
