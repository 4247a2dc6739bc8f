from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.partition.posted_urls import PostedUrls

OWNERS = st.integers(0, 3)
URLS = st.text(max_size=3)
STEPS = st.one_of(
    st.tuples(st.just("post"), OWNERS, st.lists(URLS, max_size=4)),
    st.tuples(st.just("judge"), OWNERS, st.none()),
    st.tuples(st.just("forget"), OWNERS, st.none()),
)


def _noted(table: PostedUrls, owner: int, *urls: str) -> None:
    table.note_committed(owner, urls, table.version(owner))


def test_what_was_committed_is_posted_to_that_owner_alone() -> None:
    table = PostedUrls(4096)
    assert not table.is_posted(1, "http://a.example/")
    _noted(table, 1, "http://a.example/")
    assert table.is_posted(1, "http://a.example/")
    assert not table.is_posted(2, "http://a.example/")
    assert not table.is_posted(1, "http://a.example/b")


def test_asking_makes_no_entry() -> None:
    table = PostedUrls(4096)
    assert [table.is_posted(1, "http://a.example/") for _ in range(3)] == [False] * 3


def test_an_owner_is_forgotten_and_no_other() -> None:
    table = PostedUrls(4096)
    for owner in (1, 2):
        _noted(table, owner, "http://a.example/")
    table.forget(1)
    assert [table.is_posted(owner, "http://a.example/") for owner in (1, 2)] == [False, True]
    _noted(table, 1, "http://a.example/")
    assert table.is_posted(1, "http://a.example/")


def test_a_batch_that_was_judged_before_the_owner_was_forgotten_is_not_remembered() -> None:
    table = PostedUrls(4096)
    version = table.version(1)
    table.forget(1)
    table.note_committed(1, ["http://a.example/"], version)
    assert not table.is_posted(1, "http://a.example/")


@pytest.mark.parametrize("memory", [0, 1, 64])
def test_the_least_recently_used_goes_first(memory: int) -> None:
    table = PostedUrls(memory)
    _noted(table, 1, "a", "b", "c", "d")
    assert table.is_posted(1, "a")
    _noted(table, 1, "e")
    assert [url for url in "abcde" if table.is_posted(1, url)] == ["a", "c", "d", "e"]


def test_a_url_that_is_noted_twice_takes_one_place() -> None:
    table = PostedUrls(64)
    _noted(table, 1, "a", "b", "c", "a", "a", "b")
    assert [url for url in "abc" if table.is_posted(1, url)] == ["a", "b", "c"]


def test_memory_is_bounded_whatever_is_posted() -> None:
    table = PostedUrls(64 * 1024)
    tracemalloc.start()
    try:
        for number in range(50_000):
            _noted(table, number % 4, f"http://{number}.example/{'x' * 500}")
        grown, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert grown < 10_000


def test_most_of_what_fits_is_remembered() -> None:
    table = PostedUrls(16 * 10_000)
    urls = [f"http://{number}.example/" for number in range(5000)]
    _noted(table, 1, *urls)
    assert sum(table.is_posted(1, url) for url in urls) > 4700


@given(st.lists(STEPS, max_size=60))
def test_it_never_claims_what_was_not_committed_since_the_owner_changed(steps: list[tuple[str, int, list[str] | None]]) -> None:
    """Against a table without bounds, with batches that are on their way while owners change."""
    table = PostedUrls(256)
    committed: set[tuple[int, str]] = set()
    judged = dict.fromkeys(range(4), 0)
    forgotten: set[int] = set()
    for step, owner, urls in steps:
        if step == "judge":
            judged[owner] = table.version(owner)
            forgotten.discard(owner)
        elif step == "forget":
            table.forget(owner)
            committed = {one for one in committed if one[0] != owner}
            forgotten.add(owner)
        else:
            table.note_committed(owner, urls or (), judged[owner])
            committed |= {(owner, url) for url in urls or () if owner not in forgotten}
        for one, url in [(one, url) for one in range(4) for url in urls or ("a", "")]:
            assert not table.is_posted(one, url) or (one, url) in committed
