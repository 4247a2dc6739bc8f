"""Tables of variable information in a Crawl Worker on a simulated clock and network."""

from __future__ import annotations

import itertools
import random
import zlib
from array import array
from hashlib import sha256

import msgspec
import pytest

from bench.fragments import survive_damaged_table, survive_refresh
from parcahyd.augment.of_document import tvi_of
from parcahyd.augment.tvi import Tvi, read_tvi, write_tvi
from parcahyd.augment.volatile import part
from parcahyd.config.schema import HostRule, WorkConf
from parcahyd.core.life_cycle import Reason, State
from parcahyd.core.ports import GENERAL, DownloadFault, DownloadRequest, DownloadResult
from parcahyd.core.records import BadRecord, DueUrl, ExternRecord, Held, PageRecord, TableFact, UnchangedRecord, VisitOver
from parcahyd.pipeline.crawl_worker.fragments import AUDIT_AFTER
from parcahyd.pipeline.crawl_worker.reading import LinkReader
from parcahyd.rules.canonical_url import key_of
from tests.pipeline.crawl_worker.test_worker import Answer, World, page, redirect

ROBOTS = DownloadResult(200, (), b"User-agent: *\nDisallow: /private/\n# Augment: 1; tvi={stem}.TVI\n")
FACT = TableFact('"t1"', "Mon, 01 Jan 2024 00:00:00 GMT")
# Tables of small documents are larger than half of them: this one has a page's size, and does not shrink much.
_WORDS = " ".join(random.Random(1).choices([f"{number:x}" for number in range(10_000)], k=2_000))


def document(price: str = "11.00", news: str = '<a href="/news/1">First</a>', head: str = "") -> bytes:
    text = f"""<!doctype html><head>{head}<meta charset=utf-8></head><p>{_WORDS}</p><a href="/about">About</a>
<span data-vol="price">{price}</span> <div data-vol=news>{news}</div><a href="http://other.example/">Other</a>"""
    return text.encode()


def table(body: bytes, name: str = "page.html", **changes: object) -> bytes:
    written = tvi_of(body, name)
    assert isinstance(written, bytes)
    if changes:
        read = read_tvi(written)
        assert isinstance(read, Tvi)
        again = write_tvi(msgspec.structs.replace(read, **changes))
        assert isinstance(again, bytes)
        return again
    return written


def html(body: bytes, *headers: tuple[str, str]) -> DownloadResult:
    return DownloadResult(200, (("Content-Type", "text/html"), ("ETag", '"d1"'), *headers), body)


def tvi(body: bytes, etag: str = '"t2"') -> DownloadResult:
    return DownloadResult(200, (("ETag", etag), ("Content-Type", "application/octet-stream")), body)


def stored(body: bytes, table: TableFact = FACT, path: str = "/page.html", **facts: object) -> DueUrl:
    parted = part(body)
    held = Held(
        zlib.compress(parted.skeleton),
        len(parted.skeleton),
        sha256(body).digest(),
        tuple([(region.id, region.offset, region.content) for region in parted.regions]),
        table,
        "text/html",
        "utf-8",
        b"X-Old: 1\r\n",
    )
    url = DueUrl(key_of(path), path, state=State.STORED, etag='"d1"', held=held)
    return msgspec.structs.replace(url, **facts)


def world(site: dict[str, Answer], **settings: object) -> World:
    return World({"/robots.txt": ROBOTS, **site}, WorkConf(HostDelay=0.0, **settings))  # type: ignore[arg-type]


def refreshed(body: bytes, answer: Answer, due: DueUrl | None = None, **settings: object) -> World:
    """A visit to a stored page whose table is answered like this, and which itself is this now."""

    def whole(request: DownloadRequest) -> DownloadResult:
        validators = dict(request.headers)
        return DownloadResult(304) if validators.get("If-None-Match") == '"d1"' and body == document() else html(body)

    one = world({"/page.html": whole, "/page.TVI": answer}, **settings)
    url = due or stored(document())
    one.visit(urls=(url,), known=array("q", sorted(map(key_of, ("/page.html", "/about", "/news/1")))).tobytes())
    assert one.misbehaved == []
    assert one.of(VisitOver)[0].pages == len(one.of(UnchangedRecord)) + len(one.of(PageRecord))
    return one


