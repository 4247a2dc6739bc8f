"""Crawls are taken away and read back, and archives of strangers are read in: nothing is lost, and no crawl is steered."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.crawl import Crawl, CrawlFactory
from tests.support.site_server import Listener, SiteServer
from tests.support.sites import Answer, Request, html, validated
from tests.support.warc import by_fastwarc

_LONG = "".join(f"<p>Kettle {number} is warm.</p>" for number in range(500))
_ODD_HEADERS = (("x-ODD-case", "yes"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2"), ("X-Latin", "caf\xe9"))
_PAGES = {
    "/plain": validated(Answer(b"<title>Plain</title>" + _LONG.encode(), headers=_ODD_HEADERS)),
    "/gzip": Answer(b"<title>Packed</title>" + _LONG.encode(), coding="gzip"),
    "/gzip-twin": Answer(b"<title>Packed</title>" + _LONG.encode(), coding="gzip"),
    "/chunked": Answer(b"<title>Chunked</title>" + _LONG.encode(), framing="chunked", piece=1000),
    "/both": Answer(b"<title>Both</title>" + _LONG.encode(), coding="gzip", framing="chunked", piece=500),
    "/close": Answer(b"<title>Close</title>", framing="close"),
    "/twin": Answer(b"<title>Plain</title>" + _LONG.encode(), headers=(("X-Twin", "yes"),)),
    "/moved": Answer(b"<p>It moved.</p>", status=301, headers=(("Location", "/plain"),)),
    "/error": Answer(b"<p>Out of tea.</p>", status=503),
}


def _crawled(server: SiteServer, crawl: CrawlFactory) -> tuple[Crawl, Listener]:
    listener = server.listen()
    versions = iter(range(10**6))

    def news(_: Request) -> Answer:
        return html("News", extra=f"<p>Edition {next(versions)} of {'x' * 3000}</p>")

    server.site().pages = {**_PAGES, "/": html("Odd", [*_PAGES, "/gone", "/news"]), "/news": news}
    running = crawl({"Work.RevisitAfter": 0})
    for _ in range(2):
        finished = running.command("run", "--conf", str(running.conf), "--archive", listener.url())
        assert finished.code == 0, finished.err
    return running, listener


def _import(crawl: Crawl, *arguments: str, code: int = 0) -> dict[str, Any]:
    finished = crawl.command("import", "--conf", str(crawl.conf), "--json", *arguments)
    assert finished.code == code, finished.err
    decoded: dict[str, Any] = json.loads(finished.out)
    return decoded


def _exported(crawl: Crawl, folder: Path) -> set[tuple[str, str, str, str]]:
    """Kind, URL, time and digest of the payload of every answer in an export."""
    finished = crawl.command("export", "--conf", str(crawl.conf), "warc", str(folder))
    assert (finished.code, finished.err) == (0, "")
    (file,) = folder.glob("*.warc.gz")
    return {
        (record.url, record.fields["warc-date"], record.status_line, record.fields.get("warc-payload-digest", ""))
        for record in by_fastwarc(file)
        if record.kind in ("response", "revisit", "resource", "conversion")
    }


@pytest.mark.parametrize("form", ["warc", "wacz"])
def test_what_was_exported_is_the_same_after_an_import(
    server: SiteServer, crawl_on: CrawlFactory, tmp_path: Path, form: str
) -> None:
    running, listener = _crawled(server, crawl_on)
    before = _exported(running, tmp_path / "before")
    if form == "wacz":
        finished = running.command("export", "--conf", str(running.conf), "wacz", str(tmp_path / "all.wacz"))
        assert finished.code == 0, finished.err
        files = [tmp_path / "all.wacz"]
    else:
        files = list((tmp_path / "before").glob("*.warc.gz"))
    again = Crawl(tmp_path / "again")
    report = _import(again, "--archive", *map(str, files))
    assert report["damaged"] == report["unresolved"] == report["not_kept"] == 0
    again.verify()
    assert _exported(again, tmp_path / "after") == before
    assert again.show(listener.url("/both")) == _PAGES["/both"].body

    # What is there is not stored twice.
    report = _import(again, "--archive", *map(str, files))
    assert (report["versions"], report["checks"], report["errors"], report["present"]) == (0, 0, 0, len(before))
    assert _exported(again, tmp_path / "twice") == before
    again.verify()
