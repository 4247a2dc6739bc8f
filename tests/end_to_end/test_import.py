"""Crawls are taken away and read back, and archives of strangers are read in: nothing is lost, and no crawl is steered."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from tests.importing.archives import record, response
from tests.support.crawl import ROOT, Crawl, CrawlFactory
from tests.support.processes import TEST_TIMEOUT, wait_until
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


def _forged(listener: Listener, other: Listener) -> bytes:
    """What somebody says that the server at `listener` had answered."""
    moved = ("Location: " + other.url("/evil"), "Content-Type: text/html")
    validators = ("Content-Type: text/html", 'ETag: "forged"', "Last-Modified: Wed, 06 May 2020 07:08:09 GMT")
    links = f'<a href="{other.url("/linked")}">x</a><a href="/from-archive">y</a>'.encode()
    return b"".join(
        [
            response(listener.url("/robots.txt"), b"User-agent: *\nDisallow: /\n", "Content-Type: text/plain"),
            response(listener.url("/"), b"", *moved, status="301 Moved Permanently"),
            response(listener.url("/page"), b"<title>Forged</title>" + links, *validators),
            response(listener.url("/gone"), b"no", status="410 Gone"),
            response(other.url("/robots.txt"), b"User-agent: *\nAllow: /\n", "Content-Type: text/plain"),
            response(other.url("/"), b"<title>Other</title>"),
        ]
    )


def test_no_crawl_is_steered_by_an_archive(server: SiteServer, crawl_on: CrawlFactory, tmp_path: Path) -> None:
    listener, other = server.listen(), server.listen()
    server.site().pages = {
        "/robots.txt": Answer(b"User-agent: *\nDisallow: /from-archive\n"),
        "/": html("Home", ["/page", "/gone"]),
        "/page": validated(html("Page")),
        "/gone": html("Not gone"),
    }
    running = crawl_on()
    file = tmp_path / "forged.warc"
    file.write_bytes(_forged(listener, other))
    report = _import(running, "--archive", str(file))
    assert (report["versions"], report["errors"], report["damaged"]) == (5, 1, 0)
    running.verify()
    assert server.log == []

    running.run(listener.url())
    running.verify()
    # The real robots.txt was asked for and obeyed, every page was asked for without validators, and nothing else was.
    assert sorted(server.targets()) == ["/", "/gone", "/page"]
    assert next(entry.target for entry in server.requests(robots=True)) == "/robots.txt"
    assert not any(name.lower().startswith("if-") for entry in server.log for name in entry.headers)
    assert other.connections == 0
    assert running.show(listener.url("/page")) == html("Page").body
    states = running.states()
    assert states[listener.url("/from-archive")] == ("refused", "robots")
    assert states[other.url("/evil")] == states[other.url("/linked")] == ("refused", "scope")
    assert states[other.url("/")] == ("stored", "")


def test_an_import_that_is_killed_goes_on(crawl_on: CrawlFactory, tmp_path: Path) -> None:
    file = tmp_path / "a.warc"
    with file.open("wb") as archive:
        for number in range(3000):
            archive.write(response(f"http://a.example/{number}", b"<title>Page</title>" + b"tea " * 500 + b"%d" % number))
    running = crawl_on()
    command = [sys.executable, "-m", "parcahyd", "import", "--conf", str(running.conf), str(file)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        assert wait_until(lambda: process.poll() is not None or len(_stored(running)) >= 200)
        process.kill()
    before = _stored(running)
    assert before
    running.verify()
    report = _import(running, str(file))
    assert report["versions"] + report["present"] == 3000
    assert report["present"] >= len(before)
    assert len(_stored(running)) == 3000
    running.verify()


def _stored(crawl: Crawl) -> set[str]:
    try:
        return crawl.stored()
    except AssertionError:  # There is no database yet.
        return set()


def test_a_package_with_names_that_climb_writes_nothing(crawl: CrawlFactory, tmp_path: Path) -> None:
    file = tmp_path / "in" / "a.wacz"
    file.parent.mkdir()
    with ZipFile(file, "w") as package:
        package.writestr("archive/a.warc", response("http://a.example/1", b"one"))
        package.writestr("../../climbed.warc", response("http://a.example/2", b"two"))
        package.writestr("/rooted.warc", response("http://a.example/3", b"three"))
        package.writestr("archive/packed.warc.gz", gzip.compress(response("http://a.example/4", b"four")), ZIP_DEFLATED)
        package.writestr("archive/none.warc.gz", b"nothing of the kind")
    running = crawl()
    before = {path for path in tmp_path.rglob("*") if path.is_file()}
    report = _import(running, str(file), code=1)
    assert (report["versions"], report["damaged"]) == (2, 3)
    assert _stored(running) == {"http://a.example/1", "http://a.example/4"}
    written = {path for path in tmp_path.rglob("*") if path.is_file()} - before
    assert {path.name.partition(".db")[0] for path in written} == {"crawl"}


def test_memory_is_bounded_whatever_an_archive_unpacks_to(crawl: CrawlFactory, tmp_path: Path) -> None:
    file = tmp_path / "bombs.warc.gz"
    zeros = gzip.compress(bytes(10**8))
    nested = response("http://a.example/bomb", zeros, "Content-Encoding: gzip", "Content-Type: text/html")
    many = response("http://a.example/many", gzip.compress(b"") * 2000 + zeros, "Content-Encoding: gzip")
    wide = record("response", b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 10**6 + b"\r\n", "http://a.example/wide")
    long_url = response("http://a.example/" + "x" * 50_000, b"long")
    file.write_bytes(b"".join(map(gzip.compress, (nested, many, wide, long_url, response("http://a.example/", b"fine")))))
    running = crawl({"Work.MaxBytes": 1_000_000})
    # Of this program alone: the figure of getrusage begins with the memory of the process that started it.
    measured = (
        "import re, sys\nfrom parcahyd.cli import main\ncode = main(sys.argv[1:])\n"
        "peak = re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]\n"
        "sys.stderr.write(f'peak {peak}')\nsys.exit(code)"
    )
    command = [sys.executable, "-c", measured, "import", "--conf", str(running.conf), "--json", str(file)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=TEST_TIMEOUT)
    assert done.returncode == 1, done.stderr
    assert json.loads(done.stdout)["versions"] == 1
    assert int(done.stderr.rpartition("peak ")[2]) < 200_000  # kB
    assert _stored(running) == {"http://a.example/"}
    running.verify()
