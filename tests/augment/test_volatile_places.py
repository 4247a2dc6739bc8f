"""What is kept of volatile places, and how versions are judged by it."""

from __future__ import annotations

from hashlib import sha256
from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.augment.skeleton import Parted, merge
from parcahyd.augment.tvi import Region
from parcahyd.augment.volatile_places import (
    MAX_CONTENT,
    MAX_PLACES,
    NOTHING_LEARNED,
    WINDOW,
    Learned,
    Place,
    UnchangedVisit,
    learn,
    read_learned,
    skeleton_hash,
    split,
    visited,
    write_learned,
)


def _page(clock: str, text: str = "Some text that lasts.") -> bytes:
    return f"<html><body><p>{text}</p>\n<footer>It is {clock} now.</footer></body></html>".encode()


def _same_skeleton(one: Parted, other: Parted) -> bool:
    return one.skeleton == other.skeleton and one.places == other.places


LEARNED = learn(NOTHING_LEARNED, _page("12:34"), _page("12:35"))
HASH = skeleton_hash(_page("12:35"), LEARNED)


def test_a_page_that_turns_its_clock_is_the_same() -> None:
    parted = split(_page("12:35"), LEARNED)
    assert parted.skeleton == _page("")
    assert parted.regions == (Region("1", _page("").index(b" now"), b"12:35"),)
    assert _same_skeleton(parted, split(_page("23:59:59"), LEARNED))
    assert isinstance(visited(LEARNED, HASH, _page("23:59:59")), UnchangedVisit)


@pytest.mark.parametrize(
    "page",
    [
        _page("12:36", "Some other text."),
        _page("12:36").replace(b"now", b"then"),
        _page("12:36") + b"!",
        _page("x" * (MAX_CONTENT + 1)),
        b"",
        _page("12:36")[:50],
    ],
)
def test_any_other_change_is_one(page: bytes) -> None:
    assert visited(LEARNED, HASH, page) is None
    parted = split(page, LEARNED)
    assert merge(*parted[:2]) == page
    assert not _same_skeleton(parted, split(_page("12:35"), LEARNED))


def test_what_settles_is_part_of_the_page() -> None:
    learned, known = LEARNED, HASH
    quiet = 0
    while (visit := visited(learned, known, _page("13:00"))) is not None:
        learned, known = visit
        quiet += 1
    assert 0 < quiet < WINDOW, "what lasts is a change of the page at last"


def test_what_settles_as_it_is_stored_is_no_change() -> None:
    learned, known = LEARNED, HASH
    for _ in range(WINDOW + 1):
        visit = visited(learned, known, _page("12:35"))
        assert visit is not None
        learned, known = visit
    assert learned == Learned((), WINDOW)
    assert known == skeleton_hash(_page("12:35"), NOTHING_LEARNED)
    assert visited(learned, known, _page("12:36")) is None


def test_places_behind_a_forgotten_one_are_still_found() -> None:
    first, second = (f"<b>{number}</b> and the rest of it, then <i>{number}</i>.".encode() for number in (11, 22))
    learned = learn(NOTHING_LEARNED, first, second)
    known = skeleton_hash(second, learned)
    for number in range(30, 60):
        visit = visited(learned, known, f"<b>22</b> and the rest of it, then <i>{number}</i>.".encode())
        assert visit is not None
        learned, known = visit
    assert [place.before[-3:] for place in learned.places] == [b"<i>"]
    assert visited(learned, known, b"<b>23</b> and the rest of it, then <i>1</i>.") is None


def test_least_changes() -> None:
    assert split(_page("12:35"), LEARNED, 2) == Parted(_page("12:35"))
    again = learn(LEARNED, _page("12:35"), _page("12:36"))
    assert split(_page("12:36"), again, 2).skeleton == _page("")
    assert visited(again, skeleton_hash(_page("12:36"), again, 2), _page("12:37"), 2) is not None


def test_without_places_a_version_is_its_skeleton() -> None:
    page = _page("12:35")
    assert split(page, NOTHING_LEARNED) == Parted(page)
    assert visited(NOTHING_LEARNED, skeleton_hash(page, NOTHING_LEARNED), page) == UnchangedVisit(
        Learned((), 1), sha256(page).digest()
    )


