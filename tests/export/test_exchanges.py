"""What was exchanged, as the database has it."""

from __future__ import annotations

import gzip
import zlib
from contextlib import closing
from hashlib import sha256
from typing import Any

import pytest

from parcahyd.core.records import AnswerRecord, RobotsFact, RobotsStatus, SiteRecord, TableFact
from parcahyd.core.states import Reason, State
from parcahyd.export import captures, exchanges
from parcahyd.export.captures import count_captures, read_captures
from parcahyd.export.exchanges import Exchange, Kind, read_exchanges
from parcahyd.export.selection import Selection
from parcahyd.rules.html.fingerprints import fingerprint
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.schema import documents, fetches, seeds, tvis, urls, volatile
from parcahyd.storage.schema import exchanges as exchange_rows
from tests.storage.desk import Desk

A = "http://a.example"


def _read(desk: Desk, after: int = 0, **choice: Any) -> list[Exchange]:
    damaged: list[tuple[str, str]] = []
    with closing(Reader(desk.url)) as reader:
        captures = read_captures(reader, Selection(reader, **choice), after)
        found = list(read_exchanges(reader, captures, lambda *what: damaged.append(what)))
    assert damaged == []
    return found


def _before_version_5(desk: Desk, *headers: bytes) -> None:
    """Makes the versions look as older programs stored them: with these header lines, and no head."""
    with desk.look.begin() as connection:
        for number, lines in enumerate(headers, start=1):
            old = fetches.update().where(fetches.c.id == number)
            connection.execute(old.values(head=None, head_base=None, headers=lines))


_HEAD = b"HTTP/1.0 200 Fine\r\nX-ODD: 1\r\nContent-Encoding: gzip\r\n%s\r\n"


