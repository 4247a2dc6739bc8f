"""Packed bytes come back as they were, and damage is noticed."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.core.records import PageRecord
from parcahyd.rules.fingerprint import fingerprint
from parcahyd.storage.document_format import Damaged, rebuild, unpack
from parcahyd.storage.packing import pack, pack_all


def _page(**more: object) -> PageRecord:
    fixed = {"visit": 1, "site": 2, "key": 3, "path": "/", "depth": 0, "hops": 0, "seed": True}
    answer = {"fetched_at": 4.0, "status": 200, "address": "192.0.2.1", "headers": b""}
    return PageRecord(**{**fixed, **answer, **more})  # type: ignore[arg-type]  # fields by name


@pytest.mark.parametrize("level", [1, 2, 9])
@pytest.mark.parametrize("body", [b"", b"x", b"<p>hello</p>" * 5000])
def test_a_page_is_a_zlib_stream_with_its_fingerprint(level: int, body: bytes) -> None:
    packed = pack(_page(body=body, links=b"a\t/x\n"), level, keep_links=True)
    assert zlib.decompress(packed.packed) == body
    assert (packed.df, packed.sha256, packed.length) == (*fingerprint(body), len(body))
    assert zlib.decompress(packed.packed_links) == b"a\t/x\n"
    assert (packed.page.body, packed.page.links, packed.page.path) == (b"", b"", "/")


def test_links_are_left_out_where_they_are_not_wanted_or_not_there() -> None:
    assert pack(_page(body=b"x", links=b"a\t/x\n"), 1, keep_links=False).packed_links == b""
    assert pack(_page(body=b"x"), 1, keep_links=True).packed_links == b""


def test_a_redirect_has_nothing_to_pack() -> None:
    packed = pack(_page(redirect="http://a.example/", body=b"moved", links=b"a\t/\n"), 1, keep_links=True)
    assert (packed.sha256, packed.length, packed.packed, packed.packed_links) == (b"", 0, b"", b"")


_HEAD = "<html lang=de><title>Gr\u00fc\u00dfe</title></head>"
_TEXT = "".join(f"<p>Some sort of phrase about plants, paper and stones, number {number}.</p>" for number in range(400))
_PAGES = [
    _page(body=(_HEAD + _TEXT).encode(), media_type="text/html", charset="utf-8", links=b"a\t/x\n"),
    _page(body=(_HEAD + _TEXT).encode("utf-16"), media_type="text/html", charset="utf-16"),
    _page(body=_TEXT.encode() + b"<title>too late</title>", media_type="text/html"),
    _page(body=b"%PDF" * 1000, media_type="application/pdf", title="A paper", summary=b"summary"),
    _page(body=_TEXT.encode(), media_type="text/html", regions=(("a", 10, 20), ("b", 4000, 5000))),
    _page(body=b"<title>Small</title>", media_type="text/html"),
]


@pytest.mark.parametrize("is_similar", [True, False])
@pytest.mark.parametrize("is_brief", [True, False])
def test_pages_that_are_packed_together_become_what_each_becomes_alone(is_similar: bool, is_brief: bool) -> None:
    together = list(_PAGES)
    packed = pack_all(together, 1, True, is_brief, is_similar)
    assert packed == [pack_all([page], 1, True, is_brief, is_similar)[0] for page in _PAGES]
    assert {page.similarity is not None for page in packed[:1]} == {is_similar}
    assert packed[0].title == ("Gr\u00fc\u00dfe" if is_brief else "")
    assert not together, "the pages' own bytes are kept while they are not needed any more"


@given(st.binary(max_size=300))
def test_unpacking_gives_back_what_was_packed(body: bytes) -> None:
    assert unpack(zlib.compress(body), len(body)) == unpack(zlib.compress(body)) == body


@pytest.mark.parametrize(
    ("packed", "length", "damage"),
    [
        (b"nonsense", 8, "decompressed"),
        (b"", 0, "too early"),
        (zlib.compress(b"hello")[:-1], 5, "too early"),
        (zlib.compress(b"hello")[:-5], 5, "fewer|too early"),
        (zlib.compress(b"hello"), 6, "fewer"),
        (zlib.compress(b"hello"), 4, "more"),
        (zlib.compress(b"\0" * 10_000_000), 4, "more"),
        (zlib.compress(b"hello")[:-1] + b"\0", 5, "decompressed"),
    ],
)
def test_damage(packed: bytes, length: int, damage: str) -> None:
    with pytest.raises(Damaged, match=damage):
        unpack(packed, length)


@given(st.lists(st.tuples(st.binary(max_size=9), st.binary(max_size=9)), max_size=6), st.binary(max_size=9))
def test_regions_go_back_where_they_were(parts: list[tuple[bytes, bytes]], end: bytes) -> None:
    whole = b"".join(fixed + varying for fixed, varying in parts) + end
    skeleton = b"".join(fixed for fixed, _ in parts) + end
    regions, offset = [], 0
    for fixed, varying in parts:
        offset += len(fixed)
        regions.append((offset, varying))
    assert rebuild(skeleton, regions) == whole
