"""The middleware for Scrapy, run by Scrapy on a site with tables, and on one without."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from parcahyd.augment.refusal import Refusal
from parcahyd.augment.tol import read_tol
from parcahyd.authoring.author_plan import make_plan
from parcahyd.authoring.build import build
from parcahyd.authoring.site_folder import FolderServer

pytest.importorskip("scrapy", reason="scrapy is not installed: pip install '.[author-test]'")
ROOT = Path(__file__).parents[2]
PAGES = {
    "index.html": "<a href=one.html>1</a>",
    "one.html": "<a href=two.html>2</a><a href=secret.html rel=nofollow>no</a><img src=a.png>",
    "two.html": "<a href='mailto:a@b'>m</a><a href=sub/>sub</a>",
    "sub/index.html": "<base href=/deep/><a href=x.html>x</a>",
    "deep/x.html": "end",
    "alone.html": "<p>no page leads here</p>",
    "secret.html": "no",
}
SPIDER = """
import json, sys
from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess

class Pages(Spider):
    name = "pages"
    seen = []

    async def start(self):
        yield Request(sys.argv[1])

    def parse(self, response):
        self.seen.append(response.url)
        if sys.argv[2] == "follows":
            for href in response.css("a:not([rel])::attr(href)").getall():
                if not href.startswith("mailto:"):
                    yield response.follow(href)

middlewares = {"scrapy_tol.TolMiddleware": 950} if sys.argv[3] == "with" else {}
process = CrawlerProcess({
    "SPIDER_MIDDLEWARES": middlewares, "LOG_LEVEL": "WARNING", "TELNETCONSOLE_ENABLED": False, "ROBOTSTXT_OBEY": True,
    "DOWNLOAD_DELAY": 0, "RETRY_ENABLED": False,
})
crawler = process.create_crawler(Pages)
process.crawl(crawler)
process.start()
print(json.dumps([Pages.seen, crawler.stats.get_value("log_count/ERROR", 0)]))
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    folder = tmp_path / "site"
    for path, text in PAGES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(f"<!doctype html><meta charset=utf-8>{text}", encoding="utf-8")
    return folder


@pytest.fixture
def url(site: Path) -> Iterator[str]:
    with FolderServer(site) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server.url
        server.shutdown()
        thread.join()


def _crawl(url: str, spider: str, middleware: str, folder: Path) -> list[str]:
    """The documents that the spider saw, as paths."""
    environment = os.environ | {"PYTHONPATH": str(ROOT / "examples")}
    command = [sys.executable, "-c", SPIDER, url, spider, middleware]
    done = subprocess.run(command, env=environment, cwd=folder, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    seen, errors = json.loads(done.stdout)
    assert errors == 0, done.stderr
    return [page.removeprefix(url) for page in seen]


def test_a_bundle_tells_the_whole_site(site: Path, url: str, tmp_path: Path) -> None:
    """A spider that follows nothing sees every page, those too that no page leads to."""
    build(make_plan(site, url))
    assert set(_crawl(url, "stays", "with", tmp_path)) >= {
        "",
        "one.html",
        "two.html",
        "sub/index.html",
        "deep/x.html",
        "alone.html",
    }
    assert _crawl(url, "stays", "without", tmp_path) == [""]


def test_tables_beside_pages_tell_links_ahead(site: Path, url: str, tmp_path: Path) -> None:
    """The spider follows only what it sees; the tables of what it asks for bring the next pages with it."""
    build(make_plan(site, url, bundle=""))
    seen = _crawl(url, "follows", "with", tmp_path)
    assert set(seen) == {"", "one.html", "two.html", "sub/", "deep/x.html"}
    assert sorted(seen) == sorted(_crawl(url, "follows", "without", tmp_path))
    (site / "one.html").write_text("the links are in the table alone")
    assert "two.html" in _crawl(url, "follows", "with", tmp_path)
    assert "two.html" not in _crawl(url, "follows", "without", tmp_path)


def test_a_site_without_robots_file_is_crawled(site: Path, url: str, tmp_path: Path) -> None:
    assert not (site / "robots.txt").exists()
    assert _crawl(url, "stays", "with", tmp_path) == [""]


def test_a_site_without_tables_is_crawled_as_before(url: str, tmp_path: Path) -> None:
    assert sorted(_crawl(url, "follows", "with", tmp_path)) == sorted(_crawl(url, "follows", "without", tmp_path))


@pytest.mark.parametrize(
    "bundle", [b"", b"<!doctype html>soft 404", b"TOL/2\n\n", b"TOL/1\nDocument: x.html\n", b"\xff\x00TOL/1\n"]
)
def test_bad_bundles_harm_nobody(site: Path, url: str, tmp_path: Path, bundle: bytes) -> None:
    build(make_plan(site, url))
    (site / "site.TOL").write_bytes(bundle)
    assert _crawl(url, "stays", "with", tmp_path) == [""]


def test_bad_links_harm_no_others(site: Path, url: str, tmp_path: Path) -> None:
    (site / "index.html").write_text(
        "<a href='http://['>x</a><a href='http://a:b/'>y</a><a href='//'>z</a><a href='one.html'>1</a>"
    )
    build(make_plan(site, url))
    assert {"", "alone.html", "one.html"} <= set(_crawl(url, "stays", "with", tmp_path))


def test_it_is_short_and_reads_what_we_write(site: Path, url: str) -> None:
    assert len((ROOT / "examples" / "scrapy_tol.py").read_text(encoding="utf-8").splitlines()) < 100
    build(make_plan(site, url))
    program = (
        "import json, sys, scrapy_tol; tables = scrapy_tol.tables_of(sys.stdin.buffer.read()); "
        "print(json.dumps({headers['Document']: links for headers, links in tables}))"
    )
    environment = os.environ | {"PYTHONPATH": str(ROOT / "examples")}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        input=(site / "site.TOL").read_bytes(),
        capture_output=True,
        check=True,
    )
    expected = {}
    for path in PAGES:
        table = read_tol((site / path).with_suffix(".TOL").read_bytes())
        assert not isinstance(table, Refusal)
        expected[path] = table.follow
    assert json.loads(done.stdout) == expected
