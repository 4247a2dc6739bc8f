"""A document with volatile regions is visited for the first time, and waits for its table of variable information."""

from __future__ import annotations

import itertools
import random

import pytest

from parcahyd.augment.site_offer import write_offer
from parcahyd.config.schema import HostRule, WorkConf
from parcahyd.core.ports import GENERAL, DownloadFailure, DownloadResult
from parcahyd.core.records import BadRecord, PageRecord, TableFact, VisitOver
from parcahyd.core.states import Reason
from parcahyd.pipeline.crawl_worker.augmented.offers import ABSENT_DIRECTORY
from parcahyd.pipeline.crawl_worker.new_links import NewLinkFinder
from tests.pipeline.crawl_worker.linked_pages import offer_of
from tests.pipeline.crawl_worker.parted_pages import ROBOTS, document, html, parts_of, table, tvi, world
from tests.pipeline.crawl_worker.world import Answer, World, page, redirect


def test_a_document_with_markers_waits_for_its_table_and_is_stored_in_parts() -> None:
    body = document()
    one = world({"/page.html": html(body), "/page.TVI": tvi(table(body)), "/next.html": page(), "/about": page()})
    one.visit("/page.html", "/next.html")
    assert one.paths()[:4] == ["/robots.txt", "/page.html", "/page.TVI", "/next.html"]
    record = one.of(PageRecord)[0]
    assert (record.path, record.body, record.etag) == ("/page.html", body, '"d1"')
    assert parts_of(record) == {"price": b"11.00", "news": b'<a href="/news/1">First</a>'}
    assert record.table == TableFact('"t2"', "", 0, 0)
    assert record.internal == ("/about", "/news/1")
    over = one.of(VisitOver)[0]
    assert over.pages == 3
    assert one.records[-1] is over


def test_a_table_of_another_version_parts_the_document_by_its_markers() -> None:
    body = document()
    one = world({"/page.html": html(body), "/page.TVI": tvi(table(document("12.00")))})
    one.visit("/page.html")
    record = one.of(PageRecord)[0]
    assert (record.body, parts_of(record)["price"]) == (body, b"11.00")


@pytest.mark.parametrize(
    ("path", "body", "robots"),
    [
        ("/page.html", document().replace(b"data-vol", b"data-val"), ROBOTS),
        ("/page.html", b"<p>Prices are volatile today, and a data-vol attribute would say so.</p>", ROBOTS),
        ("/page.html", document(), DownloadResult(404)),
        ("/private.html", document(), DownloadResult(200, (), b"User-agent: *\nDisallow: /*.TVI\nAugment: 1")),
        ("/page.html?q=1", document(), ROBOTS),
        ("/page.html", document(head="<meta name=robots content=nofollow>"), ROBOTS),
    ],
)
def test_no_table_is_asked_for_that_is_not_declared_or_of_no_use(path: str, body: bytes, robots: DownloadResult) -> None:
    one = World({"/robots.txt": robots, path: html(body)})
    one.visit(path)
    assert [asked for asked in one.paths() if ".TVI" in asked] == []
    assert [(record.body, record.table) for record in one.of(PageRecord)] == [(body, None)]


@pytest.mark.parametrize(
    ("name", "value", "is_asked"),
    [
        ("X-Robots-Tag", "nofollow", False),
        ("Link", "</next>; rel=next", False),
        ("Link", '<page.TOL>; rel="tol"', True),
    ],
)
def test_what_a_document_s_headers_say_could_not_be_refreshed_by_its_table(name: str, value: str, is_asked: bool) -> None:
    body = document()
    one = world({"/page.html": html(body, (name, value)), "/page.TVI": tvi(table(body))})
    one.visit("/page.html")
    assert ("/page.TVI" in one.paths()) is is_asked
    assert (one.of(PageRecord)[0].table is not None) is is_asked


@pytest.mark.parametrize(
    "answer",
    [
        DownloadResult(404),
        DownloadResult(500),
        DownloadResult(403),
        DownloadResult(304),
        DownloadResult(failure=DownloadFailure.RESET),
        DownloadResult(failure=DownloadFailure.SIZE),
        redirect("http://other.example/page.TVI"),
        redirect("/private/page.TVI"),
        tvi(b"<!doctype html>not here"),
        tvi(table(document())[:-8]),
        tvi(table(document(), "other.html")),
        tvi(table(document(head="<title>Other</title>"))),
    ],
)
def test_a_document_is_stored_whatever_comes_of_its_table(answer: DownloadResult) -> None:
    one = world({"/page.html": html(document()), "/page.TVI": answer})
    one.visit("/page.html")
    record = one.of(PageRecord)[0]
    assert (record.path, record.body, record.regions, record.table) == ("/page.html", document(), (), None)
    assert "http://other.example/page.TVI" not in [url for _, url in one.asked]
    assert [record for record in one.of(BadRecord) if record.path == "/page.html"] == []


