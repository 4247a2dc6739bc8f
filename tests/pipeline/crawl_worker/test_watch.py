"""Watched visits: each step of a request is told before it is taken, and suspects are requested alone."""

from __future__ import annotations

from itertools import pairwise

from parcahyd.config.schema import WorkConf
from parcahyd.core.messages import WatchStep
from parcahyd.core.ports import DownloadResult
from parcahyd.core.records import Assignment, DueUrl, SiteLease
from parcahyd.pipeline.crawl_worker.watch import SuspectLine
from parcahyd.rules.urls.canonical_url import key_of
from tests.pipeline.crawl_worker.world import ADDRESS, Answer, World, page

_WORK = WorkConf(HostDelay=0.0, HostConnections=8, AddressConnections=50)
_PATHS = ("/a", "/b", "/c")
_SITE: dict[str, Answer] = {path: page() for path in _PATHS}


def _steps(world: World) -> list[tuple[str, WatchStep]]:
    paths = {message.number: message.url.path if message.url else "" for message in world.watched if _is_sent(message.step)}
    return [(paths[message.number], message.step) for message in world.watched]


def _is_sent(step: WatchStep) -> bool:
    return step is WatchStep.SENT


def test_a_visit_that_is_not_watched_tells_nothing() -> None:
    world = World(_SITE, _WORK)
    world.visit(*_PATHS)
    assert world.processed
    assert world.watched == []


def test_each_step_of_a_watched_visit_is_told() -> None:
    world = World(_SITE, _WORK)
    world.visit("/a", is_watched=True)
    steps = [WatchStep.SENT, WatchStep.HANDLED, WatchStep.OVER]
    assert _steps(world) == [*[("", step) for step in steps], *[("/a", step) for step in steps]]  # robots.txt first
    assert {(message.visit, message.site) for message in world.watched} == {(7, 3)}


def test_a_document_that_a_thread_reads_is_not_over_before_it_is_read() -> None:
    text = b'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"></urlset>' + b" " * 100_000
    large = DownloadResult(200, (("Content-Type", "application/xml"),), text)
    world = World({"/sitemap.xml": large}, _WORK)
    world.visit("/sitemap.xml", is_watched=True)
    assert world.read_in_thread == 1
    assert [step for path, step in _steps(world) if path] == [
        WatchStep.SENT,
        WatchStep.HANDLED,
        WatchStep.IN_THREAD,
        WatchStep.HANDLED,
        WatchStep.OVER,
    ]


def _lease(visit: int, host: str, *, is_suspect: bool) -> Assignment:
    urls = tuple([DueUrl(key_of(path), path, is_suspect=is_suspect) for path in _PATHS])
    lease = SiteLease(visit, visit, "http", host, 80, urls, is_watched=is_suspect)
    return Assignment(lease, ADDRESS, (ADDRESS,), 5000.0, 100)


def test_a_worker_requests_one_suspect_at_a_time_and_other_visits_go_on() -> None:
    hosts = [f"h{number}.example" for number in range(6)]
    world = World({f"http://{host}{path}": page() for host in hosts for path in _PATHS}, _WORK)
    world.worker.accept([_lease(1 + number, host, is_suspect=number < 3) for number, host in enumerate(hosts)])
    world.run()
    assert len(world.processed) == len(hosts)
    suspects = [at for at, url in world.asked if url[len("http://h")] in "012" and not url.endswith("robots.txt")]
    others = [at for at, url in world.asked if url[len("http://h")] in "345" and not url.endswith("robots.txt")]
    assert len(suspects) == len(others) == 9
    assert all(later - earlier >= world.duration for earlier, later in pairwise(suspects))
    assert len(set(others)) < 9  # They are requested side by side.


def test_a_visit_in_the_line_that_ends_makes_room() -> None:
    line: SuspectLine[str] = SuspectLine()
    assert [line.enter(visit) for visit in "abc"] == [True, False, False]
    assert line.leave("b") is None
    assert line.leave("x") is None
    assert line.leave("a") == "c"
    assert line.leave("c") is None
    assert line.enter("d")


def test_suspects_that_wait_are_handed_back_when_the_worker_stops() -> None:
    hosts = ["h1.example", "h2.example"]
    world = World({f"http://{host}{path}": page() for host in hosts for path in _PATHS}, _WORK)
    world.worker.accept([_lease(1 + number, host, is_suspect=True) for number, host in enumerate(hosts)])
    world.run(until=world.time + 0.6)  # robots.txt of both, then one suspect of one of them
    world.worker.stop()
    world.run()
    assert len(world.processed) == 2
    assert len([url for _, url in world.asked if not url.endswith("robots.txt")]) == 1
