"""The test server itself: what it answers, how it breaks the protocol, and that its log is right."""

from __future__ import annotations

import http.client
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.generated_site import generated_site, page_target
from tests.support.processes import TEST_TIMEOUT, wait_until
from tests.support.site_server import Listener, SiteServer, can_bind, refusing_port
from tests.support.sites import Answer, Site, html, redirect, tree_site, validated


def _get(listener: Listener, target: str = "/", host: str = "", **headers: str) -> http.client.HTTPResponse:
    connection = http.client.HTTPConnection(listener.address, listener.port, timeout=TEST_TIMEOUT)
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request("GET", target, headers={"Host": host, **sent} if host else sent)
    return connection.getresponse()


def test_pages_hosts_and_log(server: SiteServer) -> None:
    listener = server.listen()
    server.site().pages["/"] = html("Default", ["/next"])
    server.site("b.test").pages["/"] = redirect("http://c.test/", 301)
    assert b'<a href="/next">' in _get(listener).read()
    moved = _get(listener, host="B.test:80")
    assert (moved.status, moved.headers["Location"]) == (301, "http://c.test/")
    assert _get(listener, "/robots.txt").status == 404
    assert [(entry.target, entry.status) for entry in server.requests(robots=True)] == [
        ("/", 200),
        ("/", 301),
        ("/robots.txt", 404),
    ]
    assert server.targets(host="b.test") == ["/"]
    assert listener.connections == 3


def test_connections_are_kept_alive(server: SiteServer) -> None:
    listener = server.listen()
    server.site().pages = {"/": html("One"), "/2": replace(html("Two"), framing="close")}
    connection = http.client.HTTPConnection(listener.address, listener.port, timeout=TEST_TIMEOUT)
    for target in ("/", "/", "/2"):
        connection.request("GET", target)
        assert connection.getresponse().read()
    assert [entry.connection for entry in server.log] == [1, 1, 1]


@pytest.mark.parametrize("framing", ["length", "chunked", "close"])
def test_framings_carry_every_byte(server: SiteServer, framing: str) -> None:
    body = bytes(range(256)) * 300
    server.site().pages["/"] = Answer(body, framing=framing, drip=0.0001)  # type: ignore[arg-type] # parametrised literal
    assert _get(server.listen()).read() == body


def test_conditional_requests(server: SiteServer) -> None:
    listener = server.listen()
    page = validated(html("Same"))
    server.site().pages["/"] = page
    assert _get(listener, If_None_Match=page.etag).status == 304
    assert _get(listener, If_Modified_Since=page.modified).status == 304
    assert _get(listener, If_None_Match='"other"', If_Modified_Since=page.modified).status == 200


def test_violations_of_the_protocol(server: SiteServer) -> None:
    listener = server.listen()
    server.site().pages = {
        "/cut": Answer(b"x" * 1000, cut=10),
        "/gone": Answer(hang_up=True),
        "/silent": Answer(silent=True),
        "/zip": Answer(b"y" * 1000, coding="gzip"),
    }
    with pytest.raises(http.client.IncompleteRead):
        _get(listener, "/cut").read()
    with pytest.raises(http.client.RemoteDisconnected):
        _get(listener, "/gone")
    assert len(_get(listener, "/zip").read()) < 100
    connection = http.client.HTTPConnection(listener.address, listener.port, timeout=0.2)
    connection.request("GET", "/silent")
    with pytest.raises(TimeoutError):
        connection.getresponse()


def test_requests_under_way_are_counted(server: SiteServer) -> None:
    listener = server.listen()
    server.site().pages = {"/slow": Answer(silent=True), "/": html("Quick")}
    slow = http.client.HTTPConnection(listener.address, listener.port, timeout=TEST_TIMEOUT)
    slow.request("GET", "/slow")
    assert wait_until(lambda: len(server.log) == 1)
    threads = [threading.Thread(target=lambda: _get(listener).read()) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(entry.together >= 2 for entry in server.log[1:])
    slow.close()
    assert wait_until(lambda: server.log[0].ended > 0)
    _get(listener).read()
    assert server.log[-1].together == 1


def test_answers_can_be_held_back(server: SiteServer) -> None:
    listener = server.listen()
    server.site().pages["/"] = html("Here")
    bodies: list[bytes] = []
    threads = [threading.Thread(target=lambda: bodies.append(_get(listener).read())) for _ in range(3)]
    with server.holding(lambda _: len(server.log) > 1) as release:
        assert _get(listener).status == 200
        for thread in threads:
            thread.start()
        assert wait_until(lambda: server.under_way == 3)
        assert bodies == []
        release()
        for thread in threads:
            thread.join()
    assert len(bodies) == 3
    assert server.under_way == 0
    assert _get(listener).status == 200


def test_several_addresses_and_a_refusing_port(server: SiteServer) -> None:
    server.site().pages["/"] = html("Here")
    for address in ("127.0.0.1", "127.0.0.2", "::1"):
        if can_bind(address):
            assert _get(server.listen(address)).status == 200
    with refusing_port() as port, pytest.raises(ConnectionRefusedError):
        _get(Listener("127.0.0.1", port))


@pytest.mark.parametrize("pages", [1, 12, 60, 500])
def test_every_generated_page_is_reachable_and_unlike_the_others(pages: int) -> None:
    site = generated_site(pages)
    bodies = site.bodies()
    assert set(bodies) == {page_target(number) for number in range(pages)}
    assert len(set(bodies.values())) == pages
    reached, frontier = {"/"}, ["/"]
    while frontier:
        body = bodies[frontier.pop()].decode()
        new = {target for target in bodies if f'href="{target}"' in body} - reached
        reached |= new
        frontier += new
    assert reached == set(bodies)
    assert generated_site(pages).bodies() == bodies


def test_a_folder_as_a_site(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "index.html").write_bytes(b"<p>sub")
    site: Site = tree_site(tmp_path)
    assert set(site.pages) == {"/sub/", "/sub/index.html"}