def test_through_the_database() -> None:
    assert read_learned(write_learned(LEARNED)) == LEARNED
    assert write_learned(NOTHING_LEARNED) == b""
    assert len(write_learned(LEARNED)) < 100


@given(st.binary(max_size=100))
def test_damaged_ones_are_nothing(data: bytes) -> None:
    assert isinstance(read_learned(data), Learned)
    cut = write_learned(LEARNED)[:-1]
    assert read_learned(cut) == NOTHING_LEARNED


@pytest.mark.parametrize(
    "wrong",
    [
        Learned(form=2),
        Learned(visits=WINDOW + 1),
        Learned((Place(3, b"four", b"", 1, 0, 0),), 1),
        Learned((Place(9, b"", b"", 1 << WINDOW, 0, 0),), 1),
        Learned((Place(9, b"", b"", 1, 0, 0), Place(9, b"", b"", 1, 0, 0)), 1),
        Learned(tuple(Place(number, b"", b"", 1, 0, 0) for number in range(65)), 1),
    ],
)
def test_ones_that_cannot_be_are_nothing(wrong: Learned) -> None:
    assert read_learned(msgspec.msgpack.encode(wrong)) == NOTHING_LEARNED


_TEXT = st.text('ab1<>" \n\u00e9', max_size=30).map(str.encode)


@given(st.lists(_TEXT, min_size=2, max_size=6), st.lists(_TEXT, min_size=1, max_size=4), st.binary(max_size=80))
def test_any_version_comes_back(contents: list[bytes], stable: list[bytes], other: bytes) -> None:
    """Whatever was learned, and whatever it is applied to: parted and merged, a version is the same bytes."""
    versions = [content.join([b"<p>begin</p>", *stable, b"<p>the end</p>"]) for content in contents]
    learned = NOTHING_LEARNED
    for old, new in pairwise(versions):
        learned = read_learned(write_learned(learn(learned, old, new)))
    for version in (*versions, other, b"".join(versions)):
        assert merge(*split(version, learned)[:2]) == version


@given(st.lists(_TEXT, min_size=2, max_size=8))
def test_a_page_that_is_judged_the_same_differs_in_volatile_places_only(contents: list[bytes]) -> None:
    pages = [b"<head></head><body>" + content + b"</body> and some more text." for content in contents]
    learned, stored = NOTHING_LEARNED, pages[0]
    known = skeleton_hash(stored, learned)
    for page in pages[1:]:
        visit = visited(learned, known, page)
        if visit is None:
            learned = learn(learned, stored, page)
            stored, known = page, skeleton_hash(page, learned)
            continue
        assert _same_skeleton(split(page, learned), split(stored, learned))
        learned, known = visit
        assert known == skeleton_hash(stored, learned) == skeleton_hash(page, learned)


@given(st.lists(st.lists(_TEXT, min_size=3, max_size=3), min_size=2, max_size=12))
def test_what_lasts_is_stored(versions: list[list[bytes]]) -> None:
    """However a page changed before: when it stays as it is, the stored version is that page, byte for byte."""
    pages = [b"<h1>%b</h1> some text <p>%b</p> more text of it <i>%b</i> and the end" % tuple(version) for version in versions]
    learned, stored = NOTHING_LEARNED, pages[0]
    known = skeleton_hash(stored, learned)
    for page in pages + pages[-1:] * WINDOW:
        visit = visited(learned, known, page)
        if visit is None:
            learned = read_learned(write_learned(learn(learned, stored, page)))
            stored, known = page, skeleton_hash(page, learned)
        else:
            learned, known = visit
    assert stored == pages[-1]


def _page_learning(*contents: str, head: str = "Title") -> bytes:
    items = "".join(f'<li class="item-{number}">{content}</li>\n' for number, content in enumerate(contents))
    return f"<h1>{head}</h1>\n<ul>\n{items}</ul>\n<p>The rest of the page, longer than its list, as pages are.</p>".encode()


def _contents(page: bytes, learned: Learned) -> list[bytes]:
    return [region.content for region in split(page, learned).regions]


