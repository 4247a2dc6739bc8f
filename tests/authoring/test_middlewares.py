"""Both middlewares, the same cases: tables of pages that an application makes."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import pytest

from parcahyd.augment.refusal import Refusal
from parcahyd.augment.sidecars import is_of_document
from parcahyd.augment.skeleton import part_with_tvi
from parcahyd.augment.tol import Tol, read_tol
from parcahyd.augment.tvi import Tvi, read_tvi
from parcahyd.authoring import asgi, wsgi
from parcahyd.core.errors import UserError
from tests.authoring.small_application import KETTLE, MEMBERS, MISSING, PAGES, Reply, SmallApplication, ask_asgi, ask_wsgi


class Site:
    """An application with tables, and its visitors."""

    def __init__(self, interface: str, *, streams: bool = False, **options: Any) -> None:
        self.app = SmallApplication(streams=streams)
        self.interface = interface
        middleware = (
            asgi.TablesMiddleware(self.app.asgi, **options)
            if interface == "asgi"
            else wsgi.TablesMiddleware(self.app.wsgi, **options)
        )
        self.middleware = middleware

    def ask(
        self, path: str, method: str = "GET", query: str = "", extra: dict[str, Any] | None = None, **headers: str
    ) -> Reply:
        said = {name.replace("_", "-"): value for name, value in headers.items()}
        ask: Any = ask_asgi if self.interface == "asgi" else ask_wsgi
        reply: Reply = ask(self.middleware, path, method, said, query, extra or {})
        return reply

    def tol(self, path: str) -> Tol:
        table = read_tol(self.ask(path).body)
        assert not isinstance(table, Refusal), str(table)
        return table

    def tvi(self, path: str) -> Tvi:
        table = read_tvi(self.ask(path).body)
        assert not isinstance(table, Refusal), str(table)
        return table


@pytest.fixture(params=["asgi", "wsgi"])
def interface(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def site(request: pytest.FixtureRequest, interface: str) -> Site:
    return Site(interface, streams=request.param)


def test_a_table_of_links_is_that_of_its_page(site: Site) -> None:
    reply = site.ask("/kettle.TOL")
    assert reply.status == 200
    assert reply.header("content-type") == "text/vnd.augment.tol; charset=utf-8"
    assert int(reply.header("content-length")) == len(reply.body)
    tol = site.tol("/kettle.TOL")
    assert tol.is_complete
    assert (tol.head.document, tol.head.tvi, tol.head.length) == ("kettle", "kettle.TVI", len(KETTLE))
    assert tol.head.hash == sha256(KETTLE).digest()
    assert tol.references == ["/"]


def test_a_table_of_variable_information_is_that_of_its_page(site: Site) -> None:
    assert site.ask("/kettle.TVI").header("content-type") == "text/vnd.augment.tvi; charset=utf-8"
    tvi = site.tvi("/kettle.TVI")
    assert [(region.id, region.content) for region in tvi.regions] == [("price", b"11.00 EUR")]
    assert not isinstance(part_with_tvi(KETTLE, tvi), Refusal)


def test_the_whole_name_counts(site: Site) -> None:
    assert site.tol("/old.html.TOL").head.document == "old.html"
    assert site.ask("/old.TOL") == MISSING


@pytest.mark.parametrize("path", ["/docs/index.html.TOL", "/docs/index.TOL"])
def test_a_directory_has_the_tables_of_its_index(site: Site, path: str) -> None:
    tol = site.tol(path)
    assert is_of_document(f"http://host{path}", tol.head.document, "http://host/docs/")
    assert tol.references == ["kettle", "https://other.example/"]


def test_the_other_form(interface: str) -> None:
    site = Site(interface, form="stem")
    assert site.tol("/old.TOL").head.document == "old.html"
    assert site.tol("/kettle.TOL").head.document == "kettle"
    assert site.tol("/index.TOL").head.document == "./"
    assert site.ask("/old.html").header("link") == '<old.TOL>; rel="tol", <old.TVI>; rel="tvi"'


def test_names_of_all_kinds(site: Site) -> None:
    tol = site.tol("/caf\u00e9 a>b.TOL")
    assert tol.head.document == "caf%C3%A9%20a%3Eb"
    assert site.ask("/caf\u00e9 a>b").header("link").startswith('<caf%C3%A9%20a%3Eb.TOL>; rel="tol"')


def test_xml_has_regions_only(site: Site) -> None:
    assert [region.content for region in site.tvi("/feed.TVI").regions] == [b"12"]
    assert site.ask("/feed.TOL") == MISSING


@pytest.mark.parametrize("page", ["/cookie", "/private", "/text", "/zipped", "/moved", "/nowhere"])
@pytest.mark.parametrize("kind", ["TOL", "TVI"])
def test_pages_without_tables(site: Site, page: str, kind: str) -> None:
    """The application's own answer for the table's path is given."""
    assert site.ask(f"{page}.{kind}") == MISSING


def test_trouble_is_not_taken_for_absence(site: Site) -> None:
    reply = site.ask("/busy.TOL")
    assert (reply.status, reply.header("retry-after"), reply.body) == (503, "7", b"")


def test_a_page_without_regions_has_no_table_of_them(site: Site) -> None:
    assert site.ask("/docs/index.html.TVI") == MISSING
    assert site.tol("/docs/index.html.TOL").head.tvi == ""


def test_the_page_is_asked_for_as_by_a_stranger(site: Site) -> None:
    outer: dict[str, Any] = {"user": "alice", "session": {}} if site.interface == "asgi" else {"REMOTE_USER": "alice"}
    headers = {
        "cookie": "a=b",
        "authorization": "Basic eA==",
        "x_remote_user": "alice",
        "if_none_match": '"x"',
        "range": "bytes=0-1",
    }
    headers |= {"accept_encoding": "gzip", "accept_language": "de", "host": "a.example"}
    reply = site.ask("/kettle.TOL", "HEAD", extra=outer, **headers)
    assert reply.status == 200
    (seen,) = site.app.seen
    assert (seen.method, seen.path) == ("GET", "/kettle")
    assert seen.headers.keys() == {"accept-language", "host"}
    assert not {"user", "session", "REMOTE_USER"} & seen.keys
    assert b"members" not in site.ask("/kettle.TOL", cookie="a=b").body


def test_members_see_their_own_pages(site: Site) -> None:
    assert site.ask("/kettle", cookie="a=b").body == MEMBERS.body


def test_conditional_requests(site: Site) -> None:
    tag = site.ask("/kettle.TOL").header("etag")
    for condition in (tag, f'"other", W/{tag}', "*"):
        reply = site.ask("/kettle.TOL", if_none_match=condition)
        assert (reply.status, reply.body, reply.header("etag")) == (304, b"", tag)
    assert site.ask("/kettle.TOL", if_none_match='"other"').status == 200
    assert site.ask("/kettle.TVI").header("etag") != tag


def test_head(site: Site) -> None:
    whole, head = site.ask("/kettle.TOL"), site.ask("/kettle.TOL", "HEAD")
    assert (head.status, head.headers, head.body) == (200, whole.headers, b"")


def test_how_long_a_page_may_be_kept_holds_for_its_tables(site: Site) -> None:
    reply = site.ask("/no-store.TOL")
    assert (reply.header("cache-control"), reply.header("vary")) == ("no-store", "accept-language")


def test_what_robots_are_told_stands_in_the_table(site: Site) -> None:
    assert site.tol("/robots-say.TOL").head.robots == "nofollow"


def test_large_pages_have_no_tables(interface: str) -> None:
    assert Site(interface).ask("/large.TOL").status == 200
    assert Site(interface, max_page=50_000).ask("/large.TOL") == MISSING


def test_other_requests_go_to_the_application(site: Site) -> None:
    assert site.ask("/kettle.TOL", "POST") == MISSING
    assert site.ask("/kettle.TOL", query="a=b") == MISSING
    assert site.ask("/.TOL") == MISSING
    assert [seen.path for seen in site.app.seen] == ["/kettle.TOL", "/kettle.TOL", "/.TOL"]


def test_the_link_header(interface: str) -> None:
    site = Site(interface)
    assert site.ask("/kettle").header("link") == '<kettle.TOL>; rel="tol", <kettle.TVI>; rel="tvi"'
    assert site.ask("/docs/").header("link") == '<index.html.TOL>; rel="tol"'
    assert site.ask("/feed").header("link") == '<feed.TVI>; rel="tvi"'
    assert site.ask("/kettle", "HEAD").header("link").startswith('<kettle.TOL>; rel="tol"')
    for path in ("/cookie", "/private", "/text", "/moved", "/nowhere"):
        assert site.ask(path).header("link") == "", path
    assert site.ask("/kettle", query="a=b").header("link") == ""


def test_a_streamed_page_is_passed_on_and_its_regions_stay_unknown(interface: str) -> None:
    site = Site(interface, streams=True)
    assert site.ask("/kettle").body == KETTLE
    assert site.ask("/kettle").header("link") == '<kettle.TOL>; rel="tol"'


def test_what_nobody_needs_is_not_read_to_its_end(interface: str) -> None:
    site = Site(interface, streams=True)
    assert site.ask("/text.TOL") == MISSING
    assert site.app.has_been_cut


def test_pages_are_passed_on_as_they_are(site: Site) -> None:
    for path, page in PAGES.items():
        reply = site.ask(path)
        assert (reply.status, reply.body) == (page.status, page.body)
        assert [header for header in reply.headers if header[0].lower() != "link"] == page.headers


def test_the_scope(interface: str) -> None:
    site = Site(interface, scope="/docs/")
    assert site.ask("/kettle.TOL") == MISSING
    assert site.ask("/kettle").header("link") == ""
    assert site.ask("/docs/index.html.TOL").status == 200
    assert site.middleware.robots_line == "# Augment: 1; scope=/docs/; tol={path}.TOL; tvi={path}.TVI; index=index.html"


@pytest.mark.parametrize("options", [{"form": "file"}, {"scope": "docs"}, {"index": "a/b"}])
def test_mistakes_are_told_at_the_start(interface: str, options: dict[str, Any]) -> None:
    with pytest.raises(UserError):
        Site(interface, **options)


def test_a_failing_application_fails(interface: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its failure is not taken for the absence of a table."""
    site = Site(interface)

    def fail(*_: object) -> Reply:
        raise RuntimeError("failed")

    monkeypatch.setattr(site.app, "_reply", fail)
    with pytest.raises(RuntimeError):
        site.ask("/kettle.TOL")
