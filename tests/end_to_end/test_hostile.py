"""Page authors are adversaries: nothing they send stops the crawl, spoils the database or reaches where it should not."""

from __future__ import annotations

from tests.support.crawl import CrawlFactory
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Page, Site, html

_LINKS = [
    "http://127.0.0.1:99999/",
    "http://user:secret@127.0.0.9:1/",
    "http://\u0000/",
    "//",
    "///x",
    "http:",
    "http:relative",
    "\\backslash\\path",
    "/%",
    "/%zz%00%0a",
    "/a/../../../../b",
    "/tab\there\nnewline",
    "&#xD800;surrogate",
    "/\U0001f980/\u202e/crab",
    "/" + "x" * 100_000,
    "http://" + "a" * 300 + ".test/",
    "http://xn--zzzzzzz-.test/",
    "http://[::1%25lo]/",
    "?" + "&".join(f"a={number}" for number in range(2000)),
    "data:text/html,<a href=/from-data>x</a>",
    "blob:http://x/y",
    "ws://127.0.0.1/",
    "  \t\n",
]

_PAGES: dict[str, Page] = {
    "/headers": Answer(
        b"<a href=/from-headers>x</a>",
        media_type="text/html; charset=\xff\xfe; x=\x01",
        etag='"\xff\xfe\x7f"',
        modified="the day before yesterday",
        headers=(("X-\xe9", "\xff" * 2000), ("Set-Cookie", "a=b"), ("Link", "<" * 5000)),
    ),
    "/from-headers": html("Found"),
    "/long-validator": Answer(b"x", etag='"' + "e" * 20_000 + '"'),
    "/unknown-charset": Answer(b"<a href='/\xff\xfe'>x</a>", media_type="text/html; charset=klingon"),
    "/utf-16": Answer("<a href='/from-utf-16'>x</a>".encode("utf-16"), media_type="text/html; charset=utf-16"),
    "/from-utf-16": html("Found"),
    "/odd-utf-16": Answer(b"\xff\xfe<\x00a\x00 ", media_type="text/html"),
    "/nested": Answer(b"<div>" * 40_000 + b"<a href=/from-nested>x</a>"),
    "/attributes": Answer(b"<a " + b" ".join(b"a%d=1" % number for number in range(40_000)) + b" href=/x>x</a>"),
    "/lists": Answer(b"<ul><li>" * 20_000),
    "/open": Answer(b"<a href='" + b"y" * 500_000),
    "/comment": Answer(b"<!--" * 50_000),
    "/zeros": Answer(b"\0" * 100_000, media_type="text/html"),
    "/status-999": Answer(b"x", status=999),
    "/status-299": Answer(b"<a href=/from-299>x</a>", status=299),
    "/no-content": Answer(status=204),
    "/not-modified": Answer(status=304),
    "/location": Answer(status=302, headers=(("Location", "/\xfc\xff?\x7f"),)),
    "/locations": Answer(status=302, headers=(("Location", "/from-first"), ("Location", "http://127.0.0.9:1/"))),
    "/refresh": Answer(
        b'<meta http-equiv=refresh content="0;url=\'/from-refresh"><base href="javascript:x"><a href=/from-refresh>'
    ),
    "/bases": Answer(b'<base href="http://127.0.0.9:1/"><base href="/"><a href="elsewhere">x</a>'),
}


def test_nothing_that_a_server_sends_does_harm(server: SiteServer, crawl_on: CrawlFactory) -> None:
    listener = server.listen()
    many = Answer("".join(f"<a href='/many/{number}'>x</a>" for number in range(3000)).encode())
    front = html("Traps", [*_PAGES, *_LINKS, "/many"])
    server.put(
        "", Site({"/": front, **_PAGES, "/many": many, "/robots.txt": Answer(b"\xff\xfe\x00Disallow: /\nuser-agent\n" * 500)})
    )
    crawl = crawl_on({"Work.Scope": "any", "Map.AllowAddresses": [f"{listener.address}/32"], "Map.DnsTimeout": 1})
    crawl.run(listener.url())
    states = crawl.states()
    for target in ("/", "/headers", "/from-headers", "/from-utf-16", "/nested", "/zeros", "/long-validator", "/many"):
        assert states[listener.url(target)] == ("stored", ""), target
    assert states[listener.url("/many/2999")] == ("gone", "missing")
    crawl.verify()
    explained = crawl.explain(listener.url("/headers"))
    assert not [character for character in explained if ord(character) < 32 and character != "\n"]

    server.forget()
    crawl.run(sets={"Work.RevisitAfter": 0})
    asked = {entry.target: entry.status for entry in server.requests()}
    assert asked["/headers"] in (200, 304)
    crawl.verify()
