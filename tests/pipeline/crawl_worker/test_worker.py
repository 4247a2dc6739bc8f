"""A Crawl Worker on a simulated clock and network: what it asks, when, and which records it gives."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult
from parcahyd.core.records import (
    Assignment,
    BadRecord,
    DueUrl,
    ExternRecord,
    PageRecord,
    RobotsFact,
    RobotsStatus,
    SiteLease,
    UnchangedRecord,
    VisitOver,
)
from parcahyd.core.states import Reason, State
from parcahyd.pipeline.crawl_worker.new_links import NewLinkFinder, NewLinks
from parcahyd.rules.html.links import PageLinks, read_links
from parcahyd.rules.sitemaps.reader import Sitemap
from parcahyd.rules.urls.canonical_url import key_of
from tests.pipeline.crawl_worker.world import ADDRESS, Answer, World, page, redirect


def test_a_site_is_crawled_whole_each_url_once_and_the_last_record_is_the_visit_s_end() -> None:
    world = World({"/": page("a", "b", "a#x"), "/a": page("/", "b"), "/b": page("a", "c"), "/c": page()})
    world.visit("/")
    assert world.paths()[0] == "/robots.txt"
    assert sorted(world.paths()[1:]) == ["/", "/a", "/b", "/c"]
    pages = {record.path: record for record in world.of(PageRecord)}
    assert pages["/"].internal == ("/a", "/b")
    assert pages["/b"].internal == ("/c",)
    assert (pages["/"].depth, pages["/c"].seed) == (0, False)
    assert isinstance(world.records[-1], VisitOver)
    assert [one.visit for one in world.processed] == [7]
    assert world.worker.open_visits == 0


@pytest.mark.parametrize("work", [WorkConf(Scope="any"), WorkConf(Scope="domain"), WorkConf(Domains=("third.example",))])
def test_external_links_leave_at_once_and_travel_with_their_document_too(work: WorkConf) -> None:
    world = World({"/": page("http://other.example/x", "http://other.example/x", "//third.example")}, work)
    world.visit("/")
    outside = ("http://other.example/x", "http://third.example/")
    assert [record.urls for record in world.of(ExternRecord)] == [outside]
    assert world.of(PageRecord)[0].external == outside
    assert world.records.index(world.of(ExternRecord)[0]) < world.records.index(world.of(PageRecord)[0])


def test_where_links_bring_no_site_into_the_crawl_they_come_with_their_document_alone() -> None:
    world = World({"/": page("http://other.example/x")}, WorkConf(Scope="site"))
    world.visit("/")
    assert world.of(ExternRecord) == []
    assert world.of(PageRecord)[0].external == ("http://other.example/x",)


def test_one_connection_keeps_the_delay_from_end_to_start() -> None:
    world = World({"/": page("a", "b", "c")}, WorkConf(HostDelay=2.0))
    world.visit("/")
    starts = [at for at, _ in world.asked]
    assert [later - earlier for earlier, later in pairwise(starts)] == pytest.approx([2.5] * 4)
    assert world.most_at_once == 1


@pytest.mark.parametrize(("duration", "most_at_once"), [(0.1, 1), (0.5, 2), (1.0, 3), (5.0, 3)])
def test_several_connections_keep_the_delay_from_start_to_start(duration: float, most_at_once: int) -> None:
    """Between any two requests, however long their answers take; these may overlap."""
    delay = 0.3
    world = World({"/": page(*map(str, range(14)))}, WorkConf(HostDelay=delay, HostConnections=3, DelayFactor=0.0))
    world.duration = duration
    world.visit("/")
    starts = [at for at, _ in world.asked]
    assert len(starts) == 16  # robots.txt, the start page, and those that it links to
    assert min(later - earlier for earlier, later in pairwise(starts)) >= delay - 1e-9
    assert world.most_at_once == most_at_once


class SlowConnections(World):
    """Every third request waits for a new connection; the others leave at once."""

    tells_when_sent = True

    def __init__(self, site: dict[str, Answer], work: WorkConf, connecting: float) -> None:
        super().__init__(site, work)
        self.connecting = connecting
        self.sent_at: list[float] = []

    def start(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        if len(self.asked) % 3:
            self._leave(request)
            super().start(request, done)
        else:
            self.asked.append((self.time, request.url))
            self.after(self.connecting, partial(self._connected, request, done))

    def _connected(self, request: DownloadRequest, done: Callable[[DownloadResult], None]) -> None:
        self._leave(request)
        self.after(self.duration, lambda: done(self._answer(request)))

    def _leave(self, request: DownloadRequest) -> None:
        self.sent_at.append(self.time)
        if request.sent is not None:
            request.sent()


@pytest.mark.parametrize("connecting", [0.0, 0.4, 2.5])
def test_the_delay_is_kept_between_requests_as_they_leave(connecting: float) -> None:
    work = WorkConf(HostDelay=1.0, HostConnections=3, AddressDelay=0.2, DelayFactor=0.0)
    world = SlowConnections({"/": page(*map(str, range(14)))}, work, connecting)
    world.duration = 1.5
    world.visit("/")
    assert len(world.sent_at) == len(world.asked) == 16
    gaps = [second - first for first, second in pairwise(world.sent_at[2:])]
    assert min(gaps) >= 1.0 - 1e-9


def test_many_connections_drain_the_local_queue_together() -> None:
    world = World({"/": page(*map(str, range(20)))}, WorkConf(HostDelay=0.0, HostConnections=8))
    world.visit("/")
    assert world.most_at_once == 8
    assert len(world.asked) == 22


def test_connections_bound_what_is_on_the_wire() -> None:
    world = World({"/": page(*map(str, range(20)))}, WorkConf(HostDelay=0.0, HostConnections=32, Connections=3))
    world.visit("/")
    assert world.most_at_once == 3
    assert len(world.asked) == 22


def test_redirects_are_urls_of_their_own_and_chains_end() -> None:
    site: dict[str, Answer] = {f"/{hop}": redirect(f"/{hop + 1}") for hop in range(20)}
    world = World(site, WorkConf(HostDelay=0.0, MaxRedirects=3))
    world.visit("/0")
    assert world.paths()[1:] == ["/0", "/1", "/2", "/3"]
    assert [record.redirect for record in world.of(PageRecord)] == [f"http://site.example/{hop}" for hop in (1, 2, 3, 4)]
    assert [record.hops for record in world.of(PageRecord)] == [0, 1, 2, 3]  # The target of the last is refused when stored.


def test_a_seed_s_redirect_target_is_a_seed_too() -> None:
    world = World({"/": redirect("/home"), "/home": page()})
    world.visit(urls=(DueUrl(key_of("/"), "/", seed=True),))
    assert [record.seed for record in world.of(PageRecord)] == [True, True]


def test_a_stored_page_is_asked_for_with_its_validators() -> None:
    def answer(request: DownloadRequest) -> DownloadResult:
        return DownloadResult(304) if ("If-None-Match", '"v1"') in request.headers else page()

    world = World({"/": answer})
    stored = DueUrl(key_of("/"), "/", state=State.STORED, etag='"v1"', modified="Mon, 01 Jan 2024 00:00:00 GMT")
    world.visit(urls=(stored,), known=key_of("/").to_bytes(8, "little", signed=True))
    assert ("If-Modified-Since", "Mon, 01 Jan 2024 00:00:00 GMT") in world.requests[-1].headers
    assert [record.etag for record in world.of(UnchangedRecord)] == ['"v1"']
    assert world.of(PageRecord) == []


@pytest.mark.parametrize(
    ("answer", "state", "reason"),
    [
        (DownloadResult(404), State.GONE, Reason.MISSING),
        (DownloadResult(410), State.GONE, Reason.MISSING),
        (DownloadResult(403), State.GONE, Reason.HTTP_REFUSED),
        (DownloadResult(500), State.FAILED, Reason.HTTP_ERROR),
        (DownloadResult(failure=DownloadFailure.RESET), State.FAILED, Reason.RESET),
        (DownloadResult(failure=DownloadFailure.TRUNCATED), State.FAILED, Reason.TRUNCATED),
        (DownloadResult(failure=DownloadFailure.SIZE), State.REFUSED, Reason.SIZE),
        (DownloadResult(301), State.FAILED, None),
    ],
)
def test_what_is_no_document_becomes_a_bad_record(answer: DownloadResult, state: State, reason: Reason | None) -> None:
    world = World({"/": answer})
    world.visit("/")
    record = world.of(BadRecord)[0]
    assert record.state == state
    assert reason is None or record.reason == reason.word
    assert record.due_at > world.time


def test_the_last_try_is_the_last() -> None:
    world = World({"/": DownloadResult(500)}, WorkConf(HostDelay=0.0, MaxTries=3))
    world.visit(urls=(DueUrl(key_of("/"), "/", tries=2, state=State.FAILED),))
    record = world.of(BadRecord)[0]
    assert (record.state, record.reason, record.tries) == (State.GONE, Reason.OUT_OF_TRIES.word, 3)


def test_a_site_that_stops_answering_is_left_alone() -> None:
    world = World({"/": page(*map(str, range(30)))})
    for path in range(30):
        world.site[f"/{path}"] = DownloadResult(failure=DownloadFailure.CONNECT)
    world.visit("/")
    assert len(world.asked) == 2 + 5
    over = world.of(VisitOver)[0]
    assert (over.reason, over.failures) == (Reason.UNREACHABLE_SITE.word, 1)
    assert over.not_before > world.time


def test_a_downloader_that_speaks_to_another_address_is_found_out() -> None:
    world = World({"/": page("a")})
    world.peer = "127.0.0.1"
    world.visit("/", robots=RobotsFact(RobotsStatus.ABSENT, b"", 900.0, 2000.0))
    assert world.of(PageRecord) == []
    assert [record.reason for record in world.of(BadRecord)] == [Reason.PEER.word]
    assert "127.0.0.1" in world.plugin_errors[0]
    assert "curl" in world.plugin_errors[0]


def test_a_downloader_that_fails_is_named() -> None:
    world = World({"/": DownloadResult(failure=DownloadFailure.PLUGIN, detail="the downloader x raised ValueError")})
    world.visit("/")
    assert world.plugin_errors == ["the downloader x raised ValueError"]
    assert [record.reason for record in world.of(BadRecord)] == [Reason.PLUGIN.word]


def test_a_document_that_this_program_fails_on_does_not_stop_the_visit(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(body: bytes, charset: str) -> PageLinks:
        if b"trap" in body:
            raise RecursionError("too deep")
        return read_links(body, charset)

    monkeypatch.setattr("parcahyd.pipeline.crawl_worker.document_reader.read_links", fail)
    world = World({"/": page("t", "b"), "/t": page("trap"), "/b": page()})
    world.visit("/")
    assert [record.path for record in world.of(PageRecord)] == ["/", "/b"]
    assert [(record.path, record.reason) for record in world.of(BadRecord)] == [("/t", Reason.FAULT.word)]
    assert "too deep" in world.plugin_errors[0]
    assert isinstance(world.records[-1], VisitOver)


def test_a_document_that_this_program_fails_on_after_a_thread_read_it_is_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = NewLinkFinder.find

    def fail(reader: NewLinkFinder, url: str, links: PageLinks, embedded: bool, is_new_page: bool) -> NewLinks:
        if url.endswith(".rss"):
            raise RecursionError("too deep")
        return read(reader, url, links, embedded, is_new_page)

    monkeypatch.setattr(NewLinkFinder, "find", fail)
    feed = b"<rss><channel><item><link>/x</link></item></channel></rss>" + b" " * 100_000
    world = World({"/": page("t.rss", "b"), "/t.rss": DownloadResult(200, (("Content-Type", "application/rss+xml"),), feed)})
    world.site["/b"] = page()
    world.visit("/")
    assert world.read_in_thread == 1
    assert [record.path for record in world.of(PageRecord)] == ["/", "/b"]
    assert [(record.path, record.reason) for record in world.of(BadRecord)] == [("/t.rss", Reason.FAULT.word)]
    assert "too deep" in world.plugin_errors[0]
    assert isinstance(world.records[-1], VisitOver)


def test_documents_read_in_a_thread_may_end_a_visit_that_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> Sitemap:
        raise RecursionError("too deep")

    monkeypatch.setattr("parcahyd.pipeline.crawl_worker.document_reader.read_sitemap", fail)
    feed = DownloadResult(200, (("Content-Type", "application/rss+xml"),), b"<rss/>" + b" " * 100_000)
    site: dict[str, Answer] = {**{f"/{number}.rss": feed for number in range(5)}, **{f"/{n}": page() for n in range(20)}}
    world = World({"/": page(*site), **site}, WorkConf(HostDelay=0.0, HostConnections=5))
    world.visit("/")
    assert {record.path for record in world.of(BadRecord)} == {f"/{number}.rss" for number in range(5)}
    (over,) = world.of(VisitOver)
    assert over.reason == Reason.UNREACHABLE_SITE.word
    assert len(world.asked) < 15
    assert world.worker.open_visits == 0


@pytest.mark.parametrize("has_neighbour", [True, False])
def test_a_visit_whose_documents_take_long_to_read_leaves_the_worker_s_time_to_others(
    monkeypatch: pytest.MonkeyPatch, has_neighbour: bool
) -> None:
    """It gets a tenth of it. A visit that is alone keeps its pace."""
    other = "http://other.example"
    pages: dict[str, Answer] = {"/": page("a", "b"), "/a": page(), "/b": page()}
    pages |= {f"{other}/{number}": page(f"{number + 1}") for number in range(100)}
    world = World(pages, WorkConf(HostDelay=1.0, DelayFactor=0.0))
    read = NewLinkFinder.find

    def find(reader: NewLinkFinder, url: str, links: PageLinks, embedded: bool, is_new_page: bool) -> NewLinks:
        world.time += 0.0 if url.startswith(other) else 3.0
        return read(reader, url, links, embedded, is_new_page)

    monkeypatch.setattr(NewLinkFinder, "find", find)
    if has_neighbour:
        lease = SiteLease(8, 4, "http", "other.example", 80, (DueUrl(key_of("/0"), "/0"),))
        world.worker.accept([Assignment(lease, "192.0.2.9", ("192.0.2.9",), 5000.0, 1000)])
    world.visit("/")
    starts = [at for at, url in world.asked if not url.startswith(other) and not url.endswith("robots.txt")]
    gaps = [later - earlier for earlier, later in pairwise(starts)]
    assert len(gaps) == 2
    if has_neighbour:
        assert min(gaps) >= 30.0
        assert sum(url.startswith(other) for at, url in world.asked if starts[0] < at < starts[2]) >= 30
    else:
        assert max(gaps) < 5.0


def test_a_scheme_without_a_downloader_is_refused_without_a_request() -> None:
    world = World({})
    world.visit("/", scheme="gopher", port=70)
    assert world.asked == []
    assert [(record.state, record.reason) for record in world.of(BadRecord)] == [(State.REFUSED, Reason.SCHEME.word)]


def test_without_credit_nothing_is_asked_until_some_comes() -> None:
    world = World({"/": page(*map(str, range(20)))}, credit=250)
    world.visit("/")
    asked = len(world.asked)
    assert asked < 22
    assert world.worker.on_the_wire == 0
    world.worker.add_credit(10**6)
    world.run()
    assert len(world.asked) == 22


def test_a_visit_fetches_no_more_pages_than_it_may() -> None:
    world = World({"/": page(*map(str, range(20))), **{f"/{number}": page() for number in range(20)}})
    world.visit("/", pages=5)
    assert len(world.of(PageRecord)) == 5
    assert world.processed[0].pages == 5
    assert len(world.of(PageRecord)[0].internal) == 20


def test_on_a_large_site_only_what_was_sent_is_fetched() -> None:
    world = World({"/": page("a", "b")})
    world.visit("/", has_all_keys=False)
    assert world.paths() == ["/robots.txt", "/"]
    assert world.of(PageRecord)[0].internal == ("/a", "/b")


def test_with_max_depth_no_page_is_asked_for_before_all_shallower_ones_are_read() -> None:
    site: dict[str, Answer] = {"/": page("a", "b", "c"), "/a": page("d"), "/b": page(), "/c": page("e"), "/d": page("f")}
    world = World(site, WorkConf(HostDelay=0.0, HostConnections=8, MaxDepth=2))
    world.visit("/")
    assert world.paths()[1:] == ["/", "/a", "/b", "/c", "/d", "/e"]
    assert world.of(PageRecord)[-1].internal == ("/f",)


def test_embedded_things_are_fetched_only_when_asked_to() -> None:
    body = b'<!doctype html><img src="i.png"><script src="s.js"></script><a href="p">p</a>'
    site: dict[str, Answer] = {"/": DownloadResult(200, (("Content-Type", "text/html"),), body)}
    plain, embedded = World(site), World(site, WorkConf(HostDelay=0.0, Embedded=True))
    plain.visit("/")
    embedded.visit("/")
    assert plain.of(PageRecord)[0].internal == ("/p",)
    assert set(embedded.of(PageRecord)[0].internal) == {"/p", "/i.png", "/s.js"}
    assert b"img\ti.png" in plain.of(PageRecord)[0].links


def test_stopping_hands_everything_back_and_asks_nothing_more() -> None:
    world = World({"/": page(*map(str, range(20)))}, WorkConf(HostDelay=0.0, HostConnections=4))
    lease = SiteLease(7, 3, "http", "site.example", 80, (DueUrl(key_of("/"), "/"),))
    world.worker.accept([Assignment(lease, ADDRESS, (ADDRESS,), 5000.0, 1000)])
    world.run(until=world.time + 1.2)
    asked = len(world.asked)
    assert asked == 6
    world.worker.stop()
    world.cancel_all()
    world.run()
    assert len(world.asked) == asked
    assert world.worker.open_visits == 0
    assert isinstance(world.records[-1], VisitOver)


@pytest.mark.parametrize("answers", [{"/a": redirect("/b")}, {"/a": DownloadResult(404), "/c": page("/b")}])
def test_what_comes_after_a_visit_was_stopped_leads_to_no_request(answers: dict[str, Answer]) -> None:
    world = World({**answers, "/b": page()}, WorkConf(HostDelay=0.0, HostConnections=2))
    urls = tuple(DueUrl(key_of(path), path) for path in answers)
    robots = RobotsFact(RobotsStatus.ABSENT, b"", 900.0, 9000.0)
    lease = SiteLease(7, 3, "http", "site.example", 80, urls, robots=robots)
    world.worker.accept([Assignment(lease, ADDRESS, (ADDRESS,), 5000.0, 9)])
    assert world.paths() == [*answers]
    world.worker.stop()
    world.run()
    assert world.paths() == [*answers]
    assert isinstance(world.records[-1], VisitOver)
