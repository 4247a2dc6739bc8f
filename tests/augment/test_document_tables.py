"""The tables of one document, from its bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from parcahyd.augment.document_tables import tol_of, tvi_of
from parcahyd.augment.refusal import Limits, Refusal, RefusalReason
from parcahyd.augment.skeleton import part
from parcahyd.augment.tol import Tol, read_tol
from parcahyd.augment.tvi import Tvi, read_tvi
from parcahyd.rules.html.fingerprints import fingerprint
from parcahyd.rules.html.links import read_links

PAGE = b"""<!doctype html><meta charset=utf-8><base href="/d/"><link rel=stylesheet href=s.css>
<a href="one.html#top">1</a> <a href="two words.html">2</a> <img src=pic.png><a href=pic.png>large</a>
<a rel=nofollow href=ad.html></a><a rel=nofollow href=one.html></a>
<div data-vol=news><a href=news/1.html>First</a><a href=one.html>again</a></div>"""


def _tol(document: bytes) -> Tol:
    table = tol_of(document, "page.html", tvi="page.TVI")
    assert isinstance(table, bytes)
    tol = read_tol(table)
    assert isinstance(tol, Tol)
    return tol


def test_the_table_of_a_page() -> None:
    tol = _tol(PAGE)
    assert tol.body == (
        b"s.css\tk=style\none.html\tk=a\ntwo%20words.html\tk=a\npic.png\tk=a\nad.html\tk=a\trel=nofollow\n"
        b"news/1.html\tk=a\tvol=news\n"
    )
    head = tol.head
    assert (head.document, head.base, head.tvi, head.length) == ("page.html", "/d/", "page.TVI", len(PAGE))
    assert head.hash == fingerprint(PAGE).sha256
    mark = fingerprint(part(PAGE).skeleton)
    assert (head.df, head.base_hash) == (mark.df, mark.sha256)


def test_pages_of_one_kind_of_line() -> None:
    assert _tol(b"<a href=one><img src=two>").body == b"one\tk=a\ntwo\tk=img\n"
    assert _tol(b"<a href=one rel=nofollow>").body == b"one\tk=a\trel=nofollow\n"
    assert _tol(b"<a href=one><a href=two rel=nofollow>").body == b"one\tk=a\ntwo\tk=a\trel=nofollow\n"
    assert _tol(b"<a href='one two'>").body == b"one%20two\tk=a\n"


def test_a_page_without_regions_has_no_second_table() -> None:
    tol = _tol(b"<a href=x>")
    assert (tol.head.base_hash, tol.head.tvi, tol.head.base, tol.follow) == (None, "", "", ["x"])
    assert tvi_of(b"<a href=x>", "page.html") is None
    assert tvi_of(b"<b data-vol=x>", "page.html") is None


def test_the_second_table() -> None:
    written = tvi_of(b"<a><Vol1>x</Vol1></a>", "feed.xml", is_xml=True)
    assert isinstance(written, bytes)
    tvi = read_tvi(written)
    assert isinstance(tvi, Tvi)
    assert [tuple(region) for region in tvi.regions] == [("Vol1", 9, b"x")]


def test_what_nobody_reads_is_not_written() -> None:
    assert _tol(b"<a href=x><a href=" + b"y" * 9000 + b">").references == ["x"]
    many = b"".join([b"<a href=%d>" % number for number in range(20)])
    refusal = tol_of(many, "page.html", limits=Limits(body_lines=10))
    assert isinstance(refusal, Refusal)
    assert refusal.reason == RefusalReason.TOO_MANY_LINES


@given(
    st.lists(
        st.sampled_from(["<a href='", "<img src='", "x", "ü", " ", "\\", "\t", "#", "?", "'>", "<b data-vol=a>", "</b>", "\0"]),
        max_size=30,
    )
)
def test_links_to_follow_are_those_of_the_page(pieces: list[str]) -> None:
    page = ("<meta charset=utf-8>" + "".join(pieces)).encode()
    tol = _tol(page)
    links = read_links(page, "")
    followed = {line.split("\t")[1] for line in links.lines if line.startswith("a\t")}
    assert len(tol.follow) == len({reference.replace(" ", "%20") for reference in followed})
    assert len(tol.references) == len(set(tol.references))