def test_an_answer_goes_out_as_it_was_received(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    body = b"<p>hello</p>" * 50
    coded = gzip.compress(body)
    head = _HEAD % b"Content-Length: %d\r\n" % len(coded)
    facts: dict[str, Any] = {"decoded_length": len(body), "coding": "gzip", "protocol": "1.0", "request": b"A: b\r\n"}
    desk.crawl(desk.visit(), body=coded, head=head, **facts)
    (found,) = _read(desk)
    assert b"%s\r\n%s\r\n" % (found.status_line, found.headers) == head
    assert (found.body, found.document, found.reconstructed) == (coded, body, ())
    assert (found.payload_sha256, found.protocol) == (sha256(coded).digest(), "http/1.0")
    assert found.request == b"GET / HTTP/1.1\r\nHost: a.example\r\nA: b\r\n\r\n"


def test_a_coded_form_that_was_not_kept_goes_out_decoded(desk: Desk) -> None:
    """Two URLs have the same document in different bytes; the second form is kept only if that is asked for."""
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    body = b"<p>hello</p>" * 50
    forms = [gzip.compress(body, level, mtime=level) for level in (1, 9)]
    facts: dict[str, Any] = {"decoded_length": len(body), "coding": "gzip", "head": _HEAD % b""}
    desk.write(*(desk.page(pair, f"/{number}", form, **facts) for number, form in enumerate(forms)))
    desk.over(pair)
    kept, other = sorted(_read(desk), key=lambda one: len(one.reconstructed))
    assert kept.body in forms
    assert (kept.document, kept.reconstructed) == (body, ())
    assert other.body == body
    assert other.reconstructed == ("content-coding",)
    assert b"X-Archive-Orig-Content-Encoding: gzip" in other.headers


def test_chunks_that_were_joined_are_one(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    desk.crawl(desk.visit(), body=b"hello", head=head, protocol="1.1")
    (found,) = _read(desk)
    assert (found.body, found.reconstructed) == (b"5\r\nhello\r\n0\r\n\r\n", ())
    assert (found.document, found.payload_sha256) == (b"hello", sha256(b"hello").digest())


def test_a_coded_body_goes_out_without_its_chunks(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    coded = gzip.compress(b"hello")
    head = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
    desk.crawl(desk.visit(), body=coded, head=head, protocol="1.1", coding="gzip", decoded_length=5)
    (found,) = _read(desk)
    assert (found.body, found.reconstructed) == (coded, ("transfer-coding",))
    assert found.headers == (
        b"Content-Encoding: gzip\r\nX-Archive-Orig-Transfer-Encoding: chunked\r\nContent-Length: %d\r\n" % len(coded)
    )


def test_http_2_has_no_status_line(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), head=b"HTTP/2 200 \r\nx: y\r\n\r\n", protocol="2")
    (found,) = _read(desk)
    assert (found.status_line, found.headers, found.protocol) == (b"HTTP/1.1 200 OK", b"x: y\r\n", "h2")
    assert found.reconstructed == ("status-line",)


def test_what_brought_no_version_comes_after_the_versions(desk: Desk) -> None:
    keep: dict[str, Any] = {"KeepChecks": 5, "KeepErrors": 5}
    desk.begin(**keep)
    desk.seed(f"{A}/")
    pair = desk.visit()
    body = b"<p>hello</p>" * 50
    coded = gzip.compress(body)
    desk.write(desk.page(pair, "/", coded, decoded_length=len(body), coding="gzip", head=_HEAD % b""))
    error = AnswerRecord(b"HTTP/1.1 404 Not here\r\n\r\n", 0, "1.1", 0.0, 0.1, b"", b"no such page")
    desk.store.store_bad([desk.bad(pair, "/missing", State.GONE, Reason.MISSING, status=404, exchange=error)], desk.now)
    desk.over(pair)
    desk.now += 5000
    desk.begin(**keep)
    (pair,) = desk.lease(again_before=desk.now)
    check = AnswerRecord(b"HTTP/1.1 304 Not Modified\r\n\r\n", 0, "1.1", 0.0, 0.1, b"")
    desk.write(desk.unchanged(pair, "/", exchange=check))
    desk.over(pair)
    page, *others = _read(desk)
    assert {(one.kind, one.capture.status, one.body) for one in others} == {
        (Kind.RESPONSE, 404, b"no such page"),
        (Kind.NOT_MODIFIED, 304, b""),
    }
    (confirmed,) = [one for one in others if one.kind is Kind.NOT_MODIFIED]
    assert confirmed.payload_sha256 == page.payload_sha256 == sha256(coded).digest()
    assert _read(desk, after=page.capture.number) == others
    assert _read(desk, after=others[0].capture.number) == others[1:]


@pytest.mark.parametrize("keep_coded", [False, True])
def test_a_page_that_came_again_in_its_coding(desk: Desk, keep_coded: bool) -> None:
    """The bytes that the version has are not stored again; others are kept if that is asked for."""
    keep: dict[str, Any] = {"KeepChecks": 5, "KeepCoded": keep_coded}
    desk.begin(**keep)
    desk.seed(f"{A}/")
    body = b"<p>hello</p>" * 50
    first, second = (gzip.compress(body, mtime=number) for number in (1, 2))
    facts: dict[str, Any] = {"decoded_length": len(body), "coding": "gzip", "head": _HEAD % b""}
    desk.crawl(desk.visit(), body=first, **facts)
    for coded in (first, second):
        desk.now += 10**7
        desk.begin(**keep)
        (pair,) = desk.lease(again_before=desk.now)
        desk.crawl(pair, body=coded, **facts)
    bodies = [found.body for found in _read(desk)]
    assert bodies == [first, first, second if keep_coded else body]
    assert [row["body"] for row in desk.rows(exchange_rows)] == [None, second if keep_coded else None]


def test_a_robots_txt_is_an_answer_of_its_own(desk: Desk) -> None:
    desk.begin(KeepErrors=1)
    desk.seed(f"{A}/")
    pair = desk.visit()
    head, rules = b"HTTP/1.1 200 Rules\r\nContent-Length: 14\r\n\r\n", b"User-agent: *\n"
    answer = AnswerRecord(head, 0, "1.1", 0.0, 0.1, b"", rules, "", None, 200, "192.0.2.1", "/robots.txt")
    desk.write(SiteRecord(pair.visit, pair.site, RobotsFact(RobotsStatus.FOUND, rules), exchange=answer))
    desk.crawl(pair)
    page, found = _read(desk)
    assert (page.capture.url, found.capture.url) == (f"{A}/", f"{A}/robots.txt")
    assert (found.kind, found.body, found.reconstructed) == (Kind.RESPONSE, rules, ())
    with desk.look.begin() as connection:
        connection.execute(exchange_rows.update().values(head=head.replace(b"14", b"99"), head_base=None))
    (cut,) = _read(desk, match="*/robots.txt")
    assert cut.headers == b"X-Archive-Orig-Content-Length: 99\r\nContent-Length: 14\r\n"
    assert cut.reconstructed == ("content-length",)
    assert _read(desk, state="stored") == [page]


def test_what_a_chosen_answer_confirms_goes_along(desk: Desk) -> None:
    desk.begin(KeepChecks=5)
    desk.seed(f"{A}/")
    desk.crawl(desk.visit())
    desk.now += 5000
    desk.begin(KeepChecks=5)
    (pair,) = desk.lease(again_before=desk.now)
    check = AnswerRecord(b"HTTP/1.1 304 Not Modified\r\n\r\n", 0, "1.1", 0.0, 0.1, b"")
    desk.write(desk.unchanged(pair, "/", exchange=check))
    desk.over(pair)
    both = _read(desk)
    assert [found.kind for found in both] == [Kind.RESPONSE, Kind.NOT_MODIFIED]
    assert _read(desk, since=desk.now) == both
    assert _read(desk, since=desk.now - 10, until=desk.now - 1) == []
    assert _read(desk, since=desk.now + 1) == []


@pytest.mark.parametrize(
    ("head", "reconstructed", "lines"),
    [
        (b"HTTP/1.1 200 OK\nX: y\n\n", ("line-ends",), b"X: y\r\n"),
        (b"HTTP/1.1 200 OK\r\nX: y\nZ: z\r\n\r\n", ("line-ends",), b"X: y\r\nZ: z\r\n"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X\r\n\r\n",
            ("trailers",),
            b"Transfer-Encoding: chunked\r\nTrailer: X\r\n",
        ),
    ],
)
def test_what_stops_readers_is_put_right(desk: Desk, head: bytes, reconstructed: tuple[str, ...], lines: bytes) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), head=head, protocol="1.1")
    (found,) = _read(desk)
    assert (found.reconstructed, found.headers) == (reconstructed, lines)


