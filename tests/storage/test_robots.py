"""A robots.txt that redirects to another site is fetched there, while the site that asked waits."""

from __future__ import annotations

import itertools

import msgspec
import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.records import RobotsFact, RobotsRedirect, RobotsRedirectRecord, RobotsStatus, SiteLease, SiteRecord
from parcahyd.storage.robots import ANSWER_TIMEOUT, MOST_PER_VISIT
from parcahyd.storage.schema import errands, sites
from tests.storage.desk import Desk

A = "http://a.example"
ROBOTS = "https://static.example/robots.txt"
FOUND = RobotsFact(RobotsStatus.FOUND, b"User-agent: *\nDisallow: /private", 5.0, 6.0, "200")


def ask(desk: Desk, url: str = ROBOTS) -> SiteLease:
    """A visit whose robots.txt led elsewhere; it is over."""
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(SiteRecord(pair.visit, pair.site, RobotsFact(RobotsStatus.AWAITED), robots_redirect=url))
    desk.over(pair)
    return pair


def answer(desk: Desk, pair: SiteLease, robots: RobotsFact = FOUND, redirect: str = "", hops: int = 0) -> None:
    (redirect_there,) = pair.robots_redirects
    desk.write(RobotsRedirectRecord(pair.visit, pair.site, redirect_there.asker, redirect_there.path, robots, redirect, hops))
    desk.over(pair)


