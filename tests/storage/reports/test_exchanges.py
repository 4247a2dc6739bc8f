"""Every exchange with a URL that is on record, and one of them with its bytes."""

from __future__ import annotations

import gzip
from typing import Any

import pytest

from parcahyd.core.errors import DatabaseUnusable
from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.core.records import AnswerRecord, RobotsFact, RobotsStatus, SiteRecord, TableFact
from parcahyd.core.states import Reason, State
from parcahyd.storage.reports.records import ExchangeReport, StoredExchange
from parcahyd.storage.schema import fetches, head_bases
from tests.storage.desk import REVISIT, Desk

A = "http://a.example"
_BODY = b"<p>hello</p>" * 50
_CODED = gzip.compress(_BODY)
_HEAD = b"HTTP/1.1 200 Fine\r\nx-ODD: 1\r\nContent-Encoding: gzip\r\n\r\n"
_GZIP: dict[str, Any] = {"decoded_length": len(_BODY), "coding": "gzip", "head": _HEAD, "protocol": "1.1"}
_KEEP: dict[str, Any] = {"KeepChecks": 5, "KeepErrors": 5, "KeepCoded": True}


def _history(desk: Desk, url: str = f"{A}/") -> list[ExchangeReport]:
    found = desk.reports.history(url)
    assert found is not None
    assert found[0] == url
    return found[1]


def _exchange(desk: Desk, url: str = f"{A}/", at: float | None = None) -> StoredExchange:
    found = desk.reports.exchange(url, at)
    assert found is not None
    return found


def _again(desk: Desk) -> Any:
    desk.now += 50 * REVISIT
    desk.begin(**_KEEP)
    (pair,) = desk.lease(again_before=desk.now)
    return pair


def _begun(desk: Desk) -> Any:
    desk.begin(**_KEEP)
    desk.seed(f"{A}/")
    return desk.visit()


def test_a_page_and_what_became_of_it(desk: Desk) -> None:
    pair = _begun(desk)
    facts: dict[str, Any] = {"started_at": desk.now - 2, "seconds": 0.25, "request": b"User-Agent: x\r\n"}
    desk.crawl(pair, body=_CODED, **_GZIP, **facts)
    first = desk.now

    pair = _again(desk)
    not_modified = b"HTTP/1.1 304 Not Modified\r\n\r\n"
    check = AnswerRecord(not_modified, ExchangeMark.CONDITIONAL, "1.1", desk.now, 0.5, b"User-Agent: x\r\n")
    desk.write(desk.unchanged(pair, "/", exchange=check, address="192.0.2.9"))
    desk.over(pair)

    pair = _again(desk)
    desk.crawl(pair, body=_CODED, **_GZIP)

    pair = _again(desk)
    error = AnswerRecord(b"HTTP/1.1 503 Busy\r\n\r\n", 0, "1.1", 0.0, 0.1, b"", b"later")
    desk.store.store_bad([desk.bad(pair, "/", reason=Reason.HTTP_ERROR, status=503, exchange=error)], desk.now)
    desk.over(pair)

    failed, again, checked, stored = _history(desk)
    assert (failed.brought, failed.status, failed.received) == ("error", 503, len(error.head) + 5)
    assert (again.brought, again.status, again.version_at, again.received) == (
        "unchanged",
        200,
        first,
        len(_HEAD) + len(_CODED),
    )
    assert (checked.brought, checked.status, checked.received, checked.conditional) == (
        "unchanged",
        304,
        len(not_modified),
        True,
    )
    assert (checked.address, checked.seconds, checked.protocol, checked.length) == ("192.0.2.9", 0.5, "1.1", None)
    assert (stored.brought, stored.at, stored.length) == ("version", first, len(_BODY))
    assert (stored.started_at, stored.seconds, stored.received) == (first - 2, 0.25, len(_HEAD) + len(_CODED))

    found = _exchange(desk)
    assert (found.report, found.head, found.body, found.notes) == (failed, error.head, b"later", ())
    assert (found.request, found.request_notes) == (None, ("the request was not kept",))
    found = _exchange(desk, at=again.at)
    assert (found.report, found.head, found.body) == (again, _HEAD, _CODED)
    assert found.notes == ("the body is that of the version, which came again",)
    found = _exchange(desk, at=checked.at)
    assert (found.report, found.head, found.body, found.notes) == (checked, not_modified, b"", ())
    assert "conditional" in found.request_notes[1]
    found = _exchange(desk, at=checked.at - 1)
    assert (found.report, found.head, found.body, found.notes) == (stored, _HEAD, _CODED, ())
    assert found.request == b"GET / HTTP/1.1\r\nHost: a.example\r\nUser-Agent: x\r\n\r\n"
    assert desk.reports.exchange(f"{A}/", first - 1) is None


def test_each_copy_has_its_own_coded_bytes(desk: Desk) -> None:
    pair = _begun(desk)
    forms = {f"/{level}": gzip.compress(_BODY, level, mtime=level) for level in (1, 9)}
    desk.write(*(desk.page(pair, path, form, **_GZIP) for path, form in forms.items()))
    desk.over(pair)
    pair = _again(desk)
    desk.write(*(desk.page(pair, path, form, **_GZIP) for path, form in forms.items()))
    for path, form in forms.items():
        again, stored = _history(desk, A + path)
        for one in (again, stored):
            assert (_exchange(desk, A + path, one.at).body, one.received) == (form, len(_HEAD) + len(form))


