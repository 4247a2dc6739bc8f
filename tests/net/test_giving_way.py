from __future__ import annotations

from parcahyd.net.giving_way import GivingWay, Tempo


class _Transfer:
    """Brings so many bytes a second from 0 on."""

    def __init__(self, rate: float, started_at: float = 0.0) -> None:
        self.rate = rate
        self.started_at = started_at
        self.tempo: Tempo | None = None
        self.is_paused = False
        self.now = 0.0

    def received(self) -> int:
        return round(self.rate * (self.now - self.started_at))


def _look(giving_way: GivingWay, transfers: list[_Transfer], wanted: int, now: float) -> list[float]:
    """The rates of those chosen."""
    for transfer in transfers:
        transfer.now = now
    return [transfer.rate for transfer, _ in giving_way.choose(transfers, wanted, now)]


def test_the_slowest_give_way_and_no_more_than_are_wanted() -> None:
    transfers = [_Transfer(rate) for rate in (90, 20, 60_000, 50, 10, 70, 40, 30)]
    assert _look(GivingWay(100, 8), transfers, 3, 10) == [10, 20, 30]


def test_slow_transfers_keep_a_quarter_of_the_connections() -> None:
    transfers = [_Transfer(rate) for rate in (10, 20, 30, 40)]
    giving_way = GivingWay(100, 8)
    assert _look(giving_way, transfers, 100, 10) == [10, 20]
    assert _look(giving_way, transfers[2:], 100, 11) == []


def test_one_connection_is_kept_where_there_are_few() -> None:
    assert _look(GivingWay(100, 2), [_Transfer(10), _Transfer(20)], 2, 10) == [10]
    assert _look(GivingWay(100, 1), [_Transfer(10)], 1, 10) == []


def test_a_transfer_has_five_seconds() -> None:
    giving_way = GivingWay(100, 4)
    transfers = [_Transfer(0, started_at=10) for _ in range(4)]
    assert _look(giving_way, transfers, 4, 14.9) == []
    assert _look(giving_way, transfers, 4, 15) == [0, 0, 0]


def test_the_longer_others_wait_the_more_is_asked_for() -> None:
    giving_way = GivingWay(100, 4)
    transfers = [_Transfer(rate) for rate in (120, 700, 1500, 1700)] + [_Transfer(1)]
    chosen = [_look(giving_way, transfers, 5, 10 + second) for second in range(6)]
    assert chosen[0] == []
    assert chosen[1] == [1]
    assert chosen[3] == [1, 120]
    assert chosen[4] == chosen[5] == [1, 120, 700]
    assert _look(giving_way, transfers, 5, 30) == [], "nobody had to wait for a while"


def test_no_rate_keeps_a_connection_for_ever() -> None:
    """Whoever sends twice as fast may keep others waiting for twice as long."""
    giving_way = GivingWay(100, 4)
    transfers = [_Transfer(rate) for rate in (1700, 3400, 6800, 1_000_000)] + [_Transfer(10)]
    chosen = {second: _look(giving_way, transfers, 5, second) for second in range(1, 61)}
    first = {rate: min(second for second, rates in chosen.items() if rate in rates) for rate in (10, 1700, 3400)}
    assert first == {10: 7, 1700: 12, 3400: 23}, "seconds after 1, when the next faster one is too slow, too: one is kept"
    assert 1_000_000 not in chosen[60]


def test_what_a_transfer_did_while_nobody_waited_does_not_count() -> None:
    """A large document comes for ten minutes. When others begin to wait, it has as much time as one that begins now."""
    giving_way = GivingWay(100, 4)
    transfers = [_Transfer(20_000) for _ in range(4)]
    assert [_look(giving_way, transfers, 4, 600 + second) for second in range(61)] == [[]] * 61


def test_what_came_quickly_at_first_does_not_count_for_ever() -> None:
    giving_way = GivingWay(100, 4)
    transfers = [_Transfer(10_000), _Transfer(10)]
    assert _look(giving_way, transfers, 2, 10) == []
    giving_way.choose(transfers, 2, 11)
    transfers[0].received = lambda: 100_000  # type: ignore[method-assign] # nothing comes any more
    assert _look(giving_way, transfers, 2, 15) == [10_000]


def test_transfers_that_wait_for_our_memory_are_not_slow() -> None:
    giving_way = GivingWay(100, 4)
    transfers = [_Transfer(0) for _ in range(4)]
    for transfer in transfers:
        transfer.is_paused = True
    assert _look(giving_way, transfers, 4, 100) == []
    for transfer in transfers:
        transfer.is_paused = False
    assert _look(giving_way, transfers, 4, 104) == []
    assert _look(giving_way, transfers, 4, 105) == [0, 0, 0]


def test_without_a_least_rate_nothing_gives_way() -> None:
    assert _look(GivingWay(0, 4), [_Transfer(0) for _ in range(4)], 4, 100) == []
