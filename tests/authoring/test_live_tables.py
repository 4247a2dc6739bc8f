"""Tables that were made a short while ago."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from parcahyd.authoring.live_tables import LiveTables, TableCache, TablePair, read_answer


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3000))), st.integers(0, 8000))
def test_it_never_holds_more_than_it_may(puts: list[tuple[int, int]], capacity: int) -> None:
    cache = TableCache(capacity)
    for key, size in puts:
        pair = TablePair(b"x" * size, None)
        cache.put(key, pair)
        assert cache.size <= capacity
        assert cache.get(key) == (None if size + 500 > capacity else pair)


def test_what_was_not_asked_for_the_longest_goes_first() -> None:
    cache = TableCache(1200)
    one, two, three = (TablePair(bytes([number]), None) for number in range(3))
    cache.put(1, one)
    cache.put(2, two)
    assert cache.get(1) == one
    cache.put(3, three)
    assert (cache.get(1), cache.get(2), cache.get(3)) == (one, None, three)


def test_tables_are_made_once_for_the_same_bytes() -> None:
    tables = LiveTables()
    page = read_answer(200, [("content-type", "text/html")])
    assert page is not None
    first = tables.table("TOL", "/a", page, b"<a href=b>")
    assert tables.table("TOL", "/a", page, b"<a href=b>") is first
    assert tables.table("TOL", "/a", page, b"<a href=c>") != first


def test_what_must_not_be_stored_is_not() -> None:
    tables = LiveTables()
    page = read_answer(200, [("content-type", "text/html"), ("cache-control", "no-store")])
    assert page is not None
    first = tables.table("TOL", "/a", page, b"<a href=b>")
    assert first is not None
    assert tables.table("TOL", "/a", page, b"<a href=b>") is not first