def parts_of(record: PageRecord) -> dict[str, bytes]:
    return {name: record.body[begin:end] for name, begin, end in record.regions}


# --- the first visit ----------------------------------------------------------------------------------------------------


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
        DownloadResult(fault=DownloadFault.RESET),
        DownloadResult(fault=DownloadFault.SIZE),
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


def test_a_server_that_asks_for_patience_is_asked_for_no_table() -> None:
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


@pytest.mark.parametrize(("credit", "is_asked"), [(250, True), (150, False)])
def test_without_credit_documents_do_not_wait_for_tables(credit: int, is_asked: bool) -> None:
    body = document()
    site: dict[str, Answer] = {"/plain.html": page(), "/page.html": html(body), "/page.TVI": tvi(table(body))}
    one = World({"/robots.txt": ROBOTS, **site}, WorkConf(HostDelay=0.0, HostConnections=2), credit)
    one.visit("/plain.html", "/page.html")
    assert ("/page.TVI" in one.paths()) is is_asked
    assert [(record.path, record.table is not None) for record in one.of(PageRecord)][:2] == [
        ("/plain.html", False),
        ("/page.html", is_asked),
    ]


# --- refreshing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [DownloadResult(304), tvi(table(document()), '"t1"')])
def test_a_table_confirms_what_is_stored(answer: DownloadResult) -> None:
    one = refreshed(document(), answer)
    assert one.paths() == ["/robots.txt", "/page.TVI"]
    headers = one.requests[-1].headers
    assert ("If-None-Match", '"t1"') in headers
    assert "If-Modified-Since" not in dict(headers)  # which nobody looks at then
    (record,) = one.of(UnchangedRecord)
    assert (record.path, record.etag) == ("/page.html", '"d1"')
    assert record.table is not None
    assert (record.table.etag, record.table.merges) == ('"t1"', 1)
    assert one.of(PageRecord) == []


def test_a_table_makes_the_new_document() -> None:
    news = '<a href="/news/2">Second</a> <a href="/about">again</a> <a href="http://third.example/">x</a>'
    body = document("12.00", news)
    one = refreshed(body, tvi(table(body, etag='"d2"', refresh=60)))
    assert one.paths()[:2] == ["/robots.txt", "/page.TVI"]
    assert "/page.html" not in one.paths()
    (record,) = [found for found in one.of(PageRecord) if found.path == "/page.html"]
    assert record.body == body
    assert parts_of(record) == {"price": b"12.00", "news": news.encode()}
    assert record.table == TableFact('"t2"', "", 60, 1)
    assert (record.etag, record.modified, record.headers) == ('"d2"', "", b"X-Old: 1\r\n")
    assert (record.media_type, record.charset, record.status) == ("text/html", "utf-8", 200)


def test_only_links_of_changed_regions_are_new_and_the_table_of_links_is_that_of_the_whole() -> None:
    news = '<a href="/news/2">Second</a> <a href="/about">again</a> <a href="http://third.example/">x</a>'
    body = document("12.00", news)
    one = refreshed(body, tvi(table(body)))
    (record,) = [found for found in one.of(PageRecord) if found.path == "/page.html"]
    assert record.internal == ("/news/2",)
    assert record.external == ("http://third.example/",)
    assert [extern.urls for extern in one.of(ExternRecord)] == [("http://third.example/",)]
    lines = ["a\t/about", "a\t/news/2", "a\thttp://third.example/", "a\thttp://other.example/"]
    assert record.links.decode().split("\n")[:-1] == lines


def test_links_resolve_against_the_base_of_the_skeleton() -> None:
    head = '<base href="/deep/folder/">'
    before, body = document(head=head), document(news='<a href="x">x</a>', head=head)
    one = refreshed(body, tvi(table(body)), stored(before))
    assert one.of(PageRecord)[0].internal == ("/deep/folder/x",)


