"""An odd server is crawled twice, and its crawl is taken away: what other programs read is what the server sent."""

from __future__ import annotations

import json
import re
from pathlib import Path
from urllib.parse import unquote
from zipfile import ZipFile

import pytest
import requests

from parcahyd.augment.document_tables import tvi_of
from tests.support.archive_tools import archive_tool, validate_wacz, wayback
from tests.support.crawl import Crawl, CrawlFactory
from tests.support.processes import TEST_TIMEOUT, wait_until
from tests.support.site_server import Listener, SiteServer
from tests.support.sites import Answer, Request, html, robots, validated
from tests.support.warc import Seen, by_fastwarc, by_warcio, only

_LONG = "".join(f"<p>Kettle {number} is warm.</p>" for number in range(500))
_ODD_HEADERS = (("x-ODD-case", "yes"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("X-Latin", "caf\xe9"))
_MOVED = Answer(b"<p>It moved.</p>", status=301, headers=(("Location", "/plain"),))

SENT = {
    "/": html("Odd"),
    "/plain": validated(Answer(b"<title>Plain</title>" + _LONG.encode(), headers=_ODD_HEADERS)),
    "/gzip": Answer(b"<title>Packed</title>" + _LONG.encode(), coding="gzip"),
    "/chunked": Answer(b"<title>Chunked</title>" + _LONG.encode(), framing="chunked", piece=1000),
    "/both": Answer(b"<title>Both</title>" + _LONG.encode(), coding="gzip", framing="chunked", piece=500),
    "/close": Answer(b"<title>Close</title>", framing="close"),
    "/twin": Answer(b"<title>Plain</title>" + _LONG.encode(), headers=(("X-Twin", "yes"),)),
    "/..%2Fup?q=%0D%0AX:y": Answer(b"<title>Up</title>", headers=(("X-Injected", "a\tb"),)),
}


def _odd_site(server: SiteServer) -> Listener:
    listener = server.listen()
    versions = iter(range(10**6))

    def news(_: Request) -> Answer:
        return html("News", extra=f"<p>Edition {next(versions)} of {'x' * 3000}</p>")

    home = html("Odd", [*SENT, "/moved", "/gone", "/news"])
    server.site().pages = {**SENT, "/": home, "/moved": _MOVED, "/news": news}
    return listener


def _crawled(server: SiteServer, crawl: CrawlFactory) -> tuple[Crawl, Listener]:
    listener = _odd_site(server)
    running = crawl({"Work.RevisitAfter": 0, "Work.LearnRegions": False, "Work.KeepVersions": 9})
    running.run(listener.url())
    running.run()
    assert any(entry.status == 304 for entry in server.log)
    return running, listener


def _export(crawl: Crawl, *arguments: str) -> None:
    finished = crawl.command("export", "--conf", str(crawl.conf), *arguments)
    assert (finished.code, finished.err) == (0, "")


def _records(folder: Path) -> list[Seen]:
    (file,) = folder.glob("*.warc.gz")
    records = by_fastwarc(file)
    assert [(one.kind, one.url, one.body) for one in records] == [(one.kind, one.url, one.body) for one in by_warcio(file)]
    return records


def test_what_two_readers_see_is_what_the_server_sent(server: SiteServer, crawl_on: CrawlFactory, tmp_path: Path) -> None:
    running, listener = _crawled(server, crawl_on)
    _export(running, "warc", str(tmp_path / "out"))
    records = _records(tmp_path / "out")
    bodies = {record.url: record.body for record in records if record.kind == "response"}
    for target, answer in SENT.items():
        if target not in ("/", "/plain", "/twin"):
            assert bodies[listener.url(target)] == answer.body, target

    # One of the two twins has the bytes; the other refers to it, with a head of its own.
    twins = {listener.url("/plain"), listener.url("/twin")}
    (whole,) = [record for record in records if record.kind == "response" and record.url in twins]
    (other,) = [record for record in records if record.kind == "revisit" and record.url in twins]
    assert whole.body == SENT["/plain"].body
    assert other.fields["warc-refers-to-target-uri"] == whole.url
    assert other.fields["warc-refers-to-date"] == whole.fields["warc-date"]
    assert {record.url: record.header("X-Twin") for record in (whole, other)}[listener.url("/twin")] == ["yes"]
    plain = next(record for record in (whole, other) if record.url == listener.url("/plain"))
    names = [name for name, _ in plain.headers]
    assert [name for name in names if name.lower() in ("x-odd-case", "set-cookie", "x-latin")] == [
        name for name, _ in _ODD_HEADERS
    ]
    assert plain.header("Set-Cookie") == ["a=1", "b=2"]

    # Codings are those of the server.
    packed = only(records, "response", listener.url("/gzip"))
    assert packed.header("Content-Encoding") == ["gzip"]
    assert "parcahyd-reconstructed" not in packed.fields
    chunked = only(records, "response", listener.url("/chunked"))
    assert chunked.header("Transfer-Encoding") == ["chunked"]
    assert chunked.fields["warc-protocol"] == "http/1.1"
    only(records, "request", listener.url("/chunked"))
    moved = only(records, "response", listener.url("/moved"))
    assert moved.status_line.startswith("HTTP/1.1 301")
    assert (moved.header("Location"), moved.header("Content-Length"), moved.body) == (["/plain"], ["0"], b"")
    assert "body" in moved.fields["parcahyd-reconstructed"].split()

    # Every version of a page that changed is there, and every URL has its way.
    news = [record.body for record in records if record.url == listener.url("/news") and record.kind == "response"]
    assert len(news) == 2
    assert (
        only(records, "metadata", listener.url("/gzip")).body
        == f"via: {listener.url()}\r\nhops: 1\r\nredirects: 0\r\n".encode()
    )
    assert {record.fields["warc-ip-address"] for record in records if record.kind == "response"} == {"127.0.0.1"}


def test_the_index_leads_to_every_record(server: SiteServer, crawl: CrawlFactory, tmp_path: Path) -> None:
    running, _ = _crawled(server, crawl)
    _export(running, "warc", str(tmp_path / "out"))
    (file,) = (tmp_path / "out").glob("*.warc.gz")
    lines = (tmp_path / "out" / "index.cdxj").read_text().splitlines()
    assert lines == sorted(lines)
    data = file.read_bytes()
    piece = tmp_path / "piece.warc.gz"
    for line in lines:
        where = json.loads(line.split(" ", 2)[2])
        piece.write_bytes(data[int(where["offset"]) : int(where["offset"]) + int(where["length"])])
        (record,) = by_fastwarc(piece)
        assert record.url == where["url"]
    assert len(lines) == len([record for record in _records(tmp_path / "out") if record.kind in ("response", "revisit")])


def test_an_export_while_a_crawl_writes(server: SiteServer, crawl: CrawlFactory, tmp_path: Path) -> None:
    listener = _odd_site(server)
    running = crawl()
    with server.holding(lambda entry: entry.target == "/news") as release, running.start(listener.url()) as run:
        assert wait_until(lambda: "/news" in server.targets())
        assert wait_until(lambda: listener.url("/gzip") in _stored(running))
        _export(running, "warc", str(tmp_path / "out"))
        assert only(_records(tmp_path / "out"), "response", listener.url("/gzip")).body == SENT["/gzip"].body
        release()
        assert run.wait() == 0
    running.verify()


def _stored(crawl: Crawl) -> set[str]:
    try:
        return crawl.stored()
    except AssertionError:  # There is no database yet.
        return set()


def test_an_offline_folder(server: SiteServer, crawl: CrawlFactory, tmp_path: Path) -> None:
    running, listener = _crawled(server, crawl)
    _export(running, "files", str(tmp_path / "out"))
    (site,) = (tmp_path / "out").iterdir()
    assert site.name == f"127.0.0.1_{listener.port}"
    home = (site / "index.html").read_text("utf-8-sig")
    links = re.findall(r'href="([^"]+)"', home)
    here = [link for link in links if "://" not in link]
    assert len(here) == len(SENT) + 2  # with /moved, which leads to /plain, and /news
    assert [link for link in links if link not in here] == [listener.url("/gone")]
    for link in here:
        assert (site / unquote(link)).read_bytes()
    assert (site / "gzip.html").read_text("utf-8-sig").count("is warm") == 500
    assert {path.name for path in tmp_path.iterdir()} >= {"out"}
    assert not list(tmp_path.glob("*up*"))


@pytest.mark.parametrize("mode", ["lazy", "eager"])
def test_a_page_that_was_merged_from_fragments_is_a_conversion(
    server: SiteServer, crawl: CrawlFactory, tmp_path: Path, mode: str
) -> None:
    listener = server.listen()
    running = crawl({"Work.RevisitAfter": 0, "Work.MergeMode": mode, "Work.KeepVersions": 9})
    versions = [_with_region(number) for number in range(3)]
    # The first comes whole, the second by its table. Then there is no table any more, and the third comes whole.
    for number, version in enumerate(versions):
        page = Answer(version, etag=f'"{number}"', headers=(("Date", f"Wed, 04 Mar 2026 05:06:0{number} GMT"),))
        table = tvi_of(version, "kettle.html")
        assert isinstance(table, bytes)
        server.site().pages = {"/robots.txt": robots("# Augment: 1; tvi={stem}.TVI\n"), "/kettle.html": page}
        if number < 2:
            server.site().pages["/kettle.TVI"] = Answer(table, etag=f'"t{number}"')
        server.forget()
        running.run(listener.url("/kettle.html"))
        assert ("/kettle.html" in server.targets()) == (number != 1)
    _export(running, "warc", str(tmp_path / "out"))
    records = [record for record in _records(tmp_path / "out") if record.kind in ("response", "conversion")]
    assert [(record.kind, record.body) for record in records if record.url == listener.url("/kettle.html")] == [
        ("response", versions[0]),
        ("conversion", versions[1]),
        ("response", versions[2]),
    ]


def _with_region(number: int) -> bytes:
    words = " ".join(f"{word:x}" for word in range(2000))
    return f"<!doctype html><title>Kettle</title><p>{words}</p><b data-vol=price>{number}</b>".encode()


def test_pywb_replays_it(server: SiteServer, crawl: CrawlFactory, tmp_path: Path) -> None:
    archive_tool("wayback")
    running, listener = _crawled(server, crawl)
    _export(running, "warc", str(tmp_path / "out"))
    (warc,) = (tmp_path / "out").glob("*.warc.gz")
    with wayback(tmp_path / "pywb", warc, tmp_path / "out" / "index.cdxj") as base:
        for target in ("/plain", "/twin", "/gzip", "/chunked", "/both", "/close"):
            # "id_" asks for the bytes as they were archived.
            answer = requests.get(f"{base}/odd/2id_/{listener.url(target)}", timeout=TEST_TIMEOUT)
            assert answer.content == SENT[target].body, target
        moved = f"{base}/odd/2mp_/{listener.url('/moved')}"
        answer = requests.get(moved, timeout=TEST_TIMEOUT, allow_redirects=False)
        assert answer.status_code == 301
        assert answer.headers["Location"].endswith(listener.url("/plain"))
        assert b"Kettle 499 is warm" in requests.get(moved, timeout=TEST_TIMEOUT).content


def test_a_wacz_of_a_whole_crawl_is_valid(server: SiteServer, crawl: CrawlFactory, tmp_path: Path) -> None:
    running, listener = _crawled(server, crawl)
    _export(running, "wacz", str(tmp_path / "odd.wacz"))
    with ZipFile(tmp_path / "odd.wacz") as package:
        pages = [json.loads(line) for line in package.read("pages/pages.jsonl").splitlines()[1:]]
    found = {page["url"]: page for page in pages}
    assert found[listener.url("/gzip")]["title"] == "Packed"
    assert found[listener.url("/gzip")]["text"].startswith("Kettle 0 is warm. Kettle 1")
    validate_wacz(tmp_path / "odd.wacz")
