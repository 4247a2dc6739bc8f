"""What was exchanged is on record: bodies as they were transferred, heads as they were received, and the request."""

from __future__ import annotations

import gzip
import json
import zlib
from hashlib import sha256
from typing import Any

import brotli
from sqlalchemy import create_engine, text

from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.storage.heads import head_of
from tests.support.crawl import Crawl, CrawlFactory
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Page, Request, Site, html, redirect, robots


def _long(title: str, links: tuple[str, ...] = ()) -> bytes:
    return html(title, links, extra=f"<p>{title} goes on and on. </p>" * 2000).body


def _coded(coding: str, body: bytes) -> Answer:
    return Answer(body, headers=(("Content-Encoding", coding),))


def _rows(crawl: Crawl, statement: str) -> list[Any]:
    """Rows of the crawl's database, by path."""
    engine = create_engine(f"sqlite:///{crawl.folder / 'crawl.db'}")
    with engine.connect() as connection:
        rows = list(connection.execute(text(statement)))
    engine.dispose()
    return rows


_STORED = """
    SELECT urls.path, documents.body, documents.coding, documents.coded_sha256,
           fetches.coding AS came, fetches.coded_sha256 AS lost, documents.id
    FROM urls JOIN fetches ON fetches.id = urls.fetch_id JOIN documents ON documents.id = fetches.document_id
"""


