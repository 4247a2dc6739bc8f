"""What the store remembers of links to other sites, which come twice: by themselves and with their page."""

from __future__ import annotations

import pytest

from parcahyd.config.schema import WorkConf
from parcahyd.core.errors import StoreFailure
from parcahyd.core.records import ExternRecord
from parcahyd.storage.run_state import MOST_REMEMBERED, RunState
from tests.storage.desk import Desk

A = "http://a.example"
LINKS = ("http://b.example/1", "http://c.example/")


def test_links_are_remembered_until_they_come_again_or_their_visit_is_over() -> None:
    state = RunState()
    state.note_stored(1, 2, LINKS)
    state.note_stored(1, 2, LINKS[:1])
    state.note_stored(4, 2, LINKS)
    assert state.is_already_stored(1, 2, LINKS)
    assert not state.is_already_stored(1, 1, LINKS), "a shorter way may change something"
    assert not state.is_already_stored(2, 2, LINKS)
    assert state.is_already_stored(2, 2, ()), "where there are none, nothing is left to do"
    state.note_stored(1, 2, LINKS)
    assert not state.is_already_stored(1, 2, LINKS)
    state.close([1])
    assert not state.is_already_stored(1, 2, LINKS[:1])
    state.start(2, 2, WorkConf(), 0.0)
    assert not state.is_already_stored(4, 2, LINKS)


def test_no_more_links_are_kept_than_there_is_room_for() -> None:
    state = RunState()
    half = tuple(f"http://b.example/{number}" for number in range(MOST_REMEMBERED // 2))
    for visit in range(10):  # Those of visits that are over, or that came twice, take no room.
        state.note_stored(visit, 1, half)
        state.note_stored(visit, 1, half[1:])
        state.note_stored(visit, 1, half[1:])
        assert state.is_already_stored(visit, 1, half)
        state.close([visit])
    state.note_stored(11, 1, half)
    state.note_stored(12, 1, half)
    assert state.is_already_stored(11, 1, half)
    state.note_stored(12, 2, LINKS)
    assert not state.is_already_stored(11, 1, half)
    assert not state.is_already_stored(12, 1, half)
    assert state.is_already_stored(12, 2, LINKS)


def test_what_is_ahead_is_not_looked_at_again(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    assert desk.store.store_extern([ExternRecord(pair.visit, 2, LINKS)], desk.now).found == 2

    def statements(path: str, *links: str) -> int:
        before = desk.statements
        desk.write(desk.page(pair, path, path.encode(), external=links))
        return desk.statements - before

    desk.write(desk.page(pair), desk.page(pair, "/second", b"2"))  # The second head of a site is written with its base.
    assert statements("/plain") == statements("/ahead", *LINKS) < statements("/behind", "http://d.example/")


def test_what_came_with_its_page_is_not_looked_at_again(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    assert desk.write(desk.page(pair, external=LINKS)).found == 2
    before = desk.statements
    assert desk.store.store_extern([ExternRecord(pair.visit, 1, LINKS)], desk.now).found == 0
    assert desk.statements == before
    nearer = ExternRecord(pair.visit, 0, LINKS[:1])
    desk.store.store_extern([nearer], desk.now)
    assert desk.statements > before, "another depth is another telling"


def test_links_whose_transaction_failed_come_with_their_page(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    heal = desk.fail_at(4)
    with pytest.raises(StoreFailure, match="planted"):
        desk.store.store_extern([ExternRecord(pair.visit, 1, LINKS)], desk.now)
    heal()
    assert desk.write(desk.page(pair, external=LINKS)).found == 2
    assert set(desk.states()) == {f"{A}/", *LINKS}


def test_a_page_that_failed_is_written_again_without_them(desk: Desk) -> None:
    desk.begin()
    desk.seed(f"{A}/")
    pair = desk.visit()
    desk.store.store_extern([ExternRecord(pair.visit, 1, LINKS)], desk.now)
    heal = desk.fail_at(4)
    with pytest.raises(StoreFailure, match="planted"):
        desk.write(desk.page(pair, external=LINKS))
    heal()
    assert desk.write(desk.page(pair, external=LINKS)).stored == 1
    assert set(desk.states()) == {f"{A}/", *LINKS}
