"""The tables of a whole site, one after another."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.augment.bundle import BundleReader, read_bundle, write_bundle
from parcahyd.augment.refusal import Limits, Refusal, RefusalReason
from parcahyd.augment.tol import Tol, TolHead, link_line, write_tol


def _table(number: int) -> bytes:
    body = b"".join([link_line(f"{number}/{link}.html", "a") for link in range(number)])
    table = write_tol(TolHead(f"{number}.html", bytes(32)), body)
    assert isinstance(table, bytes)
    return table


TABLES = [_table(number) for number in range(5)]
BUNDLE = b"".join(TABLES)


@given(st.integers(1, 1000))
def test_a_bundle_in_any_chunks(size: int) -> None:
    reader = BundleReader()
    found = [table for at in range(0, len(BUNDLE), size) for table in reader.feed(BUNDLE[at : at + size])]
    assert reader.finish() is None
    assert [table.head.document for table in found] == [f"{number}.html" for number in range(5)]
    assert [len(table.references) for table in found] == list(range(5))
    assert all(table.is_complete for table in found)


@given(st.integers(0, len(BUNDLE)))
def test_what_came_before_a_cut_stays(at: int) -> None:
    tables, refusal = read_bundle(BUNDLE[:at])
    whole = [table for table in tables if table.is_complete]
    assert len(whole) == sum(len(b"".join(TABLES[: number + 1])) <= at for number in range(5))
    assert len(tables) - len(whole) <= 1
    assert refusal is None or refusal.reason in (RefusalReason.END, RefusalReason.NO_TABLE)
    assert (refusal is None) == (BUNDLE[:at] == b"".join(TABLES[: len(whole)]))


@given(st.binary())
def test_any_bytes_are_read(noise: bytes) -> None:
    tables, _ = read_bundle(BUNDLE + noise)
    assert len(tables) >= 5


def test_nothing_is_read_after_a_fault() -> None:
    tables, refusal = read_bundle(TABLES[1] + TABLES[2].replace(b"end 2", b"end 3") + TABLES[3])
    assert len(tables) == 1
    assert refusal == Refusal(RefusalReason.END, "count")


@pytest.mark.parametrize(
    ("limits", "fault"),
    [
        (Limits(bundle_bytes=len(BUNDLE) - 1), RefusalReason.TOO_LARGE),
        (Limits(bundle_lines=9), RefusalReason.TOO_MANY_LINES),
        (Limits(body_lines=3), RefusalReason.TOO_MANY_LINES),
        (Limits(bundle_bytes=len(BUNDLE), bundle_lines=10, table_bytes=len(TABLES[4])), None),
    ],
)
def test_limits(limits: Limits, fault: RefusalReason | None) -> None:
    reader = BundleReader(limits)
    for at in range(0, len(BUNDLE), 50):
        list(reader.feed(BUNDLE[at : at + 50]))
    assert (reader.refusal.reason if reader.refusal else None) == fault
    assert list(reader.feed(TABLES[1])) == [] or fault is None


def test_a_large_bundle_holds_one_table_at_a_time() -> None:
    reader = BundleReader()
    count = sum(isinstance(table, Tol) for _ in range(200) for table in reader.feed(TABLES[4] * 10))
    assert (count, reader.finish()) == (2000, None)


def test_a_bundle_that_would_not_be_read_is_not_written() -> None:
    assert write_bundle(TABLES) == BUNDLE
    assert isinstance(write_bundle(TABLES, Limits(bundle_bytes=100)), Refusal)
    assert isinstance(write_bundle(TABLES, Limits(bundle_lines=9)), Refusal)
