"""Slow hosts do not stop the rest: the rules, and a Crawl Worker on a simulated clock and network."""

from __future__ import annotations

from collections.abc import Callable
from heapq import heapify

import msgspec

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult
from parcahyd.core.records import Assignment, BadRecord, DueUrl, PageRecord, PauseRecord, SiteLease, VisitOver
from parcahyd.core.states import Reason
from parcahyd.pipeline.crawl_worker.request_scheduler import RequestScheduler
from parcahyd.pipeline.crawl_worker.slow_hosts import SlowHosts
from parcahyd.rules.urls.canonical_url import key_of
from tests.pipeline.crawl_worker.world import ADDRESS, Answer, World, page

_SLOW = 300.0


class _World(World):
    """Answers of hosts called `slow...` take five minutes. Told to make room, the network ends the oldest of them that are
    older than five seconds."""

    def __init__(self, site: dict[str, Answer], work: WorkConf) -> None:
        self.wanted: list[int] = []
        self.quick_files: tuple[str, ...] = ("/robots.txt",)
        super().__init__(site, work)

    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        self.duration = _SLOW if request.url.startswith("http://slow") and not request.url.endswith(self.quick_files) else 0.5
        super().start(request, done)

    def make_room(self, wanted: int) -> None:
        self.wanted.append(wanted)
        slow = sorted(one for one in self._under_way if one[0] - self.time > 1.0 and one[0] - self.time <= _SLOW - 5)
        for one in slow[:wanted]:
            self._under_way.remove(one)
            gave_way = DownloadResult(failure=DownloadFailure.GAVE_WAY, detail="gave way to others: 120 bytes a second")
            self.after(0.0, lambda done=one[2], result=gave_way: done(result))  # type: ignore[misc] # early binding
        heapify(self._under_way)

    def accept(self, hosts: dict[str, str], *paths: str) -> None:
        """One visit to each host, by its address."""
        first = 100 * len(self.requests) + 1
        urls = tuple(DueUrl(key_of(path), path) for path in paths)
        leases = [SiteLease(number, number, "http", host, 80, urls) for number, host in enumerate(hosts, first)]
        self.worker.accept([Assignment(lease, hosts[lease.host], (hosts[lease.host],), 5000.0, 1000) for lease in leases])


def _work(**settings: object) -> WorkConf:
    return msgspec.convert({"HostDelay": 0.0, "Connections": 4, "AddressConnections": 100, **settings}, WorkConf)


def _site(*hosts: str, pages: int = 5) -> dict[str, Answer]:
    """On each host a page with links to others."""
    paths = [f"/{number}" for number in range(pages)]
    return {f"http://{host}{path}": page(*paths) for host in hosts for path in ("/", *paths)}


def _slow(number: int, address: str = "") -> dict[str, str]:
    return {f"slow{index}.example": address or f"198.51.100.{index}" for index in range(number)}


_QUICK = {"one.example": "192.0.2.11", "two.example": "192.0.2.12"}


def test_ordinary_sites_are_crawled_while_many_slow_ones_drip() -> None:
    world = _World(_site(*_QUICK), _work())
    world.accept(_slow(8) | _QUICK, "/")
    world.run(until=1060.0)
    assert len(world.of(PageRecord)) == 12, "all pages of both sites, long before a slow answer is complete"


def test_ordinary_sites_are_crawled_while_slow_ones_share_their_address() -> None:
    """Giving way is no silence of an address: who shares it is not left alone."""
    quick = {f"{number}.example": ADDRESS for number in range(12)}
    world = _World(_site(*quick), _work(Connections=16))
    world.accept(_slow(32, ADDRESS) | quick, "/")
    world.run(until=1060.0)
    assert max(world.wanted) > 12
    assert len(world.of(PageRecord)) == 12 * 6
    assert not world.of(PauseRecord)


def test_a_site_that_gave_way_is_left_alone_and_its_url_is_tried_again() -> None:
    world = _World(_site(*_QUICK), _work())
    world.accept(_slow(4) | _QUICK, "/")
    world.run(until=1060.0)
    failures = world.of(BadRecord)
    assert failures
    assert {(failed.reason, failed.blank_address) for failed in failures} == {(Reason.GAVE_WAY.word, False)}
    assert {failed.detail for failed in failures} == {"gave way to others: 120 bytes a second"}
    spared = [over for over in world.of(VisitOver) if over.reason]
    assert len(spared) == len(failures)
    assert all(over.reason == Reason.GAVE_WAY.word and over.not_before >= over.at + 20 and over.failures for over in spared)