def test_links_of_an_xml_document_s_regions() -> None:
    def feed(link: str) -> bytes:
        root = '<?xml version="1.0"?><r xmlns:x="http://www.w3.org/1999/xlink">'
        return f'{root}<w>{_WORDS}</w><i x:href="/old"/><Vol1>{link}</Vol1></r>'.encode()

    before, after = feed(""), feed('<i x:href="/new"/>')
    parted = part(before, is_xml=True)
    held = Held(
        zlib.compress(parted.skeleton), len(parted.skeleton), sha256(before).digest(), (("Vol1", *parted.regions[0][1:]),), FACT
    )
    written = tvi_of(after, "feed.xml", is_xml=True)
    assert isinstance(written, bytes)
    one = world({"/feed.TVI": tvi(written)})
    one.visit(urls=(DueUrl(key_of("/feed.xml"), "/feed.xml", state=State.STORED, held=held),))
    record = one.of(PageRecord)[0]
    assert (record.body, record.internal) == (after, ("/new",))
    assert record.media_type.endswith("xml")


def test_validators_that_the_table_does_not_name_are_those_of_another_version() -> None:
    body = document("12.00")
    (record,) = refreshed(body, tvi(table(body))).of(PageRecord)
    assert (record.etag, record.modified) == ("", "")


def test_another_skeleton_is_fetched_and_parted_by_the_same_table() -> None:
    body = document("12.00", head="<title>New</title>")
    one = refreshed(body, tvi(table(body)))
    assert one.paths() == ["/robots.txt", "/page.TVI", "/page.html"]
    assert "If-None-Match" not in dict(one.requests[-1].headers)
    (record,) = one.of(PageRecord)
    assert (record.body, record.table) == (body, TableFact('"t2"'))
    assert parts_of(record)["price"] == b"12.00"
    assert b"X-Old" not in record.headers


_NEW = document("12.00")
_DAMAGED = {
    "hash": table(_NEW, hash=bytes(32)),
    "end": table(_NEW)[:-6],
    "escape": table(_NEW).replace(b"12.00", b"12\\z0"),
    "length": table(_NEW).replace(b"12.00", b"12.000"),
    "region": table(_NEW).replace(b"price\t", b"prize\t"),
    "document": table(_NEW, "other.html"),
    "host": table(_NEW, "http://other.example/page.html"),
}


@pytest.mark.parametrize("damage", _DAMAGED)
def test_a_damaged_table_is_discarded_and_the_whole_document_fetched(damage: str) -> None:
    one = refreshed(_NEW, tvi(_DAMAGED[damage]))
    assert one.paths() == ["/robots.txt", "/page.TVI", "/page.html"]
    assert "If-None-Match" not in dict(one.requests[-1].headers)
    (record,) = one.of(PageRecord)
    assert (record.body, record.regions, record.table) == (_NEW, (), None)


def test_a_table_without_end_is_cut_off_and_discarded() -> None:
    one = refreshed(_NEW, DownloadResult(fault=DownloadFault.SIZE))
    assert one.paths() == ["/robots.txt", "/page.TVI", "/page.html"]
    assert [(record.body, record.table) for record in one.of(PageRecord)] == [(_NEW, None)]


def test_after_three_strikes_no_table_is_asked_for() -> None:
    paths = [f"/{number}.html" for number in range(6)]
    tables: dict[str, Answer] = dict.fromkeys([f"/{number}.TVI" for number in range(6)], tvi(b"TVI/1\nDocument: x\n\nend 0\n"))
    one = world({**tables, **dict.fromkeys(paths, html(document()))})
    one.visit(urls=tuple(stored(document(), path=path) for path in paths))
    # The fourth stood in line already.
    assert [path for path in one.paths() if path.endswith(".TVI")] == ["/0.TVI", "/1.TVI", "/2.TVI", "/3.TVI"]
    assert [record.body for record in one.of(PageRecord)] == [document()] * 6


@pytest.mark.parametrize(
    "answer",
    [
        DownloadResult(404),
        DownloadResult(410),
        tvi(b"<!doctype html>not here"),
        tvi(table(_NEW).replace(b"TVI/1", b"TVI/2")),
        redirect("http://other.example/page.TVI"),
    ],
)
def test_a_table_that_is_gone_is_forgotten(answer: DownloadResult) -> None:
    one = refreshed(document(), answer)
    assert one.paths() == ["/robots.txt", "/page.TVI", "/page.html"]
    assert ("If-None-Match", '"d1"') in one.requests[-1].headers
    assert [(record.table, record.is_table_gone) for record in one.of(UnchangedRecord)] == [(None, True)]
    changed = refreshed(_NEW, answer)
    assert changed.paths() == ["/robots.txt", "/page.TVI", "/page.html"]
    assert [(record.body, record.table) for record in changed.of(PageRecord)] == [(_NEW, None)]


