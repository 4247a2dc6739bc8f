"""Programs that replay archives show what an odd server sent; each is skipped where it is not installed."""

from __future__ import annotations

from pathlib import Path

import requests

from tests.support.archive_tools import archive_tool, validate_wacz, wayback
from tests.support.crawl import CrawlFactory
from tests.support.odd_site import DOCUMENTS, NOT_HERE, OddSite, crawl_twice, export_warc
from tests.support.processes import TEST_TIMEOUT
from tests.support.replay_browser import replayed
from tests.support.site_server import SiteServer


def test_pywb_replays_it(server: SiteServer, crawl: CrawlFactory, tmp_path: Path) -> None:
    archive_tool("wayback")
    odd = OddSite()
    running, listener = crawl_twice(server, crawl, odd)
    warc = export_warc(running, tmp_path / "out")
    with wayback(tmp_path / "pywb", warc, tmp_path / "out" / "index.cdxj") as base:

        def get(path: str, kind: str = "id_") -> requests.Response:
            """The newest capture; "id_" asks for the bytes as they were archived."""
            return requests.get(f"{base}/odd/2{kind}/{listener.url(path)}", timeout=TEST_TIMEOUT, allow_redirects=False)

        assert {path: get(path).content for path in DOCUMENTS} == DOCUMENTS
        assert b"Edition" in get("/news").content
        missing, moved = get("/missing-gzip"), get("/moved", "mp_")
        assert (missing.status_code, missing.content) == (404, NOT_HERE)
        assert (moved.status_code, moved.headers["Location"].endswith(listener.url("/status"))) == (301, True)
        assert get("/robots.txt").text == "User-agent: *\nDisallow: /hidden\n"


def test_a_wacz_file_of_it_is_valid(server: SiteServer, crawl: CrawlFactory, tmp_path: Path) -> None:
    archive_tool("wacz")
    running, _ = crawl_twice(server, crawl, OddSite())
    done = running.command("export", "--conf", str(running.conf), "wacz", str(tmp_path / "odd.wacz"))
    assert (done.code, done.err) == (0, "")
    validate_wacz(tmp_path / "odd.wacz")


def test_replayweb_page_replays_it(server: SiteServer, crawl: CrawlFactory, tmp_path: Path) -> None:
    odd = OddSite()

    def wacz(file: Path) -> list[str]:
        running, listener = crawl_twice(server, crawl, odd)
        done = running.command("export", "--conf", str(running.conf), "wacz", str(file))
        assert (done.code, done.err) == (0, "")
        return [listener.url(path) for path in DOCUMENTS]

    answer = replayed(tmp_path, wacz)
    assert answer["error"] is None
    shown = zip(DOCUMENTS.items(), answer["bodies"].values(), strict=True)
    assert [path for (path, document), body in shown if body != document.decode()] == ["/deflate"]  # It does not decode that.
    assert {"Gzip", "Br", "Old", "Twins"} <= {page["title"] for page in answer["pages"]}