def test_after_three_misses_no_document_waits() -> None:
    paths = [f"/{number}.html" for number in range(6)]
    one = world(dict.fromkeys(paths, html(document())))
    one.visit(*paths)
    assert [path for path in one.paths() if path.endswith(".TVI")] == ["/0.TVI", "/1.TVI", "/2.TVI"]
    assert len([record for record in one.of(PageRecord) if record.path in paths]) == 6


def test_that_tables_are_missing_is_remembered_until_the_next_day() -> None:
    paths = [f"/{number}.html" for number in range(4)]
    site: dict[str, Answer] = dict.fromkeys(paths, html(document()))
    first = world(site)
    first.visit(*paths)
    augmentation = write_offer(offer_of(first))
    again = world(site)
    again.visit(*paths, augmentation=augmentation)
    assert [path for path in again.paths() if path.endswith(".TVI")] == []
    assert {record.path for record in again.of(PageRecord)} >= set(paths)
    tomorrow = world(site)
    tomorrow.time += ABSENT_DIRECTORY + 60
    tomorrow.visit(*paths, augmentation=augmentation)
    assert len([path for path in tomorrow.paths() if path.endswith(".TVI")]) == 3


def test_tables_that_are_missing_now_and_then_are_asked_for() -> None:
    paths = [f"/{number}.html" for number in range(9)]
    site: dict[str, Answer] = dict.fromkeys(paths, html(document()))
    for number in (2, 5, 8):
        site[f"/{number}.TVI"] = tvi(table(document(), f"{number}.html"))
    one = world(site)
    one.visit(*paths)
    assert len([path for path in one.paths() if path.endswith(".TVI")]) == 9
    assert offer_of(one).absent == ()


def test_a_page_that_names_its_table_teaches_where_tables_are() -> None:
    body = document(head='<link rel="tvi" href="page.TVI">')
    one = World({"/page.html": html(body), "/page.TVI": tvi(table(body))}, WorkConf(HostDelay=0.0))
    one.visit("/page.html")
    assert one.paths()[:3] == ["/robots.txt", "/page.html", "/page.TVI"]
    assert one.of(PageRecord)[0].table is not None


def test_a_table_is_followed_within_its_site() -> None:
    body = document()
    one = world({"/page.html": html(body), "/page.TVI": redirect("/t/1"), "/t/1": tvi(table(body, "/page.html"))})
    one.visit("/page.html")
    assert one.of(PageRecord)[0].table is not None
    around = world({"/page.html": html(body), "/page.TVI": redirect("/page.TVI")})
    around.visit("/page.html")
    assert around.paths().count("/page.TVI") == 4
    assert [record.table for record in around.of(PageRecord) if record.path == "/page.html"] == [None]


def test_a_folder_s_table_is_that_of_its_index_document() -> None:
    body = document()
    robots = DownloadResult(200, (), b"Augment: 1; tvi={stem}.TVI; index=home.htm")
    one = World({"/robots.txt": robots, "/docs/": html(body), "/docs/home.TVI": tvi(table(body, "home.htm"))})
    one.visit("/docs/")
    assert one.of(PageRecord)[0].table is not None


def test_tables_keep_the_delay_and_carry_no_secrets() -> None:
    rule = HostRule(
        Pattern="site.example", Credentials="me:secret", Cookies=True, Headers={"Cookie": "a=b", "X-Mine": "yes"}, Delay=2.0
    )
    body = document()
    one = world({"/page.html": html(body), "/page.TVI": tvi(table(body))}, Host=[rule])
    one.visit("/page.html")
    starts = [at for at, _ in one.asked][:4]
    assert [later - earlier for earlier, later in itertools.pairwise(starts)] == pytest.approx([2.5] * 3)
    whole, fragment = one.requests[1:3]
    assert (whole.options.credentials, whole.options.cookies) == ("me:secret", True)
    assert fragment.options is GENERAL
    assert ("Cookie", "a=b") in whole.headers
    assert ("Cookie", "a=b") not in fragment.headers
    assert ("X-Mine", "yes") not in fragment.headers
    assert (fragment.max_bytes, fragment.cut) == (5 * 1024 * 1024, False)


class Interrupted(World):
    """A visit to /page.html that is watched until then."""

    def __init__(self, site: dict[str, Answer], end: float, delay: float = 0.0) -> None:
        super().__init__(site, WorkConf(HostDelay=delay))
        self.end = end
        self.visit("/page.html")

    def run(self, until: float = 1e9) -> None:
        super().run(min(until, self.end))


def test_a_document_is_stored_when_the_visit_is_stopped_before_its_table_comes() -> None:
    body = document()
    site: dict[str, Answer] = {"/page.html": html(body), "/page.TVI": tvi(table(body))}
    waiting = Interrupted({"/robots.txt": ROBOTS, **site}, 1015.0, delay=10.0)
    assert waiting.paths() == ["/robots.txt", "/page.html"]
    assert waiting.of(PageRecord) == []
    waiting.worker.stop()
    assert [(record.body, record.table) for record in waiting.of(PageRecord)] == [(body, None)]
    assert isinstance(waiting.records[-1], VisitOver)
    on_the_wire = Interrupted({"/robots.txt": ROBOTS, **site}, 1001.2)
    assert on_the_wire.paths()[-1] == "/page.TVI"
    on_the_wire.worker.stop()
    assert on_the_wire.of(PageRecord) == []
    on_the_wire.cancel_all()
    assert [(record.body, record.table) for record in on_the_wire.of(PageRecord)] == [(body, None)]
    assert isinstance(on_the_wire.records[-1], VisitOver)


