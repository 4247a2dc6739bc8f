from __future__ import annotations

import http.client
from collections.abc import Iterator
from hashlib import sha256
from html.parser import HTMLParser
from urllib.parse import urldefrag, urljoin, urlsplit

import pytest

from parcahyd.augment.bundle import read_bundle
from parcahyd.augment.refusal import Refusal
from parcahyd.augment.sidecars import is_of_document
from parcahyd.augment.site_offer import declarations_in
from parcahyd.augment.tol import read_tol
from parcahyd.augment.tvi import Tvi, read_tvi
from parcahyd.sample.server import CHANGING_PAGE, GUESTS, REDIRECTS, SampleServer, site_files

LOST = "/kettles/steam-engine.html"


@pytest.fixture(scope="module")
def server() -> Iterator[SampleServer]:
    with SampleServer() as running:
        yield running


def _get(server: SampleServer, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=120)
    connection.request("GET", path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    try:
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:  # noqa: ARG002 - the standard library's
        self.found += [value or "" for name, value in attrs if name in ("href", "src")]


def _links(base: str, page: bytes) -> set[str]:
    parser = _Links()
    parser.feed(page.decode())
    return {urldefrag(urljoin(base, link)).url for link in parser.found}


def test_every_page_can_be_reached_and_nothing_is_missing_but_what_should_be(server: SampleServer) -> None:
    reached, waiting, elsewhere = set(), {server.url}, set()
    while waiting:
        url = waiting.pop()
        if not url.startswith(server.url):
            elsewhere.add(url)
            continue
        path = urlsplit(url).path
        reached.add(path)
        status, headers, body = _get(server, path)
        found: set[str] = set()
        if status == 301:
            found = {urljoin(url, headers["Location"])}
        elif headers["Content-Type"].startswith("text/html"):
            found = _links(url, body)
        waiting |= {link for link in found if urlsplit(link).path not in reached or not link.startswith(server.url)} - elsewhere
    assert reached - set(site_files()) == {LOST, "/private/secrets.html", "/opening-times"}
    assert set(site_files()) - reached == set()
    assert {urlsplit(url).scheme for url in elsewhere} == {"https", "mailto"}


def test_it_has_what_a_crawler_meets(server: SampleServer) -> None:
    files = site_files()
    assert len([path for path in files if path.endswith((".html", "/"))]) >= 12
    assert files["/kettles/copper.html"] == files["/archive/copper.html"]
    assert files["/img/kettle.png"].startswith(b"\x89PNG\r\n\x1a\n")
    assert b"Disallow: /private/" in files["/robots.txt"]
    assert _get(server, LOST)[0] == 404
    for path, target in REDIRECTS.items():
        status, headers, _ = _get(server, path)
        assert (status, headers["Location"]) == (301, target)
        assert target in files


def test_documents_come_as_they_are_and_are_confirmed_by_their_tag(server: SampleServer) -> None:
    status, headers, body = _get(server, "/kettles/")
    assert (status, body) == (200, site_files()["/kettles/"])
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    status, _, body = _get(server, "/kettles/", If_None_Match=headers["ETag"])
    assert (status, body) == (304, b"")


@pytest.mark.parametrize("path", ["/../server.py", "/..%2fserver.py", "//etc/passwd", "/kettles/../../__init__.py"])
def test_only_the_site_is_served(server: SampleServer, path: str) -> None:
    assert _get(server, path)[0] == 404


def test_every_page_has_its_table_and_all_are_in_the_bundle_that_robots_declares(server: SampleServer) -> None:
    files = site_files()
    (declaration,) = declarations_in(files["/robots.txt"])
    tables, refusal = read_bundle(_get(server, declaration.bundle)[2])
    assert refusal is None
    documents = {f"/{table.head.document}".removesuffix("index.html"): table for table in tables}
    assert set(documents) == {path for path in files if path.endswith((".html", "/"))}
    for path, table in documents.items():
        assert table.head.hash == sha256(files[path]).digest()
        place = declaration.tol_of(f"http://host{path}") or ""
        beside = read_tol(_get(server, place.removeprefix("http://host"))[2])
        assert not isinstance(beside, Refusal)
        assert beside.body == table.body
        assert is_of_document(place, beside.head.document, f"http://host{path}")


def test_a_page_changes_with_its_tables() -> None:
    with SampleServer() as server:
        skeletons = []
        for guests in GUESTS:
            page, table = _get(server, CHANGING_PAGE)[2], read_tvi(_get(server, "/index.TVI")[2])
            assert isinstance(table, Tvi)
            assert (table.hash, table.regions[0].content) == (sha256(page).digest(), b"%d" % guests)
            assert server.size_of(CHANGING_PAGE) == len(page)
            skeletons.append(table.base_hash)
            server.change()
        assert skeletons[0] == skeletons[1]


def test_what_was_asked_is_remembered() -> None:
    with SampleServer() as server:
        _get(server, "/about.html")
        _get(server, LOST)
    assert server.requests == [("GET", "/about.html", 200), ("GET", LOST, 404)]