def test_each_place_is_learned() -> None:
    learned = learn(NOTHING_LEARNED, _page_learning("11", "same", "22"), _page_learning("33", "same", "44"))
    assert _contents(_page_learning("5", "same", "six"), learned) == [b"5", b"six"]
    assert learned.visits == 1
    assert [place.history for place in learned.places] == [1, 1]


def test_places_that_nearly_meet_are_one() -> None:
    learned = learn(NOTHING_LEARNED, _page_learning("17 Oct 18:03"), _page_learning("18 Nov 19:04"))
    assert _contents(_page_learning("Monday"), learned) == [b"Monday"]
    token = learn(NOTHING_LEARNED, _page_learning("DfQpUZ&#43;IGF7"), _page_learning("gLTnpVYSI&#43;Q38"))
    assert _contents(_page_learning("none"), token) == [b"none"], "an escape in both is chance"


def test_a_place_grows_by_what_changes_beside_it() -> None:
    learned = learn(NOTHING_LEARNED, _page_learning("17.345"), _page_learning("17.346"))
    assert _contents(_page_learning("17.346"), learned) == [b"346"]
    assert visited(learned, skeleton_hash(_page_learning("17.346"), learned), _page_learning("18.002")) is None
    learned = learn(learned, _page_learning("17.346"), _page_learning("18.002"))
    assert _contents(_page_learning("18.002"), learned) == [b"18.002"]
    assert [place.history for place in learned.places] == [0b11]


def test_a_place_is_followed_when_the_page_changes_around_it() -> None:
    first, second = _page_learning("11", "22"), _page_learning("33", "22")
    learned = learn(NOTHING_LEARNED, first, second)
    third = _page_learning("44", "22", head="Another, longer title").replace(b"The rest", b"All the rest")
    learned = learn(learned, second, third)
    assert [place.history for place in learned.places if b"item-0" in place.before] == [0b11]
    assert b"44" in _contents(third, learned)


def test_one_change_in_many_visits_is_one_of_the_page() -> None:
    learned = learn(Learned(visits=5), _page_learning("11"), _page_learning("12"))
    assert learned.visits == 6
    assert _contents(_page_learning("12"), learned) == []
    assert len(learned.places) == 1, "it is remembered all the same"


def test_what_changes_now_and_then_is_no_volatile_place() -> None:
    learned, stored = NOTHING_LEARNED, _page_learning("0")
    known = skeleton_hash(stored, learned)
    changes = 0
    for visit_number in range(1, 60):
        page = _page_learning(str(visit_number // 3))
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
        assert learn(NOTHING_LEARNED, _page_learning(old) + filling, _page_learning(new) + filling).places == ()
    assert len(learn(NOTHING_LEARNED, _page_learning(long) + filling, _page_learning("z") + filling).places) == 1


def test_of_a_page_that_changes_all_over_nothing_is_learned() -> None:
    many = MAX_PLACES + 1
    assert learn(NOTHING_LEARNED, _page_learning(*["a"] * many), _page_learning(*["b"] * many)) == Learned((), 1)
    assert (
        len(learn(NOTHING_LEARNED, _page_learning(*["a"] * MAX_PLACES), _page_learning(*["b"] * MAX_PLACES)).places)
        == MAX_PLACES
    )
    assert learn(NOTHING_LEARNED, b"<p>some text</p>", b"<p>other words</p>").places == ()


def test_a_place_at_either_end() -> None:
    text = b" text that is longer than what changes "
    learned = learn(NOTHING_LEARNED, b"11" + text + b"22", b"33" + text + b"44")
    assert _contents(b"5555" + text, learned) == [b"5555", b""]
    assert split(b"1" + text + b"2" * (MAX_CONTENT + 1), learned).regions == ()


def test_visits_are_counted_up_to_the_window() -> None:
    learned = NOTHING_LEARNED
    for number in range(WINDOW + 5):
        learned = learn(learned, _page_learning(str(number)), _page_learning(str(number + 1)))
    assert learned.visits == WINDOW
    assert [place.history for place in learned.places] == [0xFF]
    assert learn(learned, _page_learning("1"), b"another page").places == ()