def test_a_coded_form_that_was_not_kept(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    forms = {f"/{level}": gzip.compress(_BODY, level, mtime=level) for level in (1, 9)}
    desk.write(*(desk.page(pair, path, form, **_GZIP) for path, form in forms.items()))
    found = [_exchange(desk, A + path) for path in forms]
    (kept,) = [one for one in found if not one.notes]
    (other,) = [one for one in found if one.notes]
    assert kept.body in forms.values()
    assert (other.body, other.head, other.report.received) == (_BODY, _HEAD, None)
    assert "without its content coding (gzip)" in other.notes[0]


def test_redirects_with_and_without_their_bodies(desk: Desk) -> None:
    pair = _begun(desk)
    head = b"HTTP/1.1 301 There\r\nLocation: /x\r\nContent-Length: 5\r\n\r\n"
    desk.write(desk.redirect(pair, "/", f"{A}/x", head=head))
    desk.write(desk.page(pair, "/kept", b"moved", redirect=f"{A}/x", status=301, head=head))
    desk.write(desk.redirect(pair, "/chunks", f"{A}/x", head=head[:-2] + b"Transfer-Encoding: chunked\r\n\r\n"))
    desk.over(pair)
    (lost,), (kept,) = _history(desk), _history(desk, f"{A}/kept")
    for one in (lost, kept):
        assert (one.brought, one.redirect, one.received, one.length) == ("redirect", f"{A}/x", len(head) + 5, None)
    found = _exchange(desk)
    assert (found.head, found.body) == (head, b"")
    assert "was not kept (KeepErrors" in found.notes[0]
    assert _history(desk, f"{A}/chunks")[0].received is None
    found = _exchange(desk, f"{A}/kept")
    assert (found.head, found.body, found.notes) == (head, b"moved", ())


def test_a_robots_txt_that_is_no_url_of_the_crawl(desk: Desk) -> None:
    pair = _begun(desk)
    head = b"HTTP/1.1 200 OK\r\n\r\n"
    answer = AnswerRecord(head, 0, "1.1", 0.0, 0.1, b"", b"Allow: /", "", None, 200, "192.0.2.1", "/robots.txt")
    fact = RobotsFact(RobotsStatus.FOUND, b"Allow: /", desk.now, desk.now + 5, "200")
    desk.write(SiteRecord(pair.visit, pair.site, fact, exchange=answer))
    (report,) = _history(desk, f"{A}/robots.txt")
    assert (report.brought, report.status, report.received) == ("robots", 200, len(head) + 8)
    assert _exchange(desk, f"{A}/robots.txt").body == b"Allow: /"
    assert desk.reports.history(f"{A}/nowhere") is None
    assert desk.reports.exchange("http://nowhere.example/robots.txt") is None


@pytest.mark.parametrize(
    ("facts", "words"),
    [
        ({"marks": ExchangeMark.HEAD_MADE_UP}, "the downloader does not hand it over"),
        ({"marks": ExchangeMark.HEAD_CUT}, "the last lines of the head are missing"),
        ({"marks": ExchangeMark.MERGED}, "put together from an earlier answer"),
        ({"protocol": "2", "head": b"HTTP/2 200 \r\n\r\n"}, "HTTP/2 has no head in lines"),
        ({"head": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"}, "the chunks that the body came in are joined"),
    ],
)
def test_what_is_not_as_it_was_is_said(desk: Desk, facts: dict[str, Any], words: str) -> None:
    desk.crawl(_begun(desk), body=b"hello", **facts)
    found = _exchange(desk)
    assert found.body == b"hello"
    assert words in " ".join(found.notes)
    document = desk.reports.document(f"{A}/")
    assert document is not None
    assert (words in " ".join(document.notes)) == ("chunks" not in words)


def test_what_was_fetched_before_heads_were_kept(desk: Desk) -> None:
    desk.crawl(_begun(desk), body=b"hello")
    with desk.look.begin() as connection:
        connection.execute(fetches.update().values(head=None, head_base=None, headers=b"Content-Encoding: gzip\r\n"))
    found = _exchange(desk)
    assert found.head == b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n"
    assert "the line is made up, and the body is decoded" in found.notes[0]
    assert found.report.received is None


def test_a_version_in_parts_is_put_together(desk: Desk) -> None:
    pair = _begun(desk)
    desk.crawl(pair, body=b"<b>1</b>", regions=(("r", 3, 4),), table=TableFact(etag='"1"'))
    assert _exchange(desk).body == b"<b>1</b>"


def test_damage_is_told(doomed_desk: Desk) -> None:
    desk = doomed_desk
    pair = _begun(desk)
    heads = [b"HTTP/1.1 200 OK\r\nX-Long: %d %s\r\n\r\n" % (number, b"x" * 200) for number in range(2)]
    desk.write(*(desk.page(pair, f"/{number}", b"%d" % number, head=head) for number, head in enumerate(heads)))
    with desk.look.begin() as connection:
        connection.execute(head_bases.delete())
    with pytest.raises(DatabaseUnusable, match="is damaged"):
        desk.reports.history(f"{A}/1")
    with pytest.raises(DatabaseUnusable, match="is damaged"):
        desk.reports.exchange(f"{A}/1")


def test_a_url_that_was_seen_and_not_fetched(desk: Desk) -> None:
    pair = _begun(desk)
    desk.store.store_bad([desk.bad(pair, "/", State.GONE, Reason.MISSING, status=404)], desk.now)
    assert _history(desk) == []
    assert desk.reports.exchange(f"{A}/") is None
