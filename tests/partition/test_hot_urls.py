from __future__ import annotations

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from parcahyd.partition.hot_urls import HotUrl, HotUrls

LINKS = st.lists(st.sampled_from("abcdefghij"), max_size=200)


def _counted(capacity: int, links: str | list[str]) -> HotUrls:
    table = HotUrls(capacity)
    for url in links:
        table.count(url)
    return table


def test_links_are_counted_exactly_while_there_is_room() -> None:
    assert _counted(3, "abacab").top(2) == [HotUrl("a", 3, 0), HotUrl("b", 2, 0)]


def test_the_url_with_fewest_links_goes_and_of_equals_the_oldest() -> None:
    assert _counted(3, "aabcd").top(9) == [HotUrl("a", 2, 0), HotUrl("d", 2, 1), HotUrl("c", 1, 0)]


@given(LINKS, st.integers(1, 8))
def test_what_many_links_lead_to_is_never_missed(links: list[str], capacity: int) -> None:
    exact = Counter(links)
    found = {hot.url: hot for hot in _counted(capacity, links).top(capacity)}
    assert len(found) <= capacity
    for url, times in exact.items():
        if times > len(links) / capacity:
            assert url in found
    for hot in found.values():
        assert hot.links - hot.over <= exact[hot.url] <= hot.links


@given(LINKS, st.integers(1, 8))
def test_it_keeps_what_a_search_through_all_counters_would_keep(links: list[str], capacity: int) -> None:
    counters: dict[str, list[int]] = {}
    for serial, url in enumerate(links):
        if url in counters:
            counters[url][0] += 1
        elif len(counters) < capacity:
            counters[url] = [1, serial]
        else:
            least = min(counters, key=lambda one: (counters[one][0], counters[one][1]))
            counters[url] = [counters.pop(least)[0] + 1, serial]
    found = {hot.url: hot.links for hot in _counted(capacity, links).top(capacity)}
    assert found == {url: times for url, (times, _) in counters.items()}


def test_the_same_links_leave_the_same_urls() -> None:
    links = [f"{(number * number) % 977}" for number in range(5000)]
    assert _counted(50, links).top(50) == _counted(50, links).top(50)


def test_a_flood_of_new_urls_does_not_wash_out_what_is_hot() -> None:
    table = _counted(10, ["hot"] * 1000)
    table.note_committed(1, ["hot"], table.version(1))
    for number in range(5000):
        table.count(f"cold-{number}")
    assert table.is_posted(1, "hot")
    assert table.top(1)[0].url == "hot"


def test_only_what_was_committed_to_that_owner_is_posted() -> None:
    table = _counted(10, "aab")
    assert not table.is_posted(1, "a")
    table.note_committed(1, ["a", "without a counter"], table.version(1))
    assert table.is_posted(1, "a")
    assert not table.is_posted(2, "a")
    assert not table.is_posted(1, "b")
    assert not table.is_posted(1, "without a counter")


def test_a_url_that_lost_its_counter_counts_as_not_posted() -> None:
    table = _counted(1, "a")
    table.note_committed(1, ["a"], table.version(1))
    for url in "bba":
        table.count(url)
    assert not table.is_posted(1, "a")


def test_an_owner_is_forgotten_and_a_batch_on_its_way_too() -> None:
    table = _counted(10, "ab")
    version = table.version(1)
    table.note_committed(1, ["a"], version)
    table.forget(1)
    table.note_committed(1, ["b"], version)
    assert not table.is_posted(1, "a")
    assert not table.is_posted(1, "b")
    assert len(table.top(9)) == 2
