"""The robots.txt of a site: what a visit requests without one, and redirects of robots.txt between sites."""

from __future__ import annotations

import pytest

from parcahyd.config.schema import HostRule, WorkConf
from parcahyd.core.messages import Slowed
from parcahyd.core.ports import DownloadFailure, DownloadResult
from parcahyd.core.records import (
    Assignment,
    BadRecord,
    DueUrl,
    RobotsFact,
    RobotsRedirect,
    RobotsRedirectRecord,
    RobotsStatus,
    SiteLease,
    SiteRecord,
    VisitOver,
)
from parcahyd.core.states import Reason, State
from parcahyd.rules.urls.canonical_url import key_of
from tests.pipeline.crawl_worker.world import ADDRESS, World, page, redirect


def test_what_robots_forbids_is_not_asked_for_and_is_recorded() -> None:
    robots = DownloadResult(200, (), b"User-agent: *\nDisallow: /private\n")
    world = World({"/robots.txt": robots, "/": page("private/x", "open"), "/open": page()})
    world.visit("/")
    assert world.paths() == ["/robots.txt", "/", "/open"]
    refused = [record for record in world.of(BadRecord) if record.path == "/private/x"]
    assert [(record.state, record.reason) for record in refused] == [(State.REFUSED, Reason.ROBOTS.word)]
    facts = [record.robots for record in world.of(SiteRecord)]
    assert [fact.status for fact in facts if fact] == [RobotsStatus.FOUND]


@pytest.mark.parametrize(
    ("asked_for", "sent"), [(b"5", [Slowed(7, 5.0)]), (b"1000", [Slowed(7, 60.0)]), (b"2", []), (b"x", [])]
)
def test_a_delay_that_robots_asks_for_is_sent_when_it_is_read(asked_for: bytes, sent: list[Slowed]) -> None:
    robots = DownloadResult(200, (), b"User-agent: *\nCrawl-delay: " + asked_for)
    world = World({"/robots.txt": robots, "/": page("a"), "/a": page()}, WorkConf(HostDelay=2.0))
    world.visit("/")
    assert world.paths() == ["/robots.txt", "/", "/a"]
    assert world.slowed == sent


def test_a_fresh_copy_of_robots_is_not_asked_for_again() -> None:
    world = World({"/": page()})
    world.visit("/", robots=RobotsFact(RobotsStatus.ABSENT, b"", 900.0, 2000.0))
    assert world.paths() == ["/"]


@pytest.mark.parametrize(
    ("answer", "reason", "blank", "first_wait"),
    [
        (DownloadResult(failure=DownloadFailure.CONNECT), Reason.ROBOTS_UNREACHABLE, True, 2),
        (DownloadResult(failure=DownloadFailure.TIMEOUT), Reason.ROBOTS_UNREACHABLE, True, 2),
        (DownloadResult(failure=DownloadFailure.TLS), Reason.ROBOTS_UNREACHABLE, True, 30),
        (DownloadResult(500), Reason.ROBOTS_ERROR, False, 1),
        (DownloadResult(429), Reason.ROBOTS_ERROR, False, 1),
    ],
)
def test_no_robots_no_page(answer: DownloadResult, reason: Reason, blank: bool, first_wait: int) -> None:
    world = World({"/robots.txt": answer, "/": page(), "/a": page()})
    world.visit("/", "/a")
    assert world.paths() == ["/robots.txt"]
    bad = world.of(BadRecord)
    assert [(record.path, record.state, record.reason, record.blank_address) for record in bad] == [
        ("/", State.FAILED, reason.word, blank)
    ]
    over = world.of(VisitOver)[0]
    least = first_wait * WorkConf().RetryDelay
    assert min(over.not_before, bad[0].due_at) >= world.time + least
    assert max(over.not_before, bad[0].due_at) <= world.time + 1.3 * least
    assert over.not_before > world.time
    assert over.reason == (Reason.ASKED_TO_WAIT if answer.status == 429 else reason).word
    assert over.addresses == (() if blank else (ADDRESS,))


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_robots_that_is_not_there_allows_everything(status: int) -> None:
    world = World({"/robots.txt": DownloadResult(status), "/": page()})
    world.visit("/")
    assert world.paths() == ["/robots.txt", "/"]


