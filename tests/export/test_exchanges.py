"""What was exchanged, as the database has it."""

from __future__ import annotations

import zlib
from contextlib import closing
from typing import Any

import pytest

from parcahyd.core.records import TableFact
from parcahyd.export import exchanges
from parcahyd.export.exchanges import Exchange, Kind, count_captures, read_captures, read_exchanges
from parcahyd.export.selection import Selection
from parcahyd.rules.html.fingerprints import fingerprint
from parcahyd.storage.reports.reader import Reader
from parcahyd.storage.schema import documents, fetches, seeds, tvis, urls, volatile
from tests.storage.desk import Desk

A = "http://a.example"


def _read(desk: Desk, after: int = 0, **choice: Any) -> list[Exchange]:
    damaged: list[tuple[str, str]] = []
    with closing(Reader(desk.url)) as reader:
        captures = read_captures(reader, Selection(reader, **choice), after)
        found = list(read_exchanges(reader, captures, lambda *what: damaged.append(what)))
    assert damaged == []
    return found


def test_an_answer_whose_codings_were_not_kept(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    headers = b"Content-Type: text/html\r\ncontent-encoding: gzip\r\nContent-Length: 7\r\n"
    desk.crawl(desk.visit(), body=b"<p>hello</p>", headers=headers, charset="utf-8")
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
    desk.write(desk.redirect(pair, "/", f"{A}/x", headers=b"Location: /x\r\nContent-Length: 99\r\n"))
    desk.over(pair)
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
    monkeypatch.setattr(exchanges, "_PAGE", 3)
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
    desk.crawl(desk.visit(), body=b"<b>1</b>", headers=date, regions=(("r", 3, 4),), table=table)
    pair = _again(desk)
    desk.crawl(pair, body=b"<b>2</b>", headers=headers or date, regions=(("r", 3, 4),), table=TableFact(etag='"2"', merges=1))


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
    desk.crawl(desk.visit(), "/x", b"text", headers=b"", media_type="text/plain")
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
