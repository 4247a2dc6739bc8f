"""Packed bytes come back as they were, and damage is noticed."""

from __future__ import annotations

import gzip
import sys
import tracemalloc
import zlib
from hashlib import sha256
from typing import Any

import brotli
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import UserError
from parcahyd.core.records import PageRecord
from parcahyd.rules.html.fingerprints import fingerprint
from parcahyd.storage.packing import UnpackingFailure, compressor, pack, pack_all, page_facts, rebuild, unpack

_COMPRESS = compressor(WorkConf())


def _page(**more: object) -> PageRecord:
    fixed = {"visit": 1, "site": 2, "key": 3, "path": "/", "depth": 0, "hops": 0, "seed": True}
    answer = {"fetched_at": 4.0, "status": 200, "address": "192.0.2.1", "head": b""}
    return PageRecord(**{**fixed, **answer, **more})  # type: ignore[arg-type]  # fields by name


@pytest.mark.parametrize("settings", [{}, {"CompressionLevel": 9}, {"Compressor": "isal"}], ids=["usual", "small", "isal"])
@pytest.mark.parametrize("body", [b"", b"x", b"<p>hello</p>" * 5000])
def test_a_page_is_a_zlib_stream_with_its_fingerprint(settings: dict[str, Any], body: bytes) -> None:
    packed = pack(_page(body=body, links=b"a\t/x\n"), compressor(WorkConf(**settings)), keep_links=True)
    assert zlib.decompress(packed.packed) == body
    assert (packed.df, packed.sha256, packed.length) == (*fingerprint(body), len(body))
    assert zlib.decompress(packed.packed_links) == b"a\t/x\n"
    assert (packed.page.body, packed.page.links, packed.page.path) == (b"", b"", "/")


def test_a_level_that_is_higher_leaves_less() -> None:
    body = (_HEAD + _TEXT).encode()
    sizes = [len(compressor(WorkConf(CompressionLevel=level))(body)) for level in (1, 9)]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[0] != sizes[1]


def test_a_compressor_that_is_not_installed_is_one_line_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "isal", None)
    with pytest.raises(UserError, match="isal package") as mistake:
        compressor(WorkConf(Compressor="isal"))
    assert "parcahyd[isal]" in mistake.value.remedy
    assert compressor(WorkConf())(b"x")


def test_links_are_left_out_where_they_are_not_wanted_or_not_there() -> None:
    assert pack(_page(body=b"x", links=b"a\t/x\n"), _COMPRESS, keep_links=False).packed_links == b""
    assert pack(_page(body=b"x"), _COMPRESS, keep_links=True).packed_links == b""


def test_a_redirect_has_nothing_to_pack() -> None:
    packed = pack(_page(redirect="http://a.example/", body=b"moved", links=b"a\t/\n"), _COMPRESS, keep_links=True)
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
@pytest.mark.parametrize("is_eager", [True, False])
def test_pages_are_packed_in_their_order_as_each_alone(is_similar: bool, is_brief: bool, is_eager: bool) -> None:
    pages = list(_PAGES)
    packed = pack_all(pages, _COMPRESS, True, is_brief, is_similar, is_eager)
    assert packed == [
        pack(page, _COMPRESS, True, page_facts(page, page.body, is_brief, is_similar), is_eager) for page in _PAGES
    ]
    assert [bool(page.title) for page in packed] == [is_brief, is_brief, False, True, False, is_brief]
    assert [page.similarity is None for page in packed] == [not is_similar] * 3 + [False] + [not is_similar] * 2
    assert not pages, "their bytes are not needed any more"


_CODERS = {
    "gzip": lambda body: gzip.compress(body, mtime=7),
    "deflate": zlib.compress,
    "br": brotli.compress,
}


@pytest.mark.parametrize("coding", _CODERS)
def test_a_page_that_came_coded_is_stored_as_it_came(coding: str) -> None:
    plain = _PAGES[0]
    coded = msgspec.structs.replace(plain, body=_CODERS[coding](plain.body), coding=coding, decoded_length=len(plain.body))
    [packed], [other] = (pack_all([page], _COMPRESS, True, is_similar=True) for page in (coded, plain))
    assert (packed.packed, packed.coding, packed.coded_sha256) == (coded.body, coding, sha256(coded.body).digest())
    assert packed.document.unpack() == plain.body
    facts = ("df", "sha256", "length", "packed_links", "title", "language", "similarity")
    assert [getattr(packed, name) for name in facts] == [getattr(other, name) for name in facts]
    assert (other.coding, other.coded_sha256) == ("", b"")


def test_documents_in_small_coded_bodies_are_unpacked_a_few_at_a_time() -> None:
    """Sixteen bodies of some kilobytes hold 64 MB: what is in memory at once must not grow with their number."""
    body = b"\0" * (4 << 20)
    pages = [_page(body=gzip.compress(body), coding="gzip", decoded_length=len(body)) for _ in range(16)]
    tracemalloc.start()
    packed = pack_all(pages, _COMPRESS, True)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [page.length for page in packed] == [len(body)] * 16
    assert peak < 4 * len(body)


@pytest.mark.parametrize("coding", _CODERS)
@pytest.mark.parametrize(
    ("length", "cut", "damage"), [(4, 99, "more"), (6, 99, "fewer"), (5, -1, "ends before|unpacked|decompressed")]
)
def test_damage_of_coded_bytes(coding: str, length: int, cut: int, damage: str) -> None:
    with pytest.raises(UnpackingFailure, match=damage):
        unpack(_CODERS[coding](b"hello")[:cut], length, coding)


def test_a_coding_that_cannot_be_undone_here_is_said() -> None:
    with pytest.raises(UnpackingFailure, match="content coding zstd"):
        unpack(b"x", 1, "zstd")


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
    with pytest.raises(UnpackingFailure, match=damage):
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