def test_a_robots_file_gives_way_as_pages_do() -> None:
    world = _World(_site(*_QUICK), _work())
    world.quick_files = ()
    world.accept(_slow(8) | _QUICK, "/")
    world.run(until=1060.0)
    assert len(world.of(PageRecord)) == 12
    spared = [over for over in world.of(VisitOver) if over.reason]
    assert spared
    assert {(over.reason, over.failures) for over in spared} == {(Reason.ROBOTS_UNREACHABLE.word, 1)}


def test_nobody_is_asked_for_room_while_connections_are_free() -> None:
    world = _World(_site(*_QUICK), _work(Connections=11))
    world.accept(_slow(8) | _QUICK, "/")
    world.run(until=1060.0)
    assert len(world.of(PageRecord)) == 12
    assert world.wanted == []


def test_nobody_is_asked_for_room_while_nobody_waits() -> None:
    """The second page of each host waits for the first: a connection would not help it."""
    world = _World({}, _work())
    world.accept(_slow(4), "/", "/more")
    world.run(until=1060.0)
    assert world.wanted == []


def test_no_more_room_is_asked_for_than_addresses_can_use() -> None:
    """Of twenty sites at one address, one at a time may be asked."""
    world = _World({}, _work(AddressConnections=1))
    world.accept(_slow(4) | {f"{number}.example": ADDRESS for number in range(20)}, "/")
    world.run(until=1060.0)
    assert set(world.wanted) == {1}


def test_hosts_that_gave_way_keep_to_their_share_when_they_come_back() -> None:
    quick = {f"{number}.example": f"203.0.113.{number}" for number in range(12)}
    world = _World(_site(*quick, pages=60), _work(Connections=8))
    world.accept(_slow(8) | quick, "/")
    world.run(until=1012.0)
    assert len([over for over in world.of(VisitOver) if over.reason == Reason.GAVE_WAY.word]) == 8
    seen = len(world.asked)
    world.accept(_slow(8), "/")
    world.run(until=1016.0)
    pages = [url for _, url in world.asked[seen:] if url.startswith("http://slow") and url.endswith("/")]
    assert len(pages) == 2, "a quarter of eight connections"


# --- the rules ----------------------------------------------------------------------------------------------------------


def test_slow_hosts_take_a_quarter_of_the_connections_while_others_wait() -> None:
    slow = SlowHosts(8)
    for host in ("a", "b", "c"):
        slow.gave_way(host)
    slow.others_wait(0.0)
    for host in ("a", "b"):
        assert not slow.must_wait(host, 1.0)
        slow.started(host, host)
    slow.started("d", "d")
    assert slow.must_wait("c", 1.0)
    assert not slow.must_wait("d", 1.0), "it is not slow"
    assert not slow.must_wait("c", 11.0), "nobody waits any more"
    slow.ended("a")
    assert not slow.must_wait("c", 1.0)


def test_a_host_is_slow_until_a_page_of_it_came_quickly() -> None:
    slow = SlowHosts(8)
    slow.gave_way("a")
    slow.gave_page("a", 6.0)
    assert slow.names == {"a"}
    slow.gave_page("a", 1.0)
    assert not slow.names


def test_memory_is_bounded() -> None:
    slow = SlowHosts(8)
    for number in range(25_000):
        slow.gave_way(f"{number}.example")
    assert 0 < len(slow.names) <= 10_000


class _Visit:
    host_rule = (0.0, 1)

    def __init__(self, host: str, address: str) -> None:
        self.host = host
        self.address = address


def test_a_slow_host_lets_others_pass() -> None:
    slow = SlowHosts(4)
    scheduler: RequestScheduler[_Visit] = RequestScheduler(0.0, 8, slow)
    first, second, quick = _Visit("first", "1"), _Visit("second", "1"), _Visit("quick", "1")
    for visit in (first, second, quick):
        scheduler.open(visit, 0.0, 0.0)
        scheduler.enqueue(visit)
    slow.gave_way("first")
    slow.gave_way("second")
    slow.others_wait(1.0)
    assert scheduler.count_waiting(1.0) == 1
    assert scheduler.next_ready(1.0) is first
    slow.started(first, "first")
    assert scheduler.next_ready(1.0) is quick
    assert scheduler.next_ready(1.0) is None
    assert scheduler.next_ready(2.0) is None
    slow.ended(first)
    assert scheduler.next_ready(3.0) is second
