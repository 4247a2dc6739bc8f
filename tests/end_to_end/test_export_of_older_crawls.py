"""Crawls that older versions made are migrated, verified, exported as reconstructed, read and replayed."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest
import requests

from parcahyd.storage.store import Store
from tests.support.archive_tools import archive_tool, validate_wacz, wayback
from tests.support.crawl import Crawl, assert_user_error
from tests.support.odd_site import export_warc
from tests.support.processes import TEST_TIMEOUT
from tests.support.warc import by_fastwarc, by_warcio

_CRAWLS = Path(__file__).parents[1] / "storage" / "older_crawls"
_HOST = "http://127.0.0.1:8080"
_ZIPPED = b"<title>Zipped</title>" + b"<p>A page that was sent compressed.</p>" * 20
_BODIES = {"/zipped": _ZIPPED, "/twin": _ZIPPED, "/news": b"<title>News</title><p>two"}


@pytest.fixture(params=[3, 4])
def older_crawl(request: pytest.FixtureRequest, tmp_path: Path) -> Crawl:
    """A crawl whose tables were of that version."""
    connection = sqlite3.connect(tmp_path / "crawl.db")
    connection.executescript((_CRAWLS / f"version-{request.param}.sql").read_text())
    connection.close()
    return Crawl(tmp_path, _database(tmp_path), {"Map.AllowAddresses": []})


def _database(folder: Path) -> str:
    return f"sqlite:///{folder / 'crawl.db'}"


def _migrate(folder: Path) -> None:
    """What a run does first, without the run."""
    with Store.open(_database(folder)) as store:
        store.last_settings()


def test_two_readers_see_a_reconstructed_archive(older_crawl: Crawl, tmp_path: Path) -> None:
    refused = older_crawl.command("export", "--conf", str(older_crawl.conf), "warc", str(tmp_path / "out"))
    assert_user_error(refused, "of the older version", "parcahyd run")
    # No address is allowed, so this run asks nobody for anything.
    older_crawl.command("run", "--conf", str(older_crawl.conf), "--as-configured")
    older_crawl.verify()
    file = export_warc(older_crawl, tmp_path / "out")
    records = by_fastwarc(file)
    assert [(one.kind, one.url, one.body) for one in records] == [(one.kind, one.url, one.body) for one in by_warcio(file)]
    assert b"are reconstructed" in records[0].body
    answers = [record for record in records if record.kind in ("response", "revisit")]
    assert all(record.fields["parcahyd-reconstructed"].startswith("status-line") for record in answers)
    assert not [record for record in records if record.kind == "request"]
    zipped, twin = (next(one for one in answers if one.url == _HOST + path) for path in ("/zipped", "/twin"))
    assert (zipped.header("X-Archive-Orig-Content-Encoding"), zipped.header("Content-Encoding")) == (["gzip"], [])
    assert zipped.header("Content-Length") == [str(len(_ZIPPED))]
    assert {zipped.kind, twin.kind} == {"response", "revisit"}
    assert {one.body for one in (zipped, twin)} == {_ZIPPED, b""}
    assert [one.body for one in answers if one.url == _HOST + "/news"] == [b"<title>News</title><p>one", _BODIES["/news"]]
    (moved,) = [record for record in answers if record.url == _HOST + "/moved"]
    assert moved.status_line == "HTTP/1.1 301 Moved Permanently"


def test_it_is_replayed(older_crawl: Crawl, tmp_path: Path) -> None:
    archive_tool("wayback")
    _migrate(tmp_path)
    warc = export_warc(older_crawl, tmp_path / "out")
    with wayback(tmp_path / "pywb", warc, tmp_path / "out" / "index.cdxj") as base:
        for path, body in _BODIES.items():
            assert requests.get(f"{base}/odd/2id_/{_HOST}{path}", timeout=TEST_TIMEOUT).content == body, path
        moved = requests.get(f"{base}/odd/2mp_/{_HOST}/moved", timeout=TEST_TIMEOUT, allow_redirects=False)
        assert (moved.status_code, moved.headers["Location"].partition("mp_/")[2][: len(_HOST)]) == (301, _HOST)


def test_a_wacz_file_of_it_is_valid(older_crawl: Crawl, tmp_path: Path) -> None:
    archive_tool("wacz")
    _migrate(tmp_path)
    done = older_crawl.command("export", "--conf", str(older_crawl.conf), "wacz", str(tmp_path / "old.wacz"))
    assert (done.code, done.err) == (0, "")
    validate_wacz(tmp_path / "old.wacz")
