"""Which transfers end when all connections are in use and other requests wait: the slowest, beyond their share.

Slow transfers keep a quarter of the connections, so that a site that is only slow is crawled all the same. Which ones are slow
depends on how long others have been waiting: fewer bytes a second than MinRate at first, than twice that at the next look, and
so on up to sixteen times. From then on the rate that is asked of a transfer grows with the time for which it has kept others
waiting: sixteen times MinRate in the first five seconds, twice that after ten, sixty times as much after five minutes. So there
is no rate at which a server could drip and keep its connection: to keep it for twice as long, it must send twice as fast. On a
slow line of the user's, where every transfer is slow, each still has the time that goes with its rate.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Protocol, TypeVar

import msgspec

__all__ = ["GivingWay", "Tempo"]

_WINDOW = 5.0
"""Seconds over which a transfer is measured. So each has at least that much time before it can be asked to give way."""
_MOST_GROWTH = 16
_CALM = 3.0
"""Seconds without a call after which nobody waits any more."""
_SHARES = 4
"""Slow transfers keep one part in so many of the connections."""


class Tempo(msgspec.Struct, frozen=True, gc=False):
    """How quickly a transfer came in its last whole window, and where the current window began."""

    begun: float
    """Since when it has been coming, without a pause of ours."""
    since: float
    received: int
    rate: float = inf
    """Bytes a second; infinite while no window is over."""


class _Transfer(Protocol):
    tempo: Tempo | None
    """None until the first look."""
    is_paused: bool
    started_at: float

    def received(self) -> int: ...


Measured = TypeVar("Measured", bound=_Transfer)


class GivingWay:
    """Measures the transfers of one downloader while others wait. `min_rate` 0 means that nothing is ever too slow."""

    __slots__ = ("_growth", "_looked_at", "_min_rate", "_pressed_since", "_share")

    def __init__(self, min_rate: float, connections: int) -> None:
        self._min_rate = min_rate
        self._share = max(1, connections // _SHARES)
        self._growth = 1
        self._looked_at = -inf
        self._pressed_since = -inf

    def choose(self, transfers: Iterable[Measured], wanted: int, now: float) -> list[tuple[Measured, float]]:
        """The transfers to end, because so many requests wait, with their bytes a second: the slowest first."""
        if now - self._looked_at <= _CALM:
            self._growth = min(2 * self._growth, _MOST_GROWTH)
        else:
            self._growth, self._pressed_since = 1, now
        self._looked_at = now
        slow = [(one, tempo.rate) for one in transfers if (tempo := _measured(one, now)).rate < self._asked_of(tempo, now)]
        slow.sort(key=lambda pair: pair[1])
        return slow[: max(0, min(wanted, len(slow) - self._share))]

    def _asked_of(self, tempo: Tempo, now: float) -> float:
        """The bytes a second with which a transfer may stay."""
        kept_waiting = now - max(tempo.begun, self._pressed_since)
        return self._min_rate * self._growth * max(1.0, kept_waiting / _WINDOW)


def _measured(transfer: _Transfer, now: float) -> Tempo:
    tempo = transfer.tempo or Tempo(transfer.started_at, transfer.started_at, 0)
    if transfer.is_paused:  # It waits for us.
        tempo = Tempo(now, now, transfer.received())
    elif now - tempo.since >= _WINDOW:
        received = transfer.received()
        tempo = Tempo(tempo.begun, now, received, (received - tempo.received) / (now - tempo.since))
    transfer.tempo = tempo
    return tempo
