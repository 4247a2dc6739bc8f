"""A shelf and the window on it: what is laid down is read elsewhere, no place is given twice, and nothing is left behind."""

from __future__ import annotations

import mmap
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from parcahyd.core.records import Place
from parcahyd.runtime.shelf import Room, Shelf, Window

pytestmark = pytest.mark.skipif(not hasattr(os, "memfd_create"), reason="this system has no memory without a name")

_BLOCK = mmap.PAGESIZE
_SIZE = 25 * _BLOCK
_BODIES = [bytes([number]) * (7 * _BLOCK + 1) for number in range(4)]


@pytest.fixture
def built() -> tuple[Shelf, Window]:
    """A shelf on which three of the bodies have room, and its window."""
    made = Shelf.build(_SIZE)
    assert made is not None
    shelf, descriptor = made
    window = Window()
    window.open(descriptor)
    return shelf, window


def _put(shelf: Shelf, body: bytes) -> Place:
    place = shelf.put(body)
    assert place is not None
    return place


def _is_mapped() -> bool:
    return "memfd:shelf" in Path("/proc/self/maps").read_text()


# --- shelf and window --------------------------------------------------------------------------------------------------


def test_what_is_laid_down_is_seen_through_the_window(built: tuple[Shelf, Window]) -> None:
    shelf, window = built
    places = [_put(shelf, body) for body in _BODIES[:3]]
    assert [window.at(place) for place in places] == _BODIES[:3]
    assert window.at(places[0]).readonly


def test_a_full_shelf_takes_nothing_until_a_place_is_back(built: tuple[Shelf, Window]) -> None:
    shelf, window = built
    places = [_put(shelf, body) for body in _BODIES[:3]]
    assert shelf.put(_BODIES[3]) is None
    window.clear(places[1])
    assert shelf.put(_BODIES[3]) is None, "the worker does not know yet"
    cleared = window.take_cleared()
    assert (cleared, window.take_cleared()) == ((places[1].start,), ())
    shelf.give_back(cleared)
    assert window.at(_put(shelf, _BODIES[3])) == _BODIES[3]
    assert [window.at(place) for place in (places[0], places[2])] == [_BODIES[0], _BODIES[2]]


@pytest.mark.parametrize("body", [b"", b"small" * 10, bytes(_SIZE + 1)], ids=["empty", "small", "larger than the shelf"])
def test_what_is_not_worth_it_or_too_large_is_left_to_its_record(built: tuple[Shelf, Window], body: bytes) -> None:
    assert built[0].put(body) is None


def test_a_document_may_fill_the_shelf(built: tuple[Shelf, Window]) -> None:
    shelf, window = built
    body = os.urandom(_SIZE)
    assert window.at(_put(shelf, body)) == body


@pytest.mark.parametrize("place", [Place(-1, 10), Place(0, -1), Place(0, _SIZE + 1), Place(_SIZE, 1), Place(5, 1 << 62)])
def test_a_place_beyond_the_shelf_is_refused(built: tuple[Shelf, Window], place: Place) -> None:
    with pytest.raises(ValueError, match="not on a shelf"):
        built[1].at(place)


def test_nothing_lies_behind_a_window_without_a_shelf() -> None:
    with pytest.raises(ValueError, match="not on a shelf of 0 bytes"):
        Window().at(Place(0, 0))


def test_the_window_outlives_the_shelf_and_then_nothing_is_left() -> None:
    assert not _is_mapped()
    made = Shelf.build(_SIZE)
    assert made is not None
    shelf, descriptor = made
    assert os.readlink(f"/proc/self/fd/{descriptor}").startswith("/memfd:"), "no file has a name that could stay"
    window = Window()
    window.open(descriptor)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(descriptor)
    view = window.at(_put(shelf, _BODIES[1]))
    del shelf, made
    assert view == _BODIES[1]
    del window
    assert view == _BODIES[1], "what is being packed stays until it is"
    del view
    assert not _is_mapped()


def test_the_memory_cannot_shrink_under_its_reader() -> None:
    made = Shelf.build(_SIZE)
    assert made is not None
    with pytest.raises(PermissionError):
        os.ftruncate(made[1], 0)
    os.close(made[1])


def test_a_system_without_such_memory_has_no_shelf(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "memfd_create")
    assert Shelf.build(_SIZE) is None


def test_a_shelf_is_not_built_where_nothing_would_have_room() -> None:
    assert Shelf.build(_BLOCK - 1) is None


# --- room --------------------------------------------------------------------------------------------------------------

_ROOM = 64 * _BLOCK


@given(st.lists(st.one_of(st.integers(1, _ROOM), st.floats(0, 1, exclude_max=True)), max_size=80))
def test_no_byte_is_taken_twice_and_none_is_lost(steps: list[int | float]) -> None:
    """A whole number takes so many bytes, a fraction gives one of the taken places back."""
    room = Room(_ROOM)
    taken: list[tuple[int, int]] = []
    for step in steps:
        if isinstance(step, float):
            if taken:
                start, _ = taken.pop(int(step * len(taken)))
                room.give_back([start])
            continue
        found = room.take(step)
        assert found == _lowest(taken, step)
        if found is not None:
            taken.append((found, found + step))
    room.give_back([start for start, _ in reversed(taken)])
    assert room.take(_ROOM) == 0


def _lowest(taken: list[tuple[int, int]], length: int) -> int | None:
    """The lowest block from which on so many bytes are free, by looking at each."""
    for start in range(0, _ROOM - length + 1, _BLOCK):
        if all(start + length <= begin or end <= start for begin, end in taken):
            return start
    return None


def test_a_place_that_is_given_back_twice_is_a_bug() -> None:
    room = Room(_ROOM)
    assert room.take(1) == 0
    room.give_back([0])
    with pytest.raises(KeyError):
        room.give_back([0])