def test_a_document_that_comes_when_the_visit_is_stopped_waits_for_no_table() -> None:
    body = document()
    one = Interrupted({"/robots.txt": ROBOTS, "/page.html": html(body), "/page.TVI": tvi(table(body))}, 1000.7)
    one.worker.stop()
    one.end = 1e9
    one.run()
    assert one.paths() == ["/robots.txt", "/page.html"]
    assert [(record.body, record.table) for record in one.of(PageRecord)] == [(body, None)]
    assert isinstance(one.records[-1], VisitOver)


def test_no_table_is_requested_of_a_server_that_asks_for_a_pause() -> None:
    busy = DownloadResult(503, (("Retry-After", "50"),))
    site: dict[str, Answer] = {"/busy.html": busy, "/page.html": html(document()), "/page.TVI": tvi(table(document()))}
    one = world(site, HostConnections=2)
    one.visit("/busy.html", "/page.html")
    assert one.paths() == ["/robots.txt", "/busy.html", "/page.html"]
    assert [record.path for record in one.of(PageRecord)] == ["/page.html"]
    assert one.time < 1010.0


def test_a_table_that_is_on_the_wire_when_the_visit_is_stopped_is_used() -> None:
    body = document()
    one = Interrupted({"/robots.txt": ROBOTS, "/page.html": html(body), "/page.TVI": tvi(table(body))}, 1001.2)
    one.worker.stop()
    one.end = 1e9
    one.run()
    assert [record.table is not None for record in one.of(PageRecord)] == [True]


def test_without_credit_a_document_is_not_read_and_its_table_not_requested() -> None:
    body = document()
    site: dict[str, Answer] = {"/plain.html": page(), "/page.html": html(body), "/page.TVI": tvi(table(body))}
    one = World({"/robots.txt": ROBOTS, **site}, WorkConf(HostDelay=0.0, HostConnections=2), 150)
    one.visit("/plain.html", "/page.html")
    assert one.paths() == ["/robots.txt", "/plain.html", "/page.html"]
    assert [record.path for record in one.of(PageRecord)] == ["/plain.html"]
    one.worker.add_credit(10_000)
    one.run()
    assert [record.path for record in one.of(PageRecord)] == ["/plain.html", "/page.html"]


def test_documents_that_wait_are_bounded_in_bytes() -> None:
    """Three that arrive together: there is room for one to wait, and the others are stored without their tables."""
    body = document()
    site: dict[str, Answer] = {f"/{number}.html": html(body) for number in range(4)}
    site |= {f"/{number}.TVI": tvi(table(body, f"{number}.html")) for number in range(4)}
    one = World({"/robots.txt": ROBOTS, **site}, WorkConf(HostDelay=0.0, HostConnections=3), len(body) * 3 // 2)
    one.visit("/0.html", "/1.html", "/2.html")
    while one.worker.open_visits:
        one.worker.add_credit(len(body))
        one.run()
    stored = {record.path: record.table is not None for record in one.of(PageRecord) if record.path.endswith(".html")}
    assert stored == {"/0.html": True, "/1.html": False, "/2.html": False}
    one.visit("/3.html")
    while one.worker.open_visits:
        one.worker.add_credit(len(body))
        one.run()
    assert one.of(PageRecord)[-1].table is not None, "the room was given back"


def test_of_large_documents_markers_are_not_looked_for() -> None:
    body = document(head=f"<!-- {'x' * 2**20} -->") + random.Random(5).randbytes(2000).hex().encode()
    for described, is_parted in ((body, True), (body.replace(b"11.00", b"12.00"), False)):
        one = world({"/page.html": html(body), "/page.TVI": tvi(table(described))})
        one.visit("/page.html")
        assert (one.of(PageRecord)[0].table is not None) is is_parted
    huge = body + b" " * 2**23
    one = world({"/page.html": html(huge), "/page.TVI": tvi(table(huge))})
    one.visit("/page.html")
    assert "/page.TVI" not in one.paths()
    assert one.of(PageRecord)[0].body == huge


def test_a_document_that_cannot_be_stored_when_the_visit_is_stopped_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    body = document()
    one = Interrupted({"/robots.txt": ROBOTS, "/page.html": html(body), "/page.TVI": tvi(table(body))}, 1015.0, delay=10.0)

    def broken(*_: object) -> None:
        raise RuntimeError("broken")

    monkeypatch.setattr(NewLinkFinder, "find", broken)
    one.worker.stop()
    assert [(record.path, record.reason) for record in one.of(BadRecord)] == [("/page.html", Reason.FAULT.word)]
    assert isinstance(one.records[-1], VisitOver)
