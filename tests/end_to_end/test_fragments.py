"""Refresh by fragment: what goes over the wire, what is stored, and servers whose tables lie."""

from __future__ import annotations

import random

import msgspec
import pytest

from parcahyd.augment.document_tables import tvi_of
from parcahyd.augment.tvi import Tvi, read_tvi, write_tvi
from tests.support.crawl import Crawl, CrawlFactory
from tests.support.site_server import Listener, SiteServer
from tests.support.sites import Answer, Page, Request, Site, html, redirect, robots

_WORDS = " ".join(random.Random(1).choices([f"{number:x}" for number in range(10_000)], k=2_000))
_ROBOTS = robots("User-agent: *\nDisallow: /private/\n# Augment: 1; tvi={stem}.TVI\n")


def _document(price: str, news: str = "", title: str = "Kettle") -> bytes:
    text = f"<!doctype html><meta charset=utf-8><title>{title}</title><p>{_WORDS}</p><a href=/>Home</a>"
    return f"{text}<b data-vol=price>{price}</b><div data-vol=news>{news}</div>".encode()


def _table(document: bytes, name: str = "kettle.html", **changes: object) -> bytes:
    written = tvi_of(document, name)
    assert isinstance(written, bytes)
    tvi = read_tvi(written)
    assert isinstance(tvi, Tvi)
    again = write_tvi(msgspec.structs.replace(tvi, **changes))
    assert isinstance(again, bytes)
    return again


def _pages(document: bytes, table: Page | bytes | None = None) -> dict[str, Page]:
    """A site with a page that has regions, and its table."""
    table = _table(document) if table is None else table
    return {
        "/robots.txt": _ROBOTS,
        "/": html("Home", ["/kettle.html"]),
        "/kettle.html": _answer(document),
        "/kettle.TVI": _answer(table) if isinstance(table, bytes) else table,
    }


def _answer(body: bytes) -> Answer:
    return Answer(body, etag=f'"{hash(body):x}"', headers=(("X-Served", "yes"),))


class Shop:
    """A crawl of such a site, which is visited again with every `refresh`."""

    def __init__(self, server: SiteServer, crawl: Crawl) -> None:
        self.server = server
        self.crawl = crawl
        self.listener: Listener = server.listen()
        self.url = self.listener.url("/kettle.html")

    def refresh(self, pages: dict[str, Page], *, retries: float = 0) -> list[tuple[str, int]]:
        """The requests for the page and its table in one run, each with its status; all that is stored is sound after it.

        The run waits for what is to be tried again within so many seconds.
        """
        self.server.put("", Site(pages))
        self.server.forget()
        self.crawl.run(self.listener.url(), sets={"Work.WaitForRetries": retries})
        self.crawl.verify()
        return [(entry.target, entry.status) for entry in self.server.requests() if "kettle" in entry.target]

    @property
    def stored(self) -> bytes:
        return self.crawl.show(self.url)


@pytest.mark.parametrize("mode", ["lazy", "eager"])
def test_a_page_is_kept_fresh_by_its_table_alone(server: SiteServer, crawl_on: CrawlFactory, mode: str) -> None:
    shop = Shop(server, crawl_on({"Work.RevisitAfter": 0, "Work.MergeMode": mode}))
    first, second = _document("11.00"), _document("12.00", '<a href="/news.html">New</a>')
    assert shop.refresh(_pages(first)) == [("/kettle.html", 200), ("/kettle.TVI", 200)]
    assert shop.stored == first
    assert shop.refresh(_pages(first)) == [("/kettle.TVI", 304)]
    assert shop.stored == first
    assert shop.refresh({**_pages(second), "/news.html": html("News")}) == [("/kettle.TVI", 200)]
    assert shop.stored == second
    assert shop.crawl.states()[shop.listener.url("/news.html")] == ("stored", "")
    shown = shop.crawl.command("show", "--headers", shop.url).out
    assert b"X-Served: yes" in shown
    assert b"text/html; charset=utf-8" in shown
    third = _document("13.00", title="Kettles")
    assert shop.refresh(_pages(third)) == [("/kettle.TVI", 200), ("/kettle.html", 200)]
    assert shop.stored == third
    assert shop.refresh(_pages(third)) == [("/kettle.TVI", 304)]
    assert shop.refresh(_pages(_document("14.00", title="Kettles"))) == [("/kettle.TVI", 200)]
    assert shop.stored == _document("14.00", title="Kettles")


def test_a_table_that_disappears_is_forgotten_until_the_page_changes(server: SiteServer, crawl_on: CrawlFactory) -> None:
    shop = Shop(server, crawl_on({"Work.RevisitAfter": 0}))
    first, second = _document("11.00"), _document("12.00")
    missing = Answer(b"gone", status=404)
    shop.refresh(_pages(first))
    assert shop.refresh(_pages(first, missing)) == [("/kettle.TVI", 404), ("/kettle.html", 304)]
    assert shop.refresh(_pages(first)) == [("/kettle.html", 304)]
    assert shop.refresh(_pages(second)) == [("/kettle.html", 200), ("/kettle.TVI", 200)]
    assert shop.refresh(_pages(second)) == [("/kettle.TVI", 304)]
    assert shop.stored == second


