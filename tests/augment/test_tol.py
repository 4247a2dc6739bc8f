"""Tables of links."""

from __future__ import annotations

from hashlib import sha256

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.augment.refusal import Limits, Refusal, RefusalReason
from parcahyd.augment.tol import Link, Tol, TolHead, TolReader, link_line, read_tol, write_tol
from parcahyd.rules.urls.canonical_url import Joiner

A = sha256(b"a").digest()
HEAD = TolHead("kettle.html", A, 357, 0x0123456789ABCDEF, tvi="kettle.TVI")
BODY = (
    b"news/1.html\tk=a\tvol=news\ttext=First\n"
    b"https://other.example/x\tk=a\trel=nofollow\n"
    b"img/kettle.png\tk=img\ttype=image/png\tlen=20412\n"
)
TABLE = (
    b"TOL/1\nDocument: kettle.html\nHash: sha-256=%b\nLength: 357\nDF: df64=0123456789abcdef\nTVI: kettle.TVI\n\n%bend 3\n"
    % (A.hex().encode(), BODY)
)


def test_the_example_of_the_specification() -> None:
    assert write_tol(HEAD, BODY) == TABLE
    tol = read_tol(TABLE)
    assert tol == Tol(HEAD, BODY)
    assert tol.references == ["news/1.html", "https://other.example/x", "img/kettle.png"]
    assert tol.follow == ["news/1.html"]
    assert tol.embedded == ["img/kettle.png"]
    assert list(tol.links()) == [
        Link("news/1.html", "a", (("vol", "news"), ("text", "First"))),
        Link("https://other.example/x", "a", (("rel", "nofollow"),)),
        Link("img/kettle.png", "img", (("type", "image/png"), ("len", "20412"))),
    ]


def test_lines_are_given_as_they_arrive() -> None:
    reader = TolReader()
    assert reader.feed(TABLE[:60]) == b""
    assert reader.head is None
    first = TABLE.index(b"First\n") + 20
    assert reader.feed(TABLE[60:first]) == BODY[: BODY.index(b"\n") + 1]
    assert reader.head == HEAD
    cut = reader.so_far()
    assert isinstance(cut, Tol)
    assert (cut.is_complete, cut.follow) == (False, ["news/1.html"])
    reader.feed(TABLE[first:])
    assert reader.finish() == Tol(HEAD, BODY)


@given(st.integers(0, len(TABLE) - 1))
def test_what_is_cut_is_not_complete(at: int) -> None:
    tol = read_tol(TABLE[:at])
    assert isinstance(tol, Refusal) or (not tol.is_complete and BODY.startswith(tol.body))


@given(st.binary(min_size=1))
def test_what_is_followed_by_more_is_refused(noise: bytes) -> None:
    assert isinstance(read_tol(TABLE + noise), Refusal)


@given(st.binary(), st.integers(1, 40))
def test_any_bytes_in_any_chunks(noise: bytes, size: int) -> None:
    data = TABLE[: TABLE.index(b"\n\n") + 2] + noise
    reader = TolReader()
    for at in range(0, len(data), size):
        reader.feed(data[at : at + size])
    whole = read_tol(data)
    pieces = reader.finish()
    assert type(whole) is type(pieces)
    assert isinstance(whole, Refusal) or whole == pieces


_references = st.text(st.characters(exclude_characters="#\t\n\r"), min_size=1, max_size=30)


@given(st.lists(st.tuples(_references, st.sampled_from(["a", "img", "link"]), st.text(max_size=10)), max_size=8))
def test_what_is_written_is_read_back(links: list[tuple[str, str, str]]) -> None:
    body = b"".join([link_line(reference, kind, [("text", text)]) for reference, kind, text in links])
    table = write_tol(HEAD, body)
    assert isinstance(table, bytes)
    tol = read_tol(table)
    assert tol == Tol(HEAD, body)
    assert [(link.kind, link.attributes) for link in tol.links()] == [
        (kind, (("text", text.encode("utf-8", "replace").decode()),)) for _, kind, text in links
    ]


