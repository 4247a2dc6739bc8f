"""A site whose answers are written byte by byte, and which remembers each of them: status texts, heads and framings as odd as
servers send them.

A client that asks with a validator gets a 304 where the page has one. `joined` is what a WARC file has of an answer: its
chunks become one chunk and its end.
"""

from __future__ import annotations

import gzip
import itertools
import re
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import brotli

from tests.support.crawl import Crawl, CrawlFactory
from tests.support.site_server import Listener, SiteServer
from tests.support.sites import Answer, Page, Request, Site

__all__ = ["DOCUMENTS", "NOT_HERE", "OddSite", "crawl_twice", "export_warc", "joined", "parts_of", "received_of"]

_LONG = b"".join(b"<p>Kettle %d is warm.</p>" % number for number in range(500))


def _document(title: str) -> bytes:
    return b"<!doctype html><title>%s</title>%s" % (title.encode(), _LONG)


DOCUMENTS = {
    path: _document(path.strip("/").capitalize())
    for path in (
        *("/status", "/nameless", "/case", "/repeated", "/folded", "/latin", "/lines", "/hinted", "/old"),
        *("/gzip", "/deflate", "/br", "/twice", "/chunked", "/trailers", "/gzip-in-chunks", "/br-in-chunks"),
        *("/tagged", "/dated", "/tagged-gzip", "/packed-anew"),
    )
} | dict.fromkeys(("/twin", "/twin-too", "/twin-best", "/twin-fast"), _document("Twins"))
"""What each page is without its codings."""

NOT_HERE = b"<p>There is no such page any more. " * 9
"""The body of errors and redirects that have a coding."""

_HTML = b"Content-Type: text/html\r\n"
_DATE = b"Wed, 04 Mar 2026 05:06:07 GMT"


def _sized(head: bytes, body: bytes) -> bytes:
    """A message with the length of its body, in a header of its own at the end of the head."""
    return b"%sContent-Length: %d\r\n\r\n%s" % (head, len(body), body)


def _chunked(body: bytes, sizes: Sequence[int] = (1, 700, 3000), trailers: bytes = b"") -> bytes:
    """The body in chunks of these sizes, again and again."""
    pieces, begin, turns = [], 0, itertools.cycle(sizes)
    while begin < len(body):
        piece = body[begin : begin + next(turns)]
        pieces.append(b"%x\r\n%s\r\n" % (len(piece), piece))
        begin += len(piece)
    return b"%s0\r\n%s\r\n" % (b"".join(pieces), trailers)


class Parts(NamedTuple):
    """The parts of an answer."""

    interim: bytes
    """Heads before its own."""
    head: bytes
    body: bytes
    """Without chunks, with its content coding."""
    trailers: bytes
    is_chunked: bool


def parts_of(message: bytes) -> Parts:
    interim = b""
    while message.startswith(b"HTTP/1.1 103"):
        hint, blank, message = message.partition(b"\r\n\r\n")
        interim += hint + blank
    head, blank, rest = message.partition(b"\r\n\r\n" if b"\r\n\r\n" in message else b"\n\n")
    if b"\r\ntransfer-encoding: chunked" not in head.lower():
        return Parts(interim, head + blank, rest, b"", False)
    body = b""
    while size := int(rest.partition(b"\r\n")[0], 16):
        data = rest.partition(b"\r\n")[2]
        body, rest = body + data[:size], data[size:].removeprefix(b"\r\n")
    return Parts(interim, head + blank, body, rest.removeprefix(b"0\r\n").removesuffix(b"\r\n"), True)


def joined(message: bytes) -> bytes:
    """An answer as a WARC file has it: without interim answers, its chunks as one and without trailers."""
    parts = parts_of(message)
    return parts.head + (b"%x\r\n%s\r\n0\r\n\r\n" % (len(parts.body), parts.body) if parts.is_chunked else parts.body)


def received_of(message: bytes) -> int:
    """The bytes of an answer that count as received: all but the sizes and ends of chunks, and what folds are longer for."""
    parts = parts_of(message)
    return sum(map(len, (parts.interim, re.sub(rb"\r\n[ \t]+", b" ", parts.head), parts.body, parts.trailers)))


