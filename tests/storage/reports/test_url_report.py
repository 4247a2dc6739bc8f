"""One URL: its document byte for byte, and everything else that is known of it."""

from __future__ import annotations

import random
import zlib

import pytest

from parcahyd.core.errors import DatabaseUnusable, UserError
from parcahyd.core.records import Pause, RobotsFact, RobotsStatus, SiteRecord
from parcahyd.core.states import Reason, State
from parcahyd.rules.html.fingerprints import fingerprint
from parcahyd.storage.reports import Reports
from parcahyd.storage.reports.records import DocumentReport, FetchReport, StoredDocument, UrlDetails
from parcahyd.storage.schema import documents, fetches, volatile
from tests.storage.desk import REVISIT, Desk

A = "http://a.example"


def _document(desk: Desk, url: str) -> StoredDocument | None:
    with Reports.open(desk.url) as reports:
        return reports.document(url)


def _details(desk: Desk, url: str) -> UrlDetails:
    with Reports.open(desk.url) as reports:
        details = reports.url_details(url)
    assert details is not None
    return details


@pytest.mark.parametrize("body", [b"", b"\x00\xff\r\n", random.Random(1).randbytes(300_000), b"a" * 2_000_000])
def test_a_document_byte_for_byte(desk: Desk, body: bytes) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    head = b"HTTP/1.1 200 Fine\r\nContent-Type: text/html; charset=utf-8\r\nX: \xff\r\n\r\n"
    desk.crawl(desk.visit(), body=body, head=head, charset="utf-8")
    assert _document(desk, "http://a.example") == StoredDocument(
        url=f"{A}/",
        body=body,
        head=head,
        status=200,
        fetched_at=desk.now,
        address="192.0.2.1",
        media_type="text/html",
        charset="utf-8",
    )


def test_volatile_regions_are_put_back(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), body=b"<b></b><i></i>")
    regions = {2: (3, b"first"), 1: (10, b"second"), 3: (10, b"third")}
    whole = b"<b>first</b><i>secondthird</i>"
    with desk.look.begin() as connection:
        for region, (offset, content) in regions.items():
            row = {"fetch_id": 1, "region": region, "offset": offset, "content": zlib.compress(content)}
            connection.execute(volatile.insert().values(row))
        connection.execute(fetches.update().values(sha256=fingerprint(whole).sha256, length=len(whole)))
    document = _document(desk, f"{A}/")
    assert document is not None
    assert document.body == whole


def test_where_there_is_no_document(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.redirect(pair, "/", f"{A}/x"))
    for url in (f"{A}/", f"{A}/x", f"{A}/unseen", "http://unseen.example/"):
        assert _document(desk, url) is None
    with pytest.raises(UserError, match="not a URL"):
        _document(desk, "nonsense")


def test_a_damaged_document_is_not_shown(doomed_desk: Desk) -> None:
    doomed_desk.begin()
    doomed_desk.seed(f"{A}/")
    doomed_desk.crawl(doomed_desk.visit())
    with doomed_desk.look.begin() as connection:
        connection.execute(documents.update().values(body=b"nonsense"))
    with pytest.raises(DatabaseUnusable, match="damaged") as mistake:
        _document(doomed_desk, f"{A}/")
    assert "verify" in mistake.value.remedy


def test_the_latest_version_is_shown_and_kept_through_failures(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), body=b"old")
    desk.now += 2 * REVISIT
    desk.begin()
    desk.crawl(desk.visit(), body=b"new")
    desk.now += 2 * REVISIT
    desk.begin()
    pair = desk.visit()
    desk.store.store_bad([desk.bad(pair, state=State.GONE, reason=Reason.MISSING)], desk.now)
    document = _document(desk, f"{A}/")
    assert document is not None
    assert (document.body, document.fetched_at) == (b"new", desk.now - 2 * REVISIT)