def test_a_table_that_fails_is_a_failure_of_the_page_which_is_tried_itself(server: SiteServer, crawl: CrawlFactory) -> None:
    shop = Shop(server, crawl({"Work.RevisitAfter": 0, "Work.RetryDelay": 0.1}))
    first = _document("11.00")
    shop.refresh(_pages(first))
    assert shop.refresh(_pages(first, Answer(status=500)))[0] == ("/kettle.TVI", 500)
    shop.refresh(_pages(first), retries=60)
    assert shop.crawl.states()[shop.url] == ("stored", "")
    assert shop.stored == first


_NOW = _document("12.00")
_LIES: dict[str, Page | bytes] = {
    "merges to something else": _table(_NOW).replace(b"12.00", b"99.00"),
    "another document's": _table(_NOW, "other.html"),
    "another host's": _table(_NOW, "http://127.0.0.9/kettle.html"),
    "cut": _table(_NOW)[:-4],
    "10 GB": Answer(
        b"TVI/1\n" + b"#" * (16 << 20), headers=(("Content-Length", "10000000000"),), framing="close", media_type="text/plain"
    ),
    "10 GB without a length": Answer(b"TVI/1\n" + b"# and so on\n" * (1 << 20), framing="chunked"),
}


@pytest.mark.parametrize("lie", _LIES)
def test_of_a_table_that_lies_nothing_is_stored(server: SiteServer, crawl: CrawlFactory, lie: str) -> None:
    shop = Shop(server, crawl({"Work.RevisitAfter": 0}))
    shop.refresh(_pages(_document("11.00")))
    assert shop.refresh(_pages(_NOW, _LIES[lie])) == [("/kettle.TVI", 200), ("/kettle.html", 200)]
    assert shop.stored == _NOW
    assert shop.crawl.states()[shop.url] == ("stored", "")


@pytest.mark.parametrize("lie", _LIES)
def test_on_a_first_visit_a_table_that_lies_costs_nothing_but_its_request(
    server: SiteServer, crawl: CrawlFactory, lie: str
) -> None:
    shop = Shop(server, crawl({"Work.RevisitAfter": 0}))
    assert shop.refresh(_pages(_NOW, _LIES[lie])) == [("/kettle.html", 200), ("/kettle.TVI", 200)]
    assert shop.stored == _NOW


def test_a_table_is_not_looked_for_on_another_site(server: SiteServer, crawl: CrawlFactory) -> None:
    shop = Shop(server, crawl({"Work.RevisitAfter": 0, "Work.Scope": "any"}))
    other = server.listen("127.0.0.2")
    elsewhere = redirect(other.url("/kettle.TVI"))
    shop.refresh(_pages(_document("11.00")))
    assert shop.refresh(_pages(_NOW, elsewhere)) == [("/kettle.TVI", 302), ("/kettle.html", 200)]
    assert other.connections == 0
    assert shop.stored == _NOW


def test_a_table_that_is_consistent_and_false_is_found_out_by_an_audit(server: SiteServer, crawl: CrawlFactory) -> None:
    shop = Shop(server, crawl({"Work.RevisitAfter": 0}))
    truth = _document("11.00")
    shop.refresh(_pages(truth))
    asked = [target for number in range(20) for target, _ in shop.refresh(_pages(truth, _table(_document(f"{number}.99"))))]
    assert asked == [*["/kettle.TVI"] * 20, "/kettle.html"]
    assert shop.stored == truth


def test_after_three_strikes_no_table_is_asked_for(server: SiteServer, crawl_on: CrawlFactory) -> None:
    shop = Shop(server, crawl_on({"Work.RevisitAfter": 0, "Work.LearnRegions": False}))
    documents = [_document(f"{number}.00") for number in range(5)]
    lie = _LIES["cut"]
    both = [("/kettle.html", 200), ("/kettle.TVI", 200)]
    assert [shop.refresh(_pages(document, lie)) for document in documents[:3]] == [both] * 3
    assert shop.refresh(_pages(documents[3])) == [("/kettle.html", 200)]
    assert shop.refresh(_pages(documents[4])) == [("/kettle.html", 200)]
    assert shop.stored == documents[4]


def test_tables_get_no_passwords_and_no_cookies(server: SiteServer, crawl: CrawlFactory) -> None:
    shop = Shop(server, crawl({"Work.RevisitAfter": 0, "Work.Cookies": True}))

    def with_cookie(_: Request) -> Answer:
        return Answer(_NOW, headers=(("Set-Cookie", "visitor=7"),))

    pages = {**_pages(_NOW), "/kettle.html": with_cookie}
    shop.refresh({**pages, "/": html("Home", ["/kettle.html", "/later.html"]), "/later.html": html("Later")})
    cookies = {entry.target: entry.headers.get("cookie", "") for entry in server.requests()}
    assert cookies["/kettle.TVI"] == ""
    shop.refresh(pages)
    assert [entry.headers.get("cookie", "") for entry in server.requests() if entry.target == "/kettle.TVI"] == [""]
