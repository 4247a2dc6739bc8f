"""No transaction of a tree that lost its partition is committed, and a number tells whether the last one was."""

from __future__ import annotations

import pytest

from parcahyd.core.errors import HubWentBack, LeaseLost, StoreFailure
from tests.cluster.hub_desk import HubDesk, Tree, retried


def _batch(desk: HubDesk) -> int:
    ((number,),) = desk.rows("SELECT batch FROM parcahyd_hub.states WHERE partition = 0")
    return int(number)


def _write(tree: Tree) -> None:
    with tree.batches.transaction(pages=2):
        pass


def test_transactions_are_numbered(desk: HubDesk) -> None:
    tree = desk.take(0)
    _write(tree)
    _write(tree)
    assert _batch(desk) == 2
    assert desk.rows("SELECT pages FROM parcahyd_hub.states WHERE partition = 0") == [(4,)]


def test_the_next_tree_goes_on_with_the_numbers(desk: HubDesk) -> None:
    _write(desk.take(0))
    _write(desk.take(0, "n2"))
    assert _batch(desk) == 2


def test_a_tree_that_lost_its_partition_writes_nothing(desk: HubDesk) -> None:
    tree = desk.take(0)
    desk.take(0, "n2")
    with pytest.raises(StoreFailure):
        _write(tree)
    with pytest.raises(LeaseLost):
        retried(tree.batches.was_committed)
    assert _batch(desk) == 0


@pytest.mark.parametrize("change", [(1, 0), (0, 1)], ids=["epoch", "token"])
def test_epoch_and_token_are_both_compared(desk: HubDesk, change: tuple[int, int]) -> None:
    tree = desk.take(0)
    desk.change("UPDATE parcahyd_hub.partitions SET epoch = epoch + %s, token = token + %s WHERE id = 0", *change)
    with pytest.raises(LeaseLost):
        _write(tree)


def test_a_tree_of_an_earlier_incarnation_writes_nothing(desk: HubDesk) -> None:
    tree = desk.take(0)
    desk.identity.restored()
    with pytest.raises(LeaseLost):
        _write(tree)


def test_a_transaction_whose_answer_was_lost_is_known_by_its_number(desk: HubDesk) -> None:
    tree = desk.take(0)
    with pytest.raises(ConnectionError), tree.batches.transaction():
        raise ConnectionError
    assert not tree.batches.was_committed()
    with pytest.raises(ConnectionError), tree.batches.transaction():  # noqa: PT012 (it fails after it was committed)
        desk.change("UPDATE parcahyd_hub.states SET batch = 1 WHERE partition = 0")  # as if it had been committed
        raise ConnectionError
    assert tree.batches.was_committed()
    _write(tree)
    assert _batch(desk) == 2


@pytest.mark.parametrize("number", [0, 4])
def test_a_number_that_was_never_acknowledged_ends_the_tree(desk: HubDesk, number: int) -> None:
    tree = desk.take(0)
    _write(tree)
    _write(tree)
    desk.change("UPDATE parcahyd_hub.states SET batch = %s WHERE partition = 0", number)
    with pytest.raises(HubWentBack):
        _write(tree)
    with pytest.raises(HubWentBack):
        tree.batches.was_committed()


def test_a_failed_transaction_is_not_repeated_unasked(desk: HubDesk) -> None:
    tree = desk.take(0)
    with pytest.raises(ConnectionError), tree.batches.transaction():
        raise ConnectionError
    with pytest.raises(AssertionError, match="was_committed"):
        _write(tree)
