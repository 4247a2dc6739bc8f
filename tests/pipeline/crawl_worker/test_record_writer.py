"""What a visit records of each URL: the state that its event leads to, and when it is tried again."""

from __future__ import annotations

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.messages import BufferRecord
from parcahyd.core.ports import DownloadFailure, DownloadResult
from parcahyd.core.records import Assignment, BadRecord, DueUrl, ExternRecord, LinksRecord, PageRecord, SiteLease
from parcahyd.core.states import Event, Reason, State, after
from parcahyd.pipeline.crawl_worker.document_reader import Parts, ReadDocument
from parcahyd.pipeline.crawl_worker.exchange_facts import MOST_HEAD
from parcahyd.pipeline.crawl_worker.new_links import NewLinks
from parcahyd.pipeline.crawl_worker.record_writer import RecordWriter
from parcahyd.refresh.schedule import NEVER
from parcahyd.rules.politeness.backoff import failure
from parcahyd.rules.robots.directives import Directive

NOW = 1000.0
NEW = NewLinks([(5, "/x")], ["http://other.example/"], [("repeats", "/y/y/y")])


def writer(**settings: object) -> tuple[RecordWriter, list[BufferRecord]]:
    records: list[BufferRecord] = []
    lease = SiteLease(7, 3, "http", "site.example", 80, ())
    assignment = Assignment(lease, "192.0.2.1", ("192.0.2.1",), 5000.0, 10)
    return RecordWriter(assignment, WorkConf(**settings), records.append), records  # type: ignore[arg-type]


def document() -> ReadDocument:
    headers = (("Content-Type", "text/html"), ("ETag", '"v1"'), ("X-Caf\u00e9", "\u20ac"))
    one = ReadDocument(DueUrl(1, "/a", 2), DownloadResult(200, headers, b"<p>text"), "text/html", "utf-8", NOW)
    one.title = "Title"
    return one


def test_a_page_carries_its_new_links_and_those_to_other_sites_go_first() -> None:
    one, records = writer(Scope="anywhere")
    one.page(document(), NEW, b"a\thref")
    extern, page = records
    assert isinstance(extern, ExternRecord)
    assert (extern.depth, extern.urls) == (3, ("http://other.example/",))
    assert isinstance(page, PageRecord)
    assert (page.internal, page.external, page.refused) == (("/x",), extern.urls, (("repeats", "/y/y/y"),))
    assert (page.body, page.etag, page.title, page.fetched_at, page.links) == (b"<p>text", '"v1"', "Title", NOW, b"a\thref")
    assert page.head == b'HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nETag: "v1"\r\nX-Caf\xe9: ?\r\n\r\n'
    assert page.marks == ExchangeMark.HEAD_MADE_UP


@pytest.mark.parametrize("line", [b"X-Long: " + b"x" * 990, b"x" * 200_000])
def test_a_head_is_kept_as_it_was_received_up_to_a_bound(line: bytes) -> None:
    small = b"HTTP/1.1 200 Fine\r\nfoo:   bar\r\n\r\n"
    large = b"HTTP/1.1 200 Fine\r\n" + (line + b"\r\n") * (200_000 // len(line)) + b"\r\n"
    one, records = writer()
    for head in (small, large):
        read = document()
        read.result.head = head
        one.page(read, NEW, b"")
    first, second = [record for record in records if isinstance(record, PageRecord)]
    assert (first.head, first.marks) == (small, 0)
    assert second.marks == ExchangeMark.HEAD_CUT
    assert len(second.head) <= MOST_HEAD
    assert large.startswith(second.head.removesuffix(b"\r\n"))
    assert second.head.endswith(b"\r\n\r\n")


def test_where_links_bring_no_site_into_the_crawl_they_do_not_go_first() -> None:
    one, records = writer(Scope="site")
    one.page(document(), NEW, b"")
    assert [type(record) for record in records] == [PageRecord]


def test_very_many_links_go_ahead_of_their_page_in_small_records() -> None:
    one, records = writer(Scope="any")
    paths, urls = [f"/{number}" for number in range(1300)], [f"http://{number}.example/" for number in range(501)]
    sitemap = document()
    sitemap.lastmods = tuple((path, 5.0) for path in paths[:700])
    one.page(sitemap, NewLinks(list(enumerate(paths)), urls, []), b"")
    page = records[-1]
    assert isinstance(page, PageRecord)
    ahead = [record for record in records if isinstance(record, LinksRecord)]
    parts: list[LinksRecord | PageRecord] = [*ahead, page]
    assert max(len(record.internal) for record in parts) <= 500
    assert [path for record in parts for path in record.internal] == paths
    assert [url for record in parts for url in record.external] == urls
    assert [path for record in parts for path, _ in record.lastmods] == paths[:700]
    assert {(record.visit, record.site, record.depth, record.read_at) for record in ahead} == {(7, 3, 3, NOW)}
    externs = [record for record in records if isinstance(record, ExternRecord)]
    assert [record.urls for record in externs] == [record.external for record in parts if record.external]


def test_of_a_page_that_asks_not_to_be_kept_only_the_links_are() -> None:
    one, records = writer(Scope="site")
    bare = document()
    bare.directives = Directive.NOINDEX
    bare.parts = Parts((("price", 0, 1),))
    one.page(bare, NEW, b"")
    (page,) = records
    assert isinstance(page, PageRecord)
    assert (page.body, page.etag, page.regions, page.reason) == (b"", "", (), "noindex")
    assert page.internal == ("/x",)


@pytest.mark.parametrize("state", State)
@pytest.mark.parametrize(
    ("result", "tries", "event"),
    [
        (DownloadResult(404), 0, Event.MISSING),
        (DownloadResult(503), 0, Event.FAILURE),
        (DownloadResult(503), 99, Event.LAST_FAILURE),
        (DownloadResult(failure=DownloadFailure.SIZE), 0, Event.REFUSAL),
    ],
)
def test_a_failure_leads_where_the_table_says(state: State, result: DownloadResult, tries: int, event: Event) -> None:
    one, records = writer()
    failed = failure(result)
    assert failed is not None
    one.failure(DueUrl(1, "/a", state=state, tries=tries), result, failed, NOW)
    (record,) = records
    assert isinstance(record, BadRecord)
    assert record.state == after(event, state)
    assert record.due_at == NEVER if event is Event.REFUSAL else record.due_at > NOW
    assert (record.reason == Reason.OUT_OF_TRIES.word) is (event is Event.LAST_FAILURE)


def test_an_address_that_did_not_answer_is_not_kept() -> None:
    one, records = writer()
    silent = DownloadResult(failure=DownloadFailure.CONNECT, detail="x" * 1000)
    failed = failure(silent)
    assert failed is not None
    assert not one.address_blanked
    one.failure(DueUrl(1, "/a"), silent, failed, NOW)
    (record,) = records
    assert isinstance(record, BadRecord)
    assert (one.address_blanked, record.blank_address, len(record.detail)) == (True, True, 500)
