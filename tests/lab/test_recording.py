"""Which pages and links `parcahyd.lab.recording` finds in a crawl that was made by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.lab.recording import record_graph, recorded_pages
from parcahyd.storage.reports import Reports
from tests.storage.desk import Desk

A = "http://a.example"
START = (
    b"<title>Not counted</title><p>three little words</p><script>var no = 1</script>"
    b'<a href="/b?session=1">b</a><a href="/b#part">b again</a><a href="/">itself</a><a href="//gone.example/">outside</a>'
    b'<a rel=nofollow href="/c">c</a><img src="/picture"><a href="mailto:a@a.example">no page</a>'
)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(f"sqlite:///{tmp_path / 'crawl.db'}")
    yield desk
    desk.close()


def _recorded(desk: Desk, folder: Path, work: WorkConf) -> tuple[list[str], list[str], int]:
    with Reports.open(desk.url) as reports:
        links = record_graph(reports, recorded_pages(reports), work, folder)
    return (folder / "pages.tsv").read_text().splitlines(), (folder / "links.txt").read_text().splitlines(), links


def test_pages_are_what_has_a_document_and_links_lead_to_pages(desk: Desk, tmp_path: Path) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    visit = desk.visit()
    desk.write(desk.page(visit, "/", START, internal=("/b", "/c", "/picture", "/moved")))
    based = b'<base href="http://a.example/deep/"><a href="../c">c</a><a href="c">not there</a>'
    desk.write(desk.page(visit, "/b", based), desk.page(visit, "/c", b"one two"))
    desk.write(desk.page(visit, "/picture", b"GIF89a", media_type="image/gif"), desk.redirect(visit, "/moved", f"{A}/b"))
    desk.over(visit)
    pages, links, total = _recorded(desk, tmp_path, WorkConf(StripParameters=("session",)))
    assert pages == [
        "#url\tbytes\twords\tlinks\tlinks_to_uncrawled",
        f"{A}/\t{len(START)}\t6\t5\t1",
        f"{A}/b\t{len(based)}\t2\t2\t1",
        f"{A}/c\t7\t2\t0\t0",
        f"{A}/picture\t6\t0\t0\t0",
    ]
    assert links == ["1 1 2", "2", "", ""]
    assert total == 4
    assert _recorded(desk, tmp_path, WorkConf())[1][0] == "1 2", "another spelling is another URL"


def test_a_crawl_without_pages_is_an_empty_graph(desk: Desk, tmp_path: Path) -> None:
    desk.begin()
    with Reports.open(desk.url) as reports:
        recording = recorded_pages(reports)
        assert (recording.bytes_of, recording.sites, recording.day) == ({}, {}, "")
        assert record_graph(reports, recording, WorkConf(), tmp_path) == 0
    assert (tmp_path / "links.txt").read_text() == ""
