"""The head of the last answer, byte for byte."""

from __future__ import annotations

import pytest

from parcahyd.net.http_heads import final_head

_HEAD = b"HTTP/1.1 200 OK\r\nA: b\r\n\r\n"


@pytest.mark.parametrize(
    ("lines", "head"),
    [
        (_HEAD, _HEAD),
        (b"HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n" + _HEAD, _HEAD),
        (_HEAD + b"Trailer: 1\r\n\r\n", _HEAD),
        (b"HTTP/1.0 200\nfoo:bar\n  folded\n\n", b"HTTP/1.0 200\nfoo:bar\n  folded\n\n"),
        (b"", b""),
    ],
)
def test_the_last_head_is_taken_as_it_is(lines: bytes, head: bytes) -> None:
    assert final_head(lines.splitlines(keepends=True)) == head
