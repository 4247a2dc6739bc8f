"""What was exchanged is on record: bodies as they were transferred."""

from __future__ import annotations

import gzip
import zlib
from hashlib import sha256
from typing import Any

import brotli
from sqlalchemy import create_engine, text

from tests.support.crawl import Crawl, CrawlFactory
from tests.support.site_server import SiteServer
from tests.support.sites import Answer, Page, Site, html


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
