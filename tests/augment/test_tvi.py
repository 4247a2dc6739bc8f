"""Tables of variable information."""

from __future__ import annotations

from hashlib import sha256

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.augment.refusal import Limits, Refusal, RefusalReason
from parcahyd.augment.tvi import Region, Tvi, TviReader, read_tvi, write_tvi

A, B = sha256(b"a").digest(), sha256(b"b").digest()
KETTLE = Tvi(
    "kettle.html",
    A,
    296,
    B,
    357,
    (
        Region("price", 151, b"11.00 EUR"),
        Region("stock", 193, b"104"),
        Region("news", 220, b'<ul><li><a href="news/1.html">First</a></li></ul>'),
    ),
)
TABLE = (
    b"TVI/1\nDocument: kettle.html\nBase-Hash: sha-256=%b\nBase-Length: 296\nHash: sha-256=%b\nLength: 357\n\n"
    b"price\t151\t9\t11.00 EUR\nstock\t193\t3\t104\n"
    b'news\t220\t49\t<ul><li><a href="news/1.html">First</a></li></ul>\nend 3\n'
) % (A.hex().encode(), B.hex().encode())


def test_the_example_of_the_specification() -> None:
    assert write_tvi(KETTLE) == TABLE
    assert read_tvi(TABLE) == KETTLE
    assert read_tvi(TABLE.replace(b"\n", b"\r\n")) == KETTLE
    assert read_tvi(TABLE.replace(b"stock", b"# nothing\nstock")) == KETTLE


def _tables() -> st.SearchStrategy[Tvi]:
    ids = st.from_regex(r"\A[A-Za-z0-9][A-Za-z0-9._:-]{0,63}\Z")
    regions = st.lists(st.builds(Region, ids, st.integers(0, 999), st.binary(max_size=20)), max_size=6)
    words = st.from_regex(r"\A[!-~]([ -~]{0,10}[!-~])?\Z") | st.just("")
    return st.builds(_table, regions, st.none() | st.integers(0, 10**9), words, words)


def _table(regions: list[Region], refresh: int | None, etag: str, modified: str) -> Tvi:
    by_place = {region.offset: region for region in {region.id: region for region in regions}.values()}
    kept = tuple(by_place[offset] for offset in sorted(by_place))
    length = 1000 + sum(len(region.content) for region in kept)
    return Tvi("kettle.html", A, 1000, B, length, kept, refresh, etag, modified)


@given(_tables(), st.integers(1, 80))
def test_what_is_written_is_read_back(tvi: Tvi, size: int) -> None:
    data = write_tvi(tvi)
    assert isinstance(data, bytes)
    reader = TviReader()
    assert all(reader.feed(data[at : at + size]) is None for at in range(0, len(data), size))
    assert reader.finish() == tvi


@given(_tables(), st.data())
def test_what_is_cut_or_followed_by_more_is_refused(tvi: Tvi, data: st.DataObject) -> None:
    written = write_tvi(tvi)
    assert isinstance(written, bytes)
    assert isinstance(read_tvi(written[: data.draw(st.integers(0, len(written) - 1))]), Refusal)
    assert isinstance(read_tvi(written + data.draw(st.binary(min_size=1))), Refusal)


@given(st.binary())
def test_any_bytes_are_read(noise: bytes) -> None:
    assert isinstance(read_tvi(noise), Refusal)
    assert isinstance(read_tvi(TABLE[:-8] + noise), Refusal | Tvi)


@given(
    st.builds(
        Tvi,
        st.text(max_size=5),
        st.binary(max_size=33),
        st.integers(-5, 30),
        st.just(B),
        st.integers(-5, 30),
        st.lists(st.builds(Region, st.text(max_size=3), st.integers(-3, 30), st.binary(max_size=3)), max_size=2).map(tuple),
        st.none() | st.integers(-5, 5),
        st.text(max_size=4),
        st.text(max_size=4),
    )
)
def test_a_writer_refuses_what_a_reader_would(tvi: Tvi) -> None:
    written = write_tvi(tvi)
    assert isinstance(written, Refusal) or read_tvi(written) == tvi


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        (b"Document: kettle.html\n", b"", RefusalReason.HEADER),
        (b"Length: 357\n", b"", RefusalReason.HEADER),
        (b"Base-Length: 296\n", b"", RefusalReason.HEADER),
        (b"Length: 357", b"Length: 0357", RefusalReason.HEADER),
        (b"Length: 357", b"Length: 358", RefusalReason.LENGTH),
        (b"Length: 296", b"Length: 200", RefusalReason.REGIONS),
        (b"Length: 357\n", b"Length: 357\nRefresh: soon\n", RefusalReason.HEADER),
        (b"Length: 357\n", b"Length: 357\nSomething: else\n", None),
        (b"Length: 357\n", b"Length: 357\n!Something: else\n", RefusalReason.DEMAND),
        (b"\t9\t", b"\t8\t", RefusalReason.LENGTH),
        (b"\t9\t", b"\t09\t", RefusalReason.FIELD),
        (b"\t9\t", b"\t", RefusalReason.FIELD),
        (b"11.00 EUR", b"11.00\tEUR", RefusalReason.FIELD),
        (b"11.00 EUR", b"11.00\\EUR", RefusalReason.ESCAPE),
        (b"stock", b"price", RefusalReason.REGIONS),
        (b"stock", b".stock", RefusalReason.FIELD),
        (b"193", b"151", RefusalReason.REGIONS),
        (b"193", b"19", RefusalReason.REGIONS),
        (b"220", b"297", RefusalReason.REGIONS),
        (b"end 3", b"end 2", RefusalReason.END),
        (b"end 3", b"end 03", RefusalReason.END),
        (b"sha-256", b"sha-512", RefusalReason.HEADER),
        (b"TVI/1", b"TVI/2", RefusalReason.VERSION),
        (b"TVI/1", b"TOL/1", RefusalReason.NO_TABLE),
    ],
)
def test_faults(old: bytes, new: bytes, fault: RefusalReason | None) -> None:
    answer = read_tvi(TABLE.replace(old, new))
    assert (answer.reason if isinstance(answer, Refusal) else None) == fault


def test_limits() -> None:
    assert isinstance(read_tvi(TABLE, Limits(body_lines=2)), Refusal)
    assert isinstance(read_tvi(TABLE, Limits(table_bytes=300)), Refusal)
    assert isinstance(read_tvi(TABLE, Limits(reference=5)), Refusal)
    assert isinstance(write_tvi(KETTLE, Limits(body_lines=2)), Refusal)
    assert isinstance(write_tvi(KETTLE, Limits(table_bytes=300)), Refusal)
    assert isinstance(write_tvi(msgspec.structs.replace(KETTLE, document="x" * 9000)), Refusal)


def test_a_reader_says_early_that_it_is_no_table() -> None:
    reader = TviReader()
    refusal = reader.feed(b"<!doctype html>\n")
    assert refusal is not None
    assert reader.feed(TABLE) == refusal == reader.finish()
