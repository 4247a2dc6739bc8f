"""Places are learned from two versions and followed from one to the next."""

from __future__ import annotations

from parcahyd.augment.learned import MAX_CONTENT, MAX_PLACES, NOTHING_LEARNED, WINDOW, Learned, skeleton_hash, split, visited
from parcahyd.augment.learning import learn


def _page(*contents: str, head: str = "Title") -> bytes:
    items = "".join(f'<li class="item-{number}">{content}</li>\n' for number, content in enumerate(contents))
    return f"<h1>{head}</h1>\n<ul>\n{items}</ul>\n<p>The rest of the page, longer than its list, as pages are.</p>".encode()


def _contents(page: bytes, learned: Learned) -> list[bytes]:
    return [region.content for region in split(page, learned).regions]


def test_each_place_is_learned() -> None:
    learned = learn(NOTHING_LEARNED, _page("11", "same", "22"), _page("33", "same", "44"))
    assert _contents(_page("5", "same", "six"), learned) == [b"5", b"six"]
    assert learned.visits == 1
    assert [place.history for place in learned.places] == [1, 1]


def test_places_that_nearly_meet_are_one() -> None:
    learned = learn(NOTHING_LEARNED, _page("17 Oct 18:03"), _page("18 Nov 19:04"))
    assert _contents(_page("Monday"), learned) == [b"Monday"]
    token = learn(NOTHING_LEARNED, _page("DfQpUZ&#43;IGF7"), _page("gLTnpVYSI&#43;Q38"))
    assert _contents(_page("none"), token) == [b"none"], "an escape in both is chance"


def test_a_place_grows_by_what_changes_beside_it() -> None:
    learned = learn(NOTHING_LEARNED, _page("17.345"), _page("17.346"))
    assert _contents(_page("17.346"), learned) == [b"346"]
    assert visited(learned, skeleton_hash(_page("17.346"), learned), _page("18.002")) is None
    learned = learn(learned, _page("17.346"), _page("18.002"))
    assert _contents(_page("18.002"), learned) == [b"18.002"]
    assert [place.history for place in learned.places] == [0b11]


def test_a_place_is_followed_when_the_page_changes_around_it() -> None:
    first, second = _page("11", "22"), _page("33", "22")
    learned = learn(NOTHING_LEARNED, first, second)
    third = _page("44", "22", head="Another, longer title").replace(b"The rest", b"All the rest")
    learned = learn(learned, second, third)
    assert [place.history for place in learned.places if b"item-0" in place.before] == [0b11]
    assert b"44" in _contents(third, learned)


def test_one_change_in_many_visits_is_one_of_the_page() -> None:
    learned = learn(Learned(visits=5), _page("11"), _page("12"))
    assert learned.visits == 6
    assert _contents(_page("12"), learned) == []
    assert len(learned.places) == 1, "it is remembered all the same"


def test_what_changes_now_and_then_is_no_volatile_place() -> None:
    learned, stored = NOTHING_LEARNED, _page("0")
    known = skeleton_hash(stored, learned)
    changes = 0
    for visit_number in range(1, 60):
        page = _page(str(visit_number // 3))
        visit = visited(learned, known, page)
        if visit is None:
            changes += 1
            learned = learn(learned, stored, page)
            stored, known = page, skeleton_hash(page, learned)
        else:
            learned, known = visit
    assert changes >= 59 // 3 - 1


def test_changes_that_are_too_long_are_of_the_page() -> None:
    long = "x" * MAX_CONTENT
    filling = b"<p>" + b"text " * 1000
    for old, new in ((long + "y", "z"), ("z", long + "y"), (long + "y", long + "z")):
        assert learn(NOTHING_LEARNED, _page(old) + filling, _page(new) + filling).places == ()
    assert len(learn(NOTHING_LEARNED, _page(long) + filling, _page("z") + filling).places) == 1


def test_of_a_page_that_changes_all_over_nothing_is_learned() -> None:
    many = MAX_PLACES + 1
    assert learn(NOTHING_LEARNED, _page(*["a"] * many), _page(*["b"] * many)) == Learned((), 1)
    assert len(learn(NOTHING_LEARNED, _page(*["a"] * MAX_PLACES), _page(*["b"] * MAX_PLACES)).places) == MAX_PLACES
    assert learn(NOTHING_LEARNED, b"<p>some text</p>", b"<p>other words</p>").places == ()


def test_a_place_at_either_end() -> None:
    text = b" text that is longer than what changes "
    learned = learn(NOTHING_LEARNED, b"11" + text + b"22", b"33" + text + b"44")
    assert _contents(b"5555" + text, learned) == [b"5555", b""]
    assert split(b"1" + text + b"2" * (MAX_CONTENT + 1), learned).regions == ()


def test_visits_are_counted_up_to_the_window() -> None:
    learned = NOTHING_LEARNED
    for number in range(WINDOW + 5):
        learned = learn(learned, _page(str(number)), _page(str(number + 1)))
    assert learned.visits == WINDOW
    assert [place.history for place in learned.places] == [0xFF]
    assert learn(learned, _page("1"), b"another page").places == ()
