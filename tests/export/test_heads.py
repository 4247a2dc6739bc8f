from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.export.heads import agreeing_head, has_other_length, has_trailers, with_crlf


def test_headers_that_agree_stay_as_they_came() -> None:
    headers = b"SERVER:odd\r\nset-cookie: a=1\r\nSet-Cookie: b=2\r\nContent-Length: 5\r\nX: \xff\r\n"
    assert agreeing_head(headers, 5) == (headers, ())


@pytest.mark.parametrize(
    ("headers", "lines", "reconstructed"),
    [
        (
            b"content-encoding: gzip\r\nContent-Length: 30\r\n",
            b"X-Archive-Orig-content-encoding: gzip\r\nX-Archive-Orig-Content-Length: 30\r\nContent-Length: 5\r\n",
            ("content-coding", "content-length"),
        ),
        (
            b"Transfer-Encoding: chunked\r\nTrailer: X\r\n",
            b"X-Archive-Orig-Transfer-Encoding: chunked\r\nX-Archive-Orig-Trailer: X\r\nContent-Length: 5\r\n",
            ("transfer-coding",),
        ),
        (b"Content-Length: 5\r\nContent-Length: 5\r\n", b"Content-Length: 5\r\nX-Archive-Orig-Content-Length: 5\r\n", None),
        (b"Content-Length: five\r\n", b"X-Archive-Orig-Content-Length: five\r\nContent-Length: 5\r\n", ("content-length",)),
        (b"X: a\r\n", b"X: a\r\n", ()),
        (b"", b"", ()),
    ],
)
def test_what_does_not_describe_the_body_gets_another_name(
    headers: bytes, lines: bytes, reconstructed: tuple[str, ...] | None
) -> None:
    head = agreeing_head(headers, 5)
    assert head.lines == lines
    assert head.reconstructed == (("content-length",) if reconstructed is None else reconstructed)


def test_a_line_that_is_no_header_is_left_out() -> None:
    headers = b"X: a\r\n\r\nHTTP/1.1 200 OK\r\nGood: b\rBad\nAlso: c\r\n: d\r\nN ame: e\r\nZero: \0\r\n"
    assert agreeing_head(headers, 0).lines == b"X: a\r\nGood: b\r\nAlso: c\r\n"


@given(st.binary(max_size=200), st.integers(0, 1000))
def test_no_value_can_end_the_head_or_lie_about_the_length(headers: bytes, length: int) -> None:
    lines = agreeing_head(b"Transfer-Encoding: chunked\r\n" + headers, length).lines
    assert b"\r\n\r\n" not in lines
    assert lines.endswith(b"\r\n")
    assert lines.count(b"\r") == lines.count(b"\n") == lines.count(b"\r\n")
    found = [line for line in lines.split(b"\r\n") if line.lower().startswith((b"content-length:", b"transfer-encoding:"))]
    assert [int(line.partition(b":")[2]) for line in found] == [length]


def test_trailers_are_announced_by_a_header() -> None:
    assert has_trailers(b"X: Trailer: a\r\nTRAILER: X-Sum\r\n")
    assert not has_trailers(b"X: Trailer: a\r\nTrailers: b\r\n")


def test_a_length_that_is_announced() -> None:
    assert has_other_length(b"X: y\r\ncontent-length:  6 \r\n", 5)
    assert not has_other_length(b"X: y\r\nContent-Length: 5 \r\n", 5)
    assert not has_other_length(b"X-Content-Length: 6\r\n", 5)


def test_every_line_ends_with_crlf() -> None:
    assert with_crlf(b"A: 1\nB: 2\r\nC: 3\n") == b"A: 1\r\nB: 2\r\nC: 3\r\n"