def test_what_a_visit_learns_is_kept(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    assert (pair.robots, pair.augmentation) == (None, b"")
    desk.write(SiteRecord(pair.visit, pair.site, FOUND, augmentation=b"offers"))
    desk.write(SiteRecord(pair.visit, pair.site))
    desk.over(pair)
    pair = desk.visit()
    assert (pair.robots, pair.augmentation) == (FOUND, b"offers")


def test_there_and_back(desk: Desk) -> None:
    asker = ask(desk)
    there = desk.visit()
    assert (there.origin, there.urls) == ("https://static.example", ())
    assert there.robots_redirects == (RobotsRedirect(asker.site, "/robots.txt", 1),)
    assert desk.lease_and_next() == ([], desk.now + ANSWER_TIMEOUT)
    answer(desk, there)
    back = desk.visit()
    assert (back.site, back.robots, [due.path for due in back.urls]) == (asker.site, FOUND, ["/"])
    assert desk.rows(errands) == []
    desk.crawl(back)
    assert desk.lease() == []


def test_the_answer_may_come_before_the_asking_visit_is_over(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(SiteRecord(pair.visit, pair.site, RobotsFact(RobotsStatus.AWAITED), robots_redirect=ROBOTS))
    answer(desk, desk.visit())
    assert desk.lease() == []
    desk.over(pair)
    assert desk.visit().robots == FOUND


def test_a_site_that_waits_is_not_woken_by_links(desk: Desk) -> None:
    ask(desk)
    desk.seed("http://b.example/")
    pair = desk.visit("http://b.example")
    desk.crawl(pair, external=(f"{A}/new",))
    pairs, following = desk.lease_and_next()
    assert [pair.host for pair in pairs] == ["static.example"]
    assert following == desk.now + ANSWER_TIMEOUT


def test_without_an_answer_it_counts_as_unreachable(desk: Desk) -> None:
    """It is asked for again when it has been waited for as long once more."""
    asker = ask(desk)
    there = desk.visit()
    desk.over(there, not_before=desk.now + 100 * ANSWER_TIMEOUT)
    desk.now += ANSWER_TIMEOUT
    pairs, following = desk.lease_and_next()
    assert pairs == []
    assert following is not None
    assert desk.now + ANSWER_TIMEOUT <= following <= desk.now + 1.25 * ANSWER_TIMEOUT
    assert desk.rows(errands) == []
    (spared,) = desk.reports.status(desk.now).spared
    assert (spared.site, spared.until, spared.reason) == (A, following, "robots-unreachable")
    desk.now = following
    pair = desk.visit()
    assert pair.site == asker.site
    assert pair.robots is not None
    assert pair.robots.status is RobotsStatus.UNREACHABLE
    assert pair.robots.expires_at <= desk.now
    assert len(pair.urls) == 1


@pytest.mark.parametrize("status", [RobotsStatus.ERROR, RobotsStatus.UNREACHABLE])
def test_a_redirected_robots_txt_that_cannot_be_read_is_asked_for_again_after_longer_each_time(
    desk: Desk, status: RobotsStatus
) -> None:
    ask(desk)
    waits = []
    for _ in range(4):
        there = desk.visit()
        answer(desk, there, RobotsFact(status, b"", desk.now, desk.now, "HTTP 500"))
        pairs, following = desk.lease_and_next()
        assert pairs == []
        assert following is not None
        waits.append(following - desk.now)
        desk.now = following
        again = desk.visit()
        desk.write(SiteRecord(again.visit, again.site, RobotsFact(RobotsStatus.AWAITED), robots_redirect=ROBOTS))
        desk.over(again)
    assert waits[0] >= WorkConf().RetryDelay
    assert all(later > earlier for earlier, later in itertools.pairwise(waits))
    assert waits[-1] >= 4 * waits[0]


def test_after_robots_patience_the_last_copy_counts(desk: Desk) -> None:
    """RFC 9309, section 2.3.1.4; what was read before is obeyed, with its delay."""
    desk.begin(RobotsPatience=5000.0, RobotsTtl=700.0)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(SiteRecord(pair.visit, pair.site, msgspec.structs.replace(FOUND, delay=3.0)))
    desk.write(
        SiteRecord(pair.visit, pair.site, RobotsFact(RobotsStatus.AWAITED, b"", desk.now, desk.now), robots_redirect=ROBOTS)
    )
    desk.over(pair)
    there = desk.visit()
    desk.now += 5000.0
    answer(desk, there, RobotsFact(RobotsStatus.ERROR, b"", desk.now, desk.now, "HTTP 500"))
    robots = desk.visit().robots
    assert robots is not None
    assert (robots.status, robots.text, robots.delay) == (RobotsStatus.STALE, FOUND.text, 3.0)
    assert robots.expires_at == desk.now + 700.0


def test_redirects_lead_on_and_end_after_five(desk: Desk) -> None:
    asker = ask(desk)
    for number in range(2, 6):
        answer(desk, desk.visit(), redirect=f"https://hop{number}.example/robots.txt", hops=number)
        assert [row["hops"] for row in desk.rows(errands)] == [number]
    answer(desk, desk.visit(), redirect="https://hop6.example/robots.txt", hops=6)
    pair = desk.visit()
    assert pair.site == asker.site
    assert pair.robots is not None
    assert pair.robots.status is RobotsStatus.ABSENT
    assert "hop6.example" not in {row["host"] for row in desk.rows(sites)}


def test_a_redirected_robots_txt_may_lead_back_to_the_site_that_asked(desk: Desk) -> None:
    asker = ask(desk)
    answer(desk, desk.visit(), redirect=f"{A}/really/robots.txt")
    pair = desk.visit()
    assert (pair.site, pair.urls, [one.path for one in pair.robots_redirects]) == (asker.site, (), ["/really/robots.txt"])
    answer(desk, pair)
    assert [due.path for due in desk.visit().urls] == ["/"]


@pytest.mark.parametrize("path", ["/private/delete?id=1", "/", "/x.txt", "/delete.php/robots.txt?id=1", "/xrobots.txt"])
def test_a_redirect_to_a_file_that_is_not_called_robots_txt_counts_as_none(desk: Desk, path: str) -> None:
    asker = ask(desk, f"https://victim.example{path}")
    pair = desk.visit()
    assert pair.site == asker.site
    assert pair.robots is not None
    assert (pair.robots.status, pair.robots.text) == (RobotsStatus.ABSENT, b"")
    assert "victim.example" not in {row["host"] for row in desk.rows(sites)}


def test_a_sites_own_robots_txt_may_redirect_to_any_path_of_that_site(desk: Desk) -> None:
    asker = ask(desk)
    answer(desk, desk.visit(), redirect="https://static.example/rules?all")
    there = desk.visit()
    assert [one.path for one in there.robots_redirects] == ["/rules?all"]
    answer(desk, there, redirect="https://static.example/delete?id=1")
    assert desk.visit().site == asker.site


def test_a_robots_txt_of_another_site_redirects_to_no_other_url_of_a_third_one(desk: Desk) -> None:
    asker = ask(desk)
    answer(desk, desk.visit(), redirect="https://victim.example/delete?id=1")
    pair = desk.visit()
    assert (pair.site, pair.robots is not None and pair.robots.status) == (asker.site, RobotsStatus.ABSENT)


@pytest.mark.parametrize("url", ["http://", "about:blank"])
def test_a_redirect_to_nowhere_is_unreachable(desk: Desk, url: str) -> None:
    ask(desk, url)
    assert desk.lease() == []
    desk.now += 60
    pair = desk.visit()
    assert pair.robots is not None
    assert pair.robots.status is RobotsStatus.UNREACHABLE


def test_an_answer_that_no_site_awaits_changes_nothing(desk: Desk) -> None:
    ask(desk)
    there = desk.visit()
    stale = RobotsRedirectRecord(there.visit, there.site, there.robots_redirects[0].asker, "/another.txt", FOUND)
    unknown = RobotsRedirectRecord(there.visit, there.site, 12345, "/robots.txt", FOUND)
    before = desk.everything()
    desk.write(stale, unknown)
    assert desk.everything() == before


def test_a_redirected_robots_txt_survives_a_kill(desk: Desk) -> None:
    asker = ask(desk)
    desk.visit()
    desk.killed()
    desk.now += 30
    desk.begin()
    desk.now += 5
    answer(desk, desk.visit())
    assert desk.visit().site == asker.site


def test_a_robots_txt_on_a_site_of_the_crawl_is_fetched_by_its_visit(desk: Desk) -> None:
    ask(desk, "http://b.example/robots.txt")
    desk.seed("http://b.example/")
    pair = desk.visit()
    assert ([due.path for due in pair.urls], len(pair.robots_redirects)) == (["/"], 1)


def test_a_visit_fetches_a_limited_number_of_robots_txt_files_for_others(desk: Desk) -> None:
    """Hosts without end may have their robots.txt lie with one that has nothing to do with them."""
    desk.begin()
    desk.seed(*(f"http://h{number}.example/" for number in range(MOST_PER_VISIT + 1)))
    for asker in desk.lease(MOST_PER_VISIT + 1):
        desk.now += 0.01
        desk.write(SiteRecord(asker.visit, asker.site, RobotsFact(RobotsStatus.AWAITED), robots_redirect=ROBOTS))
        desk.over(asker)
    there = desk.visit()
    assert len(there.robots_redirects) == MOST_PER_VISIT
    assert asker.site not in [one.asker for one in there.robots_redirects]
    desk.write(*(RobotsRedirectRecord(there.visit, there.site, one.asker, one.path, FOUND) for one in there.robots_redirects))
    desk.over(there)
    assert [one.asker for pair in desk.lease(200) for one in pair.robots_redirects] == [asker.site]