@pytest.mark.parametrize("status", [401, 403, 405])
def test_a_table_that_is_refused_is_not_forgotten(status: int) -> None:
    one = refreshed(document(), DownloadResult(status))
    assert one.paths() == ["/robots.txt", "/page.TVI", "/page.html"]
    assert [(record.table, record.is_table_gone) for record in one.of(UnchangedRecord)] == [(None, False)]


@pytest.mark.parametrize(
    "answer", [DownloadResult(500), DownloadResult(503), DownloadResult(429), DownloadResult(fault=DownloadFault.RESET)]
)
def test_an_error_is_one_of_the_document_and_its_next_try_is_the_document_s(answer: DownloadResult) -> None:
    one = refreshed(document(), answer)
    assert one.paths() == ["/robots.txt", "/page.TVI"]
    (bad,) = one.of(BadRecord)
    assert (bad.path, bad.state, bad.tries) == ("/page.html", State.FAILED, 1)
    again = refreshed(document(), answer, stored(document(), tries=1, state=State.FAILED))
    assert again.paths() == ["/robots.txt", "/page.html"]
    assert [(record.table, record.is_table_gone) for record in again.of(UnchangedRecord)] == [(None, False)]


def test_a_server_that_asks_for_patience_by_its_table_is_left_alone() -> None:
    one = refreshed(document(), DownloadResult(503, (("Retry-After", "100"),)))
    over = one.of(VisitOver)[0]
    assert over.reason == Reason.ASKED_TO_WAIT.word
    assert over.not_before >= 1100.0


def test_a_table_of_more_than_half_the_document_is_used_and_forgotten() -> None:
    body = document(news=" ".join(random.Random(2).choices([f"{number:x}" for number in range(10_000)], k=2_000)))
    one = refreshed(body, tvi(table(body)))
    assert one.paths() == ["/robots.txt", "/page.TVI"]
    assert [(record.body, record.regions, record.table) for record in one.of(PageRecord)] == [(body, (), None)]
    same = refreshed(body, tvi(table(body)), stored(body))
    assert [(record.table, record.is_table_gone) for record in same.of(UnchangedRecord)] == [(None, True)]
    first = world({"/page.html": html(body), "/page.TVI": tvi(table(body))})
    first.visit("/page.html")
    assert [record.table for record in first.of(PageRecord) if record.path == "/page.html"] == [None]


AUDITED = msgspec.structs.replace(FACT, merges=AUDIT_AFTER)


@pytest.mark.parametrize("answer", [DownloadResult(304), tvi(table(document()))])
def test_an_audit_that_finds_no_difference(answer: DownloadResult) -> None:
    one = refreshed(document(), answer, stored(document(), AUDITED))
    assert one.paths() == ["/robots.txt", "/page.TVI", "/page.html"]
    (record,) = one.of(UnchangedRecord)
    assert record.table is not None
    assert record.table.merges == 0
    whole = refreshed(document(), answer, stored(document(), AUDITED, etag=""))
    (page_record,) = whole.of(PageRecord)
    assert page_record.table is not None
    assert (page_record.table.merges, parts_of(page_record)["price"]) == (0, b"11.00")


def test_an_audit_of_a_changed_document() -> None:
    one = refreshed(_NEW, tvi(table(_NEW)), stored(document(), AUDITED))
    assert one.paths() == ["/robots.txt", "/page.TVI", "/page.html"]
    (record,) = one.of(PageRecord)
    assert (record.body, record.table) == (_NEW, TableFact('"t2"'))


