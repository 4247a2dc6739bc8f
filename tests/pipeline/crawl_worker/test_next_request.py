"""The order of a visit's requests."""

from __future__ import annotations

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import Assignment, BadRecord, DueUrl, RobotsRedirect, SiteLease
from parcahyd.core.states import Reason
from parcahyd.pipeline.crawl_worker.planned_request import PlannedRequest, RequestKind
from parcahyd.pipeline.crawl_worker.visit import Visit
from parcahyd.rules.urls.canonical_url import key_of
from tests.pipeline.crawl_worker.linked_pages import robots
from tests.pipeline.crawl_worker.world import ADDRESS, World, page


def test_files_for_other_sites_come_first_then_robots_then_sitemaps_then_pages() -> None:
    site = {"/robots.txt": robots("Sitemap: /s.xml"), "/other.txt": robots("User-agent: *"), "/": page(), "/b": page()}
    world = World({**site, "/s.xml": DownloadResult(200, (("Content-Type", "text/xml"),), b"<urlset/>")})
    world.visit("/", "/b", robots_redirects=(RobotsRedirect(9, "/other.txt", 1),))
    assert world.paths() == ["/other.txt", "/robots.txt", "/s.xml", "/", "/b"]


@pytest.mark.parametrize(("max_depth", "waits"), [(None, 0.0), (5, 0.5)])
def test_no_page_is_requested_before_shallower_ones_have_come_where_depth_is_exact(max_depth: int | None, waits: float) -> None:
    site = {"/": page("a", "b", "c"), "/a": page("deep"), "/b": page(), "/c": page(), "/deep": page()}
    world = World(dict(site), WorkConf(HostDelay=0.0, HostConnections=2, MaxDepth=max_depth))
    world.visit("/")
    asked = {path: time for (time, _), path in zip(world.asked, world.paths(), strict=True)}
    assert len(asked) == 6
    assert asked["/c"] == asked["/a"] + 0.5
    assert asked["/deep"] == asked["/c"] + waits


def test_what_robots_forbids_is_recorded_and_not_requested() -> None:
    world = World({"/robots.txt": robots("User-agent: *", "Disallow: /x"), "/": page()})
    world.visit("/x", "/", "/x/y")
    assert world.paths() == ["/robots.txt", "/"]
    assert [(record.path, record.reason) for record in world.of(BadRecord)] == [
        ("/x", Reason.ROBOTS.word),
        ("/x/y", Reason.ROBOTS.word),
    ]


def paused() -> tuple[World, Visit]:
    """A visit that waits for its host's delay, with one page ready and another in LocalQ."""
    world = World({"/robots.txt": DownloadResult(404)}, WorkConf(HostDelay=10.0))
    lease = SiteLease(7, 3, "http", "site.example", 80, tuple(DueUrl(key_of(path), path) for path in ("/a", "/b")))
    world.worker.accept([Assignment(lease, ADDRESS, (ADDRESS,), 5000.0, 10)])
    world.run(world.time + 5.0)
    ((visit, _),) = world.worker._visits.values()
    return world, visit


def test_what_is_put_first_goes_before_what_is_ready() -> None:
    _, visit = paused()
    planned = visit.next_request
    assert planned.ready is not None
    assert planned.ready.path == "/a"
    for path in ("/1.TVI", "/2.TVI"):
        planned.put_first(PlannedRequest(RequestKind.TVI, path))
    order = []
    while planned.prepare(1000.0) is not None:
        order.append(planned.started().path)
    assert order == ["/2.TVI", "/1.TVI", "/a", "/b"]
    assert planned.on_the_wire == 4


def test_a_plan_that_is_cleared_plans_nothing_more() -> None:
    world, visit = paused()
    planned = visit.next_request
    planned.put_first(PlannedRequest(RequestKind.TVI, "/1.TVI"))
    assert {request.path for request in planned.clear()} == {"/1.TVI", "/a"}
    assert planned.prepare(world.time) is None
    assert len(planned.local_q) == planned.pages_left == 0
