"""What a visit has seen: sent keys, found keys, and what happens when there is no room for more."""

from __future__ import annotations

from array import array

from hypothesis import given
from hypothesis import strategies as st

from parcahyd.pipeline.crawl_worker.known_urls import KnownUrls, Room, SitemapPaths

ORIGIN = "https://a.example"

_KEYS = st.integers(-(2**63), 2**63 - 1)


@given(st.sets(_KEYS, max_size=50), st.lists(_KEYS, max_size=50))
def test_a_key_is_new_exactly_once(sent: set[int], found: list[int]) -> None:
    known = KnownUrls(array("q", sorted(sent)).tobytes(), True, Room(0, 1000, 0))
    model = set(sent)
    for key in [*found, *sent]:
        assert known.add(key) == (key not in model)
        model.add(key)


def test_a_key_that_is_taken_back_is_new_again_and_takes_no_room() -> None:
    room = Room(0, 2, 0)
    known = KnownUrls(array("q", [5]).tobytes(), True, room)
    for _ in range(5):
        assert known.add(1)
        known.take_back(1)
    assert room.keys == 2
    known.take_back(5)
    assert not known.add(5)
    assert known.is_complete


def test_without_room_a_key_stays_new_and_the_set_is_not_whole_any_more() -> None:
    room = Room(0, 2, 0)
    known = KnownUrls(b"", True, room)
    assert [known.add(key) for key in (1, 2, 3, 3, 2)] == [True, True, True, True, False]
    assert not known.is_complete
    assert room.keys == 0
    known.forget()
    assert room.keys == 2


def test_sitemaps_of_the_site_are_noted_once() -> None:
    paths = SitemapPaths(ORIGIN)
    assert paths.note([f"{ORIGIN}/1.xml", f"{ORIGIN}/2.xml?x", f"{ORIGIN}/1.xml"]) == ["/1.xml", "/2.xml?x"]
    assert paths.note([f"{ORIGIN}/2.xml?x", f"{ORIGIN}/3.xml"]) == ["/3.xml"]
    assert [path in paths for path in ("/1.xml", "/3.xml", "/4.xml")] == [True, True, False]


def test_others_are_passed_over() -> None:
    foreign = ("http://a.example/", "https://a.example:8443/", "https://b.a.example/", "https://a.example.b.example/")
    assert SitemapPaths(ORIGIN).note([None, *foreign]) == []


def test_an_index_that_invents_sitemaps_comes_to_an_end() -> None:
    paths = SitemapPaths(ORIGIN)
    noted = [paths.note(f"{ORIGIN}/{answer}/{number}" for number in range(9)) for answer in range(100)]
    assert sum(map(len, noted)) == 500
    assert noted[-1] == []
