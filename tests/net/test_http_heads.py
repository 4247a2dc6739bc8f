"""The head of the last answer, byte for byte, and its headers."""

from __future__ import annotations

import pytest

from parcahyd.net.http_heads import final_head, headers_of

_HEAD = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"
_HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"


@pytest.mark.parametrize(
    ("lines", "head"),
    [
        (_HEAD, _HEAD),
        (_HINTS + _HINTS + _HEAD, _HEAD),
        (_HEAD + b"Trailer: 1\r\n\r\n", _HEAD),
        (b"HTTP/1.0 200\nfoo:bar\n  folded\n\n", b"HTTP/1.0 200\nfoo:bar\n  folded\n\n"),
        (b"", b""),
        (b"HTTP/1.1 200 OK\r\nA: b\r\n", b""),
        (_HINTS + b"HTTP/1.1 200 OK\r\nA: b\r\n", b""),
    ],
)
def test_the_last_head_is_taken_as_it_is_if_it_is_complete(lines: bytes, head: bytes) -> None:
    assert final_head(lines.splitlines(keepends=True)) == head


@pytest.mark.parametrize(
    ("head", "headers"),
    [
        (
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nX-Empty:\r\nX-Colon: a:b\r\n\r\n",
            [("Content-Type", "text/html"), ("X-Empty", ""), ("X-Colon", "a:b")],
        ),
        (
            b"HTTP/2 200 \r\nFirst: 1\r\nHTTP/1.1 404: no\r\nLast: 2\r\n\r\n",
            [("First", "1"), ("HTTP/1.1 404", "no"), ("Last", "2")],
        ),
        (b"HTTP/1.1 200 OK\nX: one\n\t two\xe9\n\n", [("X", "one two\xe9")]),
        (b"HTTP/1.1 200 OK\r\nX:one\r\n two\r\n three\r\nY: 1\r\n\r\n", [("X", "one two three"), ("Y", "1")]),
        (b"HTTP/1.1 200 OK\r\n\r\n", []),
        (b"", []),
    ],
    ids=["plain", "like a status line", "bare line feeds", "folded", "none", "no head"],
)
def test_headers_are_read_from_a_head(head: bytes, headers: list[tuple[str, str]]) -> None:
    assert headers_of(head) == headers


@pytest.mark.parametrize("line", [b": x\r\n", b":\r\n", b" : x\r\n", b"\t\r\n"])
def test_a_line_without_a_name_is_dropped(line: bytes) -> None:
    assert headers_of(b"HTTP/1.1 200 OK\r\n" + line + b"X: 1\r\n\r\n") == [("X", "1")]
