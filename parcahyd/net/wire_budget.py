"""How many bytes of unfinished bodies a downloader may hold, and which transfers go on when they are used up.

A body is charged while it grows. Beyond the budget, transfers pause. The first that asks then is the favourite: it alone goes
on, so that nothing can block, and the budget is exceeded by one body at most. Transfers that hold much and bring little give
way to those that wait.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

__all__ = ["WireBudget"]

_GRACE = 5.0
"""Seconds that a transfer has before it can be asked to give way."""


class _Transfer(Protocol):
    @property
    def held(self) -> int: ...

    @property
    def started_at(self) -> float: ...


Held = TypeVar("Held", bound=_Transfer)


class WireBudget:
    """The budget of one downloader; it holds no transfer, only counts. `limit` 0 means that nothing more is taken for now."""

    __slots__ = ("_favourite", "has_paused", "held", "limit")

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0
        self.has_paused = False
        self._favourite: object | None = None

    def takes(self, transfer: object, size: int) -> bool:
        """Whether the transfer may take a further piece of its body, which is charged then."""
        if self.held + size > self.limit and not (self.limit and self._is_favourite(transfer)):
            self.has_paused = True
            return False
        self.held += size
        return True

    def may_go_on(self, transfer: object) -> bool:
        """Whether a transfer that paused has a chance to take more."""
        return self.limit > 0 and (self.held < self.limit or self._is_favourite(transfer))

    def _is_favourite(self, transfer: object) -> bool:
        if self._favourite is None:
            self._favourite = transfer
        return self._favourite is transfer

    def give_back(self, transfer: object, size: int) -> None:
        """The transfer has ended."""
        self.held -= size
        if self._favourite is transfer:
            self._favourite = None

    def to_give_way(self, transfers: Iterable[Held], now: float) -> list[Held]:
        """The transfers to end because others wait: the slowest over their lives, until a quarter of the budget is free."""
        if not self.has_paused or not self.limit:
            return []
        old = [one for one in transfers if one.held and now - one.started_at >= _GRACE]
        old.sort(key=lambda one: one.held / (now - one.started_at))
        excess = self.held - self.limit * 3 // 4
        chosen = []
        for one in old:
            if excess <= 0:
                break
            chosen.append(one)
            excess -= one.held
        return chosen
