"""Files and folders as answers, and what is not given out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from parcahyd.core.ports import DownloadFailure, DownloadResult
from parcahyd.net.downloader_file import FileDownloader
from parcahyd.rules.html.links import read_links
from tests.net.downloader_harness import DownloaderHarness


@pytest.fixture
def files() -> Iterator[DownloaderHarness]:
    with DownloaderHarness(FileDownloader) as made:
        yield made


@pytest.fixture
def top(tmp_path: Path) -> Path:
    return tmp_path.resolve()


def _get(files: DownloaderHarness, url: str, **more: Any) -> DownloadResult:
    result = files.get(url, "local", 0, **more)
    assert result.peer == "local"
    return result


def test_a_file_is_given_with_its_type_and_tag(files: DownloaderHarness, top: Path) -> None:
    (top / "a b.HTML").write_bytes(b"<p>text")
    (top / "unknown").write_bytes(b"")
    result = _get(files, f"{top.as_uri()}/a%20b.HTML")
    assert (result.status, result.body, result.header("content-type")) == (200, b"<p>text", "text/html")
    again = _get(files, f"{top.as_uri()}/a%20b.HTML", headers=[("If-None-Match", result.header("etag"))])
    assert (again.status, again.body) == (304, b"")
    os.utime(top / "a b.HTML", ns=(1, 1))
    assert _get(files, f"{top.as_uri()}/a%20b.HTML", headers=[("If-None-Match", result.header("etag"))]).status == 200
    empty = _get(files, f"{top.as_uri()}/unknown")
    assert (empty.status, empty.body, empty.header("content-type")) == (200, b"", "")


def test_a_folder_lists_files_and_folders_by_name(files: DownloaderHarness, top: Path) -> None:
    for name in ("b.txt", "a<&\"'.txt", "http:x", ".hidden"):
        (top / name).write_text("")
    (top / os.fsdecode(b"\xfc")).write_text("")
    (top / "folder").mkdir()
    (top / "link").symlink_to(top / "b.txt")
    os.mkfifo(top / "pipe")
    result = _get(files, f"{top.as_uri()}/")
    assert (result.status, result.header("content-type")) == (200, "text/html; charset=utf-8")
    assert read_links(result.body, "utf-8").follow == ["a%3C%26%22%27.txt", "b.txt", "folder/", "http%3Ax", "%FC"]
    result.body.decode()


def test_a_folder_without_its_slash_redirects(files: DownloaderHarness, top: Path) -> None:
    result = _get(files, top.as_uri())
    assert (result.status, result.header("location")) == (301, f"{top.as_uri()}/")


def test_what_is_not_there_is_a_404(files: DownloaderHarness, top: Path) -> None:
    (top / "file").write_text("")
    for path in ("none", "none/", "file/", "file/x", "%00", "a%00b", "x" * 300):
        assert _get(files, f"{top.as_uri()}/{path}").status == 404


def test_no_way_leads_up(files: DownloaderHarness, top: Path) -> None:
    (top / "inner").mkdir()
    (top / "secret").write_text("secret")
    for path in ("..%2Fsecret", "%2E%2E/secret", "../secret", "..%2f", "x%2F..%2F..%2Fsecret"):
        assert _get(files, f"{top.as_uri()}/inner/{path}").status == 404


def test_no_symbolic_link_is_followed(files: DownloaderHarness, top: Path) -> None:
    (top / "folder").mkdir()
    (top / "folder" / "file").write_text("text")
    (top / "to-file").symlink_to(top / "folder" / "file")
    (top / "to-folder").symlink_to(top / "folder")
    (top / "loop").symlink_to(top / "loop")
    assert _get(files, f"{top.as_uri()}/to-file").status == 403
    assert _get(files, f"{top.as_uri()}/loop").status == 403
    assert _get(files, f"{top.as_uri()}/to-folder/file").status in (403, 404)
    assert _get(files, f"{top.as_uri()}/to-folder/").status in (403, 404)
    assert _get(files, f"{top.as_uri()}/to-folder").status == 403


def test_what_is_no_file_is_not_read(files: DownloaderHarness, top: Path) -> None:
    os.mkfifo(top / "pipe")
    assert _get(files, f"{top.as_uri()}/pipe").status == 403
    assert _get(files, "file:///dev/null").status == 403


def test_the_size_is_limited(files: DownloaderHarness, top: Path) -> None:
    (top / "file").write_bytes(b"x" * 11)
    assert _get(files, f"{top.as_uri()}/file", max_bytes=11).status == 200
    result = _get(files, f"{top.as_uri()}/file", max_bytes=10)
    assert (result.failure, result.body) == (DownloadFailure.SIZE, b"")


def test_no_descriptor_stays_open(files: DownloaderHarness, top: Path) -> None:
    (top / "file").write_text("")
    urls = [f"{top.as_uri()}/{path}" for path in ("", "file", "none", "file/x")]
    for url in urls:
        _get(files, url)
    before = len(os.listdir("/dev/fd"))
    for url in urls * 10:
        _get(files, url)
    assert len(os.listdir("/dev/fd")) == before
