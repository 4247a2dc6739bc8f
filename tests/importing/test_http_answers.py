"""Answers as they stand in archives: faithful heads, joined chunks, codings undone within bounds."""

from __future__ import annotations

from gzip import compress

import pytest

from parcahyd.core.exchange_marks import ExchangeMark
from parcahyd.importing.http_answers import UnusableAnswer, answer_of, document_answer
from tests.importing.archives import answer

_MOST = 100_000


def _gzip(content: bytes) -> bytes:
    return compress(content, mtime=0)


def test_the_head_stays_as_it_was_received() -> None:
    head = b"HTTP/1.1 200 Fine\r\nx-ODD: a\r\nSet-Cookie: a=1\r\nset-cookie: b=2\r\nX-Fold: a\r\n  b\r\nX-L: caf\xe9\r\n\r\n"
    result = answer_of(head + b"body", "", _MOST)
    assert (result.head, result.body, result.status, result.protocol) == (head, b"body", 200, "1.1")
    assert list(result.headers) == [
        ("x-ODD", "a"),
        ("Set-Cookie", "a=1"),
        ("set-cookie", "b=2"),
        ("X-Fold", "a b"),
        ("X-L", "caf\xe9"),
    ]
    assert result.marks == ExchangeMark.IMPORTED


def test_chunks_are_joined_and_a_body_without_them_is_taken_as_it_is() -> None:
    def chunked(body: bytes) -> bytes:
        return answer_of(answer(body, "Transfer-Encoding: chunked"), "", _MOST).body

    assert chunked(b"3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nTrailer: x\r\n\r\n") == b"abcde"
    assert chunked(b"<p>not chunked</p>") == b"<p>not chunked</p>"
    assert chunked(b"ffffffffffff\r\nabc") == b"ffffffffffff\r\nabc"


def test_codings_are_undone_and_their_bytes_kept() -> None:
    packed = _gzip(b"tea " * 100)
    result = answer_of(answer(packed, "Content-Encoding: gzip"), "", _MOST)
    assert (result.body, result.transferred, result.codings) == (b"tea " * 100, packed, ("gzip",))


def test_a_body_that_was_decoded_already_is_taken_as_it_is() -> None:
    result = answer_of(answer(b"<p>Tea</p>", "Content-Encoding: gzip"), "", _MOST)
    assert (result.body, result.transferred, result.codings, result.status) == (b"<p>Tea</p>", b"", ("gzip",), 200)
    result = answer_of(answer(b"<p>None</p>", "Content-Encoding: br", status="404 Not Found"), "", _MOST)
    assert (result.body, result.status) == (b"<p>None</p>", 404)


@pytest.mark.parametrize(
    ("block", "sentence"),
    [
        (b"", "does not begin with a status line"),
        (b"<html>", "does not begin with a status line"),
        (b"HTTP/1.1 2000 OK\r\n\r\n", "does not begin with a status line"),
        (answer(b"x" * (_MOST + 1)), "larger than MaxBytes"),
        (answer(_gzip(bytes(10**7)), "Content-Encoding: gzip"), "unpacks to more than MaxBytes"),
        (answer(_gzip(_gzip(bytes(10**7))), "Content-Encoding: gzip, gzip"), "unpacks to more than MaxBytes"),
        (answer(_gzip(b"tea " * 100)[:-9], "Content-Encoding: gzip"), "cannot be decoded"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 100_000, "head of its answer is larger"),
    ],
)
def test_what_is_no_answer_or_a_bomb_is_refused(block: bytes, sentence: str) -> None:
    with pytest.raises(UnusableAnswer, match=sentence):
        answer_of(block, "", _MOST)


def test_a_body_that_is_cut_is_marked() -> None:
    assert answer_of(answer(b"abc", "Content-Length: 10"), "", _MOST).marks & ExchangeMark.BODY_CUT
    assert answer_of(answer(b"abc"), "", _MOST, is_cut=True).marks & ExchangeMark.BODY_CUT
    assert not answer_of(answer(b"abc", "Content-Length: 2"), "", _MOST).marks & ExchangeMark.BODY_CUT


@pytest.mark.parametrize(("protocol", "line"), [("h2", b"HTTP/2 204 \r\n"), ("http/1.1", b"HTTP/1.1 204 No Content\r\n")])
def test_a_status_line_that_was_made_up_is_not_kept(protocol: str, line: bytes) -> None:
    result = answer_of(b"HTTP/1.1 204 No Content\r\nA: b\r\n\r\n", protocol, _MOST)
    assert result.head == line + b"A: b\r\n\r\n"
    assert result.status == 204


def test_a_document_without_a_head() -> None:
    result = document_answer(b"abc", "text/plain")
    assert (result.status, result.header("content-type"), result.head) == (200, "text/plain", b"")