def _messages() -> dict[str, bytes]:
    """The answers that are the same each time."""
    ok, of = b"HTTP/1.1 200 OK\r\n" + _HTML, DOCUMENTS
    in_chunks = b"Transfer-Encoding: chunked\r\n"
    coded = {
        "gzip": gzip.compress(of["/gzip"], mtime=1),
        "deflate": zlib.compress(of["/deflate"]),
        "br": brotli.compress(of["/br"]),
        "gzip, br": brotli.compress(gzip.compress(of["/twice"], mtime=1)),
    }
    twin = of["/twin"]
    return {
        "/status": _sized(b"HTTP/1.1 299 Why  Not? (really) \r\n" + _HTML, of["/status"]),
        "/nameless": _sized(b"HTTP/1.1 200\r\n" + _HTML, of["/nameless"]),
        "/case": _sized(b"HTTP/1.1 200 ok\r\ncOnTeNt-TYPE:text/html\r\nX-Blanks :  a \t\r\nx-empty:\r\n", of["/case"]),
        "/repeated": _sized(ok + b"Set-Cookie: a=1\r\nX-Twice: 1\r\nSet-Cookie: b=2\r\nX-Twice: 1\r\n", of["/repeated"]),
        "/folded": _sized(ok + b"X-Folded: one\r\n\ttwo\r\n   three\r\n", of["/folded"]),
        "/latin": _sized(b"HTTP/1.1 200 Tr\xe8s bien\r\n" + _HTML + b"X-Latin: caf\xe9 \xe2\x82\xac\r\n", of["/latin"]),
        "/lines": b"HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: %d\n\n%s" % (len(of["/lines"]), of["/lines"]),
        "/hinted": b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + _sized(ok, of["/hinted"]),
        "/old": b"HTTP/1.0 200 Old\r\n%s\r\n%s" % (_HTML, of["/old"]),
        "/gzip": _sized(ok + b"Content-Encoding: gzip\r\n", coded["gzip"]),
        "/deflate": _sized(ok + b"Content-Encoding: deflate\r\n", coded["deflate"]),
        "/br": _sized(ok + b"content-encoding: br\r\n", coded["br"]),
        "/twice": _sized(ok + b"Content-Encoding: gzip, br\r\n", coded["gzip, br"]),
        "/chunked": b"%s%s\r\n%s" % (ok, in_chunks, _chunked(of["/chunked"])),
        "/trailers": b"%s%sTrailer: X-Sum\r\n\r\n%s" % (ok, in_chunks, _chunked(of["/trailers"], trailers=b"X-Sum: 1\r\n")),
        "/gzip-in-chunks": b"%sContent-Encoding: gzip\r\n%s\r\n%s"
        % (ok, in_chunks, _chunked(gzip.compress(of["/gzip-in-chunks"], mtime=1))),
        "/br-in-chunks": b"%s%sContent-Encoding: br\r\n\r\n%s"
        % (ok, in_chunks, _chunked(brotli.compress(of["/br-in-chunks"]), (100,))),
        "/twin": _sized(ok + b"X-Twin: plain\r\n", twin),
        "/twin-too": _sized(ok + b"X-Twin: too\r\n", twin),
        "/twin-best": _sized(ok + b"Content-Encoding: gzip\r\n", gzip.compress(twin, 9, mtime=1)),
        "/twin-fast": _sized(ok + b"Content-Encoding: gzip\r\n", gzip.compress(twin, 1, mtime=2)),
        "/moved": _sized(b"HTTP/1.1 301 Gone West\r\nLOCATION: /status\r\n" + _HTML, b"<p>It moved."),
        "/moved-gzip": _sized(
            b"HTTP/1.1 302 Found\r\nLocation: /gzip\r\nContent-Encoding: gzip\r\n", gzip.compress(NOT_HERE, mtime=1)
        ),
        "/missing": _sized(b"HTTP/1.1 404 Nowhere to be seen\r\n" + _HTML, b"<p>There is no such page."),
        "/missing-gzip": _sized(b"HTTP/1.1 404 Not Found\r\nContent-Encoding: gzip\r\n", gzip.compress(NOT_HERE, mtime=1)),
        "/gone": b"HTTP/1.1 410 Gone\r\n%s%s\r\n%s" % (_HTML, in_chunks, _chunked(b"<p>It was here once.", (7,))),
        "/empty": b"HTTP/1.1 200 Nothing\r\nContent-Length: 0\r\n\r\n",
    }


@dataclass(frozen=True)
class _Validated:
    """A page that a client need not fetch again."""

    header: str
    """With which a client asks."""
    value: bytes
    whole: bytes
    confirmation: bytes


