"""Recorded crawls, from the lab's plain format and from trees of HTML files."""

from __future__ import annotations

from pathlib import Path

import pytest

from parcahyd.core.errors import UserError
from parcahyd.lab.recorded_crawls import largest_hosts, of_host, read_recorded

PAGES = "#url\tbytes\nhttp://a.example/\t1\nhttp://a.example/x\t1\nhttp://b.example/\t1\n"


@pytest.fixture
def graph(tmp_path: Path) -> Path:
    (tmp_path / "pages.tsv").write_text(PAGES)
    (tmp_path / "links.txt").write_text("1 2 1\n\n0\n")
    return tmp_path


def test_links_are_rows_of_pages_and_count_once(graph: Path) -> None:
    crawl = read_recorded(graph)
    assert crawl.urls == ["http://a.example/", "http://a.example/x", "http://b.example/"]
    assert [list(links) for links in crawl.links] == [[1, 2], [], [0]]
    assert [file.path.name for file in crawl.files] == ["pages.tsv", "links.txt"]


def test_a_host_by_itself_has_the_links_within_it(graph: Path) -> None:
    crawl = read_recorded(graph)
    assert largest_hosts(crawl, 1) == ["a.example"]
    host = of_host(crawl, "a.example")
    assert host.urls == ["http://a.example/", "http://a.example/x"]
    assert [list(links) for links in host.links] == [[1], []]
    assert largest_hosts(host, 1) == []


@pytest.mark.parametrize(
    ("links", "words"),
    [
        ("0\n0\n", "has 2 lines for 3 pages"),
        ("0\nx\n0\n", "line 2 has what is no row number of a page"),
        ("3\n\n\n", "line 1 has what is no row number of a page"),
    ],
)
def test_links_that_fit_no_pages_are_one_line(graph: Path, links: str, words: str) -> None:
    (graph / "links.txt").write_text(links)
    with pytest.raises(UserError, match=words):
        read_recorded(graph)


def test_a_tree_of_html_files_is_a_crawl(tmp_path: Path) -> None:
    (tmp_path / "part").mkdir()
    page = '<a href="part/">part</a> <a href="gone.html#x">gone</a> <a href="x.css">no page</a> <a href="//b.example/">b</a>'
    (tmp_path / "index.html").write_text(page)
    (tmp_path / "part" / "index.html").write_text('<a href="../index.html?again">up</a> <a href="index.html">itself</a>')
    (tmp_path / "part" / "twice.html").symlink_to("index.html")
    crawl = read_recorded(tmp_path)
    names = [url.removeprefix("http://tree.invalid/") for url in crawl.urls]
    assert names == ["index.html", "part/index.html", "gone.html"]
    assert [list(links) for links in crawl.links] == [[1, 2], [0], []]
    assert crawl.missing == {2}
    (tmp_path / "index.html").write_text("other")
    assert read_recorded(tmp_path).files[0].sha256 != crawl.files[0].sha256


def test_what_is_no_crawl_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there are no HTML files"):
        read_recorded(tmp_path)
    with pytest.raises(UserError, match="is no folder"):
        read_recorded(tmp_path / "nothing")