def test_an_answer_whose_codings_were_not_kept(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), body=b"<p>hello</p>", charset="utf-8")
    _before_version_5(desk, b"Content-Type: text/html\r\ncontent-encoding: gzip\r\nContent-Length: 7\r\n")
    (found,) = _read(desk)
    assert (found.capture.url, found.capture.at, found.capture.address) == (f"{A}/", desk.now, "192.0.2.1")
    assert (found.kind, found.status_line, found.body) == (Kind.RESPONSE, b"HTTP/1.1 200 OK", b"<p>hello</p>")
    assert found.headers == (
        b"Content-Type: text/html\r\nX-Archive-Orig-content-encoding: gzip\r\nX-Archive-Orig-Content-Length: 7\r\n"
        b"Content-Length: 12\r\n"
    )
    assert found.reconstructed == ("status-line", "content-coding", "content-length")
    assert found.payload_sha256 == fingerprint(b"<p>hello</p>").sha256
    assert (found.request, found.protocol, found.via) == (None, None, None)
    assert (found.capture.media_type, found.capture.charset) == ("text/html", "utf-8")


def test_a_redirect_whose_body_was_not_kept(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.redirect(pair, "/", f"{A}/x"))
    desk.over(pair)
    _before_version_5(desk, b"Location: /x\r\nContent-Length: 99\r\n")
    (found,) = _read(desk)
    assert (found.status_line, found.body) == (b"HTTP/1.1 301 Moved Permanently", b"")
    assert found.headers == b"Location: /x\r\nX-Archive-Orig-Content-Length: 99\r\nContent-Length: 0\r\n"
    assert found.reconstructed == ("status-line", "content-length", "body")
    assert found.capture.redirect == f"{A}/x"


def test_the_way_to_a_seed(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit())
    with desk.look.begin() as connection:
        connection.execute(seeds.update().values(via="http://b.example/"))
    assert [found.via for found in _read(desk)] == ["http://b.example/"]


def test_versions_come_in_the_order_of_their_numbers_and_in_batches(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(captures, "_PAGE", 3)
    monkeypatch.setattr(exchanges, "_BATCH", 2)
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    paths = [f"/{number}" for number in range(8)]
    desk.write(*(desk.page(pair, path, path.encode()) for path in paths))
    desk.over(pair)
    found = _read(desk)
    assert [one.body for one in found] == [path.encode() for path in paths]
    assert [one.capture.number for one in found] == sorted(one.capture.number for one in found)
    assert _read(desk, after=found[4].capture.number) == found[5:]
    with closing(Reader(desk.url)) as reader:
        looked_at: list[int] = []
        assert count_captures(reader) == 8
        list(read_captures(reader, Selection(reader, match="*/7"), passed=looked_at.append))
    assert sum(looked_at) == 8


def test_a_batch_is_bounded_in_bytes(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exchanges, "_BATCH_BYTES", 5000)
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(*(desk.page(pair, f"/{number}", b"%d" % number * 2000) for number in range(1, 6)))
    desk.over(pair)
    assert [len(one.body) for one in _read(desk)] == [2000] * 5


def test_regions_are_put_back(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), body=b"<b></b>")
    with desk.look.begin() as connection:
        connection.execute(volatile.insert().values(fetch_id=1, region=1, offset=3, content=zlib.compress(b"now"), length=3))
        connection.execute(fetches.update().values(sha256=fingerprint(b"<b>now</b>").sha256, length=10))
    (found,) = _read(desk)
    assert (found.body, found.kind) == (b"<b>now</b>", Kind.RESPONSE)