def test_robots_is_followed_within_its_site_and_recorded_beyond_it() -> None:
    inside = World({"/robots.txt": redirect("/r.txt"), "/r.txt": DownloadResult(200, (), b""), "/": page()})
    inside.visit("/")
    assert inside.paths() == ["/robots.txt", "/r.txt", "/"]
    beyond = World({"/robots.txt": redirect("https://www.site.example/robots.txt"), "/": page()})
    beyond.visit("/")
    assert beyond.paths() == ["/robots.txt"]
    assert [record.robots_redirect for record in beyond.of(SiteRecord)] == ["https://www.site.example/robots.txt"]


def test_a_robots_that_turns_in_circles_ends_after_five_hops() -> None:
    world = World({"/robots.txt": redirect("/robots.txt"), "/": page()})
    world.visit("/")
    assert world.paths() == ["/robots.txt"] * 6 + ["/"]


def test_a_robots_redirect_is_requested_first_and_needs_no_robots() -> None:
    world = World({"/robots.txt": DownloadResult(200, (), b"User-agent: *\nDisallow: /")})
    world.visit(robots_redirects=(RobotsRedirect(99, "/robots.txt", 1),))
    assert world.paths() == ["/robots.txt"]
    answers = world.of(RobotsRedirectRecord)
    assert [(answer.asker, answer.robots.status) for answer in answers] == [(99, RobotsStatus.FOUND)]


def test_one_file_is_requested_once_for_all_sites_that_redirect_to_it() -> None:
    world = World(
        {"/robots.txt": DownloadResult(200, (), b"User-agent: *\nDisallow: /x\n"), "/a/robots.txt": DownloadResult(404)}
    )
    paths = ["/robots.txt", "/a/robots.txt", "/robots.txt", "/robots.txt"]
    world.visit(robots_redirects=tuple(RobotsRedirect(number, path, 1) for number, path in enumerate(paths)))
    assert world.paths() == ["/robots.txt", "/a/robots.txt"]
    answers = {record.asker: (record.path, record.robots.status) for record in world.of(RobotsRedirectRecord)}
    found, absent = ("/robots.txt", RobotsStatus.FOUND), ("/a/robots.txt", RobotsStatus.ABSENT)
    assert answers == {0: found, 1: absent, 2: found, 3: found}


def test_a_robots_redirect_to_a_scheme_without_a_downloader_is_answered() -> None:
    """Without an answer it would be leased again and again, until the other site gives up."""
    world = World({})
    world.visit(scheme="gopher", robots_redirects=(RobotsRedirect(5, "/robots.txt", 1),))
    assert world.asked == []
    (record,) = world.of(RobotsRedirectRecord)
    assert (record.asker, record.path, record.robots.status) == (5, "/robots.txt", RobotsStatus.UNREACHABLE)
    assert "served are http, https" in record.robots.detail


def test_a_robots_that_fails_while_the_run_is_being_stopped_records_no_failure() -> None:
    world = World({"/robots.txt": DownloadResult(500)})
    lease = SiteLease(7, 3, "http", "site.example", 80, (DueUrl(key_of("/"), "/"),))
    world.worker.accept([Assignment(lease, ADDRESS, (ADDRESS,), 5000.0, 1000)])
    world.worker.stop()
    world.run()
    assert world.of(BadRecord) == []
    assert isinstance(world.records[-1], VisitOver)
    assert world.worker.open_visits == 0


def test_a_robots_that_moves_while_the_run_is_being_stopped_is_not_followed() -> None:
    world = World({"/robots.txt": redirect("/r/robots.txt"), "/r/robots.txt": page(), "/": page()})
    world.worker.accept(
        [Assignment(SiteLease(7, 3, "http", "site.example", 80, (DueUrl(1, "/"),)), ADDRESS, (ADDRESS,), 5000.0, 9)]
    )
    assert world.paths() == ["/robots.txt"]
    world.worker.stop()
    world.run()
    assert world.paths() == ["/robots.txt"]
    assert world.of(BadRecord) == []
    assert isinstance(world.records[-1], VisitOver)


def test_where_robots_is_ignored_its_delay_and_its_sitemaps_still_count() -> None:
    robots = DownloadResult(200, (), b"User-agent: *\nDisallow: /\nCrawl-delay: 5\nSitemap: /s.xml")
    rules = (HostRule(Pattern="site.example", IgnoreRobots=True),)
    world = World({"/robots.txt": robots, "/": page("a"), "/a": page()}, WorkConf(HostDelay=2.0, Host=rules))
    world.visit("/")
    assert world.paths() == ["/robots.txt", "/s.xml", "/", "/a"]
    assert world.slowed == [Slowed(7, 5.0)]