def test_the_details_of_a_stored_url(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    robots = RobotsFact(RobotsStatus.FOUND, b"Disallow:", desk.now, desk.now + 5, "200")
    desk.write(SiteRecord(pair.visit, pair.site, robots))
    desk.write(desk.page(pair, etag='"1"', modified="Mon"), desk.page(pair, "/twin"), desk.page(pair, "/other", b"o"))
    desk.over(pair, addresses=("192.0.2.1",), addresses_expire=desk.now + 9, not_before=desk.now + 1)
    mark = fingerprint(b"<p>hello</p>")
    assert _details(desk, "HTTP://a.example:80/#top") == UrlDetails(
        url=f"{A}/",
        site=A,
        in_scope=True,
        addresses=("192.0.2.1",),
        addresses_expire=desk.now + 9,
        robots=robots,
        visiting=False,
        not_before=desk.now + 1,
        site_reason=None,
        site_failures=0,
        state="stored",
        reason=None,
        sentence="",
        detail="",
        depth=0,
        hops=0,
        seed=True,
        via=None,
        first_seen=desk.now,
        checked_at=desk.now,
        tries=0,
        status=200,
        etag='"1"',
        modified="Mon",
        checks=1,
        changes=0,
        changed_at=desk.now,
        changes_every=None,
        next_visit=desk.first_due(),
        redirect=None,
        document=DocumentReport(
            document=1,
            df=mark.df,
            sha256=mark.sha256.hex(),
            length=12,
            media_type="text/html",
            charset="",
            title="",
            language="",
            similarity=None,
        ),
        fetches=(
            FetchReport(at=desk.now, status=200, address="192.0.2.1", redirect=None, sha256=mark.sha256.hex(), length=12),
        ),
        twins=(f"{A}/twin",),
        similar=(),
    )


def test_the_details_of_a_failure(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.store.store_bad([desk.bad(pair, reason=Reason.TLS, detail="self-signed", due_at=desk.now + 60)], desk.now)
    assert _details(desk, f"{A}/").visiting
    desk.over(pair, not_before=desk.now + 90, reason=Reason.UNREACHABLE_SITE.word, failures=2)
    details = _details(desk, f"{A}/")
    assert (details.state, details.reason, details.sentence, details.detail) == (
        "failed",
        "tls",
        Reason.TLS.sentence,
        "self-signed",
    )
    assert (details.next_visit, details.site_reason, details.site_failures) == (desk.now + 90, "unreachable-site", 2)
    assert (details.document, details.fetches, details.twins, details.robots) == (None, (), (), None)


def test_the_details_of_a_redirect_and_its_target(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.write(desk.redirect(pair, "/", "https://www.a.example/"))
    desk.over(pair)
    details = _details(desk, f"{A}/")
    assert (details.state, details.reason, details.redirect) == ("stored", "redirect", "https://www.a.example/")
    target = _details(desk, "https://www.a.example/")
    assert (target.via, target.seed, target.hops, target.in_scope) == (f"{A}/", True, 1, True)


def test_the_details_of_a_history(desk: Desk) -> None:
    desk.begin(KeepVersions=2)
    desk.seed(f"{A}/")
    for number in range(3):
        desk.crawl(desk.visit(), body=b"%d" % number)
        desk.now += 2 * REVISIT
        desk.begin(KeepVersions=2)
    details = _details(desk, f"{A}/")
    assert [fetch.sha256 for fetch in details.fetches] == [fingerprint(b"2").sha256.hex(), fingerprint(b"1").sha256.hex()]
    assert (details.checks, details.changes) == (3, 2)


def test_who_lives_at_the_same_address_and_wants_to_be_left_alone(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/", "http://b.example/", "http://c.example/")
    for pair in desk.lease():
        last = "2" if pair.host == "c.example" else "1"
        pause = Pause(f"host {pair.host}", desk.now + 60, Reason.ASKED_TO_WAIT.word)
        pauses = (pause, Pause("address 192.0.2.1", desk.now + 5)) if pair.host == "a.example" else ()
        desk.over(pair, addresses=(f"192.0.2.{last}", f"192.0.2.{last}0"), addresses_expire=desk.now + 9, pauses=pauses)
    details = _details(desk, f"{A}/")
    assert details.neighbours == ("b.example",)
    assert [(pause.site, pause.until, pause.reason) for pause in details.pauses] == [
        ("host a.example", desk.now + 60, "asked-to-wait")
    ]
    assert details.next_visit == desk.now + 60
    assert _details(desk, "http://c.example/").neighbours == ()


def test_out_of_scope_there_is_no_next_visit(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), external=("http://b.example/",))
    details = _details(desk, "http://b.example/")
    assert (details.in_scope, details.state, details.reason, details.next_visit) == (False, "refused", "scope", None)


def test_an_unseen_url_has_no_story(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    with Reports.open(desk.url) as reports:
        assert reports.url_details(f"{A}/unseen") is None
        assert reports.url_details("http://unseen.example/") is None
        with pytest.raises(UserError):
            reports.url_details("nonsense")
