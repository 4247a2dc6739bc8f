"""Pages with links that were left out: counted, told, and read again when their site has room."""

from __future__ import annotations

from parcahyd.core.records import ExternRecord
from parcahyd.core.states import State
from parcahyd.storage.schema import overfull, sites
from tests.storage.desk import Desk

A = "http://a.example"
B = "http://b.example"


def test_a_page_is_read_again_whole_as_soon_as_its_site_has_room(desk: Desk) -> None:
    desk.begin(MaxNewUrls=10, MaxSiteUrls=2)
    desk.seed(f"{A}/")
    pair = desk.visit()
    assert (pair.url_room, pair.external_room) == (1, 10_000)
    assert not pair.urls[0].has_page
    desk.crawl(pair, internal=("/1",), left_out=7, etag='"1"')
    assert desk.rows(overfull) == [
        {"site_id": pair.site, "key": desk.key_of("/"), "left_out": 7, "left_out_external": 0, "reads": 1}
    ]
    again = desk.visit()
    assert again.url_room == 100
    due = {url.path: url for url in again.urls}
    assert set(due) == {"/", "/1"}
    assert (due["/"].state, due["/"].etag, due["/"].has_page) == (State.KNOWN, "", True)
    desk.write(desk.page(again, internal=("/2", "/3")), desk.page(again, "/1"))
    desk.over(again)
    assert desk.rows(overfull) == []
    assert desk.row("/")["state"] == State.STORED
    assert desk.rows(sites)[0]["pages"] == 2


def test_a_site_without_room_is_left_as_it_is_until_it_has_given_pages(desk: Desk) -> None:
    desk.begin(MaxNewUrls=500, MaxSiteUrls=50)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.crawl(pair, internal=tuple(f"/{number}" for number in range(149)), left_out=80)
    assert desk.row("/")["state"] == State.STORED
    assert desk.row("/")["due_at"] == desk.first_due()
    following = desk.visit()
    assert following.url_room == 0
    desk.crawl(following, "/1")
    assert desk.row("/")["state"] == State.KNOWN, "another page made room for a hundred"


def test_a_page_with_ever_new_links_is_not_read_for_ever(desk: Desk) -> None:
    desk.begin(MaxNewUrls=50_000, RevisitAfter=1_000_000)
    desk.seed(f"{A}/")
    reads = 0
    while pairs := desk.lease():
        (pair,) = pairs
        assert [url.path for url in pair.urls] == ["/"]
        reads += 1
        desk.crawl(pair, left_out=5)
    assert 10 <= reads <= 20
    assert desk.row("/")["state"] == State.STORED


def test_left_out_links_to_other_sites_wait_for_the_next_visit(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.crawl(pair, left_out_external=5)
    assert desk.row("/")["state"] == State.STORED
    assert desk.lease() == []


def test_who_brought_a_url_is_counted_and_a_site_is_not_charged_for_what_others_invent(desk: Desk) -> None:
    desk.begin(Scope="any", MaxExternalUrls=5, MaxSiteUrls=100)
    desk.seed(f"{A}/")
    pair = desk.visit()
    outside = (f"{B}/1", f"{B}/2")
    desk.store.store_extern([ExternRecord(pair.visit, 1, outside)], desk.now)
    desk.write(desk.page(pair, internal=("/x",), external=(*outside, f"{B}/3")), desk.redirect(pair, "/r", f"{A}/t"))
    desk.over(pair)
    counted = {row["host"]: (row["urls"], row["urls_from_others"], row["urls_for_others"]) for row in desk.rows(sites)}
    assert counted == {"a.example": (4, 0, 3), "b.example": (3, 3, 0)}
    rooms = {one.origin: (one.url_room, one.external_room) for one in desk.lease()}
    assert rooms == {A: (196, 102), B: (100, 5)}


def test_settings_that_make_room_have_pages_read_again_in_the_next_run(desk: Desk) -> None:
    desk.begin(MaxNewUrls=500, MaxSiteUrls=50)
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.crawl(pair, internal=tuple(f"/{number}" for number in range(149)), left_out=80)
    desk.begin(MaxNewUrls=500, MaxSiteUrls=500)
    assert desk.row("/")["state"] == State.KNOWN


def test_reports_tell_what_was_left_out(desk: Desk) -> None:
    desk.begin(MaxSiteUrls=1)
    desk.seed(f"{A}/")
    pair = desk.visit()
    body, links = b"<p>one</p>", tuple(f"/{number}" for number in range(100))
    desk.write(
        desk.page(pair, "/", body, internal=links, left_out=200, left_out_external=3), desk.page(pair, "/0", left_out=1000)
    )
    (told,) = desk.reports.status(desk.now).left_out
    assert (told.subject, told.pages, told.links, told.external) == (A, 2, 1200, 3)
    details = desk.reports.url_details(f"{A}/")
    assert details is not None
    assert details.left_out is not None
    assert (details.left_out.links, details.left_out.external) == (200, 3)
    assert details.site_left_out is not None
    assert details.site_left_out.links == 1200
    assert desk.store.waiting()[0]["left out"] == 1203
