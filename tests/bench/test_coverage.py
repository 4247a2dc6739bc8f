"""The walk over the files: which links count, and which file each of them leads to."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.coverage import Coverage, compare, links_of, walk


@pytest.fixture
def root(tmp_path: Path) -> Path:
    files = {
        "index.html": '<a href="a.html">a</a> <a href="sub">folder</a> <a href="empty/">e</a> <a href="missing.html">m</a>',
        "a.html": '<a href="/sub/deep.html?q=1#part">deep</a> <a href="index.html">back</a> <a href="data.zip">data</a>',
        "sub/index.html": '<a href="..//a%20b.html">a b</a> <a href="../../a.html">above the root</a>',
        "sub/deep.html": '<a href="http://elsewhere.example/unlinked.html">elsewhere</a> <img src="picture.html">',
        "a b.html": "",
        "unlinked.html": "",
        "sub/picture.html": "",
        "empty/page.html": "",
        "data.zip": "",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    return tmp_path


def test_a_walk_finds_what_links_lead_to_and_nothing_else(root: Path) -> None:
    reachable = walk(root, "index.html")
    assert reachable.pages == {"/index.html", "/a.html", "/sub/index.html", "/sub/deep.html", "/a b.html"}
    assert reachable.files == {"/data.zip"}


@pytest.mark.parametrize(
    ("document", "found"),
    [
        ('<A HREF="b.html">', {"/f/b.html"}),
        ('<area href="b.html"><iframe src="c.html"></iframe><frame src="d.html">', {"/f/b.html", "/f/c.html", "/f/d.html"}),
        ('<link rel="Next" href="b.html"><link rel="stylesheet" href="c.css">', {"/f/b.html"}),
        ('<meta http-equiv="Refresh" content="0; url=b.html">', {"/f/b.html"}),
        ('<base href="/g/"><a href="b.html">', {"/g/b.html"}),
        ('<base href="http://elsewhere.example/"><a href="b.html">', set()),
        ('<a href="b.html" href="c.html">', {"/f/b.html"}),
        ('<a href=" b.html&amp;x\n">', {"/f/b.html&x"}),
        ('<a href="mailto:a@b.example"><a href="http://[">', set()),
        ('<!-- <a href="b.html"> --><script>"<a href=b.html>"</script>', set()),
        ('<template><a href="b.html"></template><textarea><a href="c.html"></textarea><a href="d.html">', {"/f/d.html"}),
        ('<noscript><a href="b.html"></noscript>', {"/f/b.html"}),
        ('<a href="#part">', {"/f/here.html"}),
    ],
)
def test_links_of_a_document(document: str, found: set[str]) -> None:
    assert links_of(document, "/f/here.html") == found


def test_a_crawl_is_compared_with_the_walk() -> None:
    compared = compare(frozenset({"/a", "/b", "/c"}), frozenset({"/a", "/x"}))
    assert compared == Coverage(expected=3, covered=1, missing=("/b", "/c"), outside=("/x",))
