from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.core.ports import DownloadFailure, DownloadResult
from parcahyd.rules.media_types import content_codings
from parcahyd.rules.media_types.content_codings import ACCEPT_ENCODING, codings_of, undo

_TEXT = b"".join(b"line %d, " % number for number in range(500))


def _raw_deflate(body: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(body) + packer.flush()


def _brotli(body: bytes) -> bytes:
    packed: bytes = pytest.importorskip("brotli", "1.2").compress(body)
    return packed


PACKERS: list[tuple[str, Callable[[bytes], bytes]]] = [
    ("gzip", gzip.compress),
    ("deflate", zlib.compress),
    ("deflate", _raw_deflate),
    ("br", _brotli),
]


def undone(
    body: bytes, *codings: str, most: int = 1_000_000, cut: bool = False, status: int = 200, length: str = ""
) -> DownloadResult:
    headers = (("Content-Length", length),) if length else ()
    result = DownloadResult(status, headers, body, "192.0.2.1", codings=codings)
    undo(result, most, cut)
    return result


@pytest.mark.parametrize(
    ("headers", "codings"),
    [
        ((), ()),
        ((("Content-Type", "text/html"), ("Content-Language", "gzip")), ()),
        ((("Content-Encoding", "gzip"),), ("gzip",)),
        ((("CONTENT-ENCODING", " X-GZip , identity,, br "),), ("gzip", "br")),
        ((("Content-Encoding", "deflate"), ("content-encoding", "gzip")), ("deflate", "gzip")),
        ((("Content-Encoding", ""),), ()),
    ],
)
def test_which_codings_headers_name(headers: tuple[tuple[str, str], ...], codings: tuple[str, ...]) -> None:
    assert codings_of(headers) == codings


@pytest.mark.parametrize(("coding", "pack"), PACKERS)
def test_a_complete_body_is_undone_and_kept_as_it_came(coding: str, pack: Callable[[bytes], bytes]) -> None:
    for body in (b"", b"x", _TEXT, _TEXT * 200):
        packed = pack(body)
        result = undone(packed, coding)
        assert (result.failure, result.status, result.body, result.transferred) == (None, 200, body, packed)


@pytest.mark.parametrize(("coding", "pack"), PACKERS)
def test_a_body_that_was_cut_anywhere_is_no_document(coding: str, pack: Callable[[bytes], bytes]) -> None:
    packed = pack(_TEXT)
    for end in range(len(packed)):
        result = undone(packed[:end], coding)
        assert (result.failure, result.body, result.status) == (DownloadFailure.CONTENT_CODING, b"", 0), end
        assert result.detail


@pytest.mark.parametrize(("coding", "pack"), PACKERS)
def test_bytes_after_the_end_are_a_failure(coding: str, pack: Callable[[bytes], bytes]) -> None:
    assert undone(pack(_TEXT) + b"more", coding).failure is DownloadFailure.CONTENT_CODING


@pytest.mark.parametrize(("coding", "pack"), PACKERS)
def test_what_unpacks_to_too_much_is_dropped_or_cut(coding: str, pack: Callable[[bytes], bytes]) -> None:
    bomb = pack(b"\0" * 30_000_000)
    for most in (1, 50_000, 29_999_999):
        assert undone(bomb, coding, most=most).failure is DownloadFailure.SIZE
        assert undone(bomb, coding, most=most).body == b""
    assert len(undone(bomb, coding, most=30_000_000).body) == 30_000_000
    shortened = undone(bomb, coding, most=50_000, cut=True)
    assert (shortened.failure, shortened.body) == (None, b"\0" * 50_000)


def test_a_body_that_was_cut_on_purpose_is_undone_as_far_as_it_goes() -> None:
    packed = gzip.compress(_TEXT)
    result = undone(packed[:500], "gzip", most=500, cut=True)
    assert result.failure is None
    assert _TEXT.startswith(result.body)
    assert result.body
    assert undone(packed[:500], "gzip", most=50_000, cut=True).failure is DownloadFailure.CONTENT_CODING


def test_members_of_gzip_and_zeros_that_fill_up() -> None:
    assert undone(gzip.compress(b"one ") + gzip.compress(b"two"), "gzip").body == b"one two"
    assert undone(gzip.compress(b"one") + bytes(512), "gzip").body == b"one"
    assert undone(gzip.compress(b"one ") + gzip.compress(b"two")[:-1], "gzip").failure is DownloadFailure.CONTENT_CODING
    assert undone(gzip.compress(b"") * 1_000, "gzip").failure is None
    assert "members" in undone(gzip.compress(b"") * 1_001, "gzip").detail


def test_codings_are_undone_from_the_last_to_the_first() -> None:
    assert undone(gzip.compress(zlib.compress(_TEXT)), "deflate", "gzip").body == _TEXT
    assert undone(gzip.compress(zlib.compress(_TEXT)), "gzip", "deflate").failure is DownloadFailure.CONTENT_CODING
    nested = _TEXT
    for _ in range(6):
        nested = gzip.compress(nested)
    assert undone(nested, *["gzip"] * 6).failure is DownloadFailure.CONTENT_CODING
    bomb = gzip.compress(gzip.compress(b"\0" * 30_000_000))
    assert undone(bomb, "gzip", "gzip", most=50_000).failure is DownloadFailure.SIZE


@pytest.mark.parametrize("coding", ["zstd", "compress", "rot13", "dcb"])
def test_other_codings_are_failures_that_name_them(coding: str) -> None:
    result = undone(b"body", coding)
    assert (result.failure, result.detail) == (DownloadFailure.CONTENT_CODING, f"content coding {coding}")


@pytest.mark.parametrize("status", [301, 304, 404, 503])
def test_an_answer_that_is_no_document_counts_by_its_status(status: int) -> None:
    result = undone(b"damaged", "gzip", status=status)
    assert (result.failure, result.status, result.body) == (None, status, b"")
    assert undone(b"", "gzip", status=status).failure is None


def test_nothing_is_a_whole_body_only_where_that_was_announced() -> None:
    assert undone(b"", "gzip", length="0").failure is None
    assert undone(b"", "gzip").failure is DownloadFailure.CONTENT_CODING


def test_brotli_is_asked_for_where_it_can_be_undone(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = _brotli(_TEXT)
    assert ACCEPT_ENCODING == "gzip, deflate, br"
    monkeypatch.setattr(content_codings, "_HAS_BROTLI", False)
    assert undone(packed, "br").detail == "content coding br"


@given(st.binary(max_size=300), st.sampled_from(["gzip", "deflate", "br"]))
def test_any_bytes_give_a_document_or_a_failure(body: bytes, coding: str) -> None:
    result = undone(body, coding, most=1000)
    assert (result.failure is None) == (result.status == 200)
    assert len(result.body) <= 1000
