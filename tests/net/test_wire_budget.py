from __future__ import annotations

import msgspec

from parcahyd.net.wire_budget import WireBudget


class _Transfer(msgspec.Struct, eq=False):
    held: int = 0
    started_at: float = 0.0


def _take(budget: WireBudget, transfer: _Transfer, size: int) -> bool:
    taken = budget.takes(transfer, size)
    transfer.held += size if taken else 0
    return taken


def test_beyond_the_budget_the_first_that_asks_goes_on_alone() -> None:
    budget, one, two = WireBudget(100), _Transfer(), _Transfer()
    assert _take(budget, one, 60)
    assert _take(budget, two, 40)
    assert _take(budget, two, 40)
    assert not _take(budget, one, 1)
    assert budget.has_paused
    assert not budget.may_go_on(one)
    assert _take(budget, two, 1000)
    budget.give_back(two, two.held)
    assert budget.may_go_on(one)
    assert _take(budget, one, 40)
    assert budget.held == 100


def test_nothing_goes_on_while_nothing_may_be_held() -> None:
    budget, one = WireBudget(0), _Transfer()
    assert not _take(budget, one, 1)
    assert not budget.may_go_on(one)
    budget.limit = 1
    assert _take(budget, one, 5)


def test_the_slowest_give_way_until_a_quarter_is_free_and_the_young_never() -> None:
    budget = WireBudget(100)
    drips, slow, quick, young = _Transfer(30, 0.0), _Transfer(40, 0.0), _Transfer(40, 94.0), _Transfer(1, 99.0)
    transfers = [quick, young, slow, drips]
    budget.held = sum(one.held for one in transfers)
    assert budget.to_give_way(transfers, 100.0) == [], "nothing waits"
    assert budget.takes(quick, 0)
    assert not budget.takes(slow, 1)
    assert budget.has_paused
    assert budget.to_give_way(transfers, 100.0) == [drips, slow]
    budget.limit = 1000
    assert budget.to_give_way(transfers, 100.0) == []