def test_bodies_are_stored_as_they_were_transferred(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    raw = zlib.compressobj(wbits=-15)
    sent = {
        "/gzip": ("gzip", gzip.compress(_long("Gzip", ("/far",)), 9, mtime=1)),
        "/members": ("gzip", gzip.compress(_long("One")) + gzip.compress(b"and another member")),
        "/deflate": ("deflate", zlib.compress(_long("Deflate"))),
        "/raw": ("deflate", raw.compress(_long("Raw")) + raw.flush()),
        "/br": ("br", brotli.compress(_long("Brotli"))),
    }
    documents = {
        "/gzip": _long("Gzip", ("/far",)),
        "/members": _long("One") + b"and another member",
        "/deflate": _long("Deflate"),
        "/raw": _long("Raw"),
        "/br": _long("Brotli"),
        "/plain": _long("Plain"),
        "/twice": _long("Twice"),
        "/wasteful": b"<p>hello",
        "/far": html("Found in a coded page").body,
    }
    pages: dict[str, Page] = {path: _coded(*answer) for path, answer in sent.items()}
    pages |= {
        "/plain": Answer(documents["/plain"]),
        "/far": Answer(documents["/far"]),
        # Neither is worth keeping as it came: see `coding_to_keep`.
        "/twice": _coded("gzip, gzip", gzip.compress(gzip.compress(documents["/twice"]))),
        "/wasteful": _coded("gzip", gzip.compress(b"") * 900 + gzip.compress(b"<p>hello")),
        # A body that lies about its coding, or is cut, is no document.
        "/cut": _coded("gzip", gzip.compress(_long("Cut"))[:-9]),
        "/lie": _coded("br", gzip.compress(_long("Lie"))),
    }
    server.put("", Site({"/": html("Front", [path for path in pages if path != "/far"]), **pages}))
    running = crawl({"Work.MaxTries": 1})
    running.run(listener.url())
    rows = {row.path: row for row in _rows(running, _STORED)}
    assert rows.keys() == {"/", *documents}
    for path, (coding, body) in sent.items():
        row = rows[path]
        assert (row.body, row.coding, row.came, row.lost) == (body, coding, coding, None), path
        assert row.coded_sha256 == sha256(body).digest()
    assert [(rows[path].coding, rows[path].came) for path in ("/plain", "/twice", "/wasteful")] == [
        ("", ""),
        ("", "gzip,gzip"),
        ("", "gzip"),
    ]
    assert len(rows["/wasteful"].body) < 100
    assert running.show_all(map(listener.url, documents)) == {listener.url(path): body for path, body in documents.items()}
    running.verify()


def test_twins_meet_whatever_their_coding(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    body = _long("Three spellings of one page")
    first, second = gzip.compress(body, 9, mtime=1), gzip.compress(body, 1, mtime=2)
    server.put(
        "", Site({"/": html("Front", ["/a", "/b", "/c", "/d"]), "/a": _coded("gzip", first), "/b": _coded("gzip", second)})
    )
    running = crawl({"Work.HostConnections": 1, "Work.MaxSize": 1})
    server.site().pages |= {"/c": Answer(body), "/d": _coded("gzip", first)}
    running.run(listener.url())
    rows = {row.path: row for row in _rows(running, _STORED)}
    assert len({rows[path].id for path in ("/a", "/b", "/c", "/d")}) == 1
    assert {row.path: (row.came, row.lost) for row in rows.values() if row.path != "/"} == {
        "/a": ("gzip", None),
        "/b": ("gzip", sha256(second).digest()),
        "/c": ("", None),
        "/d": ("gzip", None),
    }
    assert rows["/a"].body == first
    assert running.show_all([listener.url(path) for path in ("/a", "/b", "/c")]) == dict.fromkeys(
        [listener.url(path) for path in ("/a", "/b", "/c")], body
    )
    running.verify()


def _message(head: bytes, body: bytes) -> bytes:
    return head.replace(b"LENGTH", str(len(body)).encode()) + body


_HEADS = {
    "/odd": b"HTTP/1.1 200 Why Not\r\ncontent-TYPE:text/html\r\nX-Twice:  1 \r\nX-Twice: 2\r\nContent-Length: LENGTH\r\n\r\n",
    "/old": b"HTTP/1.0 200 Old\r\nContent-Type: text/html\r\n\r\n",
    "/moved": b"HTTP/1.1 301 Elsewhere\r\nLocation:   /odd\r\nContent-Length: LENGTH\r\n\r\n",
}
_FETCHES = """
    SELECT urls.path, fetches.*, head_bases.content AS base, requests.content AS request
    FROM fetches JOIN urls ON urls.fetch_id = fetches.id LEFT JOIN head_bases ON head_bases.id = fetches.head_base
    LEFT JOIN requests ON requests.id = fetches.request_id
"""


def test_heads_are_stored_as_they_were_received(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    body = html("Odd").body
    sent = {path: _message(head, b"" if path == "/moved" else body) for path, head in _HEADS.items()}
    heads = {path: message.partition(b"\r\n\r\n")[0] + b"\r\n\r\n" for path, message in sent.items()}
    sent["/hinted"] = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + sent["/odd"]
    heads["/hinted"] = heads["/odd"]
    many = "".join(f"X-{number}: {'x' * 1000}\r\n" for number in range(100)).encode()
    sent["/large"] = _message(b"HTTP/1.1 200 OK\r\n" + many + b"Content-Length: LENGTH\r\n\r\n", body)
    server.put("", Site({"/": html("Front", list(sent)), **{path: Answer(raw=message) for path, message in sent.items()}}))
    running = crawl({"Work.HostConnections": 1, "Work.UserAgent": "recorder/1.0"})
    running.run(listener.url())
    rows = {row.path: row for row in _rows(running, _FETCHES)}
    assert rows.keys() == {"/", *sent}
    assert {path: head_of(rows[path], rows[path].base) for path in heads} == heads
    assert {path: row.marks for path, row in rows.items()} == {**dict.fromkeys(rows, 0), "/large": ExchangeMark.HEAD_CUT}
    assert len(head_of(rows["/large"], rows["/large"].base)) <= 16 * 1024
    assert (rows["/old"].protocol, rows["/odd"].protocol) == ("1.0", "1.1")
    for row in rows.values():
        assert row.seconds > 0
        assert row.started_at <= row.at
    assert {row.request for row in rows.values()} == {
        b"User-Agent: recorder/1.0\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate, br\r\n"
    }
    shown = running.command("show", "--conf", str(running.conf), "--headers", listener.url("/odd"))
    assert shown.out == sent["/odd"]
    running.verify()


def test_secrets_of_requests_are_not_on_record(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", Site({"/": html("Front")}))
    running = crawl()
    with (running.conf / "WorkConf.toml").open("a") as file:
        file.write('\n[[Host]]\nPattern = "127.0.0.1"\nCredentials = "anna:hidden-1"\n')
        file.write('Headers = { X-Key = "hidden-2", Cookie = "hidden-3" }\n')
    running.run(listener.url())
    assert server.requests()[-1].headers["x-key"] == "hidden-2"
    assert len(_rows(running, "SELECT id FROM requests")) == 1
    assert b"hidden" not in (running.folder / "crawl.db").read_bytes()


_EXCHANGES = """
    SELECT urls.path, exchanges.*, head_bases.content AS base
    FROM exchanges JOIN urls ON urls.site_id = exchanges.site_id AND urls.key = exchanges.key
    LEFT JOIN head_bases ON head_bases.id = exchanges.head_base ORDER BY exchanges.id
"""
_ROBOTS = """
    SELECT exchanges.*, head_bases.content AS base FROM exchanges
    LEFT JOIN head_bases ON head_bases.id = exchanges.head_base WHERE file = '/robots.txt'
"""
_MISSING = b"HTTP/1.1 404 Nowhere\r\nContent-Encoding: gzip\r\nContent-Length: LENGTH\r\n\r\n"
_MOVED = b"HTTP/1.1 301 There\r\nLocation: /tagged\r\nContent-Length: LENGTH\r\n\r\n"


def _odd_robots() -> Answer:
    return robots("User-agent: *\nDisallow: /hidden\n")


def _odd_site() -> tuple[Site, bytes, bytes]:
    """A site with errors, a redirect with a body, validators, and twins in other coded bytes; and these two."""
    body = _long("Twins")
    first, second = gzip.compress(body, 9, mtime=1), gzip.compress(body, 1, mtime=2)
    pages: dict[str, Page] = {
        "/robots.txt": _odd_robots(),
        "/tagged": Answer(_long("Tagged"), etag='"1"'),
        "/plain": Answer(_long("Plain")),
        "/a": _coded("gzip", first),
        "/b": _coded("gzip", second),
        "/missing": Answer(raw=_message(_MISSING, gzip.compress(b"<p>nothing", mtime=3))),
        "/moved": Answer(raw=_message(_MOVED, b"<p>it moved")),
        "/large": Answer(b"x" * 3_000_000, status=410),
    }
    return Site({"/": html("Front", [path for path in pages if path != "/robots.txt"]), **pages}), first, second


def test_everything_that_was_exchanged_is_kept_for_an_archive(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    site, first, second = _odd_site()
    server.put("", site)
    running = crawl({"Work.HostConnections": 1, "Work.MaxSize": 1, "Work.RevisitAfter": 0.01, "Work.RevisitMin": 0.01})
    for _ in range(2):
        finished = running.command("run", "--conf", str(running.conf), "--archive", listener.url())
        assert finished.code == 0, finished.err
    answers: dict[str, list[Any]] = {}
    for row in _rows(running, _EXCHANGES):
        answers.setdefault(row.path, []).append(row)
    [tagged] = answers["/tagged"]
    assert (tagged.status, tagged.marks, tagged.body) == (304, ExchangeMark.CONDITIONAL, None)
    assert head_of(tagged, tagged.base).startswith(b"HTTP/1.1 304 ")
    assert [(row.status, row.coded_sha256) for path in ("/plain", "/a", "/b", "/moved") for row in answers[path]] == [
        (200, None),
        (200, sha256(first).digest()),
        (200, sha256(second).digest()),
        (301, None),
    ]
    assert all(row.fetch_id is not None for path in ("/tagged", "/plain", "/a", "/b", "/moved") for row in answers[path])
    rules, *_ = _rows(running, _ROBOTS)
    assert head_of(rules, rules.base) + zlib.decompress(rules.body) == b"".join(_odd_robots().pieces())
    missing, *_ = answers["/missing"]
    coded = gzip.compress(b"<p>nothing", mtime=3)
    assert head_of(missing, missing.base) + missing.body == _message(_MISSING, coded)
    assert (missing.status, missing.fetch_id, missing.body_coding, missing.length) == (404, None, "gzip", 10)
    large, *_ = answers["/large"]
    assert (large.marks, large.length, len(zlib.decompress(large.body))) == (ExchangeMark.BODY_CUT, 1 << 20, 1 << 20)
    bodies = {
        row.path: (row.body, row.coding)
        for row in _rows(
            running,
            "SELECT urls.path, own_bodies.* FROM own_bodies JOIN fetches ON fetches.id = own_bodies.fetch_id "
            "JOIN urls ON urls.fetch_id = fetches.id",
        )
    }
    assert bodies.keys() == {"/b", "/moved"}
    assert bodies["/b"] == (second, "gzip")
    assert zlib.decompress(bodies["/moved"][0]) == b"<p>it moved"
    running.verify()
    assert running.command("forget", "--conf", str(running.conf), "--site", "127.0.0.1").code == 0
    assert [_rows(running, f"SELECT * FROM {table}") for table in ("exchanges", "own_bodies", "head_bases")] == [[], [], []]  # noqa: S608


def test_a_search_crawl_keeps_versions_only(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    server.put("", _odd_site()[0])
    running = crawl({"Work.RevisitAfter": 0.01, "Work.RevisitMin": 0.01})
    for _ in range(2):
        running.run(listener.url())
    assert [_rows(running, f"SELECT * FROM {table}") for table in ("exchanges", "own_bodies")] == [[], []]  # noqa: S608


def test_the_newest_errors_and_checks_of_a_url_are_kept(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    texts = iter(range(1000))
    site = Site({"/": html("Front", ["/broken", "/tagged"]), "/tagged": Answer(_long("Tagged"), etag='"1"')})
    site.pages["/broken"] = lambda _: Answer(b"%d" % next(texts), status=500)
    server.put("", site)
    running = crawl({"Work.KeepErrors": 2, "Work.KeepChecks": 1, "Work.RevisitAfter": 0.01, "Work.RevisitMin": 0.01})
    for _ in range(4):
        running.run(listener.url(), sets={"Work.RetryDelay": 0, "Work.MaxTries": 100})
    asked = next(texts)
    assert asked > 2
    rows = _rows(running, _EXCHANGES)
    assert [zlib.decompress(row.body) for row in rows if row.path == "/broken"] == [b"%d" % (asked - 2), b"%d" % (asked - 1)]
    assert len([row for row in rows if row.path == "/tagged"]) == 1
    running.verify()


def test_received_is_what_came_on_the_wire_and_what_was_saved_is_told(server: SiteServer, crawl: CrawlFactory) -> None:
    listener = server.listen()
    bodies = {f"/{number}": _long(f"Page {number}") for number in range(20)}
    pages: dict[str, Page] = {
        path: Answer(body, coding="gzip", etag=f'"{path}"') if path < "/5" else Answer(body) for path, body in bodies.items()
    }
    site = Site({"/": html("Front", ["/missing", "/moved", *bodies]), "/moved": redirect("/1"), **pages})
    server.put("", site)
    running = crawl({"Work.RevisitAfter": 0.01, "Work.RevisitMin": 0.01})

    def sent() -> int:
        """Bytes of all answers since this was called before."""
        log = list(server.log)
        server.log.clear()
        answers = [site.answer(Request(entry.method, entry.target, entry.host, entry.headers)) for entry in log]
        return sum(len(b"".join(answer.pieces())) for answer in answers)

    coded = [len(body) - len(gzip.compress(body, mtime=0)) for path, body in bodies.items() if path < "/5"]
    first = json.loads(running.run(listener.url()).out.splitlines()[-1])
    on_wire = sent()
    assert first["received"] == on_wire
    assert first["saved"] == {"coding": sum(coded)}
    status = running.status()
    assert status["last_run"]["counts"]["received"] == on_wire
    assert status["last_run"]["counts"]["saved_by_coding"] == sum(coded)
    assert [one["received"] for one in status["top_sites"]] == [on_wire]

    second = json.loads(running.run(listener.url()).out.splitlines()[-1])
    again = sent()
    assert second["received"] == again < on_wire
    assert second["saved"] == {"conditional": sum(len(body) for path, body in bodies.items() if path < "/5")}
    assert [one["received"] for one in running.status()["top_sites"]] == [on_wire + again]
    shown = running.command("status", "--conf", str(running.conf)).text
    assert "on the wire in that run. Saved: " in shown
    assert "by conditional requests" in shown


def test_it_is_known_where_a_url_was_first_seen(server: SiteServer, crawl: CrawlFactory) -> None:
    first, other = server.listen(), server.listen("127.0.0.2")
    far = other.url("/far")
    server.put(first.authority, Site({"/": html("Front", ["/a", "/b"]), "/a": html("A", ["/c", far]), "/b": redirect("/d")}))
    server.site(first.authority).pages |= {"/c": html("C", ["/missing", "/"]), "/d": html("D")}
    server.put(other.authority, Site({"/far": html("Far", ["/near"]), "/near": html("Near")}))
    running = crawl({"Work.Scope": "any", "Work.HostConnections": 1})
    running.run(first.url())
    pages = (
        "SELECT urls.path, page.path AS via FROM urls LEFT JOIN urls AS page ON page.key = urls.via_key "
        "AND page.site_id = CASE urls.via_site WHEN 0 THEN urls.site_id ELSE urls.via_site END"
    )
    seen_on = {row.path: row.via for row in _rows(running, pages)}
    assert seen_on == {
        "/": None,
        "/a": "/",
        "/b": "/",
        "/c": "/a",
        "/d": "/b",
        "/missing": "/c",
        "/far": "/a",
        "/near": "/far",
    }
    explained = running.command("explain", "--conf", str(running.conf), far).text
    assert f"first seen on {first.url('/a')}" in explained
    running.verify()