@given(
    _references.filter(lambda text: text == text.strip("".join(map(chr, range(33))))), st.sampled_from(["", "http://b/", "//"])
)
def test_a_reference_leads_where_it_led(tail: str, start: str) -> None:
    """Only what no URL can hold is percent-encoded."""
    reference = start + tail.encode("utf-8", "replace").decode()
    tol = read_tol(write_tol(HEAD, link_line(reference, "a")))  # type: ignore[arg-type]
    assert isinstance(tol, Tol)
    joiner = Joiner("http://site.example/a/b.html")
    assert joiner.join(tol.references[0]) == joiner.join(reference)


@pytest.mark.parametrize(
    ("reference", "line"),
    [
        ("a b", b"a%20b\tk=a\n"),
        ("ü?ü", b"%C3%BC?%C3%BC\tk=a\n"),
        ("a\\b", b"a\\\\b\tk=a\n"),
        ("a%2zb", b"a%2zb\tk=a\n"),
        ("{a}|b", b"{a}|b\tk=a\n"),
    ],
)
def test_spellings(reference: str, line: bytes) -> None:
    assert link_line(reference, "a") == line


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"x\n", None),
        (b"x\tk=a\tfuture\tother=\n", None),
        (b"x\tk=telepathy\n", None),
        ("x\tk=a\ttext=Größe\n".encode(), None),
        (b"\n", RefusalReason.FIELD),
        (b"\tk=a\n", RefusalReason.FIELD),
        (b"a b\tk=a\n", RefusalReason.FIELD),
        ("ü\tk=a\n".encode(), RefusalReason.FIELD),
        (b"x\tK=a\n", RefusalReason.FIELD),
        (b"x\t\n", RefusalReason.FIELD),
        (b"x\tk=\\a\n", RefusalReason.ESCAPE),
        (b"a\\b\tk=a\n", RefusalReason.ESCAPE),
        (b"a\\\\b\tk=a\n", None),
        (b"y" * 8192 + b"\tk=a\n", None),
        (b"y" * 8193 + b"\tk=a\n", RefusalReason.TOO_LARGE),
    ],
)
def test_lines(line: bytes, fault: RefusalReason | None) -> None:
    answer = read_tol(TABLE.replace(b"img/", line + b"img/").replace(b"end 3", b"end 4"))
    assert (answer.reason if isinstance(answer, Refusal) else None) == fault
    written = write_tol(HEAD, line)
    assert (written.reason if isinstance(written, Refusal) else None) == fault


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"Document: kettle.html\n", b""),
        (b"Document: kettle.html", b"Document: a b"),
        (b"Hash: sha-256=", b"Hash: md5="),
        (b"Length: 357", b"Length: many"),
        (b"df64=", b"df32="),
        (b"TVI: kettle.TVI", b"TVI: kettle TVI"),
        (b"TVI: kettle.TVI", b"Base-Hash: none"),
        (b"TVI: kettle.TVI", b"Base: " + b"x" * 9000),
    ],
)
def test_headers(old: bytes, new: bytes) -> None:
    reader = TolReader()
    assert reader.feed(TABLE.replace(old, new)) == b""
    answer = reader.finish()
    assert isinstance(answer, Refusal)
    assert answer.reason == RefusalReason.HEADER


def test_all_headers_come_back() -> None:
    full = TolHead("a", A, 1, -1, A, "b", "http://c/", "noindex, nofollow", '"e"', "Mon, 16 Nov 2026 18:00:00 GMT", "now")
    table = write_tol(full, b"")
    assert isinstance(table, bytes)
    assert read_tol(table) == Tol(full, b"")
    assert isinstance(write_tol(msgspec.structs.replace(full, robots="a\nb"), b""), Refusal)


def test_limits() -> None:
    assert isinstance(read_tol(TABLE, Limits(body_lines=2)), Refusal)
    assert isinstance(read_tol(TABLE, Limits(table_bytes=100)), Refusal)
    assert isinstance(write_tol(HEAD, BODY, Limits(body_lines=2)), Refusal)


def test_a_large_table_is_read_by_the_block() -> None:
    body = b"".join([b"page/%d.html\tk=a\n" % number for number in range(50_000)])
    table = write_tol(HEAD, body)
    assert isinstance(table, bytes)
    tol = read_tol(table)
    assert isinstance(tol, Tol)
    assert len(tol.follow) == 50_000
    assert isinstance(write_tol(HEAD, body + b"one-more\tk=a\n"), Refusal)