@pytest.mark.parametrize(
    ("now", "answer"),
    [
        (_NEW, DownloadResult(304)),
        (document(), tvi(table(_NEW))),
        (document("13.00"), tvi(table(_NEW))),
        (document(head="<title>x</title>"), DownloadResult(304)),
    ],
)
def test_a_difference_that_an_audit_finds_is_a_strike(now: bytes, answer: DownloadResult) -> None:
    paths = [f"/{number}.html" for number in range(6)]

    def whole(request: DownloadRequest) -> DownloadResult:
        return DownloadResult(304) if now == document() else html(now)

    def fragment(request: DownloadRequest) -> DownloadResult:
        name = request.url.rpartition("/")[2].replace(".TVI", ".html").encode()
        return msgspec.structs.replace(answer, body=answer.body.replace(b"page.html", name))

    one = world({**dict.fromkeys(paths, whole), **{path.replace(".html", ".TVI"): fragment for path in paths}})
    one.visit(urls=tuple(stored(document(), AUDITED, path) for path in paths))
    # The fourth stood in line already.
    assert [path for path in one.paths() if path.endswith(".TVI")] == ["/0.TVI", "/1.TVI", "/2.TVI", "/3.TVI"]
    assert {record.body for record in one.of(PageRecord) if record.path in paths} == (set() if now == document() else {now})


def test_twenty_refreshes_bring_one_audit() -> None:
    due, audits = stored(document()), 0
    for _ in range(40):
        one = refreshed(document(), DownloadResult(304), due)
        (record,) = one.of(UnchangedRecord)
        audits += "/page.html" in one.paths()
        assert record.table is not None
        assert due.held is not None
        due = msgspec.structs.replace(due, held=msgspec.structs.replace(due.held, table=record.table))
    assert audits == 2


def test_limits_count_a_page_once_whatever_it_took() -> None:
    urls = tuple(stored(document(), path=f"/{number}.html") for number in range(4))
    missing = world({f"/{number}.html": DownloadResult(304) for number in range(4)})
    missing.visit(urls=urls, pages=2)
    assert missing.paths() == ["/robots.txt", "/0.TVI", "/0.html", "/1.TVI", "/1.html"]
    assert missing.of(VisitOver)[0].pages == 2
    fresh = world({f"/{number}.TVI": DownloadResult(304) for number in range(4)})
    fresh.visit(urls=urls, pages=2)
    assert fresh.paths() == ["/robots.txt", "/0.TVI", "/1.TVI"]
    assert fresh.of(VisitOver)[0].pages == 2
    gone = world({"/3.html": DownloadResult(304)})
    gone.visit(urls=urls, pages=1)
    assert gone.of(VisitOver)[0].pages == 1
    assert len(gone.of(BadRecord)) == 3


def test_what_cannot_be_read_of_a_stored_skeleton_fits_no_table() -> None:
    due = stored(document())
    assert due.held is not None
    broken = msgspec.structs.replace(due, held=msgspec.structs.replace(due.held, skeleton=b"\x00broken"))
    one = refreshed(_NEW, tvi(table(_NEW)), broken)
    assert one.paths() == ["/robots.txt", "/page.TVI", "/page.html"]
    assert [record.body for record in one.of(PageRecord)] == [_NEW]


def test_a_merged_document_that_is_too_large_is_not_stored() -> None:
    one = world({"/page.TVI": tvi(table(_NEW)), "/page.html": DownloadResult(fault=DownloadFault.SIZE)}, MaxBytes=1000)
    one.visit(urls=(stored(document()),))
    assert one.paths() == ["/robots.txt", "/page.TVI", "/page.html"]
    assert [record.reason for record in one.of(BadRecord)] == [Reason.SIZE.word]


def test_random_documents_are_byte_identical_after_a_refresh() -> None:
    """`python bench/fragments.py` does it with ten thousand, and the next test, too."""
    chance = random.Random(3)
    outcomes = [survive_refresh(chance) for _ in range(150)]
    assert [word for word, _ in outcomes if word] == []
    assert sum(regions for _, regions in outcomes) > 150


def test_nothing_is_stored_of_damaged_tables() -> None:
    chance = random.Random(4)
    outcomes = [survive_damaged_table(chance) for _ in range(150)]
    assert [kind for kind, word in outcomes if not word] == []
    assert len({kind for kind, _ in outcomes}) == 8


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

    monkeypatch.setattr(LinkReader, "read", broken)
    one.worker.stop()
    assert [(record.path, record.reason) for record in one.of(BadRecord)] == [("/page.html", Reason.FAULT.word)]
    assert isinstance(one.records[-1], VisitOver)
