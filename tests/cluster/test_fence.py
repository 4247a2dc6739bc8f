"""No transaction of a tree that lost its partition is committed, and a number tells whether the last one was."""

from __future__ import annotations

import pytest

from parcahyd.core.errors import HubWentBack, LeaseLost, StoreFailure
from tests.cluster.hub_desk import HubDesk, Tree, lose_commit, retried


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


@pytest.mark.parametrize("commits", [True, False], ids=["committed", "not committed"])
def test_a_transaction_whose_answer_was_lost_is_known_by_its_number(desk: HubDesk, commits: bool) -> None:
    tree = desk.take(0)
    _write(tree)
    lose_commit(tree.writing.writer, commits=commits)
    with pytest.raises(StoreFailure):
        _write(tree)
    assert tree.batches.is_doubtful
    assert tree.batches.was_committed() is commits
    _write(tree)
    assert _batch(desk) == 2 + commits


def test_what_failed_before_its_commit_may_be_repeated(desk: HubDesk) -> None:
    tree = desk.take(0)
    with pytest.raises(ConnectionError), tree.batches.transaction():
        raise ConnectionError
    assert not tree.batches.is_doubtful
    assert not tree.batches.was_committed()
    _write(tree)
    assert _batch(desk) == 1


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


def test_a_transaction_whose_answer_was_lost_is_not_repeated_unasked(desk: HubDesk) -> None:
    tree = desk.take(0)
    lose_commit(tree.writing.writer, commits=True)
    with pytest.raises(StoreFailure):
        _write(tree)
    with pytest.raises(AssertionError, match="was_committed"):
        _write(tree)
    assert _batch(desk) == 1


def test_pages_that_are_counted_on_the_way_count_once(desk: HubDesk) -> None:
    tree = desk.take(0)

    def write() -> None:
        with tree.batches.transaction(pages=1):
            tree.batches.count_pages(3)

    lose_commit(tree.writing.writer, commits=False)
    with pytest.raises(StoreFailure):
        write()
    assert not tree.batches.was_committed()
    write()
    assert desk.rows("SELECT pages FROM parcahyd_hub.states WHERE partition = 0") == [(4,)]
