"""Partitions are taken after a lease of silence, renewed past open transactions, and lost to one taker only."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text

from parcahyd.cluster.records import PartitionSeen
from parcahyd.cluster.tables import PLANNING
from parcahyd.cluster.taking import Watch
from parcahyd.core.errors import HubWentBack, LeaseLost, StoreFailure
from tests.cluster.hub_desk import LEASE, HubDesk, retried


def _seen(desk: HubDesk, partition: int) -> PartitionSeen:
    return next(row for row in desk.taker().look() if row.id == partition)


def _takeable(watch: Watch, node: str) -> set[int]:
    return {row.id for row in watch.takeable(node, LEASE)}


def test_a_partition_is_taken_renewed_and_given_back(desk: HubDesk) -> None:
    tree = desk.take(0)
    assert _seen(desk, 0).token == tree.holding.token
    assert tree.renewer.renew().beat == 2
    tree.renewer.give_back()
    assert _seen(desk, 0).is_free
    with pytest.raises(LeaseLost):
        tree.renewer.renew()


def test_what_has_not_changed_for_a_lease_may_be_taken(desk: HubDesk) -> None:
    tree, watch = desk.take(0), desk.watch()
    watch.see(desk.facts.identity, desk.taker().look())
    desk.now += LEASE * 0.6
    tree.renewer.renew()
    watch.see(desk.facts.identity, desk.taker().look())
    desk.now += LEASE * 0.6
    watch.see(desk.facts.identity, desk.taker().look())
    assert 0 not in {row.id for row in watch.silent(LEASE)}
    assert 1 in {row.id for row in watch.takeable("n2", LEASE)}, "free for a lease"
    desk.now += LEASE * 0.4
    assert [row.id for row in watch.silent(LEASE)] == [0]


def test_a_free_partition_is_taken_at_once_where_it_is_wanted(desk: HubDesk) -> None:
    desk.change("INSERT INTO parcahyd_hub.wishes VALUES (1, 'n2')")
    watch = desk.watch()
    watch.see(desk.facts.identity, desk.taker().look())
    assert _takeable(watch, "n2") == {1, PLANNING}
    assert _takeable(watch, "n1") == {PLANNING}


def test_whoever_comes_first_makes_the_plans(desk: HubDesk) -> None:
    watch = desk.watch()
    watch.see(desk.facts.identity, desk.taker().look())
    assert _takeable(watch, "n1") == _takeable(watch, "n2") == {PLANNING}
    desk.planner()
    watch.see(desk.facts.identity, desk.taker().look())
    assert _takeable(watch, "n2") == set(), "until who makes them is silent for a lease"
    desk.now += LEASE
    assert PLANNING in _takeable(watch, "n2")


def test_another_identity_starts_every_watch_anew(desk: HubDesk) -> None:
    desk.take(0)
    watch = desk.watch()
    watch.see(desk.facts.identity, desk.taker().look())
    desk.now += LEASE
    desk.identity.restored()
    watch.see(desk.identity.read().identity, desk.taker().look())
    assert watch.silent(LEASE) == []
    assert watch.unchanged_for(0) == 0.0


def test_of_two_takers_one_wins(desk: HubDesk) -> None:
    desk.take(0)
    seen = _seen(desk, 0)
    first, second = desk.taker(), desk.taker()
    assert first.take(seen, "n2") is not None
    assert second.take(seen, "n3") is None
    assert _seen(desk, 0).node == "n2"


def test_a_holder_that_renewed_keeps_its_partition(desk: HubDesk) -> None:
    tree = desk.take(0)
    seen = _seen(desk, 0)
    tree.renewer.renew()
    assert desk.taker().take(seen, "n2") is None
    assert tree.renewer.renew().beat == 3


def test_a_taker_ends_the_sessions_of_the_holder(desk: HubDesk) -> None:
    tree = desk.take(0)
    with pytest.raises(StoreFailure), tree.batches.transaction():  # noqa: PT012 (the transaction is open when it is taken)
        tree.writing.writer.run(text("CREATE TABLE half_done (id int)"))
        assert desk.taker().take(_seen(desk, 0), "n2") is not None
    assert desk.rows("SELECT to_regclass('half_done')") == [(None,)]
    with pytest.raises(LeaseLost):
        tree.batches.was_committed()


def test_an_ended_partition_is_free(desk: HubDesk) -> None:
    tree = desk.take(0)
    desk.end(0)
    assert _seen(desk, 0).is_free
    with pytest.raises(LeaseLost):
        retried(tree.renewer.renew)


def test_a_beat_that_is_older_than_the_last_one_ends_the_tree(desk: HubDesk) -> None:
    tree = desk.take(0)
    desk.change("UPDATE parcahyd_hub.partitions SET beat = 0")
    with pytest.raises(HubWentBack):
        tree.renewer.renew()


def test_a_renewal_passes_an_open_transaction_of_the_writer(desk: HubDesk) -> None:
    tree = desk.take(0)
    with tree.batches.transaction():
        assert tree.renewer.renew().beat == 2


def test_nothing_is_taken_before_a_new_identity_is_settled(desk: HubDesk) -> None:
    desk.identity.restored()
    assert desk.taker().take(_seen(desk, 0), "n1") is None
    desk.identity.settle(desk.identity.read().identity)
    assert desk.taker().take(_seen(desk, 0), "n1") is not None


def test_a_tree_that_gives_back_has_stopped_before_others_know(desk: HubDesk) -> None:
    tree = desk.take(0)
    tree.renewer.give_back()
    assert tree.deadline.passed()


def test_a_renewal_that_comes_after_the_deadline_is_too_late(desk: HubDesk) -> None:
    tree = desk.take(0)
    desk.now += LEASE * 0.9
    with pytest.raises(LeaseLost, match="too late"):
        tree.renewer.renew()


def test_the_deadline_counts_from_before_the_question(desk: HubDesk, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = desk.take(0)
    ask = tree.renewer._hub.rows

    def slowly(*statement: Any, **parameters: Any) -> list[Any]:
        desk.now += 10.0
        return ask(*statement, **parameters)

    monkeypatch.setattr(tree.renewer._hub, "rows", slowly)
    tree.renewer.renew()
    assert tree.deadline.left() == LEASE * 0.9 - 10.0
