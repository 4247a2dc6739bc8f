"""The new URLs that pages of one visit may bring; what is left out is counted and stays new."""

from __future__ import annotations

from parcahyd.config.schema import WorkConf
from parcahyd.core.records import SiteLease
from parcahyd.pipeline.crawl_worker.known_urls import KnownUrls, Room
from parcahyd.pipeline.crawl_worker.link_budget import LinkBudget
from parcahyd.pipeline.crawl_worker.new_links import NewLinkFinder, NewLinks
from parcahyd.rules.html.links import read_links

ORIGIN = "http://site.example"


def budget(url_room: int, external_room: int, of_a_page: int = 0) -> LinkBudget:
    lease = SiteLease(7, 3, "http", "site.example", 80, (), url_room=url_room, external_room=external_room)
    return LinkBudget(lease, WorkConf(MaxNewUrls=of_a_page))


def finder(given: LinkBudget) -> NewLinkFinder:
    room = Room(0, 10**6, 10**6)
    return NewLinkFinder(ORIGIN, KnownUrls(b"", True, room), room, 200, budget=given)


def find(one: NewLinkFinder, path: str, *hrefs: str, is_new_page: bool = False) -> NewLinks:
    html = "".join(f'<a href="{href}">x</a>' for href in hrefs)
    return one.find(ORIGIN + path, read_links(html.encode(), "utf-8"), False, is_new_page)


def paths(new: NewLinks) -> list[str]:
    return [path for _, path in new.internal]


def test_a_page_brings_so_many_new_urls_and_what_is_known_does_not_count() -> None:
    one = finder(budget(1000, 1000, of_a_page=3))
    assert paths(find(one, "/", "/a", "/b")) == ["/a", "/b"]
    new = find(one, "/x/", "/a", "/b", "/1", "/2", "/3", "/4", "/5", *(f"http://{n}.example/" for n in range(5)))
    assert (paths(new), new.left_out) == (["/1", "/2", "/3"], 2)
    assert (len(new.external), new.left_out_external) == (3, 2)


def test_what_was_left_out_is_new_when_the_page_is_read_again() -> None:
    known = finder(budget(1000, 1000, of_a_page=2))
    hrefs = [f"/{number}" for number in range(5)]
    assert paths(find(known, "/", *hrefs)) == hrefs[:2]
    known.forget()  # As another visit: what tags lead to is forgotten, what is known is not.
    again = find(known, "/", *hrefs)
    assert (paths(again), again.left_out) == (hrefs[2:4], 1)


def test_pages_share_the_room_of_their_site_and_new_ones_add_to_it() -> None:
    one = finder(budget(3, 0))
    assert paths(find(one, "/", "/a", "/b")) == ["/a", "/b"]
    new = find(one, "/", "/c", "/d", "http://other.example/")
    assert (paths(new), new.left_out, new.external, new.left_out_external) == (["/c"], 1, [], 1)
    many = [f"/many/{number}" for number in range(150)]
    new = find(one, "/new", *many, is_new_page=True)
    assert (len(new.internal), new.left_out) == (100, 50)


def test_links_that_come_ahead_of_their_page_use_the_same_room() -> None:
    given = budget(0, 3)
    assert given.take_external(("http://a.example/", "http://b.example/")) == ("http://a.example/", "http://b.example/")
    assert given.take_external(("http://c.example/", "http://d.example/")) == ("http://c.example/",)
    assert given.take_external(("http://d.example/",)) == ()
