"""A run ends when nothing is left anywhere, and not before."""

from __future__ import annotations

import pytest

from parcahyd.cluster.ending import end_if_done, set_idle
from parcahyd.cluster.mail import Letter, Mailbox
from parcahyd.cluster.quotas import Chunk
from parcahyd.cluster.runs import STOPPED, Runs, confirm
from parcahyd.cluster.scope import change_scope
from tests.cluster.hub_desk import HubDesk, Tree


def _idle(tree: Tree, scope: int = 0, chunk: Chunk | None = None) -> None:
    with tree.batches.transaction():
        set_idle(tree.writing, chunk, scope, 0)


@pytest.fixture
def run(desk: HubDesk) -> int:
    return Runs(desk.hub).begin("{}", {"MaxPages": 3})


def test_it_ends_when_every_partition_is_idle(desk: HubDesk, run: int) -> None:
    first, second = desk.take(0), desk.take(1)
    _idle(first)
    assert end_if_done(desk.hub, run) is None
    _idle(second)
    assert end_if_done(desk.hub, run) == "done"
    assert end_if_done(desk.hub, run) is None, "once"
    assert first.renewer.renew().run is None


def test_a_letter_holds_it_up(desk: HubDesk, run: int) -> None:
    first, second = desk.take(0), desk.take(1)
    _idle(second)
    with first.batches.transaction():
        Mailbox(first.writing, 9).post([Letter(1, "urls", 0, b"")])
        set_idle(first.writing, None, 0, 0)
    assert end_if_done(desk.hub, run) is None
    box = Mailbox(second.writing, 9)
    with second.batches.transaction():
        box.take_in(box.read(9))
    assert end_if_done(desk.hub, run) is None, "taking in means work"
    _idle(second)
    assert end_if_done(desk.hub, run) == "done"


@pytest.mark.parametrize(
    "work",
    [
        "INSERT INTO parcahyd_hub.outbox (sender, partition, kind, routing, body) VALUES (0, 1, 'urls', 0, '')",
        "INSERT INTO parcahyd_hub.homes (site, partition, waits) VALUES ('a.example', 0, true)",
        "INSERT INTO parcahyd_hub.homes (site, partition, moving) VALUES ('a.example', 1, 0)",
        "INSERT INTO parcahyd_hub.routing VALUES (1, 'hash', '')",
    ],
    ids=["outbox", "a host without a home", "a move", "a newer routing"],
)
def test_other_work_holds_it_up(desk: HubDesk, run: int, work: str) -> None:
    for partition in (0, 1):
        _idle(desk.take(partition))
    desk.change(work)
    assert end_if_done(desk.hub, run) is None


def test_a_wider_scope_is_judged_before_the_end(desk: HubDesk, run: int) -> None:
    trees = [desk.take(partition) for partition in (0, 1)]
    for tree in trees:
        _idle(tree)
    version = change_scope(desk.hub, [("http", "more.example", 80)])
    assert end_if_done(desk.hub, run) is None
    for tree in trees:
        _idle(tree, version)
    assert end_if_done(desk.hub, run) == "done"


def test_a_chunk_that_is_held_holds_it_up(desk: HubDesk, run: int) -> None:
    first, second = desk.take(0), desk.take(1)
    Chunk(first.claiming).draw(1)
    _idle(first)
    _idle(second)
    assert end_if_done(desk.hub, run) is None
    _idle(first, chunk=Chunk(first.writing))
    assert end_if_done(desk.hub, run) == "done"


def test_it_ends_when_all_pages_are_stored(desk: HubDesk, run: int) -> None:
    tree = desk.take(0)
    for _ in range(3):
        assert end_if_done(desk.hub, run) is None
        Chunk(tree.claiming).draw(1)
        with tree.batches.transaction(pages=1):
            Chunk(tree.writing).store(1)
    assert end_if_done(desk.hub, run) == "max-pages"


def test_a_stop_is_over_when_all_obey(desk: HubDesk, run: int) -> None:
    tree = desk.take(0)
    version = Runs(desk.hub).want(STOPPED)
    assert end_if_done(desk.hub, run) is None
    confirm(tree.claiming, version)
    assert end_if_done(desk.hub, run) == "stopped"