def _merged_page(desk: Desk, headers: bytes) -> None:
    """A page that is refreshed by its table: its first version came whole, the second has these headers."""
    desk.begin()
    desk.seed(f"{A}/")
    table = TableFact(etag='"1"', merges=0)
    date = b"Date: Wed, 04 Mar 2026 05:06:07 GMT\r\n"
    desk.crawl(desk.visit(), body=b"<b>1</b>", regions=(("r", 3, 4),), table=table)
    pair = _again(desk)
    desk.crawl(pair, body=b"<b>2</b>", regions=(("r", 3, 4),), table=TableFact(etag='"2"', merges=1))
    _before_version_5(desk, date, headers or date)


def _again(desk: Desk) -> Any:
    desk.now += 5000
    desk.begin()
    (pair,) = desk.lease(again_before=desk.now)
    return pair


def test_a_page_merged_from_fragments_is_a_conversion(desk: Desk) -> None:
    _merged_page(desk, b"")
    assert [(one.body, one.kind) for one in _read(desk)] == [
        (b"<b>1</b>", Kind.RESPONSE),
        (b"<b>2</b>", Kind.CONVERSION),
    ]


def test_a_page_with_regions_that_came_whole_is_an_answer(desk: Desk) -> None:
    _merged_page(desk, b"Date: Wed, 04 Mar 2026 06:06:07 GMT\r\n")
    assert {one.kind for one in _read(desk)} == {Kind.RESPONSE}


def test_where_the_version_before_is_gone_its_table_decides(desk: Desk) -> None:
    _merged_page(desk, b"")
    with desk.look.begin() as connection:
        first = connection.execute(fetches.select().order_by(fetches.c.id)).first()
        assert first is not None
        connection.execute(volatile.delete().where(volatile.c.fetch_id == first.id))
        connection.execute(fetches.delete().where(fetches.c.id == first.id))
    assert [one.kind for one in _read(desk)] == [Kind.CONVERSION]
    with desk.look.begin() as connection:
        connection.execute(tvis.update().values(merges=0))
    assert [one.kind for one in _read(desk)] == [Kind.RESPONSE]


def test_members_of_archives_and_pages_that_are_not_kept_are_left_out(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(
        desk.page(pair, "/x.zip", b"zip"), desk.page(pair, "/x.zip#!/a.txt", b"a"), desk.page(pair, "/", reason="noindex")
    )
    desk.over(pair)
    assert [one.capture.url for one in _read(desk)] == [f"{A}/x.zip"]


def test_what_has_no_heads_is_a_resource(desk: Desk) -> None:
    desk.begin()
    desk.seed("ftp://f.example/x")
    desk.crawl(desk.visit(), "/x", b"text", head=b"", media_type="text/plain")
    assert [(one.kind, one.body) for one in _read(desk)] == [(Kind.RESOURCE, b"text")]


def test_choices_are_kept(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.page(pair, "/a", b"a"), desk.page(pair, "/b", b"b", media_type="text/plain"))
    desk.over(pair)
    assert [one.body for one in _read(desk, types=["text/plain"])] == [b"b"]
    assert [one.body for one in _read(desk, match="*/a")] == [b"a"]
    assert _read(desk, state="gone") == []
    assert _read(desk, since=desk.now + 1) == []


def test_damage_is_told_and_the_rest_is_read(doomed_desk: Desk) -> None:
    desk = doomed_desk
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(*(desk.page(pair, f"/{number}", b"%d" % number) for number in range(4)))
    desk.over(pair)
    with desk.look.begin() as connection:
        connection.execute(documents.update().where(documents.c.id == 1).values(body=b"rubbish"))
        connection.execute(documents.update().where(documents.c.id == 2).values(body=zlib.compress(b"2")))
        connection.execute(fetches.update().where(fetches.c.id == 4).values(document_id=77))
    damaged: list[tuple[str, str]] = []
    with closing(Reader(desk.url)) as reader:
        captures = list(read_captures(reader, Selection(reader)))
        found = list(read_exchanges(reader, captures, lambda *what: damaged.append(what)))
    assert [one.body for one in found] == [b"2"]
    assert [url for url, _ in damaged] == [f"{A}/0", f"{A}/1"]
    assert "decompressed" in damaged[0][1]
    assert damaged[1][1] == "it is not what was received"


def test_a_url_that_is_forgotten_meanwhile_is_left_out(doomed_desk: Desk) -> None:
    desk = doomed_desk
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit())
    with closing(Reader(desk.url)) as reader:
        captures = list(read_captures(reader, Selection(reader)))
        with desk.look.begin() as connection:
            for table in (fetches, documents, urls):
                connection.execute(table.delete())
        assert len(captures) == 1
        assert list(read_exchanges(reader, captures, lambda *_: None)) == []
