"""URLs that gave no document: what they had before stays."""

from __future__ import annotations

from parcahyd.core.states import Reason, State
from parcahyd.refresh.schedule import NEVER
from parcahyd.storage.schema import documents, sites
from tests.storage.desk import REVISIT, Desk

A = "http://a.example"


def test_state_reason_and_the_next_try(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    record = desk.bad(pair, reason=Reason.HTTP_ERROR, status=503, tries=3, due_at=desk.now + 80, detail="busy")
    desk.store.store_bad([record], desk.now)
    row = desk.row("/")
    assert (row["state"], row["reason"], row["tries"], row["status"]) == (State.FAILED, "http-error", 3, 503)
    assert (row["due_at"], row["checked_at"], row["detail"], row["seed"]) == (desk.now + 80, desk.now, "busy", True)


def test_a_url_that_was_not_committed_yet_is_inserted(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.store.store_bad([desk.bad(pair, "/new", State.GONE, Reason.MISSING, depth=3, status=404)], desk.now)
    row = desk.row("/new")
    assert (row["state"], row["depth"], row["priority"], row["status"]) == (State.GONE, 3, 3, 404)
    (site,) = desk.rows(sites)
    assert site["urls"] == 2


def test_the_stored_document_stays(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), etag='"1"')
    desk.now += 2 * REVISIT
    desk.begin()
    pair = desk.visit()
    desk.store.store_bad([desk.bad(pair, state=State.GONE, reason=Reason.MISSING, due_at=desk.now + 5)], desk.now)
    desk.over(pair)
    row = desk.row("/")
    assert row["document_id"] == desk.rows(documents)[0]["id"]
    desk.now += 10
    desk.begin()
    (due,) = desk.visit().urls
    assert (due.state, due.etag) == (State.GONE, '"1"')


def test_after_a_damaged_body_the_whole_document_is_asked_for(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    desk.crawl(desk.visit(), etag='"1"', modified="Tue, 02 Jan 2024 03:04:05 GMT")
    desk.now += 2 * REVISIT
    desk.begin()
    pair = desk.visit()
    desk.store.store_bad([desk.bad(pair, reason=Reason.CONTENT_CODING, due_at=desk.now + 5)], desk.now)
    desk.over(pair)
    desk.now += 10
    desk.begin()
    (due,) = desk.visit().urls
    assert (due.state, due.etag, due.modified) == (State.FAILED, "", "")


def test_never_again_but_for_the_settings(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.store.store_bad([desk.bad(pair, state=State.REFUSED, reason=Reason.SIZE, due_at=NEVER)], desk.now)
    desk.over(pair)
    assert desk.row("/")["due_at"] is None
    assert desk.lease_and_next(again_before=NEVER) == ([], None)


def test_of_two_outcomes_the_later_counts(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.store.store_bad([desk.bad(pair, "/x", tries=1), desk.bad(pair, "/x", State.GONE, Reason.OUT_OF_TRIES)], desk.now)
    assert desk.states()[f"{A}/x"] == "gone out-of-tries"
