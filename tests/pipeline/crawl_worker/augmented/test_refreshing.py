"""Stored documents are refreshed by their tables of variable information."""

from __future__ import annotations

import random
import zlib
from hashlib import sha256

import msgspec
import pytest

from bench.fragments import survive_damaged_table, survive_refresh
from parcahyd.augment.document_tables import tvi_of
from parcahyd.augment.skeleton import part
from parcahyd.core.ports import DownloadFailure, DownloadRequest, DownloadResult
from parcahyd.core.records import BadRecord, DueUrl, PageRecord, StoredVersion, TableFact, UnchangedRecord, VisitOver
from parcahyd.core.states import Reason, State
from parcahyd.pipeline.crawl_worker.augmented.fragments import AUDIT_AFTER
from parcahyd.rules.urls.canonical_url import key_of
from tests.pipeline.crawl_worker.parted_pages import FACT, WORDS, document, html, parts_of, refreshed, stored, table, tvi, world
from tests.pipeline.crawl_worker.world import Answer, redirect


@pytest.mark.parametrize("answer", [DownloadResult(304), tvi(table(document()), '"t1"')])
def test_a_table_confirms_what_is_stored(answer: DownloadResult) -> None:
    one = refreshed(document(), answer)
    assert one.paths() == ["/robots.txt", "/page.TVI"]
    headers = one.requests[-1].headers
    assert ("If-None-Match", '"t1"') in headers
    assert "If-Modified-Since" not in dict(headers)  # A date is ignored beside an entity tag.
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
    assert (record.etag, record.modified, record.head) == ('"d2"', "", b"X-Old: 1\r\n")
    assert (record.media_type, record.charset, record.status) == ("text/html", "utf-8", 200)


def test_only_links_of_changed_regions_are_new_and_the_table_of_links_is_that_of_the_whole() -> None:
    news = '<a href="/news/2">Second</a> <a href="/about">again</a> <a href="http://third.example/">x</a>'
    body = document("12.00", news)
    one = refreshed(body, tvi(table(body)))
    (record,) = [found for found in one.of(PageRecord) if found.path == "/page.html"]
    assert record.internal == ("/news/2",)
    assert record.external == ("http://third.example/",)
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
        return f'{root}<w>{WORDS}</w><i x:href="/old"/><Vol1>{link}</Vol1></r>'.encode()

    before, after = feed(""), feed('<i x:href="/new"/>')
    parted = part(before, is_xml=True)
    held = StoredVersion(
        zlib.compress(parted.skeleton), len(parted.skeleton), sha256(before).digest(), (("Vol1", *parted.regions[0][1:]),), FACT
    )
    written = tvi_of(after, "feed.xml", is_xml=True)
    assert isinstance(written, bytes)
    one = world({"/feed.TVI": tvi(written)})
    one.visit(urls=(DueUrl(key_of("/feed.xml"), "/feed.xml", state=State.STORED, stored_version=held),))
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
    assert b"X-Old" not in record.head


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
    one = refreshed(_NEW, DownloadResult(failure=DownloadFailure.SIZE))
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
    "answer", [DownloadResult(500), DownloadResult(503), DownloadResult(429), DownloadResult(failure=DownloadFailure.RESET)]
)
def test_an_error_is_one_of_the_document_and_its_next_try_is_the_document_s(answer: DownloadResult) -> None:
    one = refreshed(document(), answer)
    assert one.paths() == ["/robots.txt", "/page.TVI"]
    (bad,) = one.of(BadRecord)
    assert (bad.path, bad.state, bad.tries) == ("/page.html", State.FAILED, 1)
    again = refreshed(document(), answer, stored(document(), tries=1, state=State.FAILED))
    assert again.paths() == ["/robots.txt", "/page.html"]
    assert [(record.table, record.is_table_gone) for record in again.of(UnchangedRecord)] == [(None, False)]


def test_a_server_that_asks_for_a_pause_by_its_table_is_left_alone() -> None:
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
        assert due.stored_version is not None
        due = msgspec.structs.replace(due, stored_version=msgspec.structs.replace(due.stored_version, table=record.table))
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
    assert due.stored_version is not None
    broken = msgspec.structs.replace(due, stored_version=msgspec.structs.replace(due.stored_version, skeleton=b"\x00broken"))
    one = refreshed(_NEW, tvi(table(_NEW)), broken)
    assert one.paths() == ["/robots.txt", "/page.TVI", "/page.html"]
    assert [record.body for record in one.of(PageRecord)] == [_NEW]


def test_a_merged_document_that_is_too_large_is_not_stored() -> None:
    one = world({"/page.TVI": tvi(table(_NEW)), "/page.html": DownloadResult(failure=DownloadFailure.SIZE)}, MaxBytes=1000)
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


def test_after_three_stored_tables_are_gone_the_documents_are_asked_for_and_the_other_tables_kept() -> None:
    """The site has stopped to write tables, or is being rebuilt: the other documents are asked for without a detour."""
    due = [stored(document(), path=f"/{number}.html") for number in range(6)]
    one = world({url.path: DownloadResult(304) for url in due}, HostConnections=1)
    one.visit(urls=tuple(due))
    asked = [path for path in one.paths() if path.endswith(".TVI")]
    assert asked == ["/0.TVI", "/1.TVI", "/2.TVI", "/3.TVI"]  # The last one stood in line already.
    gone = {record.path: record.is_table_gone for record in one.of(UnchangedRecord)}
    assert gone == {f"/{number}.html": number < 4 for number in range(6)}


def test_without_merging_every_version_is_requested_whole() -> None:
    body = document("12.00")
    one = refreshed(body, tvi(table(body)), MergeMode="never")
    assert one.paths() == ["/robots.txt", "/page.html"]
    (record,) = one.of(PageRecord)
    assert (record.body, record.regions, record.table) == (body, (), None)