def _validated_pages() -> dict[str, _Validated]:
    ok = b"HTTP/1.1 200 OK\r\n" + _HTML
    packed = gzip.compress(DOCUMENTS["/tagged-gzip"], mtime=1)
    return {
        "/tagged": _Validated(
            "if-none-match",
            b'"kettle 1"',
            _sized(ok + b'ETag: "kettle 1"\r\n', DOCUMENTS["/tagged"]),
            b'HTTP/1.1 304 Still The Same\r\netag:"kettle 1"\r\nX-Odd: yes\r\n\r\n',
        ),
        "/dated": _Validated(
            "if-modified-since",
            _DATE,
            _sized(ok + b"last-modified: " + _DATE + b"\r\n", DOCUMENTS["/dated"]),
            b"HTTP/1.1 304\r\n\r\n",
        ),
        "/tagged-gzip": _Validated(
            "if-none-match",
            b'W/"2"',
            _sized(ok + b'ETag: W/"2"\r\nContent-Encoding: gzip\r\n', packed),
            b'HTTP/1.1 304 Not Modified\r\nETag: W/"2"\r\nContent-Encoding: gzip\r\n\r\n',
        ),
    }


class OddSite:
    """The site, and what it sent."""

    def __init__(self) -> None:
        self.messages = _messages()
        self.validated = _validated_pages()
        self.sent: list[tuple[str, bytes]] = []
        """Path and bytes of every answer, in the order in which they were asked for."""
        self.requests: list[Request] = []
        self._editions = itertools.count(1)
        self._makers: dict[str, Callable[[Request], bytes]] = {
            "/": self._home,
            "/news": self._news,
            "/packed-anew": self._packed_anew,
            "/robots.txt": _robots,
        }

    @property
    def paths(self) -> list[str]:
        """Everything that the front page links to."""
        return [*self.messages, *self.validated, "/news", "/packed-anew"]

    def site(self) -> Site:
        """The site as a `SiteServer` serves it."""
        pages: dict[str, Page] = dict.fromkeys((*self.paths, *self._makers), self._answer)
        return Site(pages, self._answer)

    def sent_for(self, path: str) -> list[bytes]:
        return [message for asked, message in self.sent if asked == path]

    def _answer(self, request: Request) -> Answer:
        path = request.target
        if path in self._makers:
            message = self._makers[path](request)
        elif path in self.validated:
            page = self.validated[path]
            is_current = request.headers.get(page.header, "").encode("latin-1") == page.value
            message = page.confirmation if is_current else page.whole
        else:
            message = self.messages.get(path, self.messages["/missing"])
        self.requests.append(request)
        self.sent.append((path, message))
        return Answer(raw=message, stays_open=not message.startswith(b"HTTP/1.0"))

    def _home(self, _request: Request) -> bytes:
        links = b"".join(b'<a href="%s">x</a>' % path.encode() for path in self.paths)
        return _sized(b"HTTP/1.1 200 Come In\r\n" + _HTML, b"<title>Odd</title>" + links)

    def _news(self, _request: Request) -> bytes:
        return _sized(b"HTTP/1.1 200 OK\r\n" + _HTML, b"<title>News</title>Edition %d%s" % (next(self._editions), _LONG))

    def _packed_anew(self, _request: Request) -> bytes:
        """The same document in other bytes each time."""
        packed = gzip.compress(DOCUMENTS["/packed-anew"], mtime=next(self._editions))
        return _sized(b"HTTP/1.1 200 OK\r\n" + _HTML + b"Content-Encoding: gzip\r\n", packed)


def _robots(_request: Request) -> bytes:
    return _sized(b"HTTP/1.1 200 Rules\r\nContent-type: text/plain\r\n", b"User-agent: *\nDisallow: /hidden\n")


def crawl_twice(server: SiteServer, crawl: CrawlFactory, odd: OddSite) -> tuple[Crawl, Listener]:
    """Two runs for an archive."""
    listener = server.listen()
    server.put("", odd.site())
    running = crawl({"Work.RevisitAfter": 0.01, "Work.RevisitMin": 0.01})
    for _ in range(2):
        finished = running.command("run", "--conf", str(running.conf), "--archive", listener.url())
        assert (finished.code, finished.err) == (0, "")
    return running, listener


def export_warc(crawl: Crawl, folder: Path, *options: str) -> Path:
    """The one WARC file of an export."""
    finished = crawl.command("export", "--conf", str(crawl.conf), "warc", str(folder), *options)
    assert (finished.code, finished.err) == (0, "")
    (file,) = folder.glob("*.warc.gz")
    return file
