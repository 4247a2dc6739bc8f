"""MaxPages is exact: what is left, drawn and stored are always the total."""

from __future__ import annotations

import pytest

from parcahyd.cluster.quotas import MAX_PAGES, Chunk, fill
from parcahyd.core.errors import LeaseLost
from tests.cluster.hub_desk import HubDesk, Tree


def _fill(desk: HubDesk, total: int) -> None:
    with desk.hub.transaction():
        fill(desk.hub, MAX_PAGES, total)


def _left(desk: HubDesk) -> int:
    ((left,),) = desk.rows("SELECT q.left FROM parcahyd_hub.quotas q")
    return int(left)


def _store(tree: Tree, pages: int) -> None:
    with tree.batches.transaction(pages):
        Chunk(tree.writing).store(pages)


def test_chunks_get_smaller_to_the_end(desk: HubDesk) -> None:
    _fill(desk, 10)
    chunk = Chunk(desk.take(0).claiming)
    assert [chunk.draw(100) for _ in range(3)] == [2, 4, 5]
    assert _left(desk) == 5


def test_near_the_end_a_chunk_is_one_page_and_then_none(desk: HubDesk) -> None:
    _fill(desk, 2)
    first, second = desk.take(0), desk.take(1)
    assert Chunk(first.claiming).draw(100) == 1
    assert Chunk(second.claiming).draw(100) == 1
    _store(second, 1)
    assert Chunk(second.claiming).draw(100) == 1, "it is stored"
    assert desk.rows("SELECT wanting FROM parcahyd_hub.states ORDER BY partition") == [(False,), (True,)]


def test_no_page_is_stored_that_was_not_drawn(desk: HubDesk) -> None:
    _fill(desk, 4)
    tree = desk.take(0)
    Chunk(tree.claiming).draw(1)
    _store(tree, 1)
    with pytest.raises(LeaseLost):
        _store(tree, 1)


def test_a_draw_tells_what_was_drawn_in_all(desk: HubDesk) -> None:
    _fill(desk, 100)
    tree = desk.take(0)
    chunk = Chunk(tree.claiming)
    assert chunk.draw(5) == 5
    _store(tree, 4)
    assert chunk.draw(3) == 8, "what is stored meanwhile changes nothing"
    with tree.batches.transaction():
        Chunk(tree.writing).give_back()
    assert chunk.draw(2) == 6, "four are stored, and four were given back"
    assert desk.rows("SELECT c.left, c.drawn FROM parcahyd_hub.chunks c") == [(2, 6)]


def test_what_a_dead_tree_did_not_store_is_drawn_by_others_once_it_is_ended(desk: HubDesk) -> None:
    _fill(desk, 12)
    dead, other = desk.take(0), desk.take(1)
    assert Chunk(dead.claiming).draw(100) == 3
    _store(dead, 1)
    chunk = Chunk(other.claiming)
    while _left(desk):
        drawn = chunk.draw(100)
    assert drawn == 9
    desk.end(0)
    assert chunk.draw(100) == 10
    assert chunk.draw(100) == 11
    assert chunk.draw(100) == 11


def test_an_idle_partition_gives_back(desk: HubDesk) -> None:
    _fill(desk, 8)
    tree = desk.take(0)
    Chunk(tree.claiming).draw(100)
    with tree.batches.transaction():
        Chunk(tree.writing).give_back()
        Chunk(tree.writing).give_back()
    assert _left(desk) == 8
    assert Chunk(tree.claiming).draw(100) == 2


def test_a_new_total_forgets_what_was_drawn(desk: HubDesk) -> None:
    _fill(desk, 8)
    Chunk(desk.take(0).claiming).draw(100)
    _fill(desk, 20)
    assert _left(desk) == 20
    assert desk.rows("SELECT count(*) FROM parcahyd_hub.chunks") == [(0,)]
